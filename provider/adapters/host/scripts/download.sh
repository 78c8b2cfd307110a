#!/bin/sh
# in:  URL, FILE, SHA256 (hex, or "" for any)
# out: nothing. FILE becomes an executable with the content of URL.
# The address may hold a password or a signature, so it is given to curl and wget on their standard input.

[ ! -d "$FILE" ] || fail "$FILE is a directory"
directory=$(dirname "$FILE")
mkdir -p "$directory"
temporary=$(mktemp "$directory/.pulumi-mke-upload-XXXXXX")
trap 'rm -f "$temporary"' EXIT
trap 'exit 143' HUP INT TERM
if have curl; then
    printf 'url = "%s"\n' "$(printf '%s' "$URL" | sed 's/\\/\\\\/g; s/"/\\"/g')" |
        curl --fail --silent --show-error --location --connect-timeout 20 --output "$temporary" --config -
elif have wget && wget --version >/dev/null 2>&1; then
    printf '%s\n' "$URL" | wget -q --timeout=20 -O "$temporary" -i -
elif have wget; then
    case $URL in
    *[@?]*) fail 'curl or GNU wget is needed for an address with a secret in it' ;;
    esac
    wget -q -O "$temporary" "$URL"
else
    fail 'neither curl nor wget is on the host'
fi
[ -s "$temporary" ] || fail 'the download is empty'
if [ -n "$SHA256" ]; then
    sum=$(sha256_of "$temporary")
    [ "$sum" = "$SHA256" ] || fail "sha256 of the download is $sum, not $SHA256"
fi
chown 0:0 "$temporary"
chmod 0755 "$temporary"
mv -f "$temporary" "$FILE"
