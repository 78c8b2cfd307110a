#!/bin/sh
# in:  K0S, DATA_DIR, KUBELET_ROOT_DIR ("" = the default)
# out: first line the exit code of `k0s reset`, then all it said. Never fails itself.

set -- reset --data-dir="$DATA_DIR"
[ -z "$KUBELET_ROOT_DIR" ] || set -- "$@" --kubelet-root-dir="$KUBELET_ROOT_DIR"
code=0
said=$("$K0S" "$@" 2>&1) || code=$?
printf '%s\n%s' "$code" "$said"
