#!/bin/sh
# in:  DIRECTORIES (lines `<mode> <path>`, outer ones first)
# out: nothing. Those that are missing are made, for root; what is there already stays as it is.

while IFS=' ' read -r mode directory; do
    [ -n "$directory" ] || continue
    [ ! -d "$directory" ] || continue
    mkdir "$directory"
    chmod "$mode" "$directory"
done <<END
$DIRECTORIES
END
