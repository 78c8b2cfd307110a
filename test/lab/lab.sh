#!/bin/bash
# Test machines for Linux as root: each has its own systemd, sshd, network address and disk.
#   lab.sh base                 make the root file system once (about 40 s)
#   lab.sh up NAME ADDRESS      start a machine, e.g. up c1 10.77.0.11 (reachable by ssh in 2-5 s); again after kill: power on
#   lab.sh ssh ADDRESS CMD...   run a command on it as root
#   lab.sh key                  print the path of the private key that root and the sudo user "lab" accept
#   lab.sh hostkey NAME         print its ssh host key (one line "ssh-ed25519 AAAA...")
#   lab.sh kill NAME            pull the plug; the disk stays
#   lab.sh down [NAME]          stop and delete one machine, or all and the network
# LAB_DIR (default /tmp/mke-lab) holds everything. Programs found in LAB_BIN (etcd, kube-apiserver, kubelet, ...,
# see components.sh) appear in every machine's /usr/local/bin, so that a k0s without embedded binaries finds them.
# Several labs side by side: give each its own LAB_DIR, LAB_BRIDGE, LAB_GATEWAY (a /24) and machine names.
# Needs Debian's systemd-container mmdebstrap openssh-client openssh-server iproute2.
set -euo pipefail
LAB_DIR=${LAB_DIR:-/tmp/mke-lab} LAB_BIN=${LAB_BIN:-} BRIDGE=${LAB_BRIDGE:-mkelab0} GATEWAY=${LAB_GATEWAY:-10.77.0.1}
CGROUPS="cpu cpuacct cpuset memory devices freezer blkio pids"

# Only one process at a time prepares what the machines share.
locked() { mkdir -p "$LAB_DIR"; (flock 9; "$@" 9>&-) 9> "$LAB_DIR/.lock"; }

base() {
  local b=$LAB_DIR/base
  if [ -e "$b/.done" ]; then return; fi
  rm -rf "$b"
  [ -e "$LAB_DIR/key" ] || ssh-keygen -q -t ed25519 -N '' -f "$LAB_DIR/key"
  mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,dbus,openssh-server,sudo,iproute2,iptables,kmod,ca-certificates,curl,procps,util-linux,conntrack,runc,containerd,containernetworking-plugins \
    bookworm "$b" >&2
  mkdir -p "$b/root/.ssh" "$b/opt/cni" "$b/etc/cni/net.d"
  cp "$LAB_DIR/key.pub" "$b/root/.ssh/authorized_keys"
  chroot "$b" useradd -m -s /bin/bash lab
  install -d -o "$(stat -c %u "$b/home/lab")" -g "$(stat -c %g "$b/home/lab")" -m 700 "$b/home/lab/.ssh"
  install -o "$(stat -c %u "$b/home/lab")" -g "$(stat -c %g "$b/home/lab")" -m 600 "$LAB_DIR/key.pub" "$b/home/lab/.ssh/authorized_keys"
  echo 'lab ALL=(ALL) NOPASSWD:ALL' > "$b/etc/sudoers.d/lab"; chmod 440 "$b/etc/sudoers.d/lab"
  ln -sfn /usr/lib/cni "$b/opt/cni/bin"
  cat > "$b/etc/cni/net.d/10-lab.conflist" <<'EOF'
{"cniVersion":"0.4.0","name":"lab","plugins":[{"type":"bridge","bridge":"cni0","isGateway":true,"ipam":{"type":"host-local","ranges":[[{"subnet":"10.244.0.0/24"}]]}}]}
EOF
  # Without CAP_SYS_RESOURCE a container's oom_score_adj cannot be lowered, and runc refuses every pod.
  cat > "$b/usr/local/sbin/runc" <<'EOF'
#!/bin/sh
b=; p=; for a; do [ "$p" = --bundle ] && b=$a; case $a in --bundle=*) b=${a#*=};; esac; p=$a; done
[ -z "$b" ] || [ ! -f "$b/config.json" ] || sed -i 's/"oomScoreAdj":-[0-9]*/"oomScoreAdj":0/' "$b/config.json"
exec /usr/sbin/runc "$@"
EOF
  chmod +x "$b/usr/local/sbin/runc"
  cat > "$b/etc/systemd/system/lab-mounts.service" <<EOF
[Unit]
DefaultDependencies=no
Before=sysinit.target
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'for c in $CGROUPS; do mount -o remount,bind,rw /sys/fs/cgroup/\$\$c; done; mount -o remount,bind,rw /proc/sys; mount --make-rshared /; true'
RemainAfterExit=yes
[Install]
WantedBy=sysinit.target
EOF
  systemctl --root="$b" -q enable lab-mounts systemd-networkd ssh
  systemctl --root="$b" -q disable containerd
  systemctl --root="$b" -q mask systemd-timesyncd
  touch "$b/.done"
}

bridge() {
  if ip link show "$BRIDGE" >/dev/null 2>&1; then return; fi
  ip link add "$BRIDGE" type bridge
  ip addr add "$GATEWAY/24" dev "$BRIDGE"
  ip link set "$BRIDGE" up
}

