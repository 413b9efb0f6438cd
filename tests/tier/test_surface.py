"""What of the kernel a cell reaches: system calls, namespaces, privileges."""
import os

import pytest

from karzer import lack

LIBC = "import ctypes, errno, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
CALL = LIBC + (
    "def call(name, nr, *args):\n"
    "    r = libc.syscall(ctypes.c_long(nr), *[ctypes.c_long(a) if isinstance(a, int)\n"
    "                     else a for a in args])\n"
    "    e = ctypes.get_errno()\n"
    "    print(name, 'ok' if r >= 0 else errno.errorcode.get(e, e), flush=True)\n")


def calls(box, table, *options):
    """{name: "ok" or the errno's name} of system calls made in a cell."""
    lines = [f"call({name!r}, {', '.join(map(str, args))})"
             for name, args in table.items()]
    r = box.python(CALL + "\n".join(lines) + "\n", *options)
    assert r.status == "ok", r
    return dict(line.split() for line in r.text.splitlines())


# name: (number, arguments) on x86_64. What could harm a host has arguments that
# the kernel itself would refuse with another error, were the call let through.
REFUSED = {
    "unshare-user": (272, 0x10000000),
    "unshare-net": (272, 0x40000000),
    "unshare-mount": (272, 0x20000),
    "clone-user": (56, 0x10000011, 0, 0, 0, 0),
    "setns": (308, 0, 0),
    "mount": (165, "b'none'", "b'/tmp'", "b'no-such-fs'", 0, 0),
    "umount2": (166, "b'/no/such/place'", 2),
    "pivot_root": (155, "b'/tmp'", "b'/tmp'"),
    "open_tree": (428, -100, "b'/'", 1),
    "move_mount": (429, 0, "b''", 0, "b''", 0),
    "fsopen": (430, "b'tmpfs'", 0),
    "mount_setattr": (442, -100, "b'/'", 0, "bytes(32)", 32),
    "ptrace": (101, 0, 0, 0, 0),
    "process_vm_readv": (310, 1, 0, 0, 0, 0, 0),
    "process_vm_writev": (311, 1, 0, 0, 0, 0, 0),
    "kcmp": (312, 1, 1, 0, 0, 0),
    "pidfd_getfd": (438, 0, 0, 0),
    "bpf": (321, 0, 0, 0),
    "perf_event_open": (298, "bytes(128)", 0, -1, -1, 0),
    "userfaultfd": (323, 1),
    "io_uring_setup": (425, 1, "bytes(120)"),
    "keyctl": (250, 0, -3, 1),
    "add_key": (248, "b'user'", "b'k'", "b'v'", 1, -3),
    "request_key": (249, "b'user'", "b'k'", 0, 0),
    "open_by_handle_at": (304, -100, "bytes(24)", 0),
    "kexec_load": (246, 0, 0, 0, 0),
    "init_module": (175, 0, 0, "b''"),
    "finit_module": (313, 0, "b''", 0),
    "delete_module": (176, "b'x'", 0),
    "reboot": (169, 0, 0, 0, 0),
    "swapon": (167, "b'/tmp/x'", 0),
    "acct": (163, 0),
    "quotactl": (179, 0, 0, 0, 0),
    "syslog": (103, 3, 0, 0),
    "fanotify_init": (300, 0, 0),
    "modify_ldt": (154, 0, 0, 0),
    "iopl": (172, 3),
    "settimeofday": (164, 0, 0),
    "clock_settime": (227, 0, "bytes(16)"),
    "sethostname": (170, "b'x'", -1),
    "chroot": (161, "b'/'"),
    "vhangup": (153,),
    "lookup_dcookie": (212, 0, 0, 0),
    "nfsservctl": (180, 0, 0, 0),
}


@pytest.mark.kernel
def test_calls_that_widen_the_kernel_are_refused(box):
    got = calls(box, REFUSED)
    assert set(got) == set(REFUSED)
    refused = {"EPERM", "ENOSYS", "EACCES"}
    assert {n: e for n, e in got.items() if e not in refused} == {}


SOCKETS = {
    "AF_NETLINK-audit": (41, 16, 3, 9), "AF_PACKET": (41, 17, 3, 0),
    "AF_VSOCK": (41, 40, 1, 0), "AF_ALG": (41, 38, 5, 0),
    "AF_XDP": (41, 44, 3, 0), "AF_BLUETOOTH": (41, 31, 3, 0),
    "AF_KEY": (41, 15, 3, 2), "AF_TIPC": (41, 30, 1, 0), "raw": (41, 2, 3, 1),
    "AF_CAN": (41, 29, 3, 1), "AF_RDS": (41, 21, 5, 0), "AF_NFC": (41, 39, 1, 0),
}


