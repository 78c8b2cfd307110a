#!/bin/sh
# in:  DATA_DIR, KUBELET_ROOT_DIR ("" = below the data directory), K0S ("" = leave the program alone),
#      DATA_ENTRIES, KUBELET_ENTRIES (names of k0s's and ours that may lie in these directories, one a line)
# out: one line for each thing found that could not be removed, with the reason
#
# Removes what k0s and we left on a host, known paths only. Never follows a link, never crosses a mount: what is mounted
# below a directory is unmounted first, and a directory with a mount left below it is not touched (a bind mount can show
# a user's data on the same file system), nor is one that holds anything but the names given. A directory that is itself
# a mount point stays, empty.

left() {
    printf '%s\n' "$*"
}

refuse_system_path() {
    case $1 in
    *//* | */./* | */../* | */. | */.. | */ | *'
'*) fail "refusing to clean $1: not a plain absolute path" ;;
    /bin/* | /boot/* | /dev/* | /proc/* | /sys/* | /usr/bin* | /usr/lib* | /usr/sbin* | /etc/* | /lib/*)
        fail "refusing to clean $1: it belongs to the system" ;;
    /run/lock | /run/systemd* | /var/lib | /var/log | /var/cache | /var/spool | /var/tmp | /usr/local | /usr/share)
        fail "refusing to clean $1: it belongs to the system" ;;
    /*/*) ;;
    *) fail "refusing to clean $1: too close to the root" ;;
    esac
}

spelled() {
    printf '%b' "$(printf '%s' "$1" | sed 's/\\\([0-7][0-7][0-7]\)/\\0\1/g')"
}

unmount_below() {
    mounts_below "$1" | while IFS= read -r mount; do
        name=$(spelled "$mount")
        limited 20 umount "$name" 2>/dev/null || umount -l "$name" 2>/dev/null || true
    done
}

# remove_all PATH…: recursively, on one file system, links as links.
remove_all() {
    if rm --help 2>&1 | grep -q one-file-system; then
        rm -rf --one-file-system -- "$@" 2>/dev/null || true
    else
        for victim; do
            if [ -d "$victim" ] && [ ! -L "$victim" ]; then
                find "$victim" -xdev -depth -type d -exec rmdir {} \; -o -exec rm -f {} + 2>/dev/null || true
                [ ! -d "$victim" ] || find "$victim" -xdev -depth -type d -exec rmdir {} \; 2>/dev/null || true
            else
                rm -f "$victim" 2>/dev/null || true
            fi
        done
    fi
}

# Its entries, hidden ones too, without the directory itself.
remove_content() {
    for entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
        if [ -e "$entry" ] || [ -L "$entry" ]; then remove_all "$entry"; fi
    done
}

# foreign DIRECTORY NAMES: what lies there beside these names and our own temporary files, in one line
foreign() {
    # shellcheck disable=SC2010 # the names are compared and shown, one a line
    ls -A "$1" 2>/dev/null | grep -v -x -F -e "$2" | grep -v '^\.pulumi-mke-' | tr '\n' ' '
}

# remove_directory DIRECTORY [NAMES]: NAMES, one a line, are all that may lie in it
remove_directory() {
    [ -e "$1" ] || [ -L "$1" ] || return 0
    if [ -L "$1" ]; then
        left "$1 (a symbolic link; what it points to was not touched)"
        return 0
    fi
    [ -d "$1" ] || { left "$1 (not a directory)"; return 0; }
    # Through a link further up the kernel's list of mounts has another spelling: all checks use the true path.
    true_path=$(cd "$1" && pwd -P)
    refuse_system_path "$true_path"
    if [ -n "${2:-}" ] && [ -n "$(foreign "$true_path" "$2")" ]; then
        left "$1 (k0s did not put there: $(foreign "$true_path" "$2"))"
        return 0
    fi
    unmount_below "$true_path"
    if [ -n "$(mounts_below "$true_path")" ]; then
        left "$1 (still mounted below it: $(mounts_below "$true_path" | tr '\n' ' '))"
    elif is_mount_point "$true_path"; then
        remove_content "$true_path"
        [ -z "$(ls -A "$true_path")" ] || left "$1 (some of its content)"
    else
        remove_all "$true_path"
        [ ! -e "$true_path" ] || left "$1"
    fi
}

