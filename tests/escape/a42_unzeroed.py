"""Memory and files that the kernel gives anew are searched for what was in them
before: anonymous memory (MAP_UNINITIALIZED), stack and heap, a file that was
grown, pages of pipes and sockets.

Blocked by the kernel, which clears each page before it gives it.
"""
import ctypes
import mmap
import os

WANTS = None
BARE_CANNOT = "the kernel clears pages for everybody"

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.malloc.restype = ctypes.c_void_p
SIZE = 8 << 20
clear = bytes(1 << 20)
dirty = []


def look(name, at):
    for off in range(0, SIZE, 1 << 20):
        if ctypes.string_at(at + off, 1 << 20) != clear:
            dirty.append(name)
            return


for flags in (0x22, 0x22 | 0x4000000, 0x22 | 0x8000):
    at = libc.mmap(None, ctypes.c_size_t(SIZE), 3, flags, -1, ctypes.c_long(0))
    if at != 2**64 - 1:
        look(f"mmap {flags:#x}", at)
        libc.munmap(ctypes.c_void_p(at), ctypes.c_size_t(SIZE))
path = os.path.join(os.environ.get("TMPDIR", "/tmp"), "a42")
fd = os.open(path, os.O_RDWR | os.O_CREAT)
os.ftruncate(fd, SIZE // 2)
try:
    os.posix_fallocate(fd, 0, SIZE)
    with mmap.mmap(fd, SIZE) as m:
        for off in range(0, SIZE, 1 << 20):
            if m[off:off + (1 << 20)] != clear:
                dirty.append("a file that was grown")
                break
except OSError:
    pass
os.unlink(path)
print("ESCAPED: not clear: " + ", ".join(dirty) if dirty else "refused: all clear")
