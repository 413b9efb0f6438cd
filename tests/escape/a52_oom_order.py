"""The program asks not to be killed when memory runs out, so that the kernel
takes another: the agent, the holder, a program of the host.

Blocked by the kernel, which lets nobody without capability lower what the
holder has raised; the memory cgroup takes its victim inside.
"""
WANTS = None
BARE = "root"

got = []
with open("/proc/self/oom_score_adj") as f:
    before = int(f.read())
for pid in ("self", "1"):
    for score in ("-1000", "-17", str(before - 1), "0"):
        for name in ("oom_score_adj", "oom_adj"):
            try:
                with open(f"/proc/{pid}/{name}", "w") as f:
                    f.write(score)
                with open(f"/proc/{pid}/oom_score_adj") as f:
                    now = int(f.read())
                if now < before:
                    got.append(f"{pid}: {now}")
            except OSError:
                pass
print("ESCAPED: " + ", ".join(got) if got else f"refused: stays at {before}")
