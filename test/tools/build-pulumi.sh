#!/bin/bash
# Builds the Pulumi CLI from its Go module and installs it, for machines that reach a Go module proxy but not get.pulumi.com.
#   build-pulumi.sh OUTDIR        e.g. build-pulumi.sh ~/.pulumi/versions/3.274.1/bin
# PULUMI_VERSION (default 3.274.1) selects the release. Needs go (the one the module asks for, or newer). Does nothing if
# OUTDIR already holds that version. Cold on 2 cores: about 10 minutes.
# A stack with Node.js dynamic providers also needs pulumi-resource-pulumi-nodejs, a script of the npm package
# @pulumi/pulumi; it is copied beside the CLI if NODE_MODULES (default: node_modules of this repository) has it.
set -euo pipefail
[ $# -eq 1 ] || { sed -n 2,7p "$0"; exit 2; }
VERSION=${PULUMI_VERSION:-3.274.1}
NODE_MODULES=${NODE_MODULES:-$(cd "$(dirname "$0")/../.." && pwd)/node_modules}
mkdir -p "$1"
OUT=$(cd "$1" && pwd)
say() { echo "build-pulumi: $*" >&2; }

command -v go >/dev/null || { say "go not found on PATH"; exit 1; }

# $1 = source, $2 = name in OUT; readers never see half a file.
install_atomically() {
  local tmp
  tmp=$(mktemp "$OUT/.$2.XXXXXX")
  cp "$1" "$tmp"
  chmod 755 "$tmp"
  mv -f "$tmp" "$OUT/$2"
  say "installed $OUT/$2"
}

if [ "$("$OUT/pulumi" version 2>/dev/null || true)" = "v$VERSION" ]; then
  say "$OUT/pulumi is v$VERSION already"
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  cd "$work"
  # pkg/v3 has replace lines, so "go install …@version" is refused; a throw-away module repeats the one that matters.
  cat > go.mod <<EOF
module build-pulumi

go 1.25.0

require (
	github.com/pulumi/pulumi/pkg/v3 v$VERSION
	github.com/pulumi/pulumi/sdk/v3 v$VERSION
)

replace github.com/atotto/clipboard => github.com/tgummerer/clipboard v0.0.0-20241001131231-d02d263e614e
EOF
  printf '//go:build tools\n\npackage tools\n\nimport _ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"\n' > tools.go
  say "resolving the modules of pulumi v$VERSION"
  go mod tidy
  say "compiling with $(go version) (takes minutes when the build cache is cold)"
  CGO_ENABLED=0 go build -buildvcs=false -trimpath -o pulumi \
    -ldflags "-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v$VERSION" \
    github.com/pulumi/pulumi/pkg/v3/cmd/pulumi
  got=$(PULUMI_SKIP_UPDATE_CHECK=true ./pulumi version)
  [ "$got" = "v$VERSION" ] || { say "built binary says '$got', expected v$VERSION"; exit 1; }
  install_atomically "$work/pulumi" pulumi
fi

script=$(find "$NODE_MODULES/@pulumi/pulumi" -name pulumi-resource-pulumi-nodejs -type f -print -quit 2>/dev/null || true)
if [ -n "$script" ]; then
  cmp -s "$script" "$OUT/pulumi-resource-pulumi-nodejs" || install_atomically "$script" pulumi-resource-pulumi-nodejs
else
  say "no pulumi-resource-pulumi-nodejs under $NODE_MODULES; copy it beside pulumi once @pulumi/pulumi is installed"
fi
