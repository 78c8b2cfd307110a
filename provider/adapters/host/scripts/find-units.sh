#!/bin/sh
# in:  PROGRAM (a path)
# out: paths of the systemd unit files of this host that run it, and of their drop-ins, one a line

has_systemd || exit 0
for directory in /etc/systemd/system /usr/local/lib/systemd/system /usr/lib/systemd/system /lib/systemd/system; do
    # /lib is a link to /usr/lib on most systems
    if [ -L "${directory%/systemd/system}" ]; then continue; fi
    for unit in "$directory"/*.service; do
        [ -f "$unit" ] || continue
        PROGRAM=$PROGRAM awk '
            /^Exec[A-Za-z]*=/ {
                line = $0; sub(/^[^=]*=[-@:+! ]*/, "", line); gsub(/"/, "", line); split(line, words, " ")
                if (words[1] == ENVIRON["PROGRAM"]) { found = 1 }
            }
            END { exit !found }' "$unit" || continue
        printf '%s\n' "$unit"
        for drop_in in "/etc/systemd/system/${unit##*/}.d"/*.conf; do
            [ ! -f "$drop_in" ] || printf '%s\n' "$drop_in"
        done
    done
done
