#!/bin/sh
# Every shell script of the repository through shellcheck.
set -eu
cd "$(dirname "$0")/.."
if ! command -v shellcheck >/dev/null 2>&1; then
    echo 'shellcheck is not installed (apt-get install shellcheck, brew install shellcheck): shell scripts NOT checked' >&2
    exit 1
fi
find . \( -name node_modules -o -name .git -o -name dist \) -prune -o \( -name '*.sh' -o -path ./.ci/run \) -type f -print |
    sort | xargs shellcheck
