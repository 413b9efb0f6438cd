"""Every status, and each near miss: a limit that was hit and survived is ok."""
import subprocess

import pytest

import karzer
from karzer import brief, seconds

MB = 1 << 20
EAT = "import time\nb = []\nfor i in range(600):\n    b.append(bytearray({0}))\n"


@pytest.mark.kernel
def test_a_program_that_succeeds_is_ok(box):
    r = box.run("print(6 * 7)")
    assert (r.status, r.exit_code, r.signal, r.rc) == ("ok", 0, None, 0), r
    assert r.stdout == b"42\n" and r.stderr == b""
    assert r.detail is None


def test_a_program_that_fails_is_an_error_with_its_exit_code(box):
    r = box.run("import sys; sys.exit(7)")
    assert (r.status, r.exit_code, r.rc) == ("error", 7, 7), r


def test_an_exception_is_an_error_with_name_value_and_traceback(box):
    r = box.run("1 / 0")
    assert (r.status, r.exit_code, r.rc) == ("error", 1, 1), r
    assert r.error["name"] == "ZeroDivisionError"
    assert r.error["value"] == "division by zero"
    assert "Traceback" in r.error["traceback"]


@pytest.mark.parametrize("number", [6, 9, 11, 15])
def test_a_program_that_dies_by_a_signal_is_an_error_with_it(box, number):
    r = box.python(f"import os; os.kill(os.getpid(), {number})")
    assert (r.status, r.signal, r.exit_code) == ("error", number, None), r
    assert r.rc == 128 + number


@pytest.mark.parametrize("code", [1, 2, 3, 77, 124, 125, 126, 127, 137, 143, 255])
def test_a_program_that_exits_with_a_code_of_ours_is_still_an_error(box, code):
    r = box.python(f"import os; os._exit({code})")
    assert (r.status, r.exit_code, r.signal, r.rc) == ("error", code, None, code), r


@pytest.mark.kernel
def test_wall_time_that_runs_out_is_a_timeout(box):
    r = box.run("while True: pass", "--wall", brief(0.5))
    assert (r.status, r.detail, r.rc) == ("timeout", "wall", 124), r


@pytest.mark.kernel
def test_sleeping_does_not_stop_wall_time(box):
    r = box.run("import time; time.sleep(3600)", "--wall", brief(0.5))
    assert (r.status, r.detail, r.rc) == ("timeout", "wall", 124), r
    assert r.usage["wall_ms"] < 20000


@pytest.mark.kernel
def test_processor_time_that_runs_out_is_a_timeout(box):
    r = box.run("while True: pass", "--cpu-time", brief(0.5), "--wall", seconds(20))
    assert (r.status, r.detail, r.rc) == ("timeout", "cpu", 124), r
    assert "cpu-time" in r.limits_hit(), r


def test_sleeping_uses_no_processor_time(box):
    r = box.run("import time; time.sleep(0.7)", "--cpu-time", seconds(0.5))
    assert r.status == "ok", r
    assert r.usage["cpu_ms"] < r.usage["wall_ms"]


@pytest.mark.kernel
def test_too_much_memory_ends_the_run_as_memory(box):
    r = box.run(EAT.format(MB), "--mem", "64M", "--wall", seconds(20))
    assert (r.status, r.rc) == ("memory", 137), r
    assert "mem" in r.limits_hit(), r


def test_a_memory_error_that_was_caught_is_ok(box):
    """A refused allocation is not an end: the program goes on."""
    r = box.run("try:\n    b = bytearray(1 << 46)\nexcept MemoryError:\n"
                "    print('went on')")
    assert (r.status, r.text) == ("ok", "went on\n"), r


def test_a_memory_error_out_of_reach_of_any_limit_is_an_error(box):
    r = box.run("bytearray(1 << 46)")
    assert r.status in ("error", "memory"), r
    assert r.error["name"] == "MemoryError"
    if "cgroup" in r.effective["mechanisms"]["memory"]:
        assert r.status == "error", r  # the counter is no evidence of a limit


@pytest.mark.kernel
def test_a_child_ended_for_memory_while_its_parent_recovers_is_ok(box):
    r = box.python(
        "import subprocess, sys\n"
        "c = subprocess.run([sys.executable, '-I', '-S', '-c',\n"
        "    'b=[]\\nfor i in range(600): b.append(bytearray(1<<20))'],\n"
        "    stderr=subprocess.DEVNULL)\n"
        "print('recovered', c.returncode != 0)\n", "--mem", "64M", "--disk", "64K")
    assert (r.status, r.text) == ("ok", "recovered True\n"), r
    # An rlimit refuses what the child asks for: no process was killed.
    if "cgroup" in r.effective["mechanisms"]["memory"]:
        assert "mem" in r.limits_hit(), r


@pytest.mark.kernel
def test_a_full_process_limit_answers_eagain_and_ends_nobody(box):
    r = box.python(
        "import os, errno, time, signal\n"
        "pids, why = [], 0\n"
        "for i in range(100):\n"
        "    try:\n"
        "        pid = os.fork()\n"
        "    except OSError as e:\n"
        "        why = e.errno\n"
        "        break\n"
        "    if pid == 0:\n"
        "        time.sleep(60)\n"
        "        os._exit(0)\n"
        "    pids.append(pid)\n"
        "alive = 0\n"
        "for p in pids:\n"
        "    os.kill(p, 0)\n"
        "    alive += os.waitpid(p, os.WNOHANG) == (0, 0)\n"
        "print(errno.errorcode.get(why), len(pids) == alive, len(pids) < 20)\n",
        "--pids", "16")
    assert (r.status, r.text) == ("ok", "EAGAIN True True\n"), r
    assert r.usage["peak_processes"] is None or r.usage["peak_processes"] <= 16


