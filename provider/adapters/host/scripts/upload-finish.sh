#!/bin/sh
# in:  TEMPORARY (as upload-begin named it), FILE, SIZE, SHA256 (hex)
# out: nothing. TEMPORARY, if it is what it should be, becomes the executable FILE; otherwise it is removed.

trap 'rm -f "$TEMPORARY"' EXIT
trap 'exit 143' HUP INT TERM
arrived=$(size_of "$TEMPORARY")
[ "$arrived" = "$SIZE" ] || fail "$arrived of $SIZE bytes arrived"
sum=$(sha256_of "$TEMPORARY")
[ "$sum" = "$SHA256" ] || fail "sha256 of what arrived is $sum, not $SHA256"
chown 0:0 "$TEMPORARY"
chmod 0755 "$TEMPORARY"
mv -f "$TEMPORARY" "$FILE"
