#!/bin/bash
# Builds etcd, etcdctl and the Kubernetes programs that a k0s without embedded binaries looks for, from their Go
# modules, into DIR. Cold, on 2 cores: etcd 45 s, kube-apiserver 4 min, kubelet, controller-manager and scheduler 2 min more.
#   components.sh DIR [NAME...]      NAME: etcd etcdctl kube-apiserver kube-controller-manager kube-scheduler kubelet
# K8S_VERSION and ETCD_VERSION choose the releases. A program that DIR already holds is not built again.
set -euo pipefail
[ $# -ge 1 ] || { sed -n 2,5p "$0"; exit 2; }
mkdir -p "$1"
DIR=$(cd "$1" && pwd) K8S=${K8S_VERSION:-1.36.3} ETCD=${ETCD_VERSION:-3.6.14}
shift
W=$(mktemp -d)
trap 'rm -rf "$W"' EXIT
mkdir "$W/out"
export CGO_ENABLED=0 GOFLAGS=-buildvcs=false

etcd=() kube=()
for n in "${@:-etcd etcdctl kube-apiserver kube-controller-manager kube-scheduler kubelet}"; do
  for m in $n; do
    [ ! -f "$DIR/$m" ] || continue
    case $m in
      etcd | etcdctl) etcd+=("$m") ;;
      kube*) kube+=("$m") ;;
      *) echo "components: unknown program $m" >&2; exit 2 ;;
    esac
  done
done

# Output of the go tool is shown only when it fails: it reports every download.
quiet() { "$@" > "$W/log" 2>&1 || { cat "$W/log" >&2; return 1; }; }

# PACKAGE NAME [FLAGS...]: a program appears in DIR only when it is whole.
build() {
  local package=$1 name=$2
  shift 2
  echo "components: building $name" >&2
  go build -trimpath "$@" -o "$W/out/$name" "$package"
  mv -f "$W/out/$name" "$DIR/$name"
}

if [ ${#etcd[@]} -gt 0 ]; then
  mkdir -p "$W/etcd/cmd/etcd"
  cd "$W/etcd"
  printf 'module lab\n\ngo 1.26.0\n' > go.mod
  printf 'package main\n\nimport (\n\t"os"\n\n\t"go.etcd.io/etcd/server/v3/etcdmain"\n)\n\nfunc main() { etcdmain.Main(os.Args) }\n' > cmd/etcd/main.go
  printf '//go:build tools\n\npackage lab\n\nimport _ "go.etcd.io/etcd/etcdctl/v3"\n' > tools.go
  quiet go get "go.etcd.io/etcd/server/v3@v$ETCD" "go.etcd.io/etcd/etcdctl/v3@v$ETCD"
  quiet go mod tidy
  for n in "${etcd[@]}"; do
    case $n in
      etcd) build ./cmd/etcd etcd -ldflags '-s -w' ;;
      etcdctl) build go.etcd.io/etcd/etcdctl/v3 etcdctl -ldflags '-s -w' ;;
    esac
  done
fi

if [ ${#kube[@]} -gt 0 ]; then
  mkdir -p "$W/k8s"
  cd "$W/k8s"
  src=$(go mod download -json "k8s.io/kubernetes@v$K8S" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
  {
    printf 'module lab\n\ngo 1.26.0\n\nrequire k8s.io/kubernetes v%s\n\nreplace (\n' "$K8S"
    sed -n 's/^\t\(k8s.io\/[a-z-]*\) => .*/\1/p' "$src/go.mod" | while read -r m; do printf '\t%s => %s v0.%s\n' "$m" "$m" "${K8S#1.}"; done
    echo ')'
  } > go.mod
  {
    printf '//go:build tools\n\npackage lab\n\nimport (\n'
    printf '\t_ "k8s.io/kubernetes/cmd/%s"\n' "${kube[@]}"
    echo ')'
  } > tools.go
  quiet go mod tidy
  V=k8s.io/component-base/version minor=${K8S#1.}
  for n in "${kube[@]}"; do
    build "k8s.io/kubernetes/cmd/$n" "$n" -tags providerless \
      -ldflags "-s -w -X $V.gitVersion=v$K8S -X $V.gitMajor=1 -X $V.gitMinor=${minor%%.*}"
  done
fi
