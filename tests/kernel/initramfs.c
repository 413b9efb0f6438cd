/* SPDX-License-Identifier: Apache-2.0 */
/*
 * initramfs - the first program of the test guest: loads the modules that
 * reach the disk, then makes the disk the root and starts its
 * /sbin/karzer-init.
 *
 * A root of its own file system is needed because pivot_root(2) refuses to
 * leave the initramfs.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In the order of their dependencies; tests/kernel/image copies them. */
static const char *const modules[] = {
    "/virtio_ring.ko",           "/virtio.ko",     "/virtio_pci_legacy_dev.ko",
    "/virtio_pci_modern_dev.ko", "/virtio_pci.ko", "/virtio_blk.ko",
};

static int give_up(const char *what)
{
    perror(what);
    reboot(RB_POWER_OFF);
    return 1;
}

static void console(void)
{
    int fd = open("/dev/console", O_RDWR);

    if (fd < 0)
        return;
    for (int i = 0; i < 3; i++)
        dup2(fd, i);
    if (fd > 2)
        close(fd);
}

static int load(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    long r = fd < 0 ? -1 : syscall(SYS_finit_module, fd, "", 0);

    if (fd >= 0)
        close(fd);
    return (int)r;
}

/* The disk appears some time after its driver. */
static int mount_root(void)
{
    for (int i = 0; i < 1000; i++) {
        if (mount("/dev/vda", "/root", "ext4", MS_NOATIME, NULL) == 0)
            return 0;
        usleep(10000);
    }
    return -1;
}

int main(void)
{
    char *const argv[] = {"/sbin/karzer-init", NULL};
    char *const envp[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
                          "LANG=C.UTF-8", NULL};

    if (mount("dev", "/dev", "devtmpfs", 0, NULL) < 0)
        return give_up("mount /dev");
    console();
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
        if (load(modules[i]) < 0)
            return give_up(modules[i]);
    if (mount_root() < 0)
        return give_up("mount /dev/vda");
    if (mount("/dev", "/root/dev", NULL, MS_MOVE, NULL) < 0)
        return give_up("move /dev");
    if (chdir("/root") < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 ||
        chroot(".") < 0 || chdir("/") < 0)
        return give_up("switch root");
    execve(argv[0], argv, envp);
    return give_up(argv[0]);
}
