#!/bin/sh
# in:  USER_NAMES, GROUP_NAMES (one name a line)
# out: lines `user <name>` and `group <name>`: those this host does not have

has_group() {
    if have getent; then getent group "$1" >/dev/null; else grep -q "^$1:" /etc/group; fi
}

while IFS= read -r name; do
    [ -z "$name" ] || id -u "$name" >/dev/null 2>&1 || printf 'user %s\n' "$name"
done <<END
$USER_NAMES
END
while IFS= read -r name; do
    [ -z "$name" ] || has_group "$name" || printf 'group %s\n' "$name"
done <<END
$GROUP_NAMES
END
