"""The command line: bad input gets one clear line, and nothing runs."""
import json
import os
import subprocess

import pytest

import karzer
from karzer import lack

# what: (arguments, exit status, what the line must name)
BAD = {
    "an unknown option": (["run", "--nope", "-c", "1"], 2, "--nope"),
    "an unknown command": (["runn", "1"], 2, "runn"),
    "a misspelt option": (["run", "--memory", "1M", "-c", "1"], 2, "--mem"),
    "a bad unit": (["run", "--mem", "64Q", "-c", "1"], 2, "64Q"),
    "a number that is none": (["run", "--pids", "many", "-c", "1"], 2, "many"),
    "a limit of zero": (["run", "--mem", "0", "-c", "1"], 2, "--mem"),
    "a negative limit": (["run", "--wall", "-1s", "-c", "1"], 2, "--wall"),
    "an impossible limit": (["run", "--mem", "99999999T", "-c", "1"], 2, "--mem"),
    "a limit that overflows": (["run", "--disk", "99999999999999999999", "-c", "1"],
                               2, "--disk"),
    "a time without unit or sense": (["run", "--wall", "10 parsecs", "-c", "1"],
                                     2, "parsecs"),
    "an option without its value": (["run", "--mem"], 2, "--mem"),
    "no code": (["run"], 2, "CODE"),
    "empty code": (["run", "-c", ""], 2, "empty"),
    "no command": (["exec"], 2, "CMD"),
    "an empty command": (["exec", "--", ""], None, ""),
    "an unknown tier": (["run", "--tier", "vm", "-c", "1"], None, "vm"),
    "an unknown language": (["run", "--lang", "cobol", "-c", "1"], 2, "cobol"),
    "an unknown network": (["run", "--net", "all", "-c", "1"], 2, "--net"),
    "an unknown mechanism": (["run", "--may-lack", "x", "-c", "1"], 2, "x"),
    "a bad variable": (["run", "--env", "NOVALUE", "-c", "1"], 2, "--env"),
    "a variable without a name": (["run", "--env", "=x", "-c", "1"], 2, "--env"),
    "an --in without a colon": (["run", "--in", "/etc", "-c", "1"], 2, "--in"),
    "a missing workspace": (["run", "--workspace", "/no/such", "-c", "1"],
                            125, "/no/such"),
    "a missing file": (["run", "-f", "/no/such.py"], None, "/no/such.py"),
    "a directory as a file": (["run", "-f", "/etc"], None, "/etc"),
    "a missing interpreter": (["run", "--python", "/no/such", "-c", "1"],
                              None, "/no/such"),
    "a -f that names nothing": (["run", "-f", ""], 2, "-f"),
    "a workspace that is a file": (["run", "--workspace", "/dev/null", "-c", "1"],
                                   125, "/dev/null"),
    "a mode that is none": (["run", "--workspace", "/tmp:xx", "-c", "1"], 2, '"xx"'),
    "an option twice": (["run", "--mem", "64M", "--mem", "64M", "-c", "1"], 2, "twice"),
    "an --in without a name": (["run", "--in", ".:/tmp/", "-c", "1"], 2, "name"),
    "an unknown kind of record": (["log", "--kind", "run.grant"], 2, "run.granted"),
    "a kind that is like none": (["log", "--kind", "foo"], 2, "foo"),
    "a bad time of the log": (["log", "--since", "yesterday-ish"], 2, "--since"),
    "a bad anchor": (["log", "verify", "--anchor", "x"], 2, "anchor"),
    "a word too many": (["version", "x"], 2, "x"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_clear_line(any_box, what):
    args, status, name = BAD[what]
    done = any_box.cli(*args)
    assert done.returncode == status if status else done.returncode in (2, 125, 126, 127), done
    lines = done.stderr.decode().strip().splitlines()
    assert 1 <= len(lines) <= 2 and name in done.stderr.decode(), done
    assert done.stdout == b""
    assert len(lines[0]) < 400


@pytest.mark.parametrize("what", [w for w in BAD if BAD[w][0][0] in ("run", "exec", "log")])
def test_with_json_an_error_is_json_too(any_box, what):
    args, status, name = BAD[what]
    plain = any_box.cli(*args)
    done = any_box.cli(args[0], "--json", *args[1:])
    assert done.returncode == plain.returncode, done
    answer = json.loads(done.stdout)
    if "id" not in answer:
        assert done.stderr == plain.stderr, done
        assert answer["error"]["code"] in ("invalid", "host"), done
        assert name in answer["error"]["text"], done
    else:
        assert answer["status"] in ("denied", "unavailable"), done


def test_with_json_a_damaged_or_missing_record_is_json_too(any_box):
    state = any_box.user.work()
    env = {"KARZER_STATE": str(state)}
    any_box.cli("exec", "--", "true", env=env)
    record = state / "boundary.jsonl"
    record.write_bytes(record.read_bytes().replace(b"run.granted", b"run.grunted"))
    done = any_box.cli("log", "verify", "--json", env=env)
    assert done.returncode == 1 and done.stderr, done
    assert json.loads(done.stdout)["error"]["code"] == "invalid", done
    done = any_box.cli("run", "--json", "-c", "1", env={"KARZER_STATE": "/dev/null"})
    assert done.returncode == 125 and done.stderr, done
    assert json.loads(done.stdout)["error"]["text"] in done.stderr.decode(), done


def test_an_unreadable_file_is_125(box):
    path = box.user.work() / "code.py"
    path.write_text("print('RAN')")
    path.chmod(0)
    if box.user.root:
        path.unlink()
        path.mkdir()
    else:
        box.user.own(path)
    done = box.cli("run", "--tier", box.tier, "-f", str(path))
    assert done.returncode in (2, 125) and b"RAN" not in done.stdout, done
    assert b"code.py" in done.stderr


@pytest.mark.users("user")  # root may read everywhere
def test_an_unreadable_directory_is_125(box):
    path = box.user.work() / "closed"
    path.mkdir(mode=0o000)
    box.user.own(path)
    done = box.cli("run", "--tier", box.tier, "--in", f"{path}:/tmp/d", "-c", "print('RAN')")
    assert done.returncode == 125 and b"RAN" not in done.stdout, done
    assert b"closed" in done.stderr


def test_code_of_nothing_but_space_is_ok(box):
    r = box.run(" \n\n# nothing\n")
    assert (r.status, r.stdout, r.results) == ("ok", b"", []), r


def test_code_of_64_mb_is_refused_in_one_line(any_box):
    path = any_box.dir / "big.py"
    path.write_bytes(b"#" * (64 << 20))
    done = any_box.cli("run", "-f", str(path))
    assert done.returncode in (2, 125), done
    assert len(done.stderr.strip().splitlines()) == 1 and b"16" in done.stderr, done


def test_code_of_10_mb_runs(box):
    path = box.dir / "large.py"
    path.write_bytes(b"#" * (10 << 20) + b"\nprint('ran')\n")
    box.user.own(path)
    done = box.cli("run", "--tier", box.tier, "-f", str(path), timeout=90)
    assert done.stdout == b"ran\n", done


def test_a_nul_in_code_is_an_error_of_the_program(box):
    path = box.dir / "nul.py"
    path.write_bytes(b"print(1)\0\n")
    box.user.own(path)
    done = box.cli("run", "--json", "--tier", box.tier, "-f", str(path))
    assert json.loads(done.stdout)["status"] == "error", done


def test_without_c_or_f_a_path_is_a_file_and_the_rest_is_code(any_box):
    path = any_box.dir / "prog.py"
    path.write_text("print('file')")
    done = any_box.cli("run", "prog.py")
    assert done.stdout == b"file\n", done
    done = any_box.cli("run", "print('code')")
    assert done.stdout == b"code\n", done
    done = any_box.cli("run", "-c", "prog = 1; print(prog)")
    assert done.stdout == b"1\n", done


def test_a_program_of_the_operators_path_is_never_looked_up(box):
    """Neither the command nor karzer's own programs."""
    evil = box.user.work()
    for name in ("mytool", "karzer-jail", "karzer-agent", "python3", "sh"):
        (evil / name).write_text("#!/bin/sh\necho EVIL\n")
        (evil / name).chmod(0o755)
    path = f"{evil}:/usr/bin:/bin"
    done = box.cli("exec", "--tier", box.tier, "--", "mytool", env={"PATH": path})
    assert done.returncode == 127 and b"EVIL" not in done.stdout, done
    done = box.cli("run", "--tier", box.tier, "-c", "print(1)", env={"PATH": path})
    assert done.stdout == b"1\n", done
    done = box.cli("run", "--tier", box.tier, "-c", "print(1)", env={"PATH": ""})
    assert done.stdout == b"1\n", done


def test_help_of_every_command_is_complete(any_box):
    verbs = ("run", "exec", "tiers", "doctor", "attack", "bench", "log", "version")
    top = any_box.cli("--help")
    assert top.returncode == 0
    for verb in verbs:
        assert verb.encode() in top.stdout, verb
        done = any_box.cli(verb, "--help")
        assert done.returncode == 0 and done.stdout.startswith(b"Usage") or \
            b"karzer " + verb.encode() in done.stdout, done
    text = any_box.cli("run", "--help").stdout.decode()
    for option in ("tier", "lang", "json", "mem", "cpu", "cpu-time", "wall", "pids",
                   "disk", "inodes", "nofile", "output", "output-kill", "net", "env",
                   "in", "out", "workspace", "python", "may-lack"):
        assert f"--{option}" in text, option


@pytest.mark.parametrize("what", ["run", "exec"])
def test_options_take_their_value_both_ways(any_box, what):
    tail = ["-c", "print(1)"] if what == "run" else ["--", "echo", "1"]
    for form in (["--mem=100M"], ["--mem", "100M"]):
        assert any_box.cli(what, *form, *tail).stdout == b"1\n"


def test_tiers_and_doctor_say_the_same_as_runs(box):
    done = box.cli("tiers", "--json")
    assert done.returncode == 0
    assert box.tier in done.stdout.decode()
    doctor = box.cli("doctor", "--json")
    assert doctor.returncode == 0 and json.loads(doctor.stdout), doctor
    text = box.cli("doctor").stdout.decode()
    assert "memory" in text and "pids" in text, text


def test_tiers_and_doctor_tell_what_no_setting_says(box):
    """A seccomp filter around us: every sysctl would allow a namespace."""
    filtered = [*box.user.prefix, str(box.session.helper / "refuse_namespaces")]

    def cli(*args):
        argv = [*filtered, *box.command(*args)[len(box.user.prefix):]]
        return subprocess.run(argv, capture_output=True, stdin=subprocess.DEVNULL,
                              env=box.user.env, check=False, timeout=60)

    runs = cli("exec", "--tier", box.tier, "--", "true").returncode == 0
    rows = {r["name"]: r for r in json.loads(cli("tiers", "--json").stdout)}
    assert rows[box.tier]["available"] == runs, rows
    assert bool(rows[box.tier]["why"]) != runs, rows
    rows = {r["name"]: r for r in json.loads(cli("doctor", "--json").stdout)["tiers"]}
    assert rows[box.tier]["available"] == runs, rows
    assert box.tier != "container" or not runs


@pytest.mark.users("user")
def test_doctor_says_what_replaces_control_groups(box):
    done = box.cli("doctor", "--json")
    missing = {c["name"]: c for c in json.loads(done.stdout)["checks"]
               if c["name"].startswith("cgroup ") and c["state"] == "missing"}
    if "cgroup cpu" not in missing:
        pytest.skip("this user has control groups")
    assert "--may-lack cpu" in missing["cgroup cpu"]["instead"], missing
    assert all(c["instead"] for n, c in missing.items() if n != "cgroup namespace"), missing
    assert "instead: processor affinity" in box.cli("doctor").stdout.decode()
    assert box.run("1", "--cpu", "0.5").status == "unavailable"
    assert box.run("1", "--cpu", "0.5", "--may-lack", "cpu").status == "ok"


def test_version_says_one_line(any_box):
    done = any_box.cli("version")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 1


def test_what_was_limited_is_told_with_the_option_that_allows_it(box):
    done = box.cli("run", "--tier", box.tier, "--mem", "64M", "--wall",
                   karzer.seconds(20), "-c", "b = []\nwhile True: b.append(bytearray(1 << 20))")
    assert done.returncode == 137, done
    last = done.stderr.decode().strip().splitlines()[-1]
    assert last.startswith("karzer:") and "--mem" in last, done
    done = box.cli("run", "--tier", box.tier, "--wall", karzer.seconds(0.5), "-c",
                   "import time; time.sleep(60)")
    assert done.returncode == 124 and b"--wall" in done.stderr, done


def test_too_much_output_is_told(box):
    done = box.cli("exec", "--tier", box.tier, "--output", "4K", "--", "yes")
    assert done.returncode == 137 and b"--output" in done.stderr, done.stderr
    assert len(done.stdout) < 4 << 20


def test_json_is_one_line_and_nothing_else(box):
    done = box.cli("run", "--json", "--tier", box.tier, "-c", "print(1)")
    assert len(done.stdout.splitlines()) == 1 and done.stderr == b""
    want = {"id", "status", "detail", "message", "exit_code", "signal", "stdout",
            "stderr", "results", "error", "usage", "timing", "effective",
            "boundary", "files"}
    assert want <= set(json.loads(done.stdout))


def test_auto_takes_the_strongest_tier(any_box):
    done = any_box.cli("run", "--json", "-c", "print(1)")
    assert json.loads(done.stdout)["effective"]["tier"] == "container"


def test_a_standard_output_that_is_full_is_not_ok(any_box):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            any_box.command("exec", "--", "echo", "lost"), stdout=full,
            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=any_box.user.env,
            check=False, timeout=60)
    assert done.returncode != 0 and done.stderr, done


def test_no_free_space_for_scratch_or_state_is_told(any_box):
    """A state directory on a full tmpfs."""
    if os.getuid() != 0:
        lack("root", "needs root to mount")
    state = any_box.user.work()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k,mode=700", "full", state],
                   check=True)
    try:
        with open(state / "fill", "wb", 0) as f:
            try:
                while True:
                    f.write(bytes(4096))
            except OSError:
                pass
        done = any_box.cli("exec", "--", "echo", "RAN", env={"KARZER_STATE": str(state)})
        assert done.returncode == 125 and b"RAN" not in done.stdout, done
        assert b"space" in done.stderr, done
    finally:
        subprocess.run(["umount", state], check=True)
