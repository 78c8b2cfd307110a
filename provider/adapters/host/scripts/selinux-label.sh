#!/bin/sh
# in:  CHANGES (lines for `semanage import`, carried out together; may be ""), PATHS (one a line, labelled anew)
# out: what went wrong with labels, if anything. Paths that are not there are passed over.

if [ -n "$CHANGES" ] && ! said=$(printf '%s\n' "$CHANGES" | semanage import 2>&1); then
    case $said in
    *'is invalid'*) fail "$said (the types of containers come with the package container-selinux)" ;;
    *) fail "$said" ;;
    esac
fi
while IFS= read -r path; do
    if [ -n "$path" ] && [ -e "$path" ]; then restorecon -R "$path" 2>&1 || true; fi
done <<END
$PATHS
END
