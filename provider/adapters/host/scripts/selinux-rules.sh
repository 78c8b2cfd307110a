#!/bin/sh
# in:  nothing
# out: the rules for file labels that were added on this host, lines `<type> <pattern>`

have semanage || fail 'semanage is not on the host: install policycoreutils-python-utils (policycoreutils-python on RHEL 7)'
have restorecon || fail 'restorecon is not on the host: install policycoreutils'
limited 60 semanage fcontext -l -C -n | sed -n 's/^\(.*[^ ]\)  *all files  *[^: ]*:[^: ]*:\([^: ]*\).*$/\2 \1/p'
