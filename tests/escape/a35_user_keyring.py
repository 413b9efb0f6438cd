"""A key is put into the keyring of the user and into that of the session: what
other programs of the same user keep there can be searched, and another cell
reads it.

Blocked by the seccomp list.
"""
import ctypes

WANTS = ("call.denied", "add_key")
BARE = "user"

SYS_add_key, SYS_keyctl, SEARCH, READ, UNLINK = 248, 250, 10, 11, 9
libc = ctypes.CDLL(None, use_errno=True)
for ring in (-4, -5, -3, -2):  # user, user session, session, process
    key = libc.syscall(SYS_add_key, b"user", b"ktest-a35", b"channel",
                       ctypes.c_ulong(7), ring)
    if key < 0:
        continue
    room = ctypes.create_string_buffer(16)
    libc.syscall(SYS_keyctl, READ, key, room, ctypes.c_ulong(16))
    libc.syscall(SYS_keyctl, UNLINK, key, ring)
    print("ESCAPED: keyring", ring, "holds", room.value)
    break
else:
    print("refused: no keyring takes a key")