def test_families_of_sockets_beyond_the_usual_are_refused(box):
    got = calls(box, SOCKETS)
    assert {n for n, e in got.items() if e == "ok"} == set(), got


@pytest.mark.kernel
def test_there_are_no_capabilities_and_no_new_privileges(box):
    r = box.python("for l in open('/proc/self/status'):\n"
                   "    if l.startswith(('Cap', 'NoNewPrivs', 'Seccomp:')):\n"
                   "        print(*l.split())\n")
    want = {f"Cap{s}:": "0000000000000000" for s in ("Inh", "Prm", "Eff", "Bnd", "Amb")}
    assert dict(l.split() for l in r.text.splitlines()) == {
        **want, "NoNewPrivs:": "1", "Seccomp:": "2"}, r


@pytest.mark.kernel
def test_other_system_call_tables_are_refused(box):
    helper = box.session.helper / "abi"
    r = box.exec("/tmp/abi", options=["--in", f"{helper}:/tmp/abi"])
    got = dict(l.split() for l in r.text.splitlines())
    assert set(got) == {"int80", "x32", "clone3"}, r
    assert got["clone3"] == "ENOSYS", r  # glibc then falls back to clone
    assert got["int80"] != "ok" and got["x32"] != "ok", r


def test_threads_and_fork_work_without_clone3(box):
    r = box.python("import threading, subprocess\n"
                   "t = threading.Thread(target=lambda: print('thread')); t.start(); t.join()\n"
                   "print(subprocess.run(['echo', 'child'], capture_output=True).stdout)\n")
    assert r.text == "thread\nb'child\\n'\n", r


@pytest.mark.kernel
def test_setuid_programs_give_nothing(box):
    r = box.shell("for p in su passwd mount newgrp chsh; do\n"
                  "  f=/usr/bin/$p; [ -u $f ] || continue\n"
                  "  cp $f /tmp/x; done\n"
                  "cp /usr/bin/id /tmp/id; chmod 6755 /tmp/id 2>/dev/null; /tmp/id -u; id -u")
    ids = r.text.split()
    assert len(ids) == 2 and ids[0] == ids[1], r
    if box.user.root:
        assert ids[0] != "0" or box.tier == "container", r


def test_a_file_that_is_setuid_inside_does_not_stay_so_outside(box):
    out = box.user.work()
    r = box.shell("cp /usr/bin/id /tmp/id; chmod 6755 /tmp/id; true",
                  "--out", f"/tmp/id:{out}/id")
    if (out / "id").exists():
        assert (out / "id").stat().st_mode & 0o6000 == 0, r


def test_the_terminal_of_the_client_is_not_reachable(box):
    """TIOCSTI and TIOCLINUX inject into a terminal; here there is none."""
    master, slave = os.openpty()
    try:
        done = box.start("exec", "--tier", box.tier, "--", "/usr/bin/python3", "-I",
                         "-S", "-c",
                         "import fcntl, os\n"
                         "for fd in (0, 1, 2):\n"
                         "    for nr in (0x5412, 0x541c, 0x100005412):\n"
                         "        try: fcntl.ioctl(fd, nr & 0xffffffff, b'x'); print('PUSHED')\n"
                         "        except OSError: pass\n"
                         "try: os.open('/dev/tty', os.O_RDWR); print('OPENED')\n"
                         "except OSError: print('no terminal')\n",
                         stdin=slave)
        out, err = done.communicate(timeout=60)
        assert out == b"no terminal\n", (out, err)
    finally:
        os.close(master)
        os.close(slave)


def test_programs_of_the_host_run(box):
    r = box.shell("awk 'BEGIN { print 1 + 1 }'; sed --version | head -n 1 | cut -c 1-3; "
                  "perl -e 'print 3, \"\\n\"'; printf 'b\\na\\n' | sort; tar --version | head -n 1; "
                  "mktemp; date +%Y; ls /proc/self > /dev/null && echo proc")
    lines = r.text.splitlines()
    assert r.status == "ok" and lines[0] == "2" and "proc" in lines, r
    assert not r.stderr, r


def test_numpy_of_debian_runs(box):
    if not os.path.isdir("/usr/lib/python3/dist-packages/numpy"):
        lack("numpy", "python3-numpy is not installed")
    r = box.run("import numpy; print(numpy.arange(4).sum())", "--mem", "512M",
                "--wall", "60s")
    assert r.text == "6\n", r


def test_a_futile_mprotect_or_personality_is_no_way_out(box):
    got = calls(box, {"personality-query": (135, 0xFFFFFFFF),
                      "personality-read-implies-exec": (135, 0x0400000)})
    assert got["personality-read-implies-exec"] != "ok", got
