#!/bin/bash
# Starts the first controller (which is a worker, too) of a cluster on a machine that "lab.sh up NAME ADDRESS" made:
#   K0S_BINARY=/path/to/k0s first-controller.sh NAME ADDRESS
# and returns when its API answers and its Node is Ready. Only this machine gets the k0s program.
# LAB_EXTERNAL: the cluster's spec.api.externalAddress, where a balancer for 6443 and 9443 must listen already
# (balancer.ts); without it the cluster has none, and what joins depends on the controller that made the token.
# LAB_ONLY_BIND=true: spec.api.onlyBindToAddress; nothing of the API listens on loopback then.
# LAB_DIR as for lab.sh. Takes about 25 s.
set -euo pipefail
[ $# -eq 2 ] || { sed -n 2,8p "$0"; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
name=$1 address=$2 external=${LAB_EXTERNAL:-} bound=${LAB_ONLY_BIND:-false} binary=${K0S_BINARY:?path of a k0s binary}
on() { "$here/lab.sh" ssh "$address" "$@"; }

# k0s looks for everything that is not embedded in /usr/local/bin; what cannot run without a registry is off.
disabled=konnectivity-server,coredns,kube-proxy,network-provider,metrics-server,helm,update-prober,windows-node

edits=()
if [ -n "$external" ]; then edits+=(-e "s/EXTERNAL/$external/g"); else edits+=(-e '/externalAddress/d; s/, EXTERNAL//'); fi
[ "$bound" = false ] || edits+=(-e 's/^\( *\)address: .*/&\n\1onlyBindToAddress: true/')
config=$(sed "${edits[@]}" -e "s/ADDRESS/$address/g" "$here/k0s.yaml")

on 'cat > /usr/local/bin/.k0s.new && chmod 755 /usr/local/bin/.k0s.new && mv /usr/local/bin/.k0s.new /usr/local/bin/k0s' < "$binary"
on 'mkdir -p /etc/k0s && cat > /etc/k0s/k0s.yaml && chmod 600 /etc/k0s/k0s.yaml' <<< "$config"
on "k0s install controller --config /etc/k0s/k0s.yaml --enable-worker --ignore-pre-flight-checks=true --profile=lab --disable-components=$disabled && systemctl start k0scontroller"

end=$((SECONDS + ${LAB_TIMEOUT:-180}))
ready='{.status.conditions[?(@.type=="Ready")].status}'
until [ "$(on "k0s kubectl get node '$name' -o jsonpath='$ready' 2>/dev/null" || true)" = True ]; do
  if [ "$SECONDS" -ge "$end" ]; then
    echo "first-controller: Node $name is not Ready; the end of its journal:" >&2
    on 'journalctl -u k0scontroller -n 20 --no-pager' >&2 || true
    exit 1
  fi
  sleep 1
done
echo "first-controller: $name ($address) is Ready, $(on k0s version)"
