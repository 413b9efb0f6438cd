"""What shows on the host that an attack got through: CHECK of a file names one.

Each is called with the Given (given.py) of the attack and what the attack
printed, after its cell has ended and its files came out, and gives the
evidence, or None. Bare, `given.box` is None and nothing was copied: what a
careless tool would do is then done by the check itself.

The second part is called by MEANWHILE, while the cell of the attack runs.
"""
import os
import pathlib
import shutil
import stat
import subprocess

import karzer
from checks_process import (  # noqa: F401
    core_file, large_copy, left_behind, survivors)

TIMES = 6 if karzer.GUEST else 30  # that a cell is started while things change


def ask(given, *words, cwd=None, verb="exec"):
    """One more call of karzer: what it said of the secrets, or None."""
    done = given.box.cli(verb, "--tier", given.box.tier, *words, cwd=cwd)
    found = given.evidence((done.stdout + done.stderr).decode("utf-8", "replace"))
    return found and f"{' '.join(map(str, words))}: {found}"


def first(found):
    return next(filter(None, found), None)


def planted_nothing(given, _):
    """All of it was checked meanwhile, and is checked by what was given."""
    return given.evidence("\n".join(given.told))


def plain(top):
    """Is there nothing but files and directories with usual modes?"""
    for where, dirs, files in os.walk(top):
        for name in dirs + files:
            st = os.lstat(os.path.join(where, name))
            if not (stat.S_ISREG(st.st_mode) or stat.S_ISDIR(st.st_mode)):
                return f"{name} is no file: {stat.filemode(st.st_mode)}"
            if st.st_mode & 0o6000:
                return f"{name} is set-id"
    return None


def contents(top):
    for where, _, files in os.walk(top):
        for name in files:
            path = pathlib.Path(where, name)
            if path.is_file():
                yield path.read_text(errors="replace")


def only_plain_files_came_out(given, _):
    out = given.values["out"]
    if given.box is None:
        pathlib.Path("/tmp/out/root").unlink(missing_ok=True)  # the whole disk
        subprocess.run(["cp", "-aL", "/tmp/out/.", out], check=False,
                       stderr=subprocess.DEVNULL)
        karzer.wait_until(lambda: shutil.rmtree("/tmp/out", ignore_errors=True)
                          or not os.path.exists("/tmp/out"), 20)
    return plain(out) or given.evidence("\n".join(contents(out)))


def planted_targets_led_nowhere(given, _):
    work = pathlib.Path(given.values["workspace"])
    if given.box is None:
        subprocess.run(f"cp /tmp/file {work}/file; cp -r /tmp/tree/. {work}/tree;"
                       f"cp /tmp/file {work}/results; rm -r /tmp/file /tmp/tree",
                       shell=True, check=False, stderr=subprocess.DEVNULL)
    return given.evidence("")


def no_setid_was_left(given, _):
    for where, dirs, files in os.walk(given.values["workspace"]):
        for name in dirs + files:
            path = os.path.join(where, name)
            if os.lstat(path).st_mode & 0o6000:
                return f"{name} is {stat.filemode(os.lstat(path).st_mode)}"
            if "security.capability" in os.listxattr(path, follow_symlinks=False):
                return f"{name} has capabilities"
    return None


def shows_planted_links(given, _):
    """Each link as the next --workspace: what it leads to is not shown."""
    work = pathlib.Path(given.values["workspace"])
    for path in sorted(work.iterdir()):
        done = given.box.cli("exec", "--tier", given.box.tier, "--workspace",
                             f"{path}:ro", "--", "ls", os.readlink(path))
        if done.returncode != 125:
            return f"{path} was shown: {done.stdout[:200]} {done.stderr[:200]}"
    return None


def refuses_reserved_workspaces(given, _):
    for path in ("/proc", "/sys", "/dev", "/", "/proc/self", "/dev/shm", "/sys/fs",
                 "//", "/proc/", "/./proc", "/usr/../proc", "/proc/1/root",
                 "/proc/self/cwd", "/proc/self/fd/0", "/dev/fd"):
        done = given.box.cli("exec", "--tier", given.box.tier, "--workspace",
                             path, "--", "true")
        if done.returncode != 125:
            return f"--workspace {path} ended with {done.returncode}"
    return None


def takes_no_option_for_a_word(given, _):
    path = given.values["host_file"]
    shown = f"--workspace={os.path.dirname(path)}"
    read = f"print(open({path!r}).read())"
    return first((
        ask(given, "--", shown, "cat", path),
        ask(given, "--", "env", shown, "cat", path),
        ask(given, "env", shown, "cat", path),
        ask(given, "--", "--", shown, "cat", path),
        ask(given, "cat", path, shown),
        ask(given, "--env", f"A=1\n{shown}", "--", "cat", path),
        ask(given, "-c", read, "--", shown, verb="run"),
        ask(given, "-c", shown, "--", path, verb="run"),
        ask(given, "--in", f"{shown}:/tmp/x", "--", "cat", path),
        ask(given, "--bind", "/", "/", "--", "cat", path),
        ask(given, "--", "--bind", "/", "/", "cat", path)))


