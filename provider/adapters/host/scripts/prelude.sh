#!/bin/sh
# Functions for all programs; sent in front of each. Nothing here runs by itself.

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

have() {
    command -v "$1" >/dev/null 2>&1
}

# limited SECONDS COMMAND…
limited() {
    if have timeout; then
        timeout "$@"
    else
        shift
        "$@"
    fi
}

# One line of base64 of standard input.
to_base64() {
    if have base64; then
        base64 | tr -d '\n'
    else
        openssl base64 -A
    fi
}

from_base64() {
    if have base64; then
        base64 -d
    else
        openssl base64 -d -A
    fi
}

sha256_of() {
    if have sha256sum; then
        sha256sum <"$1" | cut -d ' ' -f 1
    elif have openssl; then
        openssl dgst -sha256 -r <"$1" | cut -d ' ' -f 1
    else
        fail 'neither sha256sum nor openssl is on the host'
    fi
}

size_of() {
    wc -c <"$1" | tr -d ' '
}

first_line() {
    if [ -r "$1" ]; then head -n 1 "$1" 2>/dev/null | tr -d '\t' || true; fi
}

# "" where the machine has none.
machine_id() {
    for file in /etc/machine-id /var/lib/dbus/machine-id; do
        id=$(first_line "$file")
        [ -z "$id" ] || break
    done
    printf '%s' "$id"
}

# token_in MARKER: the token of our marker; "" where there is no marker. Inside a text of JSON the quotes are escaped.
token_in() {
    [ -r "$1" ] || return 0
    grep -o '"token"[[:space:]]*:[[:space:]]*"[^"]*"' "$1" | head -n 1 | sed 's/.*"\([^"]*\)"$/\1/' || true
}

# in: ON_MARKER (path of our marker), ON_MACHINE ("" = not compared), ON_TOKENS (`=<token>` a line, `=` for no marker;
# "" = not compared). Ends the program on any other machine than the one that was decided on. Programs that only look have
# no such values.
on_machine() {
    [ -n "${ON_MARKER:-}" ] || return 0
    found_id=$(machine_id)
    found_token=$(token_in "$ON_MARKER")
    if [ -z "$ON_MACHINE" ] || [ "$found_id" = "$ON_MACHINE" ]; then
        [ -n "$ON_TOKENS" ] || return 0
        ! printf '%s\n' "$ON_TOKENS" | grep -q -x -F -e "=$found_token" || return 0
    fi
    printf 'another-machine\t%s\t%s\n' "$found_id" "$found_token"
    exit 86
}

# Short pause between two looks; some old sleeps know whole seconds only.
pause() {
    sleep 0.2 2>/dev/null || sleep 1
}

has_systemd() {
    [ -d /run/systemd/system ] && have systemctl
}

# Files that may hold the definition of service NAME.
unit_file() {
    if has_systemd; then
        printf '/etc/systemd/system/%s.service' "$1"
    else
        printf '/etc/init.d/%s' "$1"
    fi
}

# Does a k0s daemon hold its lock? The kernel's list is read: trying the lock could make a starting k0s fail.
run_lock_held() {
    [ -e /run/k0s/k0s.yaml.lock ] && [ -r /proc/locks ] || return 1
    lock_device=$(stat -c %d /run/k0s/k0s.yaml.lock) && lock_inode=$(stat -c %i /run/k0s/k0s.yaml.lock) || return 1
    lock_id=$(printf '%02x:%02x:%s' $(((lock_device >> 8) & 4095)) $(((lock_device & 255) | ((lock_device >> 12) & 1048320))) "$lock_inode")
    grep -q -F " $lock_id " /proc/locks
}

# Mount points strictly below directory $1, in the kernel's spelling (space = \040), innermost first.
mounts_below() {
    MOUNTS_BELOW=$(printf '%s' "$1" | sed 's/\\/\\134/g; s/ /\\040/g') awk '
        index($5, ENVIRON["MOUNTS_BELOW"] "/") == 1 { print $5 }' /proc/self/mountinfo | sort -r
}

is_mount_point() {
    MOUNT_POINT=$(printf '%s' "$1" | sed 's/\\/\\134/g; s/ /\\040/g') awk '
        $5 == ENVIRON["MOUNT_POINT"] { found = 1 } END { exit !found }' /proc/self/mountinfo
}
