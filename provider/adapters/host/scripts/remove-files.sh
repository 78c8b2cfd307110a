#!/bin/sh
# in:  FILES (one path a line), EMPTY_DIRECTORY (removed afterwards if it is empty; may be "")
# out: nothing

while IFS= read -r file; do
    [ -n "$file" ] || continue
    if [ -d "$file" ] && [ ! -L "$file" ]; then fail "$file is a directory"; fi
    rm -f "$file"
done <<END
$FILES
END
[ -z "$EMPTY_DIRECTORY" ] || rmdir "$EMPTY_DIRECTORY" 2>/dev/null || true