remove_file() {
    if [ -d "$1" ] && [ ! -L "$1" ]; then
        left "$1 (a directory)"
    elif [ -e "$1" ] || [ -L "$1" ]; then
        rm -f "$1" 2>/dev/null || left "$1"
    fi
}

remove_if_empty() {
    [ -L "$1" ] || rmdir "$1" 2>/dev/null || true
}

remove_services() {
    for service in k0scontroller k0sworker; do
        if ! has_systemd && have rc-update && [ -e "/etc/init.d/$service" ]; then
            rc-update -q del "$service" 2>/dev/null || true
        fi
        if [ -f "/etc/init.d/$service" ]; then remove_file "/etc/init.d/$service"; fi
        remove_file "/etc/systemd/system/$service.service"
        for link in /etc/systemd/system/*.wants/"$service.service"; do
            [ ! -L "$link" ] || remove_file "$link"
        done
        # Of drop-ins only k0sctl's and ours; others are the user's, and do nothing without the service.
        for drop_in in "/etc/systemd/system/$service.service.d/env.conf" \
            "/etc/systemd/system/$service.service.d"/pulumi-mke*.conf; do
            remove_file "$drop_in"
        done
        remove_if_empty "/etc/systemd/system/$service.service.d"
    done
    if has_systemd; then
        systemctl daemon-reload 2>/dev/null || true
        systemctl reset-failed k0scontroller.service k0sworker.service 2>/dev/null || true
    fi
}

remove_configuration() {
    remove_file /etc/k0s/k0s.yaml
    remove_file /etc/k0s/k0stoken
    if [ -f /etc/k0s/containerd.toml ] && head -n 1 /etc/k0s/containerd.toml | grep -q 'k0s_managed=true'; then
        remove_file /etc/k0s/containerd.toml
    fi
    remove_if_empty /etc/k0s/containerd.d
    remove_if_empty /etc/k0s
    remove_file /etc/cni/net.d/10-kuberouter.conflist
    remove_file /etc/cni/net.d/10-calico.conflist
    remove_file /etc/cni/net.d/calico-kubeconfig
}

# The kubelet names a pod's logs <namespace>_<pod>_<uid> and links to them; other files there are not its own.
remove_logs() {
    if [ -d /var/log/containers ] && [ ! -L /var/log/containers ]; then
        for link in /var/log/containers/*.log; do [ ! -L "$link" ] || remove_file "$link"; done
        remove_if_empty /var/log/containers
    fi
    if [ -d /var/log/pods ] && [ ! -L /var/log/pods ]; then
        for pod in /var/log/pods/*_*_*; do remove_directory "$pod"; done
        remove_if_empty /var/log/pods
    fi
}

# Device plugins always talk to the kubelet here, whatever its root is.
remove_device_plugins() {
    [ ! -L /var/lib/kubelet ] && [ ! -L /var/lib/kubelet/device-plugins ] || return 0
    rm -f /var/lib/kubelet/device-plugins/kubelet.sock /var/lib/kubelet/device-plugins/kubelet_internal_checkpoint
    remove_if_empty /var/lib/kubelet/device-plugins
    remove_if_empty /var/lib/kubelet
}

refuse_system_path "$DATA_DIR"
[ -z "$KUBELET_ROOT_DIR" ] || refuse_system_path "$KUBELET_ROOT_DIR"
! run_lock_held || fail 'k0s is still running'
[ -z "$KUBELET_ROOT_DIR" ] || remove_directory "$KUBELET_ROOT_DIR" "$KUBELET_ENTRIES"
remove_directory "$DATA_DIR" "$DATA_ENTRIES"
remove_directory /run/k0s
remove_services
remove_configuration
remove_logs
remove_device_plugins
[ -z "$K0S" ] || remove_file "$K0S"
