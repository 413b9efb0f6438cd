"""Files of the host that tell who it is, or carry its secrets."""
import subprocess

import pytest

PLANTED = (
    "apt/sources.list.d/private.list", "cron.d/backup", "crontab",
    "default/service", "fstab", "mysql/conf.d/client.cnf", "netplan/01.yaml",
    "network/interfaces", "postfix/sasl_passwd", "postgresql/16/main/x.conf",
    "profile.d/tokens.sh", "ssl/private/x.key", "systemd/network/wg0.netdev",
    "systemd/system/x.service", "uv/uv.toml", "R/Renviron.site",
)


@pytest.mark.kernel
def test_the_host_cannot_be_told_from_another(box):
    r = box.shell(
        "cat /etc/machine-id /etc/hostid /var/lib/dbus/machine-id /proc/cmdline "
        "/proc/sys/kernel/random/boot_id 2>/dev/null; "
        "ls -d /sys/class /sys/devices/virtual /sys/firmware /sys/block "
        "/dev/disk /dev/mem 2>/dev/null; "
        "find /sys -name '*serial*' -o -name '*uuid*' | head -n 3; echo end")
    assert r.text == "end\n" and r.status == "ok", r


@pytest.mark.users("root")
def test_files_under_etc_that_carry_secrets_are_masked(box):
    """Planted in a private mount namespace, so the host keeps its own."""
    work = box.user.work()
    script = (
        "set -e; mount --make-rprivate /; mkdir $1/over $1/work; mount -t overlay "
        "o -o lowerdir=/etc,upperdir=$1/over,workdir=$1/work /etc; cd /etc; "
        f"for f in {' '.join(PLANTED)}; do mkdir -p $(dirname $f); "
        "chmod go+rx $(dirname $f); echo key=SECRET > $f; chmod 644 $f; done; "
        "shift; cd /; exec \"$@\"")
    subprocess.run(["mount", "-t", "tmpfs", "karzertest", work], check=True)
    try:
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", script, "sh", str(work),
             *box.command("exec", "--tier", box.tier, "--", "sh", "-c",
                          "grep -rl SECRET /etc; grep -c . /etc/os-release")],
            capture_output=True, env=box.user.env, check=False, timeout=60)
    finally:
        subprocess.run(["umount", work], check=True)
    assert b"/etc/" not in done.stdout and int(done.stdout) > 1, done


@pytest.mark.tiers("process")
def test_the_rest_of_etc_is_there(box):
    r = box.shell("cat /etc/passwd /etc/hosts /etc/os-release /etc/nsswitch.conf "
                  "> /dev/null && bash -lc 'echo login'")
    assert r.text == "login\n" and r.status == "ok", r


def test_what_is_masked_is_empty(box):
    """A mask is an empty file or directory, and nothing that is mounted on
    the place that it was made from."""
    r = box.python(
        "import os\n"
        "n = 0\n"
        "for line in open('/proc/self/mounts'):\n"
        "    fs, at = line.split()[:2]\n"
        "    if fs not in ('none', 'udev', 'devtmpfs'): continue\n"
        "    if at == '/' or at.startswith('/dev/'): continue\n"
        "    n += 1\n"
        "    if os.path.isdir(at): print(at, os.listdir(at)) "
        "if os.listdir(at) else None\n"
        "    elif open(at, 'rb').read(1): print(at)\n"
        "print(n > 0)\n")
    assert r.text == "True\n", r
