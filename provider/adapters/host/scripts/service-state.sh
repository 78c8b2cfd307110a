#!/bin/sh
# in:  SERVICE (k0scontroller or k0sworker)
# out: `absent`, or a line `<active> <sub> <restarts>` in systemd's words

if has_systemd; then
    active='' sub='' restarts=0 load=''
    while IFS='=' read -r key value; do
        case $key in
        LoadState) load=$value ;;
        ActiveState) active=$value ;;
        SubState) sub=$value ;;
        NRestarts) restarts=$value ;;
        esac
    done <<END
$(limited 20 systemctl show "$SERVICE.service" -p LoadState,ActiveState,SubState,NRestarts)
END
    [ -n "$load" ] || fail 'systemctl does not answer'
    if [ "$load" = not-found ] && [ "$active" = inactive ]; then
        printf 'absent'
    else
        printf '%s %s %s' "${active:-unknown}" "${sub:-unknown}" "${restarts:-0}"
    fi
elif [ -e "/etc/init.d/$SERVICE" ]; then
    code=0
    limited 20 "/etc/init.d/$SERVICE" status >/dev/null 2>&1 || code=$?
    case $code in
    0) printf 'active running 0' ;;
    32) printf 'failed crashed 0' ;;
    *) printf 'inactive dead 0' ;;
    esac
else
    printf 'absent'
fi
