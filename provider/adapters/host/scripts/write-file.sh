#!/bin/sh
# in:  FILE, MODE (octal), CONTENT (base64), SIZE (bytes of the content)
# out: nothing. FILE gets its new content in one step; a symbolic link of that name is replaced.

[ ! -d "$FILE" ] || fail "$FILE is a directory"
directory=$(dirname "$FILE")
mkdir -p "$directory"
temporary=$(mktemp "$directory/.pulumi-mke-file-XXXXXX")
trap 'rm -f "$temporary"' EXIT
trap 'exit 143' HUP INT TERM
printf '%s' "$CONTENT" | from_base64 >"$temporary"
[ "$(size_of "$temporary")" = "$SIZE" ] || fail "writing $FILE failed; is the disk full?"
chown 0:0 "$temporary"
chmod "$MODE" "$temporary"
mv -f "$temporary" "$FILE"
