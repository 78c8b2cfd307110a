#!/bin/sh
# in:  K0S, DATA_DIR, DIRECTORY, NAME (what follows the time in the archive's name), KEEP (archives that stay in DIRECTORY,
#      this one included; 0 = this one is fetched and then removed), FILES (paths that k0s.yaml refers to, one a line)
# out: lines `archive <path>`, `size <bytes>`, `sha256 <hex>`, and `without <path>` for each of FILES that is no file here
#
# The archive is that of `k0s backup`, and `k0s restore` takes it. In front of it stand the files it leaves out, below
# pulumi-mke/, which a restore does not look at. It gets its name only when it is whole; what a killed backup left is
# removed by the next one. k0s makes its own temporary files in there, too: they hold the cluster's keys.

umask 077

# Their names end with the process that works on them; an archive to be fetched belongs to none any more.
remove_leftovers() {
    for left in "$DIRECTORY"/.unfinished-*; do
        if [ -d "$left" ] && ! kill -0 "${left##*-}" 2>/dev/null; then rm -rf "$left"; fi
    done
    rm -f "$DIRECTORY"/.outgoing-*
}

# What the snapshot, the archive and its compressed form may take together, in KiB.
space_needed() {
    database=$(stat -c %s "$DATA_DIR/etcd/member/snap/db" 2>/dev/null) || database=0
    set --
    for part in pki manifests images helmhome; do
        [ ! -d "$DATA_DIR/$part" ] || set -- "$@" "$DATA_DIR/$part"
    done
    rest=0
    [ $# -eq 0 ] || rest=$(du -sk "$@" | awk '{ sum += $1 } END { print sum }')
    printf '%s' $((database * 2 / 1024 + rest + 16384))
}

require_space() {
    needed=$(space_needed)
    free=$(df -Pk "$DIRECTORY" | awk 'NR == 2 { print $4 }')
    [ "$free" -ge "$needed" ] ||
        fail "$DIRECTORY has $((free / 1024)) MiB of free space, and a backup may need $((needed / 1024)) MiB"
}

# k0s says which file it was started with; a restore looks for k0s.yaml.
take_configuration() {
    config=$(sed -n 's/^ *StartupConfigPath: *//p' /run/k0s/k0s.yaml 2>/dev/null | head -n 1)
    [ -n "$config" ] || return 0
    [ -f "$config" ] ||
        fail "there is no $config, and \`k0s backup\` needs it; where k0s runs on defaults, \`k0s config create\` prints them"
    case $config in
    */k0s.yaml) ;;
    *) cp -p "$config" "$work/tree/k0s.yaml" ;;
    esac
}

take_unit() {
    unit=$(unit_file k0scontroller)
    [ ! -f "$unit" ] || cp -p "$unit" "$work/tree/pulumi-mke/"
}

# mirror DIRECTORY: with its owner and mode, so that unpacking changes none.
mirror() {
    [ ! -d "$work/tree/pulumi-mke/files$1" ] || return 0
    mirror "$(dirname "$1")"
    mkdir "$work/tree/pulumi-mke/files$1"
    chown "$(stat -L -c %u:%g "$1")" "$work/tree/pulumi-mke/files$1"
    chmod "$(stat -L -c %a "$1")" "$work/tree/pulumi-mke/files$1"
}

take_files() {
    printf '%s\n' "$FILES" | while IFS= read -r file; do
        [ -n "$file" ] || continue
        case $file in
        */../* | */.. | */./* | *//*) printf 'without %s\n' "$file" ;;
        *)
            if [ -f "$file" ]; then
                mirror "$(dirname "$file")"
                cp -p "$file" "$work/tree/pulumi-mke/files$file"
            else
                printf 'without %s\n' "$file"
            fi
            ;;
        esac
    done
}

# A tar archive of the tree without its end, so that another may follow.
pack_tree() {
    cd "$work/tree" || exit 1
    # A head for each entry, two blocks more for a long name, and the content, in blocks of 512 bytes.
    longest=100
    ! tar --version 2>&1 | grep -q -i busybox || longest=99
    blocks=$(find -- * -exec stat -c '%s %F/%n' {} + | awk -v longest="$longest" '
        { directory = $2 ~ /^directory/; name = $0; sub(/^[^\/]*\//, "", name)
          blocks += 1 + (length(name) + directory > longest ? 2 : 0) + (directory ? 0 : int(($1 + 511) / 512)) }
        END { print blocks }')
    tar -cf "$work/tree.tar" -- *
    cd /
    [ "$(tail -c +$((blocks * 512 + 1)) "$work/tree.tar" | tr -d '\0' | wc -c)" -eq 0 ] ||
        fail 'tar wrote something unexpected'
    head -c $((blocks * 512)) "$work/tree.tar" | gzip -c >"$work/archive"
}

run_k0s() {
    code=0
    TMPDIR=$work "$K0S" backup --data-dir="$DATA_DIR" --save-path=- >>"$work/archive" 2>"$work/log" || code=$?
    [ "$code" -eq 0 ] && return 0
    tail -n 12 "$work/log" >&2
    exit "$code"
}

require_whole() {
    gzip -t "$work/archive" || fail 'the archive is damaged; is the disk full?'
    gzip -dc "$work/archive" | tar -tf - >"$work/list" || fail 'the archive cannot be read'
    for part in k0s.yaml etcd-snapshot.db pki/ca.key pulumi-mke/; do
        grep -q -x "$part" "$work/list" || fail "the archive lacks $part"
    done
}

# Of our own archives, by their names, the oldest go.
remove_old() {
    for old in "$DIRECTORY"/*; do
        [ "$old" != "$final" ] || continue
        printf '%s\n' "${old##*/}"
    done | grep -E '^[0-9]{8}T[0-9]{6}Z-.+-(before|after)-(add|remove)\.tar\.gz$' | sort -r | tail -n "+$KEEP" |
        while IFS= read -r old; do rm -f "$DIRECTORY/$old"; done
}

for program in tar gzip awk; do
    have "$program" || fail "$program is not on the host"
done
mkdir -p "$DIRECTORY"
chmod 0700 "$DIRECTORY"
remove_leftovers
require_space
work=$DIRECTORY/.unfinished-$$
mkdir "$work" "$work/tree" "$work/tree/pulumi-mke" "$work/tree/pulumi-mke/files"
trap 'rm -rf "$work"' EXIT
trap 'exit 143' HUP INT TERM
take_configuration
take_unit
take_files
pack_tree
run_k0s
require_whole
if [ "$KEEP" -eq 0 ]; then
    final=$DIRECTORY/.outgoing-$$
else
    final=$DIRECTORY/$(date -u +%Y%m%dT%H%M%SZ)-$NAME.tar.gz
    [ ! -e "$final" ] || fail "$final exists already"
fi
chmod 0600 "$work/archive"
sync "$work/archive" 2>/dev/null || sync
mv "$work/archive" "$final"
[ "$KEEP" -eq 0 ] || remove_old
printf 'archive %s\nsize %s\nsha256 %s\n' "$final" "$(size_of "$final")" "$(sha256_of "$final")"
