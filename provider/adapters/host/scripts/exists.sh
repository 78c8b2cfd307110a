#!/bin/sh
# in:  FILE
# out: `yes` or `no`. A dangling symbolic link exists.

if [ -e "$FILE" ] || [ -L "$FILE" ]; then
    printf 'yes'
else
    printf 'no'
fi
