"""A fault of the kernel is reached through a part that runs programs or keeps
objects of its own: io_uring, bpf, perf, keys, userfaultfd, fanotify, AIO, kernel
TLS, memory that is secret, module loading, kexec.

Blocked by the seccomp list: io_uring and AIO are absent, the others refused.
"""
import ctypes
import os
import socket

WANTS = ("call.denied", "bpf")
BARE = "root"

libc = ctypes.CDLL(None, use_errno=True)
room = ctypes.create_string_buffer(4096)
CALLS = {
    "io_uring_setup": (425, 4, room), "bpf": (321, 0, room, 64),
    "perf_event_open": (298, room, 0, -1, -1, 0), "add_key": (
        248, b"user", b"a29", b"x", 1, -3), "keyctl": (250, 0, -3, 1),
    "userfaultfd": (323, 0), "fanotify_init": (300, 0, 0),
    "io_setup": (206, 1, ctypes.byref(ctypes.c_ulong(0))), "memfd_secret": (447, 0),
    "lookup_dcookie": (212, 0, room, 64), "uselib": (134, b"/usr/bin/env"),
    "remap_file_pages": (216, room, 4096, 0, 0, 0), "mbind": (237, 0, 0, 0, 0, 0, 0),
}
got, why = [], {}
for name, (nr, *args) in CALLS.items():
    if libc.syscall(nr, *args) >= 0:
        got.append(name)
    else:
        why[name] = os.strerror(ctypes.get_errno())
try:
    with socket.create_server(("127.0.0.1", 0)) as server, \
            socket.create_connection(server.getsockname()) as client:
        client.setsockopt(6, 31, b"tls")  # TCP_ULP
        got.append("tls")
except OSError as e:
    why["tls"] = e.strerror
print(f"ESCAPED: {got}" if got else f"refused: {why}")
