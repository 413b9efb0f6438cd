"""Templates: a root file system of one's own, in place of the host's."""
import base64
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tarfile
import time

import pytest

import karzer

REPO = karzer.REPO
PROGRAMS = ("sh", "cat", "ls", "id", "sleep", "stat", "touch", "chmod")


def build_tree(tree):
    """A small root file system: a few of the host's programs and their
    libraries, with the links of a merged /usr."""
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "etc").mkdir()
    (tree / "var/lib").mkdir(parents=True)
    (tree / "etc/marker").write_text("template\n")
    (tree / "var/lib/data").write_text("data\n")
    for name in ("bin", "lib", "lib64"):
        (tree / name).symlink_to(f"usr/{name}")
    for name in PROGRAMS:
        real = os.path.realpath(shutil.which(name, path="/usr/bin:/bin"))
        shutil.copy(real, tree / "usr/bin" / name)
        libs = subprocess.run(["ldd", real], capture_output=True, text=True,
                              check=True).stdout
        for lib in re.findall(r"(/\S+\.so\S*)", libs):
            to = tree / "usr" / lib.removeprefix("/usr").lstrip("/")
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(os.path.realpath(lib), to)
    return tree


@pytest.fixture(scope="module")
def tree(session):
    return build_tree(session.dir / "small-tree")


def template(box, *args, **more):
    return box.cli("template", *args, **more)


def store(box):
    return box.user.state / "templates"


def digest(box, name):
    return (store(box) / "names" / name).read_text().strip()


def nothing_came_of_it(box, name):
    left = [str(p) for p in store(box).glob("*/*") if name in p.name]
    return left == [] and not (store(box) / "names" / name).exists()


@pytest.fixture
def small(box, tree):
    """The small template, as `box`'s user has it."""
    if not (store(box) / "names/small").exists():
        done = template(box, "build", "small", "--dir", tree)
        assert done.returncode == 0, done
    return box


def archive(path, *members, mode="w", **more):
    """A tar of TarInfo, or (TarInfo, bytes)."""
    with tarfile.open(path, mode, **more) as tar:
        for member in members:
            info, data = member if isinstance(member, tuple) else (member, b"")
            tar.addfile(info, io.BytesIO(data))
    path.chmod(0o644)
    return path


def entry(name, data=b"", kind=tarfile.REGTYPE, link="", mode=0o644, **more):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode, info.size = kind, link, mode, len(data)
    for key, value in more.items():
        setattr(info, key, value)
    return info, data


# ---- what is seen ----

@pytest.mark.kernel
@pytest.mark.tiers("container")
def test_a_cell_sees_the_template_and_nothing_of_the_host(small):
    r = small.shell("cat /etc/marker /var/lib/data; ls /usr/bin; id; "
                    "cat /etc/hostname; ls -d /usr/share/* /opt /srv 2>&1",
                    "--template", "small")
    assert r.status == "ok" or r.exit_code == 2, r
    assert r.text.startswith("template\ndata\n"), r
    names = set(r.text.split("uid=")[0].split()[2:])
    assert names == set(PROGRAMS), r
    assert "uid=1000(user)" in r.text or small.user.root, r
    assert "No such file" in r.text and "karzer\n" in r.text, r


@pytest.mark.kernel
@pytest.mark.tiers("container")
def test_the_template_is_read_only_and_its_cell_has_the_usual_places(small):
    r = small.shell("touch /usr/x /etc/x /x 2>/tmp/errors; chmod 777 /usr/bin/sh "
                    "2>>/tmp/errors; cat /tmp/errors; touch /tmp/a /var/tmp/b "
                    "/dev/shm/c ~/d && ls /proc/self/status /dev/null && "
                    "cat /proc/cmdline",
                    "--template", "small")
    assert r.status == "ok", r
    assert r.text.count("Read-only file system") == 4, r
    assert r.text.endswith("/dev/null\n/proc/self/status\n"), r
    tree = store(small) / "trees" / digest(small, "small") / "root"
    assert not (tree / "usr/x").exists()


