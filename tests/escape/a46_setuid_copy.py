"""A program with setuid and setgid bits, and with capabilities in its file's
attributes, is made in scratch and executed.

Blocked by no_new_privs; scratch is mounted nosuid; there is no id to become.
"""
import os
import struct
import subprocess

WANTS = None
BARE = "root"

scratch = os.environ.get("TMPDIR", "/var/tmp")
path = f"{scratch}/a46-setuid"
try:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o6755)
except OSError:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o755)
with open(fd, "wb") as f, open("/usr/bin/python3", "rb") as of:
    f.write(of.read())
try:
    os.chown(path, 65534, 65534)  # another's: it would be a gain
except OSError:
    pass
try:
    os.chmod(path, 0o6755)
    os.setxattr(path, "security.capability", struct.pack(
        "<IIIII", 0x02000001, 0xFFFFFFFF, 0, 0x1FF, 0))
except OSError:
    pass
SAY = ("import os; t = open('/proc/self/status').read(); "
       "print(os.geteuid(), t.split('CapEff:')[1].split()[0])")
try:
    uid, caps = subprocess.run([path, "-I", "-S", "-c", SAY],
                               capture_output=True, text=True).stdout.split()
    if int(uid) != os.getuid() or (int(caps, 16) and os.getuid()):
        print(f"ESCAPED: runs as {uid} with {caps}")
    else:
        print(f"refused: runs as {uid} with {caps}")
except (OSError, ValueError) as e:
    print("refused:", e)
os.unlink(path)
