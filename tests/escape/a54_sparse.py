"""A file of eight exabytes that has no block, which is copied or counted as if
it had.

Blocked by the kernel's limit for the file system; what counts takes blocks, and
what copies out reads no more than the limit.
"""
import os

WANTS = None
BARE = "user"
NEEDS = ("out",)
OPTIONS = ("--out", "/tmp/a54-sparse:{out}/sparse", "--wall", "60s")
CHECK = "large_copy"
TIERS = ("container",)

fd = os.open("/tmp/a54-sparse", os.O_RDWR | os.O_CREAT, 0o644)
try:
    os.ftruncate(fd, (1 << 63) - 1)
except OSError:
    os.ftruncate(fd, 1 << 40)
size = os.fstat(fd).st_size
print(f"planted: a file of {size >> 30} GB in {os.fstat(fd).st_blocks} blocks")
