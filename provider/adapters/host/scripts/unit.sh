#!/bin/sh
# in:  ACTION (up down forget), UNIT (e.g. `etcd-maintenance.service`)
# out: nothing of use. `up` enables and starts it, `down` stops and disables it; `down` and `forget` are fine when there is none.

has_systemd || fail 'systemd does not run on this host'
case $ACTION in
up)
    systemctl daemon-reload
    systemctl --no-ask-password enable "$UNIT"
    systemctl --no-ask-password restart "$UNIT"
    ;;
down)
    [ "$(limited 20 systemctl show "$UNIT" -p LoadState --value)" != not-found ] || exit 0
    systemctl --no-ask-password disable "$UNIT"
    systemctl --no-ask-password stop "$UNIT"
    ;;
forget)
    systemctl daemon-reload
    systemctl reset-failed "$UNIT" 2>/dev/null || true
    ;;
esac
