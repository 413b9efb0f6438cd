"""KEYCTL_JOIN_SESSION_KEYRING, the call of CVE-2016-0728, and
KEYCTL_GET_KEYRING_ID, which looks up the session that the program was started
in.

Blocked by the seccomp list.
"""
import ctypes

WANTS = ("call.denied", "keyctl")
BARE = "user"

libc = ctypes.CDLL(None, use_errno=True)
got = [name for name, words in {
    "the caller's session": (0, -3, 0),
    "the user's keyring": (0, -4, 1),
    "a new session": (1, b"ktest-a35"),
}.items() if libc.syscall(250, *words, *[0] * (4 - len(words))) >= 0]
print("ESCAPED: " + ", ".join(got) if got else "refused: keyctl")
