"""Kinds of hosts: how each is simulated, by words before a command.

A kind is a row: its name, who calls karzer there, how it is made (a sentence for
docs/hosts.md), and steps. Steps are run by root in a mount namespace of their
own before the caller's ids are taken; `inside` are words after that. The words
that a host without a working tier has to say are in `fix`.
"""
import os
import shlex

import groups
import karzer

CGROUPS = "umount -R /sys/fs/cgroup"
# As container engines do: parts of /proc are covered, /proc/sys is read-only.
MASKED = ("mount -t tmpfs -o size=4k,ro none /proc/irq; "
          "mount --bind /proc/sys /proc/sys; "
          "mount -o remount,ro,bind /proc/sys")
OWN_PROC = "mount -t proc proc /proc"
RO_CGROUPS = ("for m in $(awk '$3 ~ /^cgroup/ { print $2 }' /proc/mounts); do "
              "mount -o remount,ro,bind $m; done")
READ_ONLY = "mount -o remount,ro,bind /"
# The sysctl of Ubuntu, and its effect on a namespace: it has no rights, so that
# ids cannot be mapped.
APPARMOR = ("cp -r --no-preserve=all /proc/sys/kernel {dir}/kernel 2>/dev/null || :; "
            "echo 1 >{dir}/kernel/apparmor_restrict_unprivileged_userns; "
            "mount --bind /proc /proc; mount -o remount,ro,bind /proc; "
            "mount --bind {dir}/kernel /proc/sys/kernel")
DOCKER_CAPS = ("-all,+chown,+dac_override,+fsetid,+fowner,+mknod,+net_raw,+setgid,"
               "+setuid,+setfcap,+setpcap,+net_bind_service,+sys_chroot,+kill,"
               "+audit_write")


def filled(text, values):
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    return text


class Kind:
    def __init__(self, name, how, who, steps=(), **more):
        self.name, self.how, self.who, self.steps = name, how, who, steps
        self.unshare = more.pop("unshare", ["-m"])
        self.caps = more.pop("caps", None)      # root's, as setpriv takes them
        self.inside = more.pop("inside", [])    # words; {helper}: tests/helper
        self.tier = more.pop("tier", "container")
        self.fix = more.pop("fix", None)
        self.groups = more.pop("groups", None)  # given to the user
        self.boot = more.pop("boot", None)      # only in the guest, of this boot
        assert not more, more

    def enter(self, session, user):
        """Words before the command line, and what has to be removed."""
        words, made = [], None
        if self.groups:
            made = groups.Groups(f"ktest-host-{os.getpid()}", user.uid,
                                 *([self.groups] if self.groups != "all" else []))
            words += made.prefix()
        fill = {"dir": str(user.dir), "helper": str(session.helper),
                "state": str(user.state), "uid": str(user.uid)}
        if self.steps:
            script = filled("; ".join(["set -e", *self.steps]), fill)
            words += ["/usr/bin/unshare", *self.unshare, "/bin/sh", "-c",
                      script + '; exec "$@"', "sh"]
        if self.who == "session":
            words += ["/usr/bin/su", "-s", "/bin/sh", "-c", 'exec "$@"', "--", "user",
                      "sh"]
        if self.caps:
            words += ["/usr/bin/setpriv", f"--bounding-set={self.caps}", "--"]
        return [*words, *user.prefix, *(filled(w, fill) for w in self.inside)], made


def rootless(*steps):
    """A user namespace of the caller's, root in it, with a /proc of its own."""
    script = "; ".join(["set -e", OWN_PROC, *steps])
    return ["/usr/bin/unshare", "-Urmpf", "/bin/sh", "-c", script + '; exec "$@"',
            "sh"]


