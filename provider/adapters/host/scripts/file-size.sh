#!/bin/sh
# in:  FILE
# out: `absent`, or the size in bytes

if [ ! -e "$FILE" ]; then
    printf 'absent'
    exit 0
fi
[ -f "$FILE" ] || fail "$FILE is not a regular file"
size_of "$FILE"
