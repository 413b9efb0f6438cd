"""What given.py prepares of processes: their memory, messages, environment.

Each function as in given.py: prepares one thing, gives the attack's value.
"""
import contextlib
import ctypes
import os
import pathlib
import secrets
import socket
import struct
import subprocess
import threading

import karzer

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
IPC_CREAT, IPC_RMID = 0o1000, 0
SYS_MQ_OPEN, SYS_MQ_UNLINK, SYS_MQ_TIMEDSEND = 240, 241, 242
PYTHON = ("/usr/bin/python3", "-I", "-S")


def as_user(given, code, *words):
    """Runs a program as the operator and waits for its end: its output."""
    return subprocess.run(
        [*given.user.prefix, *PYTHON, "-c", code, *words], check=True,
        stdout=subprocess.PIPE, env=given.user.env).stdout.decode()


def fd_giver(given):
    """A service of the host that hands a directory's descriptor to whoever
    connects, by an abstract name: the name; `credentials` is in the directory."""
    folder = given.user.work()
    (folder / "credentials").write_text(given.secret())
    name = f"ktest-{secrets.token_hex(8)}"
    s = given.stack.enter_context(socket.socket(socket.AF_UNIX))
    s.bind(f"\0{name}")
    s.listen(5)
    fd = os.open(folder, os.O_RDONLY)
    given.stack.callback(os.close, fd)

    def serve():
        with contextlib.suppress(OSError):
            while True:
                with s.accept()[0] as peer:
                    socket.send_fds(peer, [b"x"], [fd])

    threading.Thread(target=serve, daemon=True).start()
    given.stack.callback(lambda: s.shutdown(socket.SHUT_RDWR))
    return name


SYSV = ("import ctypes, sys\n"
        "libc = ctypes.CDLL(None)\n"
        "libc.shmat.restype = ctypes.c_void_p\n"
        "i = libc.shmget(int(sys.argv[1]), 4096, 0o1666)\n"
        "ctypes.memmove(libc.shmat(i, None, 0), sys.argv[2].encode(), 30)\n"
        "q = libc.msgget(int(sys.argv[1]), 0o1666)\n"
        "print(i, q)\n")


def sysv(given):
    """Shared memory of the operator with a secret, and a queue: their key."""
    key = str(0x6B000000 + secrets.randbelow(1 << 24))
    shm, queue = map(int, as_user(given, SYSV, key, given.secret()).split())
    given.stack.callback(libc.shmctl, shm, IPC_RMID, None)
    given.stack.callback(libc.msgctl, queue, IPC_RMID, None)
    return key


def shm_file(given):
    """A file of the operator in /dev/shm that all may read: its name."""
    name = f"kt-{secrets.token_hex(8)}"
    path = pathlib.Path("/dev/shm") / name
    path.write_text(given.secret())
    path.chmod(0o644)
    given.user.own(path)
    given.stack.callback(path.unlink)
    return name


def mqueue(given):
    """A message queue of the host with a secret in it: its name."""
    name = f"kt-{secrets.token_hex(8)}".encode()
    attr = struct.pack("8l", 0, 4, 64, 0, 0, 0, 0, 0)
    before = os.umask(0)
    q = libc.syscall(SYS_MQ_OPEN, name, os.O_CREAT | os.O_RDWR, 0o666, attr)
    os.umask(before)
    if q < 0:
        raise OSError(ctypes.get_errno(), "make a message queue")
    given.stack.callback(libc.syscall, SYS_MQ_UNLINK, name)
    text = given.secret().encode()
    libc.syscall(SYS_MQ_TIMEDSEND, q, text, len(text), 0, None)
    os.close(q)
    return name.decode()


