#!/bin/sh
# in:  DATA_DIR, K0S (where the program is or will be), KUBELET_ROOT_DIR ("" = below the data directory), MARKER
# out: lines `key<TAB>value`; facts/host-probe.ts knows them all. What ends in -b64 is base64. An absent file gives no
#      line; an unreadable one gives an empty value. The last line is `end`.
#
# Files and the status socket first: a start of the k0s program costs 100 ms of CPU. Nothing secret is sent: no token,
# no private key, no node configuration.

say() {
    printf '%s\t%s\n' "$1" "$2"
}

# say_file KEY FILE: its content in base64
say_file() {
    [ -e "$2" ] || return 0
    say "$1" "$(to_base64 <"$2" 2>/dev/null || true)"
}

true_path() {
    if [ -d "$1" ]; then (cd "$1" && pwd -P); else printf '%s' "$1"; fi
}

addresses() {
    if have ip; then
        ip -o addr show 2>/dev/null | awk '$2 != "lo" && ($3 == "inet" || $3 == "inet6") { sub(/\/.*/, "", $4); print $4 }'
    elif have ifconfig; then
        ifconfig -a 2>/dev/null | awk '
            /^[^ \t]/ { name = $1; sub(/:$/, "", name) }
            name != "lo" && ($1 == "inet" || $1 == "inet6") {
                address = $2 == "addr:" ? $3 : $2
                sub(/^addr:/, "", address); sub(/\/.*/, "", address); print address
            }'
    else
        hostname -I 2>/dev/null | tr ' ' '\n' | sed '/^$/d' || true
    fi
}

cpus() {
    nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || grep -c '^processor' /proc/cpuinfo
}

cgroup_version() {
    if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
        printf 2
    elif [ -d /sys/fs/cgroup/memory ] || [ -d /sys/fs/cgroup/cpu ]; then
        printf 1
    fi
}

# Of the file system the directory is on, or will be.
disk_free_kib() {
    directory=$1
    while [ -n "$directory" ] && [ ! -d "$directory" ]; do directory=${directory%/*}; done
    df -Pk "${directory:-/}" 2>/dev/null | awk 'NR == 2 { print $4 }'
}

selinux() {
    case $(first_line /sys/fs/selinux/enforce) in
    1) printf enforcing ;;
    0) printf permissive ;;
    *) printf disabled ;;
    esac
}

init_system() {
    if has_systemd; then
        printf systemd
    elif have rc-service; then
        printf openrc
    else
        printf other
    fi
}

machine() {
    say machine-id "$(machine_id)"
    say host-name "$(first_line /proc/sys/kernel/hostname)"
    addresses | while IFS= read -r address; do say address "$address"; done
    if [ -e /etc/os-release ]; then
        say_file os-release-b64 /etc/os-release
    else
        say_file os-release-b64 /usr/lib/os-release
    fi
    say arch "$(uname -m)"
    say cpus "$(cpus)"
    say memory-kib "$(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo)"
    say cgroup "$(cgroup_version)"
    say disk-free-kib "$(disk_free_kib "$DATA_DIR")"
    say clock "$(date +%s)"
    say selinux "$(selinux)"
    say init "$(init_system)"
}

# A token may be an argument, a password part of one: long random-looking words and such values are cut.
without_secrets() {
    sed -E -e 's@[A-Za-z0-9+/=]{200,}@(cut)@g' -e 's@(^|[^a-z0-9])[a-z0-9]{6}\.[a-z0-9]{16}([^a-z0-9]|$)@\1(cut)\2@g' \
        -e 's@(--[a-z-]*(token|password|secret)[= ])[^" ]+@\1(cut)@g'
}

# command_of NAME FILE…: sets command_line and token_path from the definition of a service
command_of() {
    shift
    if has_systemd || [ "${1%.service}" != "$1" ]; then
        command_line=$(cat "$@" 2>/dev/null | sed -n 's/^ExecStart=//p' | sed '/^ *$/d' | tail -n 1)
    else
        command_line=$(sed -n 's/^command=//p; s/^command_args="\(.*\)"$/\1/p' "$1" 2>/dev/null | tr '\n' ' ')
    fi
    token_path=$(printf '%s\n' "$command_line" | sed -n "s/.*--token-file[= ]*[\"']*\\([^\"' ]*\\).*/\\1/p")
    program=$(printf '%s\n' "$command_line" | sed "s/^[-@:+! ]*//; s/ .*//; s/[\"']//g; s/\\\\x20/ /g")
    socket=$(printf '%s\n' "$command_line" | sed -n "s/.*--status-socket[= ]*[\"']*\\([^\"' ]*\\).*/\\1/p")
    [ -z "$token_path" ] || token_file=$token_path
    [ -z "$program" ] || service_program=$program
    [ -z "$socket" ] || status_socket=$socket
}

systemd_unit() {
    load='' state='' active='' sub='' restarts='' fragment='' drop_ins=''
    while IFS='=' read -r key value; do
        case $key in
        LoadState) load=$value ;;
        UnitFileState) state=$value ;;
        ActiveState) active=$value ;;
        SubState) sub=$value ;;
        NRestarts) restarts=$value ;;
        FragmentPath) fragment=$value ;;
        DropInPaths) drop_ins=$value ;;
        esac
    done <<END
