#!/bin/sh
# in:  NAMES (one a line)
# out: lines `<name> <address>`; none for a name that this host cannot resolve

have getent || fail 'getent is not on the host'
while IFS= read -r name; do
    [ -n "$name" ] || continue
    limited 10 getent ahosts -- "$name" | while read -r address _; do printf '%s %s\n' "$name" "$address"; done
done <<END | sort -u
$NAMES
END
