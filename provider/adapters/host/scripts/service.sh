#!/bin/sh
# in:  ACTION (start stop restart enable disable reread), SERVICE (k0scontroller or k0sworker)
# out: nothing of use. All are fine when it is so already; stop and disable also when there is no such service.
#
# Stop ends when the daemon and what it started are gone. The unit has KillMode=process: of a k0s that was killed, or
# that idles after it left etcd, programs may remain. Those from the data directory's bin and those in the unit's
# control group are ended; containers and their shims stay, they are the business of `k0s reset`.

data_dir_of_service() {
    file=$(unit_file "$SERVICE")
    found=
    [ ! -r "$file" ] || found=$(sed -n "s/.*--data-dir[= ]*[\"']*\\([^\"' ]*\\).*/\\1/p" "$file" | head -n 1)
    printf '%s' "${found:-/var/lib/k0s}"
}

pids_in_cgroup() {
    for root in /sys/fs/cgroup /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
        for slice in "system.slice/$SERVICE.service" "openrc.$SERVICE" "openrc/$SERVICE"; do
            [ -d "$root/$slice" ] || continue
            find "$root/$slice" -path '*/kubepods*' -prune -o -name cgroup.procs -exec cat {} + 2>/dev/null || true
        done
    done
}

# One program for all links: a readlink each would be hundreds of processes a look.
pids_from_bin() {
    # shellcheck disable=SC2012 # ls is asked for the links' targets
    ls -l /proc/[0-9]*/exe 2>/dev/null | BIN=$bin awk '
        index($0, "/exe -> " ENVIRON["BIN"] "/") { sub(/.*\/proc\//, ""); sub(/\/exe -> .*/, ""); print }'
}

# Prints `<pid>` of each program that should be gone.
remaining() {
    { pids_in_cgroup; pids_from_bin; } | sort -u | while IFS= read -r pid; do
        program=$(readlink "/proc/$pid/exe" 2>/dev/null) || continue
        case ${program##*/} in
        containerd-shim* | runc | pause) ;;
        *) printf '%s\n' "$pid" ;;
        esac
    done
}

# ended TRIES: waits until nothing remains
ended() {
    tries=$1
    while [ -n "$(remaining)" ]; do
        [ "$tries" -gt 0 ] || return 1
        tries=$((tries - 1))
        pause
    done
}

signal_remaining() {
    remaining | while IFS= read -r pid; do kill "-$1" "$pid" 2>/dev/null || true; done
}

names_remaining() {
    remaining | while IFS= read -r pid; do
        printf '%s (%s) ' "$(cat "/proc/$pid/comm" 2>/dev/null)" "$pid"
    done
}

stop_rest() {
    bin=$(data_dir_of_service)/bin
    ended 5 && return
    signal_remaining TERM
    ended 75 && return
    signal_remaining KILL
    ended 25 || fail "still running after SIGKILL: $(names_remaining)"
}

present=yes
[ -e "$(unit_file "$SERVICE")" ] || present=no
if has_systemd; then
    load=$(limited 20 systemctl show "$SERVICE.service" -p LoadState --value)
    if [ "$load" = not-found ]; then present=no; else present=yes; fi
fi

if [ "$present" = no ]; then
    case $ACTION in
    disable) exit 0 ;;
    stop) ;;
    *) fail "there is no service $SERVICE" ;;
    esac
elif [ "$ACTION" = reread ]; then
    # OpenRC reads the file at each start.
    ! has_systemd || systemctl daemon-reload
elif has_systemd; then
    case $ACTION in
    start | restart) systemctl reset-failed "$SERVICE.service" 2>/dev/null || true ;;
    esac
    systemctl --no-ask-password "$ACTION" "$SERVICE.service"
else
    case $ACTION in
    enable) rc-update -q add "$SERVICE" default ;;
    disable) ! rc-update -q show default | grep -q -w "$SERVICE" || rc-update -q del "$SERVICE" default ;;
    start | stop) "/etc/init.d/$SERVICE" status >/dev/null 2>&1 && running=yes || running=no
        case $ACTION-$running in start-no | stop-yes) "/etc/init.d/$SERVICE" "$ACTION" ;; esac ;;
    restart) "/etc/init.d/$SERVICE" restart ;;
    esac
fi
[ "$ACTION" != stop ] || stop_rest
