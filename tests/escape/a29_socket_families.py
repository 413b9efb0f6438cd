"""A fault of the kernel is reached through a family of sockets that few use:
packet, vsock, netfilter's netlink, crypto, XDP, SCTP, TIPC, Bluetooth, CAN, and
raw ones (CVE-2020-14386, CVE-2025-21756, CVE-2024-1086).

Blocked by the seccomp list: AF_UNIX, TCP, UDP and routing questions alone. Where
Landlock alone protects the host there are only connected pairs.
"""
import ctypes
import os

WANTS = ("call.denied", "socket")
BARE = "user"

libc = ctypes.CDLL(None, use_errno=True)
got, why = [], set()
usual = {(1, t, p) for t in (1, 2, 3, 5) for p in (0, 1)} | {
    (f, t, p) for f in (2, 10) for t, p in ((1, 0), (1, 6), (2, 0), (2, 17))} | {
    (16, t, 0) for t in (2, 3)}
for family in range(46):
    for kind in (1, 2, 3, 4, 5, 6, 10):
        few = family not in (1, 2, 10, 16)
        for protocol in (0,) if few else (0, 1, 6, 12, 17, 58, 132, 262):
            for extra in (0,) if few else (0, 1 << 32):
                if (family, kind, protocol) in usual:
                    continue
                fd = libc.syscall(41, ctypes.c_long(family | extra),
                                  ctypes.c_long(kind), ctypes.c_long(protocol))
                if fd >= 0:
                    os.close(fd)
                    got.append((family, kind, protocol))
                else:
                    why.add(os.strerror(ctypes.get_errno()))
        pair = (ctypes.c_int * 2)()
        if family != 1 and libc.socketpair(family, kind, 0, pair) == 0:
            got.append(("pair", family, kind))
print(f"ESCAPED: {got[:8]}" if got else f"refused: {sorted(why)}")