@pytest.mark.tiers("container")
def test_the_result_and_the_record_name_the_template(small):
    r = small.exec("id", options=["--template", "small"])
    want = {"name": "small", "sha256": digest(small, "small")}
    assert r.effective["template"] == want, r
    assert r.events("run.granted")[0]["template"] == want, r
    assert small.exec("id").effective["template"] is None


@pytest.mark.tiers("process")
def test_the_process_tier_says_that_it_has_no_template(small):
    r = small.exec("id", options=["--template", "small"])
    assert r.status == "unavailable" and r.rc == 125, r
    assert "--tier container" in r.message, r


def test_what_is_no_template_is_said(any_box):
    r = any_box.exec("id", options=["--template", "nosuch"])
    assert r.status == "unavailable" and "template build nosuch" in r.message, r
    for name in ("..", ".", "../x", "a/b", "", "-x", ".x", "A", "x" * 65):
        done = any_box.cli("exec", f"--template={name}", "--", "id")
        assert done.returncode == 2, (name, done)
    done = any_box.cli("run", "--template", "x", "--python", "/usr", "-c", "1")
    assert done.returncode == 2 and b"its own interpreter" in done.stderr, done


# ---- the commands ----

@pytest.mark.tiers("container")
def test_build_list_show_and_rm(box, tree):
    done = template(box, "build", "one", "--dir", tree, "--json")
    made = json.loads(done.stdout)
    assert done.returncode == 0 and made["name"] == "one", done
    assert b"template one" in done.stderr
    rows = json.loads(template(box, "list", "--json").stdout)
    row = next(r for r in rows if r["name"] == "one")
    assert row["sha256"] == made["sha256"] and not row["in_use"], rows
    shown = json.loads(template(box, "show", "one", "--json").stdout)
    assert shown["files"] == made["files"] > len(PROGRAMS), shown
    assert shown["source"]["kind"] == "dir", shown
    assert b"one" in template(box, "list").stdout
    assert made["sha256"].encode() in template(box, "show", "one").stdout
    assert template(box, "rm", "one").returncode == 0
    assert nothing_came_of_it(box, "one")
    assert template(box, "show", "one").returncode == 125


def test_a_name_is_one_component_and_rm_of_dots_touches_nothing(any_box):
    box = any_box
    before = sorted(p for p in box.user.state.rglob("*"))
    for verb in ("rm", "show", "build"):
        for name in ("..", ".", "../..", "a/../..", "/", "", ".x", "-x", "a b",
                     "UP", "a\n", "x" * 65):
            source = ["--dir", "/usr/share"] if verb == "build" else []
            done = template(box, verb, *source, "--", name)
            assert done.returncode == 2, (verb, name, done)
    assert sorted(p for p in box.user.state.rglob("*")) == before


def test_a_wrong_command_line_is_a_usage_error(any_box):
    for words in ([], ["make"], ["build"], ["build", "x"], ["list", "x"], ["rm"],
                  ["rm", "a", "b"], ["build", "x", "--dir", "/", "--tar", "y"],
                  ["list", "--dir", "/"], ["build", "x", "--packages", "a,-o"],
                  ["build", "x", "--packages", "a b"],
                  ["build", "x", "--packages", "$(id)"]):
        done = template(any_box, *words)
        assert done.returncode == 2 and done.stderr, (words, done)


def test_the_same_content_is_one_tree_with_two_names(any_box, tree):
    box = any_box
    for name in ("twin-a", "twin-b"):
        assert template(box, "build", name, "--dir", tree).returncode == 0
    assert digest(box, "twin-a") == digest(box, "twin-b")
    assert template(box, "rm", "twin-a").returncode == 0
    r = box.exec("id", options=["--template", "twin-b"])
    assert r.status == "ok", r
    assert template(box, "rm", "twin-b").returncode == 0


