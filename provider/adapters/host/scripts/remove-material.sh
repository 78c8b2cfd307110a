#!/bin/sh
# in:  FILES (one path a line), DIRECTORIES (one a line, inner ones first)
# out: a line for each file that could not be removed. Of the directories only empty ones go; never through a link.

while IFS= read -r file; do
    [ -n "$file" ] || continue
    if [ -d "$file" ] && [ ! -L "$file" ]; then
        printf '%s (a directory)\n' "$file"
    else
        rm -f "$file" 2>/dev/null || printf '%s\n' "$file"
    fi
done <<END
$FILES
END
while IFS= read -r directory; do
    [ -z "$directory" ] || [ -L "$directory" ] || rmdir "$directory" 2>/dev/null || true
done <<END
$DIRECTORIES
END
