"""A small disk that only one test sees: a tmpfs in a mount namespace of its own."""
import os
import pathlib
import subprocess
import tempfile

import pytest

import karzer


class SmallDisk:
    """`at` is where the programs of `prefix` see it, `dir` is it from outside."""

    def __init__(self, box, size, at=None):
        if os.getuid() != 0:
            karzer.lack("root", "mounting needs root")
        self.made = at is None
        self.at = pathlib.Path(at or tempfile.mkdtemp(prefix="disk-", dir=box.user.dir))
        uid = box.user.uid
        script = (f"mount -t tmpfs -o size={size},mode=700,uid={uid},gid={uid} disk "
                  f"'{self.at}' && echo here && exec sleep 600")
        self.holder = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", script],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = self.holder.stdout.readline()
        if said != b"here\n":
            self.close()
            pytest.skip(f"no mount namespace: {said!r}")
        pid = self.holder.pid
        self.prefix = ["nsenter", f"--mount=/proc/{pid}/ns/mnt", "--"]
        self.dir = pathlib.Path(f"/proc/{pid}/root{self.at}")

    def close(self):
        karzer.end(self.holder)
        if self.made:
            self.at.rmdir()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def fill(self, name="filler", leave=0):
        """Takes all the space there is, then gives back `leave` bytes of it."""
        with open(self.dir / name, "ab", buffering=0) as f:
            try:
                while True:
                    f.write(bytes(4096))
            except OSError:
                f.truncate(max(f.tell() - leave, 0))