def test_a_template_in_use_stays_until_it_is_free(any_box, tree, tmp_path):
    box = any_box
    own = shutil.copytree(tree, tmp_path / "own", symlinks=True)
    (own / "etc/marker").write_text("in use\n")
    assert template(box, "build", "busy", "--dir", own).returncode == 0
    path = store(box) / "trees" / digest(box, "busy")
    run = box.start("exec", "--template", "busy", "--", "sh", "-c",
                    "echo up; sleep 60; cat /etc/marker")
    try:
        assert run.stdout.readline() == b"up\n"
        rows = json.loads(template(box, "list", "--json").stdout)
        assert next(r for r in rows if r["name"] == "busy")["in_use"]
        gone = json.loads(template(box, "rm", "busy", "--json").stdout)
        assert gone["kept"] == 1 and path.exists(), gone
        assert json.loads(template(box, "gc", "--json").stdout)["kept"] == 1
        assert (path / "root/etc/marker").exists()
    finally:
        karzer.end(run)
    assert karzer.wait_until(
        lambda: json.loads(template(box, "gc", "--json").stdout)["trees"] == 1)
    assert not path.exists()


def test_a_new_build_replaces_at_once_and_a_failed_one_does_not(any_box, tree,
                                                                tmp_path):
    box = any_box
    own = shutil.copytree(tree, tmp_path / "own", symlinks=True)
    marker = own / "etc/marker"
    marker.write_text("first\n")
    assert template(box, "build", "again", "--dir", own).returncode == 0
    first = digest(box, "again")
    os.mkfifo(own / "usr/fifo")
    done = template(box, "build", "again", "--dir", own)
    assert done.returncode == 2 and b"usr/fifo" in done.stderr, done
    assert digest(box, "again") == first
    (own / "usr/fifo").unlink()
    marker.write_text("second\n")
    assert template(box, "build", "again", "--dir", own).returncode == 0
    r = box.exec("cat", "/etc/marker", options=["--template", "again"])
    assert r.text == "second\n", r
    assert not (store(box) / "trees" / first).exists()
    template(box, "rm", "again")


def test_a_killed_build_leaves_the_old_template_and_the_next_one_builds(
        any_box, tree, tmp_path):
    box = any_box
    os.mkfifo(tmp_path / "slow.tar")
    assert template(box, "build", "killed", "--dir", tree).returncode == 0
    run = box.start("template", "build", "killed", "--tar",
                    tmp_path / "slow.tar")
    slow = os.open(tmp_path / "slow.tar", os.O_WRONLY)
    try:
        os.write(slow, entry("etc/marker", b"x" * 10)[0].tobuf())
        done = template(box, "build", "killed", "--dir", tree)
        assert done.returncode == 125 and b"another karzer" in done.stderr, done
    finally:
        karzer.end(run)
        os.close(slow)
    r = box.exec("cat", "/etc/marker", options=["--template", "killed"])
    assert r.text == "template\n", r
    assert karzer.wait_until(
        lambda: template(box, "build", "killed", "--dir", tree).returncode == 0)
    assert not (store(box) / "work/killed").exists()
    template(box, "rm", "killed")


# ---- archives ----