def follows_no_planted_link(given, _):
    """As each kind of path of the host that karzer takes."""
    work = pathlib.Path(given.values["workspace"])
    path = pathlib.Path(given.values["host_file"])
    out = first(ask(given, option, f"{work}/{at}", "--", "sh", "-c",
                    f"cat {path}; cat {work}/{at}/{path.name}; cat /tmp/in")
                for option, at in (
                    ("--workspace", "link"), ("--workspace", "sub/link"),
                    ("--workspace", "sub/link/."), ("--workspace", "venv/bin"),
                    ("--in", f"link/{path.name}:/tmp/in"), ("--in", "link:/tmp/in"),
                    ("--in", f"sub/link/{path.name}:/tmp/in"),
                    ("--in", "sub/file:/tmp/in"),
                    ("--python", "venv"), ("--python", f"venv/bin/{path.name}")))
    for at in ("link/new", "sub/link/", "sub/link/new", "link"):
        given.box.cli("exec", "--tier", given.box.tier, "--out",
                      f"/tmp/new:{work}/{at}", "--", "sh", "-c", "echo x >/tmp/new")
        if sorted(os.listdir(path.parent)) != [path.name]:
            return f"--out {at} made a file in {path.parent}"
    return out


def believes_no_file_of_a_cell(given, _):
    work = pathlib.Path(given.values["workspace"])
    path = given.values["host_file"]
    for words in (["--python", work / "venv"], ["--python", work / "tree"],
                  ["--python", work / "tree/bin" / os.path.basename(path)],
                  ["--workspace", f"{work}:ro", "--python", work / "venv"],
                  ["--workspace", f"{work}:ro"]):
        found = ask(given, *words, "--", "sh", "-c", f"cat {path}; id -u", cwd=work)
        done = given.box.cli("exec", "--tier", given.box.tier, *words, "--", "id",
                             "-u", cwd=work)
        if found or done.stdout == b"0\n":
            return found or f"{words} made it root"
    return ask(given, "-c", f"print(open({path!r}).read())", cwd=work, verb="run")


def refuses_bombs_in(given, _):
    work = pathlib.Path(given.values["workspace"])
    sparse = work / "sparse"
    sparse.mkdir()
    with open(sparse / "huge", "w") as f:
        f.truncate(8 << 40)
    deep = work / "deep"
    at = os.open(work, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("deep", dir_fd=at)
        below = os.open("deep", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    many = work / "many"
    many.mkdir()
    for n in range(200):
        (many / f"{n}").mkdir()
        for m in range(60):
            os.link(work / "sparse" / "huge", many / f"{n}" / f"{m}")
    try:
        for tree in (sparse, deep, many):
            done = given.box.cli("exec", "--tier", given.box.tier, "--in",
                                 f"{tree}:/tmp/in", "--", "echo", "STARTED")
            if done.returncode != 125 or b"STARTED" in done.stdout:
                return f"{tree.name} went in: {done.stdout} {done.stderr[:300]}"
    finally:
        subprocess.run(["rm", "-rf", *map(str, (sparse, deep, many))], check=True)
    return None


# ---- meanwhile ----

def begun(given):
    """The work of the attack's cell, once it has made its links."""
    work = pathlib.Path(given.values["workspace"])
    assert karzer.wait_until((work / "begun").exists, 30), "it has not begun"
    return work


def enough(work):
    """Ends the attack's loop."""
    (work / "enough").touch()
    return None


def shows_while_exchanged(given):
    work = begun(given)
    name = os.path.basename(given.values["host_file"])
    for _ in range(TIMES):
        done = given.box.cli(
            "exec", "--tier", given.box.tier, "--workspace", f"{work}/shown:ro",
            "--", "sh", "-c",
            f"cat {work}/shown/{name} {given.values['host_file']}")
        given.told.append(done.stdout.decode("utf-8", "replace"))
    enough(work)


def takes_out_while_exchanged(given):
    work = begun(given)
    for n in range(TIMES):
        at = ("results", "results/deep", "results/deep/deeper")[n % 3]
        given.box.cli("exec", "--tier", given.box.tier, "--out",
                      f"/tmp/new:{work}/{at}/new", *(["--workspace", f"{work}:ro"]
                                                     if n % 2 else []),
                      "--", "sh", "-c", "mkdir /tmp/new; echo x >/tmp/new/file")
    enough(work)


def copies_in_while_exchanged(given):
    work = begun(given)
    name = os.path.basename(given.values["host_file"])
    for n in range(TIMES):
        at = ("tree", f"tree/{name}", f"tree/directory/{name}")[n % 3]
        done = given.box.cli(
            "exec", "--tier", given.box.tier, "--in", f"{work}/{at}:/tmp/in",
            *(["--workspace", f"{work}:ro"] if n % 2 else []), "--", "sh", "-c",
            "cat /tmp/in; cat /tmp/in/*; cat /tmp/in/*/*")
        given.told.append(done.stdout.decode("utf-8", "replace"))
    enough(work)