PROC = "a new pid namespace with a /proc of its own"
KINDS = [
    Kind("hybrid", "this machine: v1 controllers and an empty v2 tree", "root"),
    Kind("hybrid, ordinary user", "the same, nothing delegated", "user"),
    Kind("cgroup v1", "the v2 tree unmounted", "root",
         ["umount /sys/fs/cgroup/unified"]),
    Kind("cgroup v1, delegated", "v1 groups that belong to the user", "user",
         groups="all"),
    Kind("no cgroups", "all of /sys/fs/cgroup unmounted", "root", [CGROUPS]),
    Kind("no cgroups, ordinary user", "the same", "user", [CGROUPS]),
    Kind("no memory cgroup", "its v1 hierarchy unmounted", "root",
         ["umount /sys/fs/cgroup/memory"]),
    Kind("neither namespaces nor cgroups", "unmounted; a seccomp filter that "
         "refuses namespaces and mounts", "root", [CGROUPS],
         inside=["{helper}/refuse_namespaces"], tier="process"),
    Kind("neither, ordinary user", "the same", "user", [CGROUPS],
         inside=["{helper}/refuse_namespaces"], tier="process"),
    Kind("no Landlock", "a seccomp filter that knows no such call", "user",
         inside=["{helper}/refuse_landlock"]),
    Kind("neither namespaces nor Landlock", "both filters", "user",
         inside=["{helper}/refuse_landlock", "{helper}/refuse_namespaces"],
         tier=None, fix="neither namespaces nor Landlock"),
    Kind("user.max_user_namespaces=0", "inside bubblewrap --disable-userns, which "
         "sets it in a namespace around", "user",
         inside=["/usr/bin/bwrap", "--unshare-user", "--disable-userns",
                 "--dev-bind", "/", "/", "--"], tier="process",
         fix="sysctl user.max_user_namespaces="),
    Kind("AppArmor restricts user namespaces", "Ubuntu's sysctl bound over "
         "/proc/sys/kernel, and a /proc that lets no ids be mapped", "user",
         [APPARMOR], tier="process",
         fix="a profile with `userns,` for karzer-jail"),
    Kind("in a container as root (docker's defaults)", PROC + ", masked as "
         "engines do; read-only cgroups; docker's capabilities; the refusing "
         "filter", "root", [OWN_PROC, MASKED, RO_CGROUPS], unshare=["-mpf"],
         caps=DOCKER_CAPS, inside=["{helper}/refuse_namespaces"], tier="process"),
    Kind("in a container as a user (docker's defaults)", "the same", "user",
         [OWN_PROC, MASKED, RO_CGROUPS], unshare=["-mpf"], caps=DOCKER_CAPS,
         inside=["{helper}/refuse_namespaces"], tier="process"),
    Kind("in a container as root without capabilities", "the same, with none",
         "root", [OWN_PROC, MASKED, RO_CGROUPS], unshare=["-mpf"], caps="-all",
         inside=["{helper}/refuse_namespaces"], tier=None,
         fix="root needs CAP_CHOWN, CAP_KILL, CAP_SETGID and CAP_SETUID"),
    Kind("in a rootless container", "a user namespace with its root; " + PROC +
         ", masked", "user", inside=rootless(MASKED), tier="process",
         fix="unmask=ALL"),
    Kind("in a rootless container, unmasked", "the same, without the masks",
         "user", inside=rootless()),
    Kind("in bubblewrap", "bwrap --unshare-all with a /proc of its own", "user",
         inside=["/usr/bin/bwrap", "--unshare-all", "--bind", "/", "/", "--proc",
                 "/proc", "--dev", "/dev", "--"]),
    Kind("in a privileged container", PROC + ", and of ipc, uts and cgroup", "root",
         [OWN_PROC], unshare=["-mpfiuC"]),
    Kind("noexec /tmp, read-only /", "so mounted; state and /run on a tmpfs",
         "root", ["mount -t tmpfs -o noexec,mode=1777 tmp /var/tmp",
                  "mount --bind {state} {state}",
                  "mount -t tmpfs -o mode=755 run /run", READ_ONLY]),
    Kind("noexec /tmp, read-only /, ordinary user", "the same", "user",
         ["mount -t tmpfs -o noexec,mode=1777 tmp /var/tmp",
          "mount --bind {state} {state}", READ_ONLY]),
    Kind("read-only /run", "so mounted", "root",
         ["mount -t tmpfs -o mode=755 run /run", "mount -o remount,ro /run"],
         tier=None, fix="mount -t tmpfs run /run"),
    Kind("hidepid on /proc", PROC + ", mounted with hidepid=2", "user",
         [OWN_PROC, "mount -o remount,hidepid=2 /proc"], unshare=["-mpf"]),
    Kind("hidepid, as root", "the same", "root",
         [OWN_PROC, "mount -o remount,hidepid=2 /proc"], unshare=["-mpf"]),
    Kind("hidepid, and neither namespaces nor cgroups", "the same", "user",
         [OWN_PROC, "mount -o remount,hidepid=2 /proc", CGROUPS],
         unshare=["-mpf"], inside=["{helper}/refuse_namespaces"], tier=None,
         fix="remount,hidepid=0 /proc"),
    Kind("cgroup v2", "Debian's 6.1 under qemu, without an init system", "root",
         boot="plain"),
    Kind("cgroup v2, ordinary user", "the same, nothing delegated", "user",
         boot="plain"),
    Kind("cgroup v2, delegated", "the same, v2 groups that belong to the user",
         "user", groups="all", boot="plain"),
    Kind("systemd", "Debian's 6.1 and systemd 252 under qemu", "root",
         boot="systemd"),
    Kind("systemd, a user's session", "the same, by su and pam_systemd", "session",
         boot="systemd"),
    Kind("systemd, a user without a session", "the same, by setpriv: no systemd of "
         "his own", "user", boot="systemd"),
    Kind("a kernel as WSL2's", "Debian's 6.1, booted with cgroup_disable=memory "
         "and without Landlock", "root", boot="wsl"),
    Kind("a kernel as WSL2's, ordinary user", "the same", "user", boot="wsl"),
    Kind("a kernel as WSL2's, user.max_user_namespaces=0", "the same, with that "
         "sysctl", "user", ["echo 0 >/proc/sys/user/max_user_namespaces"],
         boot="wsl", tier=None, fix="neither namespaces nor Landlock"),
]
