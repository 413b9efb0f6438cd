"""Files that cross: exact, recorded, and nothing else of the host with them."""
import hashlib
import os
import stat
import subprocess

import pytest

import karzer


def plant(box, script):
    """A directory `tree` of the user, made by a shell script in it."""
    tree = box.user.work() / "tree"
    tree.mkdir()
    box.user.own(tree)
    subprocess.run([*box.user.prefix, "sh", "-ec", script], cwd=tree, check=True)
    return tree


def test_a_file_goes_in_with_its_content_and_mode(box):
    tree = plant(box, "printf 'a\\0b' > f; chmod 750 f")
    r = box.shell("sha256sum < /tmp/f; stat -c %a /tmp/f", "--in", f"{tree}/f:/tmp/f")
    digest = hashlib.sha256(b"a\0b").hexdigest()
    assert r.text.split()[0] == digest and r.text.split()[-1] == "750", r
    event, = r.events("file.in")
    assert (event["path"], event["size"], event["sha256"]) == ("/tmp/f", 3, digest)


def test_a_directory_goes_in_whole(box):
    tree = plant(box, "mkdir -p a/b; echo 1 > a/b/f; echo 2 > 'a/with space'; "
                      "mkdir a/empty; ln -s b/f a/link")
    r = box.shell("cd /tmp/t && cat a/b/f 'a/with space' && ls -d a/empty && "
                  "readlink a/link", "--in", f"{tree}:/tmp/t")
    assert r.text.split() == ["1", "2", "a/empty", "b/f"], r


def test_a_link_that_leads_out_is_not_followed_in(box):
    secret = box.user.work() / "secret"
    secret.write_text("SECRET")
    box.user.own(secret)
    tree = plant(box, f"ln -s {secret} link; ln -s {secret.parent} dir; echo x > f")
    r = box.shell("cat /tmp/t/link /tmp/t/dir/secret; echo end", "--in", f"{tree}:/tmp/t")
    assert b"SECRET" not in r.stdout + r.stderr, r


def test_fifos_and_devices_are_refused_in_and_recorded(box):
    tree = plant(box, "mkfifo fifo; echo x > f" +
                 ("; mknod null c 1 3" if box.user.root else ""))
    r = box.shell("ls /tmp/t", "--in", f"{tree}:/tmp/t", "--wall", karzer.seconds(10))
    assert "f" in r.text.split() and "fifo" not in r.text.split(), r
    assert "null" not in r.text.split()
    assert any("fifo" in e["host"] for e in r.events("file.refused")), r


def test_setuid_bits_do_not_go_in(box):
    tree = plant(box, "echo x > f; chmod 6755 f")
    r = box.shell("stat -c %a /tmp/f", "--in", f"{tree}/f:/tmp/f")
    assert r.text == "755\n", r


def test_a_sparse_file_of_a_terabyte_is_refused_not_copied(box):
    tree = plant(box, "truncate -s 1T f")
    r = box.shell("ls -s /tmp/f", "--in", f"{tree}/f:/tmp/f", "--wall", karzer.seconds(20))
    assert r.status in ("error", "denied", "disk", "ok"), r
    assert r.usage["disk_bytes"] is None or r.usage["disk_bytes"] <= 33 << 20


def test_a_file_that_is_missing_is_125_and_nothing_runs(box):
    done = box.cli("run", "--tier", box.tier, "--in", f"{box.dir}/none:/tmp/f",
                   "-c", "print('RAN')")
    assert done.returncode in (2, 125) and b"RAN" not in done.stdout, done
    assert b"none" in done.stderr


def test_a_file_comes_out_with_size_and_hash(box):
    out = box.user.work()
    data = bytes(range(256)) * 4000
    r = box.python("open('/tmp/f', 'wb').write(bytes(range(256)) * 4000)",
                   "--out", f"/tmp/f:{out}/f")
    assert (out / "f").read_bytes() == data, r
    digest = hashlib.sha256(data).hexdigest()
    one, = r.files
    assert (one["size"], one["sha256"]) == (len(data), digest), r
    event, = r.events("file.out")
    assert event["sha256"] == digest
    assert os.stat(out / "f").st_uid == box.user.uid


def test_files_come_out_also_after_a_failure(box):
    out = box.user.work()
    r = box.shell("echo partial > /tmp/f; exit 3", "--out", f"/tmp/f:{out}/f")
    assert r.rc == 3 and (out / "f").read_text() == "partial\n", r


