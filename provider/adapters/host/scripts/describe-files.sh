#!/bin/sh
# in:  FILES (one path a line)
# out: a line for each, in their order: `absent`, or `<kind> <mode> <user> <group> <sha256>`. Links are followed. The kind is
#      file, directory or other; an owner without a name stands as its number; `-` stands for a sum that is of no use.

named() {
    case $1 in UNKNOWN | '') printf '%s' "$2" ;; *) printf '%s' "$1" ;; esac
}

while IFS= read -r file; do
    [ -n "$file" ] || continue
    if [ ! -e "$file" ]; then
        printf 'absent\n'
        continue
    fi
    kind="other" sum=-
    if [ -f "$file" ]; then
        kind="file"
        sum=$(sha256_of "$file")
    elif [ -d "$file" ]; then
        kind="directory"
    fi
    user=$(named "$(stat -L -c %U "$file")" "$(stat -L -c %u "$file")")
    group=$(named "$(stat -L -c %G "$file")" "$(stat -L -c %g "$file")")
    printf '%s %s %s %s %s\n' "$kind" "$(stat -L -c %a "$file")" "$user" "$group" "$sum"
done <<END
$FILES
END
