#!/bin/sh
# in:  FILE, MODE (octal), CONTENT (base64), SIZE (bytes of the content)
# out: nothing. FILE gets its new content in one step; a symbolic link of that name is replaced.
#
# Two that write there take turns, and the second looks at machine and marker again: a marker replaces only the one that
# was decided on (on_machine).

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
if have flock; then
    exec 9<"$directory"
    flock -w 20 9 || fail "another program writes in $directory all the time"
fi
on_machine
mv -f "$temporary" "$FILE"