@pytest.mark.parametrize("how", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_of_any_compression_becomes_a_template(any_box, tree, tmp_path, how):
    tar = tmp_path / "tree.tar"
    with tarfile.open(tar, how) as t:
        t.add(tree, ".")
    done = template(any_box, "build", "packed", "--tar", tar)
    assert done.returncode == 0, done
    template(any_box, "build", "packed-dir", "--dir", tree)
    assert digest(any_box, "packed") == digest(any_box, "packed-dir")
    for name in ("packed", "packed-dir"):
        template(any_box, "rm", name)


def test_an_archive_comes_through_stdin_too(any_box, tree, tmp_path):
    tar = tmp_path / "tree.tar"
    with tarfile.open(tar, "w:gz") as t:
        t.add(tree, ".")
    done = template(any_box, "build", "piped", "--tar", "-",
                    stdin=tar.read_bytes())
    assert done.returncode == 0, done
    template(any_box, "rm", "piped")


DIR, LINK, HARD = tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
HOSTILE = {
    "a name with dots": [entry("../outside", b"x")],
    "dots in the middle": [entry("usr/../../outside", b"x")],
    "an absolute name": [entry("/tmp/outside", b"x")],
    "through a link that leads out": [entry("l", kind=LINK, link="/tmp"),
                                      entry("l/outside", b"x")],
    "through a relative link": [entry("a/l", kind=LINK, link="../.."),
                                entry("a/l/outside", b"x")],
    "through a link within": [entry("usr/bin", kind=DIR, mode=0o755),
                              entry("bin", kind=LINK, link="usr/bin"),
                              entry("bin/x", b"x")],
    "a file over a link": [entry("l", kind=LINK, link="/tmp/outside"),
                           entry("l", b"x")],
    "a directory over a link": [entry("l", kind=LINK, link="/tmp"),
                                entry("l", kind=DIR, mode=0o755)],
    "a hard link that leads out": [entry("h", kind=HARD, link="../../lock")],
    "a hard link to an absolute name": [entry("h", kind=HARD,
                                              link="/etc/passwd")],
    "a hard link through a link": [entry("l", kind=LINK, link="/etc"),
                                   entry("h", kind=HARD, link="l/passwd")],
    "a hard link to a link": [entry("l", kind=LINK, link="/etc/passwd"),
                              entry("h", kind=HARD, link="l")],
    "a hard link to the top": [entry("h", kind=HARD, link=".")],
    "a hard link to nothing": [entry("h", kind=HARD, link="nothing")],
    "a file that is there twice": [entry("f", b"1"), entry("f", b"2")],
    "a device": [entry("usr/disk", kind=tarfile.BLKTYPE, devmajor=8)],
    "a character device": [entry("usr/mem", kind=tarfile.CHRTYPE, devmajor=1,
                                 devminor=1)],
    "a FIFO": [entry("usr/fifo", kind=tarfile.FIFOTYPE)],
    "a control character": [entry("usr/a\x1b]0;x\x07b", b"x")],
    "a line break in a name": [entry("usr/a\nb", b"x")],
    "a name that is too long": [entry("usr/" + "n" * 256, b"x")],
    "a path that is too long": [entry("/".join(["n" * 200] * 12), b"x")],
    "deep nesting": [entry("d/" * 200 + "x", b"x")],
    "a file below a file": [entry("f", b"1"), entry("f/g", b"2")],
    "etc that is a link": [entry("etc", kind=LINK, link="/etc")],
    "nothing at all": [],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused(any_box, tmp_path, name):
    tar = archive(tmp_path / "hostile.tar", *HOSTILE[name],
                  format=tarfile.PAX_FORMAT)
    done = template(any_box, "build", "hostile", "--tar", tar)
    assert done.returncode in (2, 125) and done.stderr, done
    assert b"\x1b" not in done.stderr and b"\x07" not in done.stderr
    assert nothing_came_of_it(any_box, "hostile")
    assert not pathlib.Path("/tmp/outside").exists()
    assert not (store(any_box) / "outside").exists()


def sparse(path, size):
    """A GNU sparse file of this size with no data."""
    info = tarfile.TarInfo("usr/sparse")
    info.type = tarfile.GNUTYPE_SPARSE
    head = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    octal = b"%011o\0" % size if size < 8 ** 11 else \
        b"\x80" + size.to_bytes(11, "big")
    head[386:410] = octal + b"%011o\0" % 0
    head[483:495] = octal
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    path.write_bytes(bytes(head) + b"\0" * 10240)
    path.chmod(0o644)
    return path


@pytest.mark.parametrize("size", [1 << 62, 64 << 30, (1 << 63) - 1])
def test_a_sparse_bomb_is_refused(any_box, tmp_path, size):
    tar = sparse(tmp_path / "bomb.tar", size)
    done = template(any_box, "build", "bomb", "--tar", tar)
    assert done.returncode in (2, 125), done
    assert nothing_came_of_it(any_box, "bomb")


def test_a_million_entries_are_refused(any_box, tmp_path):
    """Compressed to 3 MB, unpacked half a million directories at most: these
    are all the same one."""
    block = entry("d", kind=DIR, mode=0o755)[0].tobuf() * 1000
    feed = subprocess.Popen(["gzip", "-1"], stdin=subprocess.PIPE,
                            stdout=open(tmp_path / "many.tar.gz", "wb"))
    for _ in range(1000):
        feed.stdin.write(block)
    feed.stdin.close()
    assert feed.wait() == 0
    (tmp_path / "many.tar.gz").chmod(0o644)
    done = template(any_box, "build", "many", "--tar", tmp_path / "many.tar.gz")
    assert done.returncode in (2, 125) and b"entries" in done.stderr, done
    assert nothing_came_of_it(any_box, "many")


@pytest.mark.parametrize("cut", [100, 700, 1024, 3000, 5000])
def test_an_archive_that_is_cut_off_is_refused(any_box, tmp_path, cut):
    tar = archive(tmp_path / "cut.tar", entry("a", b"x" * 512),
                  entry("b", b"y" * 4000))
    tar.write_bytes(tar.read_bytes()[:cut])
    done = template(any_box, "build", "cut", "--tar", tar)
    assert done.returncode in (2, 125), done
    assert nothing_came_of_it(any_box, "cut")


def test_what_gives_privileges_is_left_out_and_told(any_box, tree, tmp_path):
    caps = b"\x01\0\0\x02\xff\xff\xff\xff" + b"\0" * 12
    tar = tmp_path / "privileged.tar"
    with tarfile.open(tar, "w", format=tarfile.PAX_FORMAT) as t:
        t.add(tree, ".")
        for name, mode in (("usr/suid", 0o4755), ("usr/sgid", 0o2755),
                           ("usr/world", 0o666)):
            info, data = entry(name, b"x", mode=mode, uid=0, gid=0)
            t.addfile(info, io.BytesIO(data))
        info, data = entry("usr/caps", b"x", mode=0o755)
        info.pax_headers = {"SCHILY.xattr.security.capability":
                            caps.decode("latin-1"),
                            "SCHILY.xattr.user.note": "note"}
        t.addfile(info, io.BytesIO(data))
        t.addfile(entry("dev/sda", kind=tarfile.BLKTYPE, devmajor=8)[0])
    done = template(any_box, "build", "privileged", "--tar", tar, "--json")
    assert done.returncode == 0, done
    left = json.loads(done.stdout)["left_out"]
    assert left["privileges"] >= 2 and left["attributes"] == 1, left
    assert left["names"] == 1, left
    root = store(any_box) / "trees" / digest(any_box, "privileged") / "root"
    for name in ("suid", "sgid", "world", "caps"):
        assert (root / "usr" / name).stat().st_mode & 0o7022 == 0, name
        assert os.listxattr(root / "usr" / name) == [], name
    assert not (root / "dev").exists()
    if os.getuid() == 0:
        owners = {(p.lstat().st_uid, p.lstat().st_gid) for p in root.rglob("*")}
        assert len(owners) == 1 and (0, 0) not in owners, owners
    template(any_box, "rm", "privileged")


def test_a_directory_with_a_socket_or_a_device_is_refused(any_box, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    done = template(any_box, "build", "node", "--dir", tmp_path)
    assert done.returncode == 2 and b"fifo" in done.stderr, done
    assert nothing_came_of_it(any_box, "node")


def test_karzers_own_state_is_no_template(any_box):
    done = template(any_box, "build", "self", "--dir", any_box.user.state)
    assert done.returncode == 2 and b"own templates" in done.stderr, done


# ---- packages, and what README shows ----

def needs_mirror():
    if "mirror" not in karzer.NEED and not shutil.which("mmdebstrap"):
        karzer.lack("mirror", "needs mmdebstrap and apt's mirror")
    if karzer.GUEST:
        karzer.lack("mirror", "the guest has no network")


class Science(karzer.Box):
    """The first user, with the state directory that has README's template:
    built once, then cached."""

    def __init__(self, box, state):
        super().__init__(box.session, box.user, "container")
        self.env = {**box.user.env, "KARZER_STATE": state}

    def cli(self, *args, **more):
        return super().cli(*args, env=self.env, **more)


@pytest.fixture(scope="module")
def science(session, users):
    needs_mirror()
    box = karzer.Box(session, next(iter(users.values())), "container")
    made = subprocess.run([REPO / "tests/lib/science", session.karzer],
                          capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    if made.returncode != 0:
        karzer.lack("mirror", f"no template of packages: {made.stderr[-2000:]}")
    return Science(box, made.stdout.strip())


def test_numpy_pandas_and_matplotlib_run_in_a_template(science):
    r = science.run("import numpy, pandas\n"
                    "pandas.DataFrame({'a': numpy.arange(4)}).a.sum().item()",
                    "--template", "science", "--mem", "512M")
    assert r.status == "ok" and r.results[0]["text/plain"] == "6", r
    r = science.shell("command -v python3; cat /etc/os-release",
                      "--template", "science")
    assert r.text.startswith("/usr/bin/python3\n"), r


def readme_commands():
    """The karzer commands of README's block about templates."""
    text = (REPO / "README.md").read_text()
    block = next(b for b in re.findall(r"```\n(.*?)```", text, re.S)
                 if "template build" in b)
    lines = block.replace("\\\n", "").splitlines()
    return [line[2:] for line in lines if line.startswith("$ karzer")]


def test_the_second_example_of_readme_makes_a_chart(science):
    """As written, but for the build, which the cache stands for."""
    build, *rest = readme_commands()
    assert build.startswith("karzer template build science --packages python3,")
    here = science.user.work()
    for line in rest:
        done = subprocess.run(
            [*science.user.prefix, "bash", "-c",
             f'karzer() {{ "{science.karzer}" "$@"; }}; {line}'],
            capture_output=True, env=science.env, cwd=here, check=False,
            timeout=120)
        assert done.returncode == 0, (line, done)
    assert (here / "chart.png").read_bytes().startswith(b"\x89PNG\r\n")


def test_a_figure_is_displayed_as_png(science):
    r = science.run("import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\n"
                    "plt.gcf()", "--template", "science", "--mem", "512M")
    assert r.status == "ok", r
    png = base64.b64decode(next(v["image/png"] for v in r.results
                                if "image/png" in v))
    assert png.startswith(b"\x89PNG\r\n") and len(png) > 5000


@pytest.mark.tiers("container")
@pytest.mark.users("user")
def test_packages_build_without_rights_and_go_on_after_a_kill(box):
    needs_mirror()
    words = ("template", "build", "tiny", "--packages", "hello")
    debs = store(box) / "work/tiny/make/debs"
    run = box.start(*words)
    try:
        assert karzer.wait_until(lambda: len(list(debs.glob("*.deb"))) > 5,
                                 timeout=120) or run.poll() is None, run.stderr
    finally:
        karzer.end(run)
    had = {p.name: p.stat().st_mtime_ns for p in debs.glob("*.deb")}
    done = box.cli(*words, "--json", timeout=300)
    if done.returncode != 0:
        karzer.lack("mirror", done.stderr.decode()[-2000:])
    assert len(had) > 5, "nothing was left to go on with"
    made = json.loads(done.stdout)
    hello = next(p for p in made["packages"] if p["name"] == "hello")
    assert re.fullmatch("[0-9a-f]{64}", hello["sha256"]), hello
    assert all(p["sha256"] for p in made["packages"]), made["packages"]
    assert made["left_out"]["privileges"] > 0
    r = box.exec("hello", options=["--template", "tiny"])
    assert r.text == "Hello, world!\n" and r.status == "ok", r
    assert template(box, "rm", "tiny").returncode == 0


@pytest.mark.tiers("container")
def test_a_cell_of_a_template_has_fewer_mounts_than_one_of_the_host(small):
    """What its start costs beside the host's (docs/bench.md has times)."""
    count = "cat /proc/self/mountinfo"
    host = small.shell(count)
    own = small.shell(count, "--template", "small")
    assert host.status == own.status == "ok", (host, own)
    assert own.text.count("\n") < host.text.count("\n"), own.text


def test_a_link_that_a_cell_may_have_made_leads_to_no_template(any_box):
    work, tree = any_box.user.work(), any_box.user.work()
    for option, name in (("--dir", "d"), ("--tar", "t")):
        (work / name).symlink_to(tree)
        any_box.user.own(work / name)
        done = any_box.cli("template", "build", "linked", option, work / name)
        assert done.returncode != 0 and b"is a link" in done.stderr, done