def test_a_survived_eagain_is_ok_plus_an_event(box):
    r = box.python(
        "import os, time\n"
        "try:\n"
        "    for i in range(50):\n"
        "        if os.fork() == 0: time.sleep(60); os._exit(0)\n"
        "except BlockingIOError:\n"
        "    print('survived')\n", "--pids", "8")
    assert (r.status, r.text) == ("ok", "survived\n"), r
    if "rlimit" not in r.effective["mechanisms"]["pids"]:
        assert "pids" in r.limits_hit(), r


def test_a_program_ended_by_eagain_is_processes(box):
    r = box.run("import os, time\n"
                "for i in range(50):\n"
                "    if os.fork() == 0: time.sleep(60); os._exit(0)\n",
                "--pids", "8")
    assert r.status == "processes", r
    assert r.error["name"] == "BlockingIOError" and r.rc == 1


def test_full_scratch_that_was_survived_is_ok_plus_an_event(box):
    r = box.python(
        "import errno\n"
        "try:\n"
        "    with open('/tmp/f', 'wb', 0) as f:\n"
        "        for i in range(200): f.write(bytes(1 << 20))\n"
        "except OSError as e:\n"
        "    print(errno.errorcode[e.errno])\n"
        "import time; time.sleep(0.2)\n", "--disk", "16M")
    assert r.status == "ok", r
    assert r.text.strip() in ("ENOSPC", "EDQUOT", "EFBIG"), r
    assert "disk" in r.limits_hit(), r


def test_a_program_ended_by_full_scratch_is_disk(box):
    r = box.run("with open('/tmp/f', 'wb', 0) as f:\n"
                "    for i in range(200): f.write(bytes(1 << 20))\n",
                "--disk", "16M")
    assert r.status == "disk", r
    assert r.error["name"] == "OSError" and r.rc == 1


@pytest.mark.kernel
def test_scratch_bytes_do_not_count_as_memory(box):
    r = box.python(
        "import time\n"
        "with open('/tmp/f', 'wb', 0) as f:\n"
        "    for i in range(100): f.write(bytes(1 << 20))\n"
        "time.sleep(0.3)\n"
        "print('kept')\n", "--mem", "64M", "--disk", "200M", "--wall", seconds(30))
    assert (r.status, r.text) == ("ok", "kept\n"), r
    assert r.usage["disk_bytes"] is None or r.usage["disk_bytes"] >= 100 * MB


def test_output_within_64_times_its_cap_is_kept_head_and_tail(box):
    r = box.python("import os\n"
                   "os.write(1, b'HEAD')\n"
                   "for i in range(20): os.write(1, bytes([97 + i]) * 4096)\n"
                   "os.write(1, b'TAIL')\n", "--output", "16K")
    assert r.status == "ok", r
    assert r.stdout_total_bytes == 20 * 4096 + 8
    assert r.stdout_kept_bytes == len(r.stdout) == 16384
    assert r.stdout[:4] == b"HEAD" and r.stdout[-4:] == b"TAIL"
    assert r.stdout_gap_at == 8192


def test_output_past_64_times_its_cap_ends_the_run(box):
    r = box.python("import os\nwhile True: os.write(1, bytes(65536))",
                   "--output", "16K", "--wall", seconds(20))
    assert (r.status, r.rc) == ("output", 137), r
    assert 64 * 16384 <= r.stdout_total_bytes < 64 << 20


def test_with_output_kill_output_past_the_cap_ends_the_run(box):
    r = box.python("import os, time\nos.write(1, bytes(20000)); time.sleep(60)",
                   "--output", "16K", "--output-kill", "--wall", seconds(20))
    assert (r.status, r.rc) == ("output", 137), r


def test_a_tier_that_is_not_known_is_a_usage_error(any_box):
    done = any_box.cli("run", "--tier", "nope", "-c", "print(1)")
    assert done.returncode in (2, 125), done
    assert b"nope" in done.stderr and done.stdout == b""


def test_a_command_that_is_not_there_is_127(box):
    r = box.exec("no-such-program")
    assert r.rc == 127 and r.status == "error", r
    assert b"no-such-program" in r.stderr or "no-such-program" in r.message


def test_a_command_that_is_not_a_program_is_126(box):
    r = box.exec("/etc/passwd")
    assert r.rc == 126 and r.status == "error", r


@pytest.mark.users("user")
@pytest.mark.tiers("container")
def test_an_ordinary_user_without_user_namespaces_is_told_the_fix(box):
    """In a user namespace of the test's own, whose limit of them is zero."""
    uid = str(box.user.uid)
    argv = box.command("run", "--json", "--tier", "container", "-c", "print(1)")
    cut = len(box.user.prefix)
    done = subprocess.run(
        [*argv[:cut], "unshare", "-U", "--map-user", uid, "--map-group", uid,
         "--keep-caps", "sh", "-c",
         "echo 0 > /proc/sys/user/max_user_namespaces && "
         "exec setpriv --inh-caps -all --ambient-caps -all -- \"$@\"",
         "sh", *argv[cut:]],
        capture_output=True, env=box.user.env, check=False, timeout=60)
    r = karzer.Result(done)
    assert (r.status, r.rc) == ("unavailable", 125), r
    assert "user.max_user_namespaces" in r.message, r