# The programs are one read-only layer that all machines share; a changed LAB_BIN makes a new layer.
programs() {
  local layer
  layer=$LAB_DIR/programs-$(cd "$LAB_BIN" && stat -L -c '%n %s %Y' ./* | md5sum | cut -c1-12)
  if [ ! -d "$layer" ]; then
    rm -rf "$layer.tmp"
    mkdir -p "$layer.tmp/usr/local/bin"
    cp -L "$LAB_BIN"/* "$layer.tmp/usr/local/bin/"
    chmod 755 "$layer.tmp"/usr/local/bin/*
    mv "$layer.tmp" "$layer"
  fi
  echo "$layer"
}

# The pid may have been given to another program since.
running() { [ -s "$LAB_DIR/hosts/$1/pid" ] && [ "$(cat "/proc/$(cat "$LAB_DIR/hosts/$1/pid")/comm" 2>/dev/null)" = systemd-nspawn ]; }

up() {
  local name=$1 addr=$2 h=$LAB_DIR/hosts/$1 lower=$LAB_DIR/base
  if running "$name"; then echo "$name runs already" >&2; return 1; fi
  locked base
  locked bridge
  [ -z "$LAB_BIN" ] || lower=$(locked programs):$lower
  mkdir -p "$h"/{upper,work,root,data}
  mountpoint -q "$h/root" || mount -t overlay overlay -o "lowerdir=$lower,upperdir=$h/upper,workdir=$h/work" "$h/root"
  printf '[Match]\nName=host0\n[Network]\nAddress=%s/24\nGateway=%s\nLinkLocalAddressing=no\n' "$addr" "$GATEWAY" > "$h/root/etc/systemd/network/10-host0.network"
  echo "$name" > "$h/root/etc/hostname"
  printf '127.0.0.1 localhost\n%s %s\n' "$addr" "$name" > "$h/root/etc/hosts"
  [ -s "$h/root/etc/machine-id" ] || systemd-machine-id-setup --root="$h/root" >/dev/null 2>&1
  [ -e "$h/root/etc/ssh/.lab" ] || { rm -f "$h"/root/etc/ssh/ssh_host_*; ssh-keygen -A -f "$h/root" >/dev/null; touch "$h/root/etc/ssh/.lab"; }
  mkdir -p "$h/root/var/lib/k0s"
  # The kernel may need a moment to take down what a machine of this name had before.
  ip link del "vb-$name" 2>/dev/null || true
  ( for c in $CGROUPS; do
      d=/sys/fs/cgroup/$c/mkelab-$name
      [ -d "/sys/fs/cgroup/$c" ] || continue
      mkdir -p "$d"
      [ "$c" != cpuset ] || { cat /sys/fs/cgroup/cpuset/cpuset.cpus > "$d/cpuset.cpus"; cat /sys/fs/cgroup/cpuset/cpuset.mems > "$d/cpuset.mems"; }
      echo "$BASHPID" > "$d/cgroup.procs"
    done
    exec setsid systemd-nspawn -q -M "$name" -D "$h/root" --boot --register=no --keep-unit --network-bridge="$BRIDGE" --hostname="$name" \
      --bind="$h/data:/var/lib/k0s" --bind=/dev/kmsg --capability=all --system-call-filter='@mount @privileged @keyring bpf perf_event_open' \
      >"$h/console.log" 2>&1 </dev/null ) &
  echo $! > "$h/pid"
  for _ in $(seq 100); do
    shell "$addr" true 2>/dev/null && return
    kill -0 "$(cat "$h/pid")" 2>/dev/null || break
    sleep 0.2
  done
  echo "$name did not come up; see $h/console.log" >&2
  return 1
}

shell() {
  local addr=$1
  shift
  ssh -i "$LAB_DIR/key" -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ConnectTimeout=2 "root@$addr" "$@"
}

pull() {
  local p
  running "$1" || return 0
  p=$(cat "$LAB_DIR/hosts/$1/pid")
  pkill -KILL -P "$p" || true
  kill -KILL "$p" 2>/dev/null || true
  rm -f "$LAB_DIR/hosts/$1/pid"
}

# A cgroup can be removed when the last process has left it, children first; the killed ones need a moment.
drop_cgroups() {
  local c d left=50
  for c in $CGROUPS; do
    d=/sys/fs/cgroup/$c/mkelab-$1
    while [ -d "$d" ] && ! find "$d" -depth -type d -exec rmdir {} + 2>/dev/null && [ $((left -= 1)) -gt 0 ]; do sleep 0.1; done
  done
}

down() {
  local n h left
  for n in ${1:-$(ls "$LAB_DIR/hosts" 2>/dev/null || true)}; do
    h=$LAB_DIR/hosts/$n
    [ -d "$h" ] || continue
    pull "$n"
    left=50
    while ! umount -R "$h/root" 2>/dev/null && mountpoint -q "$h/root" && [ $((left -= 1)) -gt 0 ]; do sleep 0.1; done
    umount -R -l "$h/root" 2>/dev/null || true
    rm -rf "$h"
    drop_cgroups "$n"
  done
  [ $# -gt 0 ] || ip link del "$BRIDGE" 2>/dev/null || true
}

case ${1:-} in
  base) locked base ;;
  up) up "$2" "$3" ;;
  ssh) shift; shell "$@" ;;
  key) echo "$LAB_DIR/key" ;;
  hostkey) cut -d' ' -f1,2 "$LAB_DIR/hosts/$2/root/etc/ssh/ssh_host_ed25519_key.pub" ;;
  kill) pull "$2" ;;
  down) shift; down "$@" ;;
  *) sed -n 2,15p "$0"; exit 2 ;;
esac
