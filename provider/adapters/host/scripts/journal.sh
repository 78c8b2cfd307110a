#!/bin/sh
# in:  SERVICE (k0scontroller or k0sworker), LINES_WANTED
# out: the last lines of its log, without those that look like secrets
#
# Of the service's current start only: an older one may have failed for a reason that is mended. Where systemd restarted
# it, the reason lies in the start before, and all lines count.

invocation() {
    id='' restarts=0
    while IFS='=' read -r key value; do
        case $key in
        InvocationID) id=$value ;;
        NRestarts) restarts=$value ;;
        esac
    done <<END
$(limited 20 systemctl show "$SERVICE.service" -p InvocationID,NRestarts 2>/dev/null)
END
    [ "${restarts:-0}" = 0 ] && printf '%s' "$id"
}

# What the service says carries one field, what systemd says about it the other.
from_journal() {
    id=$(invocation) || id=
    if [ -n "$id" ]; then
        set -- "_SYSTEMD_INVOCATION_ID=$id" + "INVOCATION_ID=$id"
    else
        set -- "--unit=$SERVICE.service"
    fi
    limited 20 journalctl "$@" --lines="$LINES_WANTED" --no-pager --output=cat 2>/dev/null
}

log() {
    if has_systemd && have journalctl; then
        from_journal
    else
        for file in /var/log/k0s.log /var/log/k0s.err; do
            [ ! -r "$file" ] || tail -n "$LINES_WANTED" "$file"
        done
    fi
}

log | cut -c 1-2000 |
    grep -a -v -i -E '[A-Za-z0-9+/=]{200}|(^|[^a-z0-9])[a-z0-9]{6}\.[a-z0-9]{16}([^a-z0-9]|$)|password|private key|bearer ' || true
