/**
 * Shell text for a mount namespace of its own, in which the programs that remove and stop things run for real: what they see
 * of /etc, /run, /var/lib and /var/log is not the machine's.
 */
export const ENTER = `
set -eu
mount --make-rprivate /
upper=$(mktemp -d)
mount -t tmpfs tmpfs "$upper"
mkdir "$upper/up" "$upper/work"
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$upper/up,workdir=$upper/work" /etc
for directory in /run /var/lib /var/log; do mount -t tmpfs tmpfs "$directory"; done
mkdir -p /etc/systemd/system /var/lib/k0s /run/fake
umount -l "$upper"
rmdir "$upper"
PATH=/run/fake:$PATH
`;