$(limited 20 systemctl show "$2.service" -p LoadState,UnitFileState,ActiveState,SubState,NRestarts,FragmentPath,DropInPaths)
END
    [ -n "$load" ] || fail 'systemctl does not answer'
    if [ "$load" = not-found ] && [ "$active" = inactive ]; then return 0; fi
    # shellcheck disable=SC2086 # a list of paths
    command_of "$2" "${fragment:-/etc/systemd/system/$2.service}" $drop_ins
    case $state in enabled*) enabled=yes ;; *) enabled=no ;; esac
    say "unit-$1" "$enabled ${active:-unknown} ${sub:-unknown} ${restarts:-0}"
    say "unit-$1-command-b64" "$(printf '%s' "$command_line" | without_secrets | to_base64)"
}

init_script() {
    [ -e "/etc/init.d/$2" ] || return 0
    command_of "$2" "/etc/init.d/$2"
    enabled=no
    for link in /etc/runlevels/*/"$2" /etc/rc[2345].d/S??"$2"; do
        [ ! -e "$link" ] || enabled=yes
    done
    code=0
    limited 20 "/etc/init.d/$2" status >/dev/null 2>&1 || code=$?
    case $code in
    0) states='active running' ;;
    32) states='failed crashed' ;;
    *) states='inactive dead' ;;
    esac
    say "unit-$1" "$enabled $states 0"
    say "unit-$1-command-b64" "$(printf '%s' "$command_line" | without_secrets | to_base64)"
}

# A unit file on a machine whose systemd does not run (a container, a rescue system).
idle_unit() {
    file=/etc/systemd/system/$2.service
    [ -e "$file" ] || return 0
    command_of "$2" "$file"
    enabled=no
    for link in /etc/systemd/system/*.wants/"$2.service"; do
        [ ! -L "$link" ] || enabled=yes
    done
    say "unit-$1" "$enabled inactive dead 0"
    say "unit-$1-command-b64" "$(printf '%s' "$command_line" | without_secrets | to_base64)"
}

unit() {
    if has_systemd; then
        systemd_unit "$1" "$2"
    elif [ -e "/etc/init.d/$2" ]; then
        init_script "$1" "$2"
    else
        idle_unit "$1" "$2"
    fi
}

# Of the answer only single fields are sent: it also has the daemon's arguments and the node's configuration.
status_field() {
    value=$(printf '%s' "$answer" | grep -o "\"$1\": *[\"a-z][^,}]*" | "$2" -n 1 | sed 's/^[^:]*: *//; s/"//g')
    say "status-$3" "$value"
}

status() {
    answer='' reason=''
    if [ ! -S "$status_socket" ]; then
        reason="no socket $status_socket"
    elif have curl; then
        answer=$(curl --silent --show-error --fail --max-time 10 --unix-socket "$status_socket" http://localhost/status 2>&1) ||
            { reason="$status_socket: $answer"; answer=; }
    elif [ -n "$program" ]; then
        answer=$(limited 10 "$program" status -o json --status-socket "$status_socket" 2>/dev/null) ||
            reason="k0s status does not answer"
    else
        reason='neither curl nor k0s is there to ask'
    fi
    case $answer in
    *'"Role"'*) ;;
    *)
        say status-silent "$(printf '%s' "${reason:-the answer is not a status}" | tr '\t\n' '  ' | cut -c 1-300)"
        return 0
        ;;
    esac
    answer=$(printf '%s' "$answer" | tr '\n' ' ')
    status_field Role head role
    status_field Workloads head workloads
    status_field SingleNode head single-node
    status_field Version head version
    status_field DataDir tail data-dir
    status_field KubeletRootDir tail kubelet-root-dir
    status_field InvocationID tail invocation-id
    answered=yes
}

