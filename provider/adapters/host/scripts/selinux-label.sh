#!/bin/sh
# in:  CHANGES (lines for `semanage import`, carried out together; may be ""), PATHS (one a line, labelled anew)
# out: what went wrong with labels, if anything. Paths that are not there are passed over.

if [ -n "$CHANGES" ]; then
    printf '%s\n' "$CHANGES" | semanage import ||
        fail 'semanage refused the labels; a type that is invalid comes with the package container-selinux'
fi
while IFS= read -r path; do
    if [ -n "$path" ] && [ -e "$path" ]; then restorecon -R "$path" 2>&1 || true; fi
done <<END
$PATHS
END
