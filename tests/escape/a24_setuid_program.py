"""A set-id program that is visible is started: it runs with its owner's rights and
does something for the attacker. su waits for a password as root.

Blocked by no_new_privs, nosuid on every mount, and one mapped id.
"""
import os
import stat
import subprocess
import time

WANTS = None
BARE = "user"


def programs():
    for top in ("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/opt"):
        for where, _, names in os.walk(top):
            for name in names:
                path = os.path.join(where, name)
                try:
                    st = os.lstat(path)
                except OSError:
                    continue
                if stat.S_ISREG(st.st_mode) and st.st_mode & 0o6000:
                    yield path


def ids(pid):
    with open(f"/proc/{pid}/status") as f:
        return {line for line in f if line.startswith(("Uid:", "Gid:", "CapEff:"))}


def start(path):
    """Runs it for as long as it waits for its input."""
    p = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        end = time.monotonic() + 0.4
        while p.poll() is None and time.monotonic() < end:
            try:
                now = ids(p.pid)
            except OSError:
                return None
            if now != own:
                return now
            time.sleep(0.002)
    finally:
        p.kill()
        p.wait()
    return None


own, tried = ids("self"), 0
names = ("su", "passwd", "chsh", "newgrp", "sudo", "mount", "pkexec", "chfn", "sg",
         "gpasswd", "umount", "fusermount3")
for path in programs():
    if os.path.basename(path) in names:
        tried += 1
        now = start(path)
        if now:
            print("ESCAPED:", path, "ran as", *sorted(now))
            break
else:
    print("refused:", tried, "set-id programs gave nothing")
