#!/bin/sh
# in:  FILE
# out: path of a new empty file (0600) in the same directory; another command fills it. What an upload that was cut
#      off left there is removed.

[ ! -d "$FILE" ] || fail "$FILE is a directory"
directory=$(dirname "$FILE")
mkdir -p "$directory"
rm -f "$directory"/.pulumi-mke-upload-*
temporary=$(mktemp "$directory/.pulumi-mke-upload-XXXXXX")
printf '%s' "$temporary"