find_program() {
    for program in "$K0S" "$service_program" "$(command -v k0s 2>/dev/null || true)"; do
        if [ -n "$program" ] && [ -f "$program" ] && [ -x "$program" ]; then return 0; fi
    done
    program=
}

# The daemon has told its version if it is the same program.
binary() {
    [ -n "$program" ] || return 0
    say binary-path "$program"
    if [ "$answered" = yes ] && [ "$program" = "$service_program" ]; then return 0; fi
    say binary-version "$(limited 20 "$program" version 2>/dev/null | head -n 1 | tr -d '\t')"
}

from_kubeconfig() {
    sed -n "s/^[- ]*$1: *//p" "${2:-$data/kubelet.conf}" 2>/dev/null | head -n 1 | tr -d "\"' \t"
}

# With node-local load balancing the kubelet runs with a kubeconfig of its own, and kubelet.conf goes on naming a controller.
NODE_LOCAL=/run/k0s/nllb/kubeconfig.yaml
api_server() {
    if [ -e "$NODE_LOCAL" ]; then from_kubeconfig server "$NODE_LOCAL"; else from_kubeconfig server; fi
}

authorities() {
    say_file ca-pki-b64 "$data/pki/ca.crt"
    ca=
    [ ! -e "$data/kubelet.conf" ] || ca=$(from_kubeconfig certificate-authority-data)
    if [ -n "$ca" ]; then
        say ca-kubelet-b64 "$ca"
    else
        say_file ca-kubelet-b64 /run/k0s/kubelet/ca.crt
    fi
}

data() {
    if [ -d "$data" ]; then say data-dir yes; else say data-dir no; fi
    if [ -d "$data/pki" ]; then say pki yes; else say pki no; fi
    if [ -d "$data/etcd/member" ]; then say etcd-member yes; else say etcd-member no; fi
    if [ -e "$data/etcd/member/snap/db" ]; then say etcd-database yes; else say etcd-database no; fi
    # Whose database it is stands in the first 56 bytes; what follows is data.
    log=
    for file in "$data"/etcd/member/wal/*.wal; do [ ! -r "$file" ] || log=$file; done
    [ -z "$log" ] || say etcd-log-b64 "$(head -c 56 "$log" 2>/dev/null | to_base64)"
    if [ -e "$data/kubelet.conf" ]; then
        say kubelet-conf yes
        say api-server "$(api_server)"
    else
        say kubelet-conf no
    fi
    # shellcheck disable=SC2012 # one name a line is what is wanted
    [ ! -d "$data" ] || say data-entries-b64 "$(ls -A "$data" 2>/dev/null | to_base64)"
    [ -n "$KUBELET_ROOT_DIR" ] && [ -d "$KUBELET_ROOT_DIR" ] || return 0
    # shellcheck disable=SC2012 # one name a line is what is wanted
    say kubelet-entries-b64 "$(ls -A "$KUBELET_ROOT_DIR" 2>/dev/null | to_base64)"
}

mounts() {
    for directory in "$data" "$(true_path "${KUBELET_ROOT_DIR:-$DATA_DIR/kubelet}")"; do
        ! is_mount_point "$directory" || say mount "$(printf '%s' "$directory" | sed 's/\\/\\134/g; s/ /\\040/g')"
        mounts_below "$directory" | while IFS= read -r mount; do say mount "$mount"; done
    done
}

# Of a token file only whether anything but blank lines and comments is in it.
token() {
    state=absent
    for file in "$token_file" /etc/k0s/k0stoken; do
        [ -f "$file" ] || continue
        if grep -q -v -E '^[[:space:]]*(#.*)?$' "$file" 2>/dev/null; then
            state=token
            break
        fi
        state=blank
    done
    say token-file "$state"
}

k0sctl_lock() {
    for file in /run/lock/k0sctl /tmp/k0sctl.lock; do
        [ -f "$file" ] || continue
        changed=$(stat -c %Y "$file" 2>/dev/null) || continue
        say k0sctl-lock "$(($(date +%s) - changed)) $(first_line "$file")"
    done
}

data=$(true_path "$DATA_DIR")
token_file=/etc/k0s/k0stoken
status_socket=/run/k0s/status.sock
service_program=
answered=no

say format 1
machine
unit controller k0scontroller
unit worker k0sworker
find_program
status
binary
if run_lock_held; then say run-lock held; else say run-lock free; fi
authorities
data
mounts
token
say_file marker-b64 "$MARKER"
k0sctl_lock
say end ''