def test_a_directory_comes_out_whole(box):
    out = box.user.work()
    r = box.shell("mkdir -p /tmp/d/a/b; echo 1 > /tmp/d/a/b/f; echo 2 > /tmp/d/g",
                  "--out", f"/tmp/d:{out}/d")
    assert (out / "d/a/b/f").read_text() == "1\n", r
    assert (out / "d/g").read_text() == "2\n"


def tree_state(path):
    found = {}
    for root, dirs, files in os.walk(path):
        for name in dirs + files:
            p = os.path.join(root, name)
            st = os.lstat(p)
            body = open(p, "rb").read() if stat.S_ISREG(st.st_mode) else b""
            found[os.path.relpath(p, path)] = (st.st_mode, st.st_uid, st.st_size, body)
    return found


# What a hostile program leaves for --out, and what must not come of it.
PLANTED = {
    "a link to a file of the host": "ln -s {secret} d/x",
    "a link to a directory of the host": "ln -s {victim} d/x",
    "a link upwards": "ln -s ../../../../../../../../..{secret} d/x",
    "a link in the place of the directory": "rmdir d; ln -s {victim} d",
    "a link to /proc": "ln -s /proc/self/environ d/x; ln -s /proc/1/root d/y",
    "a fifo": "mkfifo d/x",
    "a socket": "python3 -I -S -c \"import socket; "
                "socket.socket(socket.AF_UNIX).bind('d/x')\"",
    "a device": "mknod d/x c 1 3 || true; mknod d/y b 8 0 || true",
    "names with newlines and escapes": "touch \"d/$(printf 'a\\nb')\" "
                                       "\"d/$(printf '\\033]0;x\\007')\" d/-rf 'd/ '",
    "a deep tree": "p=d; for i in $(seq 200); do mkdir $p/s && p=$p/s; done; "
                   "echo x > $p/f",
    "a hardlink": "echo x > d/a; ln d/a d/b",
    "a file without permissions": "echo x > d/a; chmod 0 d/a; chmod 0 d",
    "setuid": "echo x > d/a; chmod 6777 d/a",
}


@pytest.mark.parametrize("what", PLANTED)
def test_what_a_program_plants_harms_nothing_on_the_way_out(box, what):
    top = box.user.work()
    victim = top / "victim"
    victim.mkdir()
    secret = victim / "secret"
    secret.write_text("SECRET-OF-THE-HOST")
    for p in (victim, secret):
        box.user.own(p)
    out = top / "out"
    out.mkdir()
    box.user.own(out)
    before = tree_state(victim)
    script = PLANTED[what].format(secret=secret, victim=victim)
    r = box.shell(f"mkdir -p /tmp/w/d && cd /tmp/w && {script}",
                  "--out", f"/tmp/w/d:{out}/d", "--wall", karzer.seconds(15))
    assert tree_state(victim) == before
    assert sorted(os.listdir(top)) == ["out", "victim"]
    for root, dirs, files in os.walk(out):
        for name in dirs + files:
            p = os.path.join(root, name)
            mode = os.lstat(p).st_mode
            assert stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode), p
            assert mode & 0o6000 == 0, p
            if stat.S_ISREG(mode):
                body = open(p, "rb").read() if os.access(p, os.R_OK) else b""
                assert b"SECRET" not in body, p
            if stat.S_ISLNK(mode):
                target = os.path.realpath(p)
                assert target.startswith(str(out)), (p, os.readlink(p))
    assert r.status in ("ok", "error"), r


def test_a_link_on_the_host_is_not_written_through(box):
    """The place of --out was replaced by a link: its target stays."""
    top = box.user.work()
    target = top / "target"
    target.write_text("kept")
    out = top / "out"
    out.mkdir()
    for p in (target, out):
        box.user.own(p)
    os.symlink(target, out / "f")
    box.user.own(out / "f")
    box.shell("echo evil > /tmp/f", "--out", f"/tmp/f:{out}/f")
    assert target.read_text() == "kept"


def test_a_hardlink_on_the_host_is_not_written_through(box):
    top = box.user.work()
    other = top / "other"
    other.write_text("kept")
    out = top / "out"
    out.mkdir()
    for p in (other, out):
        box.user.own(p)
    os.link(other, out / "f")
    box.shell("echo evil > /tmp/f", "--out", f"/tmp/f:{out}/f")
    assert other.read_text() == "kept"


