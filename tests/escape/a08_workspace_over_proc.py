"""The next cell is asked for with a workspace at /proc, /sys, /dev or below, or
the whole host, by every spelling of them (CVE-2019-16884).

Blocked by the engine, which refuses them by their resolved names, and again by
the holder, which mounts nothing there.
"""
WANTS = None
ENGINE = True
BARE_CANNOT = "what is attacked is karzer's own --workspace"
CHECK = "refuses_reserved_workspaces"

print("planted: only names")
