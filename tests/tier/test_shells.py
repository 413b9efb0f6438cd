"""The manual page and the completions: made from the tables, taken by their readers."""
import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest

import karzer

BASH = "share/bash-completion/completions/karzer"
ZSH = "share/zsh/site-functions"
MAN = "share/man/man1/karzer.1"


def program(name):
    if shutil.which(name) is None:
        karzer.lack(name, f"no {name}")
    return name


def bash(box, *words):
    """What bash offers for the last of these words, and by compopt."""
    script = (f"compopt() {{ echo \"$*\"; }}; . '{box.session.tree / BASH}'; "
              "COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _karzer; "
              "printf '%s\\n' \"${COMPREPLY[@]}\"")
    done = subprocess.run(["bash", "--norc", "-c", script, "bash", *words],
                          capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 0 and done.stderr == "", done
    return set(done.stdout.split("\n")) - {""}


def options_of(box, verb):
    text = box.cli("help", verb).stdout.decode()
    return set(re.findall(r"^  (?:-\w, |    )(--[a-z0-9-]+)", text, re.M))


def verbs_of(box):
    text = box.cli("help").stdout.decode()
    return set(re.findall(r"^  ([a-z]+) ", text.split("commands:")[1].split("\n\n")[0], re.M))


def test_bash_offers_every_command(any_box):
    assert bash(any_box, "karzer", "") == verbs_of(any_box) | {"--help", "--version"}
    assert bash(any_box, "karzer", "ex") == {"exec"}


def test_bash_offers_every_option_of_each_command(any_box):
    for verb in verbs_of(any_box):
        offered = bash(any_box, "karzer", verb, "-")
        assert {o for o in offered if o.startswith("-")} == options_of(any_box, verb), verb


@pytest.mark.parametrize("words,offered", [
    (("run", "--wo"), {"--workspace"}),
    (("run", "--tier", "con"), {"container"}),
    (("run", "--tier", "=", "con"), {"container"}),
    (("run", "--tier", "="), {"auto", "container", "process"}),
    (("run", "--mem", ""), set()),
    (("run", "-c", ""), set()),
    (("run", "--file", ""), {"-o default"}),
    (("exec", "--workspace", ""), {"-o dirnames"}),
    (("log", "--kind", "run.f"), {"run.finished"}),
    (("log", "ver"), {"-o default", "verify"}),
    (("help", "ben"), {"-o default", "bench"}),
    (("run", "--", "--wo"), {"-o default"}),
])
def test_bash_offers_values(any_box, words, offered):
    assert bash(any_box, "karzer", *words) == offered


def test_bash_offers_commands_behind_exec(any_box):
    assert "sh" in bash(any_box, "karzer", "exec", "--", "s")
    assert bash(any_box, "karzer", "exec", "--", "sh", "s") == {"-o default"}


def typed(argv, env, keys, until, seconds=20):
    """The screen of a shell in which keys were typed, until it shows `until`."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execvpe(argv[0], argv, env)
    seen, end, typed_at = b"", time.monotonic() + seconds * karzer.SLOW, 0
    try:
        while time.monotonic() < end and until not in seen:
            if select.select([fd], [], [], 0.2)[0]:
                seen += os.read(fd, 65536)
            if b"READY" in seen and keys:
                os.write(fd, keys)
                keys, typed_at = b"", time.monotonic()
        assert typed_at, seen
    except OSError:
        pass
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(fd)
    return seen


def test_a_living_bash_completes_an_option(any_box, tmp_path):
    rc = tmp_path / "rc"
    rc.write_text(f". '{any_box.session.tree / BASH}'\nPS1='REA''DY$ '\n")
    env = {"PATH": "/usr/bin:/bin", "TERM": "dumb", "HOME": str(tmp_path)}
    seen = typed(["bash", "--rcfile", str(rc), "-i"], env, b"karzer exec --works\t",
                 b"--workspace")
    assert b"--workspace" in seen, seen


@pytest.mark.parametrize("keys,until", [
    (b"karzer exec --works\t", b"--workspace"),
    (b"karzer doct\t", b"doctor"),
    (b"karzer run --tier contai\t", b"container"),
    (b"karzer log --anc\t", b"--anchor"),
])
def test_a_living_zsh_completes(any_box, tmp_path, keys, until):
    program("zsh")
    tree = any_box.session.tree
    (tmp_path / ".zshrc").write_text(
        f"fpath=('{tree / ZSH}' $fpath)\nautoload -U compinit && compinit -u -D\n"
        "zstyle ':completion:*' menu no\nPS1='REA''DY$ '\nunsetopt zle_bracketed_paste\n")
    env = {"PATH": f"{tree / 'bin'}:/usr/bin:/bin", "TERM": "dumb", "HOME": str(tmp_path),
           "ZDOTDIR": str(tmp_path)}
    seen = typed(["zsh", "-i"], env, keys, until)
    assert until in seen, seen


def test_zsh_has_every_option_of_each_command(any_box):
    text = (any_box.session.tree / ZSH / "_karzer").read_text()
    for verb in verbs_of(any_box):
        part = re.search(rf"^    {verb}\)\n(.*?)^        ;;", text, re.M | re.S).group(1)
        assert set(re.findall(r"'\*?(--[a-z0-9-]+)\[", part)) == options_of(any_box, verb), verb


def test_the_manual_page_has_no_fault(any_box):
    page = str(any_box.session.tree / MAN)
    for argv in (["groff", "-ww", "-z", "-man", "-Tutf8", page],
                 ["mandoc", "-Tlint", "-W", "warning", page]):
        program(argv[0])
        done = subprocess.run(argv, capture_output=True, check=False, timeout=60)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), done


def test_the_manual_page_names_every_command_option_and_variable(any_box):
    done = subprocess.run([program("mandoc"), "-Tascii", "-Owidth=200",
                           str(any_box.session.tree / MAN)],
                          capture_output=True, check=False, timeout=60)
    text = re.sub(rb".\x08", b"", done.stdout).decode()
    for verb in verbs_of(any_box):
        assert f"karzer {verb}" in text
        for option in options_of(any_box, verb):
            assert re.search(rf"^ +(-\w, )?{option}\b", text, re.M), (verb, option)
    source = karzer.REPO / "src/cli/main.c"  # not in the test guest
    for name in re.findall(r'getenv\("(\w+)"\)', source.read_text() if source.exists() else ""):
        assert re.search(rf"^ +{name}\b", text, re.M), name
