"""The system call table of 32-bit programs is used from a 64-bit one, by int 0x80:
its numbers are others, so a filter that does not ask for the table is passed.

Blocked by the seccomp list, which refuses every table but that of x86_64.
"""
import ctypes
import mmap
import os

WANTS = None
BARE = "user"

# push rbx; mov eax, edi; mov ebx, esi; int 0x80; pop rbx; ret
code = b"\x53\x89\xf8\x89\xf3\xcd\x80\x5b\xc3"
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(code)
at = ctypes.addressof(ctypes.c_char.from_buffer(page))
int80 = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int)(at)
UNSHARE, CLONE_NEWUSER = 310, 0x10000000
r = int80(UNSHARE, CLONE_NEWUSER)
if r == 0:
    print("ESCAPED: a user namespace by the 32-bit table")
else:
    print("refused:", os.strerror(-r))
