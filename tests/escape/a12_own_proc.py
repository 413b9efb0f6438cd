"""The program writes settings of its own in /proc that the holder has made: its
score when the host lacks memory, its id maps, its label, its login id, its
soft limits on memory references.

Blocked by a /proc that is read-only; where Landlock alone protects the host, by
that.
"""
import os

WANTS = None
BARE = "user"

changed = []
for name, text in (("oom_score_adj", "-1000"), ("oom_score_adj", "1000"),
                   ("uid_map", "0 0 1"), ("gid_map", "0 0 1"),
                   ("setgroups", "allow"), ("loginuid", "0"),
                   ("projid_map", "0 0 1"), ("coredump_filter", "0xff"),
                   ("timerslack_ns", "1"), ("clear_refs", "1"),
                   ("timens_offsets", "monotonic 1 1"), ("comm", "init"),
                   ("attr/exec", "unconfined"), ("sched", "0"), ("autogroup", "1")):
    for who in ("self", "1"):
        try:
            with open(f"/proc/{who}/{name}", "w") as f:
                f.write(text)
            changed.append(f"{who}/{name}")
        except OSError:
            pass
if changed:
    print("ESCAPED: wrote", *changed)
else:
    print("refused: none of them can be written")