def test_a_file_that_grows_while_it_comes_out_is_bounded(box):
    out = box.user.work()
    r = box.shell("(while :; do echo growing >> /tmp/f; done) & sleep 0.2",
                  "--out", f"/tmp/f:{out}/f", "--wall", karzer.seconds(15))
    assert (out / "f").stat().st_size <= 33 << 20
    assert r.files[0]["size"] == (out / "f").stat().st_size, r


def test_out_of_a_name_with_dots_stays_in_the_cell(box):
    out = box.user.work()
    r = box.cli("exec", "--json", "--tier", box.tier, "--out",
                f"/tmp/../../../..{box.dir}/x:{out}/f", "--", "true")
    assert not (out / "f").exists(), r


def test_what_was_made_before_stays_when_out_finds_nothing(box):
    out = box.user.work()
    (out / "f").write_text("kept")
    box.user.own(out / "f")
    r = box.exec("true", options=["--out", f"/tmp/none:{out}/f"])
    assert (out / "f").read_text() == "kept", r
    assert "none" in str(r.boundary) + r.message, r


def test_a_read_only_workspace_is_seen_and_kept(box):
    tree = plant(box, "echo seen > f; mkdir d")
    (tree.parent / "beside").write_text("SECRET")
    r = box.shell(f"cat {tree}/f || cat /workspace/f; echo evil > f; touch d/x; "
                  "cat ../beside", "--workspace", f"{tree}:ro")
    assert "seen" in r.text and "SECRET" not in r.text, r
    assert (tree / "f").read_text() == "seen\n" and not list((tree / "d").iterdir())


@pytest.mark.kernel
def test_what_is_made_in_a_workspace_belongs_to_its_owner(box):
    tree = plant(box, "echo old > f")
    r = box.shell("echo new > made; mkdir -p sub; echo x > sub/y; echo more >> f; "
                  "ls -l; rm -f gone", "--workspace", f"{tree}:rw")
    assert r.status == "ok", r
    assert (tree / "f").read_text() == "old\nmore\n"
    for name in ("made", "sub", "sub/y"):
        st = os.lstat(tree / name)
        assert (st.st_uid, st.st_gid) == (box.user.uid, box.user.uid), (name, st)


@pytest.mark.users("root")
def test_a_workspace_of_another_user_stays_his(box, users):
    other = users["user"]
    tree = other.work() / "w"
    tree.mkdir()
    other.own(tree)
    r = box.shell("echo new > made", "--workspace", f"{tree}:rw")
    assert r.status == "ok", r
    assert os.lstat(tree / "made").st_uid == other.uid


def test_setuid_files_cannot_be_left_in_a_workspace(box):
    tree = plant(box, "true")
    box.shell("cp /usr/bin/true t; chmod 6755 t; mknod dev c 1 3; true",
              "--workspace", f"{tree}:rw")
    if (tree / "t").exists():
        assert (tree / "t").stat().st_mode & 0o6000 == 0
    assert not (tree / "dev").exists() or not stat.S_ISCHR(os.lstat(tree / "dev").st_mode)


def test_a_link_in_a_workspace_leads_nowhere_outside(box):
    tree = plant(box, "ln -s /root rootlink; ln -s ../.. up")
    secret = tree.parent / "secret"
    secret.write_text("SECRET")
    r = box.shell("ls rootlink/ up/; cat up/secret ../secret; echo end",
                  "--workspace", f"{tree}:ro")
    assert b"SECRET" not in r.stdout, r
    assert b"end" in r.stdout


def test_files_in_and_out_are_fast_and_exact_at_200_mb(box):
    tree = plant(box, "head -c 209715200 /dev/urandom > big")
    digest = hashlib.sha256((tree / "big").read_bytes()).hexdigest()
    r = box.shell("cp /tmp/big /tmp/copy", "--in", f"{tree}/big:/tmp/big",
                  "--out", f"/tmp/copy:{tree}/copy", "--disk", "512M", "--mem", "512M",
                  "--wall", "60s")
    assert r.status == "ok", r
    assert hashlib.sha256((tree / "copy").read_bytes()).hexdigest() == digest
