#!/bin/sh
# in:  FILE
# out: `absent`, or the sha256 in hex

if [ ! -f "$FILE" ]; then
    printf 'absent'
    exit 0
fi
sha256_of "$FILE"
