"""A tree from a stranger is copied in that is too large in each way: more files
than can be counted, deeper than a path is long, a sparse file of 8 EiB, a name
of 255 bytes.

Blocked by files in, which count files, depth and bytes against limits, and
refuse the run before the program starts.
"""
WANTS = None
ENGINE = True
BARE_CANNOT = "what is attacked is karzer's own --in"
NEEDS = ("workspace",)
CHECK = "refuses_bombs_in"

print("planted: nothing, they are made by the check")
