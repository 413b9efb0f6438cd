"""docs/hosts.md: a row per kind of host, as it was seen there.

The suite compares each row; KARZER_HOSTS_WRITE=1 writes what was seen instead.
"""
import os
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "hosts.md"
SHOWN = ("files", "processes", "memory", "pids")
WRITE = bool(os.environ.get("KARZER_HOSTS_WRITE"))


def row(kind, tier, mechanisms):
    how = [mechanisms[name] or "-" for name in SHOWN] if tier else ["-"] * len(SHOWN)
    who = "root" if kind.who == "root" else "user"
    return "| " + " | ".join([kind.name, who, kind.how, tier or "unavailable",
                              *how]) + " |"


def rows():
    """Name and caller to the line that has them."""
    found = {}
    for line in PAGE.read_text().splitlines():
        m = re.match(r"\| ([^|]+) \| (root|user) \|", line)
        if m:
            found[m.group(1)] = line
    return found


def write(kind, line):
    text = PAGE.read_text()
    old = rows().get(kind.name)
    if old is None:
        mark = "<!-- guest -->" if kind.boot else "<!-- here -->"
        text = text.replace(mark, line + "\n" + mark)
    else:
        text = text.replace(old, line)
    PAGE.write_text(text)


def check(kind, tier, mechanisms):
    line = row(kind, tier, mechanisms)
    if kind.boot and rows().get(kind.name) != line:
        print("ROW", line, flush=True)  # the guest's pages are gone with it
    if WRITE:
        write(kind, line)
    assert rows().get(kind.name) == line, (
        f"{PAGE.name} has another row for this kind; seen:\n{line}")
