#!/bin/sh
# in:  OWNERS (lines `<mode> <user>:<group> <path>`; names, or numbers where the owner has none)
# out: nothing. The mode is set again: a change of owner may clear bits of it. A symbolic link is refused.

while IFS=' ' read -r mode owner file; do
    [ -n "$file" ] || continue
    [ ! -L "$file" ] || fail "$file is a symbolic link"
    chown "$owner" "$file"
    chmod "$mode" "$file"
done <<END
$OWNERS
END