CHANNELS = ("import ctypes, os, socket, sys, time\n"
            "key, secret = int(sys.argv[1], 16), sys.argv[2]\n"
            "kept = []\n"
            "for d in ('/dev/shm', '/tmp', '/var/tmp'):\n"
            "    try: open(f'{d}/kt-{key:x}', 'w').write(secret)\n"
            "    except OSError: pass\n"
            "try:\n"
            "    s = socket.socket(socket.AF_UNIX)\n"
            "    s.bind(f'\\0kt-{key:x}'); s.listen(5); kept.append(s)\n"
            "except OSError: pass\n"
            "try:\n"
            "    libc = ctypes.CDLL(None)\n"
            "    libc.shmat.restype = ctypes.c_void_p\n"
            "    i = libc.shmget(key, 4096, 0o1666)\n"
            "    if i >= 0: ctypes.memmove(libc.shmat(i, None, 0), secret.encode(), 30)\n"
            "    kept.append(i)\n"
            "except OSError: i = -1\n"
            "print('ready', flush=True)\n"
            "if sys.argv[3] == 'stay': time.sleep(600)\n")


def channel_command(given, secret, key, stay):
    program = [*PYTHON, "-c", CHANNELS, f"{key:x}", secret, stay]
    if given.box is None:
        return [*given.user.prefix, *program]
    return given.box.command("exec", "--tier", given.box.tier, "--wall", "1h",
                             "--", *program)


def clean(key):
    for place in ("/dev/shm", "/tmp", "/var/tmp"):
        with contextlib.suppress(OSError):
            os.unlink(f"{place}/kt-{key:x}")
    shm = libc.shmget(key, 0, 0)
    if shm >= 0:
        libc.shmctl(shm, IPC_RMID, None)


def new_key(given):
    key = 0x6B000000 + secrets.randbelow(1 << 24)
    given.stack.callback(clean, key)
    return key


def channels(given):
    """Another cell that is alive and left a secret wherever cells could meet;
    bare, a process of the same user: the key of what it made, hexadecimal."""
    key = new_key(given)
    p = subprocess.Popen(channel_command(given, given.secret(), key, "stay"),
                         stdout=subprocess.PIPE, env=given.user.env)
    given.stack.callback(karzer.end, p)
    assert p.stdout.readline() == b"ready\n"
    return f"{key:x}"


def earlier(given):
    """The same of a cell that has ended; of root the next has its slot and id."""
    key = new_key(given)
    done = subprocess.run(channel_command(given, given.secret(), key, "go"),
                          stdout=subprocess.PIPE, env=given.user.env, check=True)
    assert done.stdout == b"ready\n", done
    return f"{key:x}"


def caller_env(given):
    """A secret in the environment of whoever starts karzer: its name."""
    given.env["KTEST_TOKEN"] = given.secret()
    return "KTEST_TOKEN"


def caller_fd(given):
    """A directory that whoever starts karzer has open: its descriptor. A file
    `credentials` with a secret is in it."""
    folder = given.user.work()
    (folder / "credentials").write_text(given.secret())
    fd = os.open(folder, os.O_RDONLY)
    given.stack.callback(os.close, fd)
    given.pass_fds.append(fd)
    return fd


def histories(given):
    """Histories of the operator's shells, with secrets: his home."""
    for name in (".bash_history", ".python_history", ".psql_history"):
        path = given.user.home / name
        path.write_text(f"login --token {given.secret()}\n")
        given.user.own(path)
        given.stack.callback(path.unlink)
    return given.user.home


def token(given):
    """A word that only this attack's command line has: see survivors()."""
    return f"kt{secrets.token_hex(10)}"


CORE_PATTERN = pathlib.Path("/proc/sys/kernel/core_pattern")


def core_pipe(given):
    """In the guest: a core_pattern that starts a program, as root, on the host.
    The file that it then makes."""
    proof = given.user.work() / "proof"
    if not karzer.GUEST:
        return proof  # the setting is everybody's
    program = given.user.work() / "collect"
    program.write_text(f"#!/bin/sh\necho \"$1\" >{proof}\ncat >/dev/null\n")
    program.chmod(0o755)
    before = CORE_PATTERN.read_text()
    CORE_PATTERN.write_text(f"|{program} %E")
    given.stack.callback(CORE_PATTERN.write_text, before)
    given.checks.append(
        lambda: proof.read_text() or "started" if karzer.wait_until(
            proof.exists, 0.1) else None)
    return proof


NEEDS = {f.__name__: f for f in (
    fd_giver, sysv, shm_file, mqueue, channels, earlier, caller_env, caller_fd,
    histories, token, core_pipe)}
