#!/bin/sh
# in:  FILE, LIMIT (bytes)
# out: `absent`, or a line `file <size>` and then the content as it is

if [ ! -e "$FILE" ] && [ ! -L "$FILE" ]; then
    printf 'absent'
    exit 0
fi
[ -f "$FILE" ] || fail "$FILE is not a regular file"
size=$(size_of "$FILE")
[ "$size" -le "$LIMIT" ] || fail "$FILE has $size bytes; at most $LIMIT are read"
printf 'file %s\n' "$size"
cat <"$FILE"
