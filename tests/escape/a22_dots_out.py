"""The path that is taken out leads through links of the cell to its /proc: to the
descriptors of the agent, its root and its memory, so that the agent, not the
program, reads them.

Blocked by the agent not being dumpable, holding nothing of the host, and having
no right that the program lacks.
"""
import os
import sys

WANTS = None
WITHOUT_NAMESPACES = False
BARE_CANNOT = "what is attacked is karzer's agent"
NEEDS = ("host_file", "out")
OPTIONS = ("--out", "/tmp/out:{out}", "--out", "/tmp/agent:{out}/agent",
           "--out", "/tmp/root:{out}/root")
CHECK = "only_plain_files_came_out"

given = dict(word.split("=", 1) for word in sys.argv[1:])
os.mkdir("/tmp/out")
os.symlink("/proc/1/mem", "/tmp/out/mem")
os.symlink("/proc/self/fd", "/tmp/agent")
os.symlink("/proc/self/root" + given["host_file"], "/tmp/root")
for n in range(8):
    os.symlink(f"/proc/self/fd/{n}", f"/tmp/out/{n}")
print("planted: ways through the agent")
