#!/bin/sh
# in:  DIRECTORY
# out: paths of the files in it and in its directories, one a line; links are followed. Nothing where there is no such directory.

[ -d "$DIRECTORY" ] || exit 0
find -L "$DIRECTORY" -maxdepth 2 -type f | sort
