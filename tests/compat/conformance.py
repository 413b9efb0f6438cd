#!/usr/bin/python3 -I
"""CPython's own tests in a cell, module by module, beside a reference.

    tests/compat/conformance.py [--tier T] [--jobs N] [--page FILE] [MODULE...]

Debian's libpython3.11-testsuite, each module once under bubblewrap on the same
read-only /usr without any limit, and once in a cell. What passes in the first
must pass in the second, but for the modules in `LACKS`, each with its reason.
`make conformance` runs all and writes docs/conformance.md; tests/compat runs a
few. Exit status 1: a module fails that should not.
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SUITE = pathlib.Path("/usr/lib/python3.11/test")
SECONDS = 300
# Modules that pass in the reference and not in a cell, and why.
OOB = "MSG_OOB is refused (CVE-2025-38236)"
LACKS = {
    "test_asyncore": OOB,
    "test_ftplib": OOB,
    "test_socket": "UDP-Lite sockets are refused",
}


def modules():
    return sorted(p.stem for p in SUITE.glob("test_*.py"))


def python(module):
    """The module as regrtest runs it; no resources that need a network."""
    return ["/usr/bin/python3", "-m", "test", "-u", "none", "--timeout",
            str(SECONDS - 10), module]


def in_reference(module):
    return ["/usr/bin/bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc",
            "/proc", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp", "--tmpfs",
            "/home", "--dir", "/home/user", "--chdir", "/home/user",
            "--unshare-all", "--uid", "1000", "--gid", "1000",
            "--die-with-parent", "--clearenv", "--setenv", "HOME",
            "/home/user", "--setenv", "PATH", "/usr/bin:/bin", "--setenv",
            "LANG", "C.UTF-8", "--", *python(module)]


def in_cell(karzer, tier, module):
    return [karzer, "exec", "--tier", tier, "--mem", "2G", "--disk", "1G",
            "--inodes", "200000", "--pids", "512", "--cpu", "2", "--wall",
            f"{SECONDS}s", "--cpu-time", f"{SECONDS}s", "--output", "8M", "--",
            *python(module)]


class Outcome:
    """passed, skipped or failed, with the end of what was said."""

    def __init__(self, command):
        began = time.monotonic()
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=SECONDS + 60,
                                  check=False)
            text = (done.stdout + done.stderr).decode("utf-8", "replace")
            rc = done.returncode
        except subprocess.TimeoutExpired:
            text, rc = "timed out", 124
        self.seconds = time.monotonic() - began
        self.tail = text[-3000:]
        if "== Tests result: SUCCESS" in text and rc == 0:
            ran = "skipped" not in text.split("== Tests result")[-1]
            self.what = "passed" if ran else "skipped"
        elif rc == 0 and "SUCCESS" in text:
            self.what = "skipped" if "1 test skipped" in text else "passed"
        else:
            self.what = "failed"


def compare(karzer, tier, module):
    reference = Outcome(in_reference(module))
    if reference.what != "passed":
        return module, reference, None
    return module, reference, Outcome(in_cell(karzer, tier, module))


def compare_all(karzer, tier, names, jobs):
    """(module, reference, cell or None), as they come."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(compare, karzer, tier, n) for n in names]
        for one in concurrent.futures.as_completed(waiting):
            yield one.result()


def page(tier, rows):
    """docs/conformance.md."""
    both = [r for r in rows if r[2] is not None]
    good = [r for r in both if r[2].what == "passed"]
    lacking = sorted(r[0] for r in both if r[2].what != "passed")
    lines = [
        "# Conformance", "",
        "Written by `make conformance`: CPython's test suite "
        "(libpython3.11-testsuite), each module in a reference (bubblewrap, "
        "the same read-only /usr, no limits) and in a cell.", "",
        "| tier | modules | pass in the reference | pass in the cell |",
        "|---|---|---|---|",
        f"| {tier} | {len(rows)} | {len(both)} | {len(good)} |", "",
        "What passes in the reference and not in the cell:", "",
        "| module | why |", "|---|---|",
        *[f"| {name} | {LACKS.get(name, 'not known')} |" for name in lacking],
        "", "What the reference itself does not pass (missing resources, a "
        "read-only /usr, no network) is not counted."]
    return "\n".join(lines) + "\n"


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--karzer", default=HERE.parents[1] / "build/bin/karzer")
    args.add_argument("--tier", default="container")
    args.add_argument("--jobs", type=int, default=os.cpu_count())
    args.add_argument("--page", type=pathlib.Path)
    args.add_argument("modules", nargs="*")
    args = args.parse_args()
    rows, wrong = [], []
    for row in compare_all(args.karzer, args.tier, args.modules or modules(),
                           args.jobs):
        module, reference, cell = row
        rows.append(row)
        print(f"{module:34} {reference.what:8} {reference.seconds:6.1f} s  "
              f"{cell.what if cell else '-':8} "
              f"{cell.seconds if cell else 0:6.1f} s", flush=True)
        if cell and cell.what != "passed":
            if module not in LACKS:
                wrong.append(module)
            print("   " + cell.tail.replace("\n", "\n   "), flush=True)
    if args.page:
        args.page.write_text(page(args.tier, rows))
    print(f"{len(rows)} modules; unexpected: {' '.join(sorted(wrong)) or 'none'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
