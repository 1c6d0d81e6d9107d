#!/usr/bin/env bash
# with-newer-go.sh COMMAND...: runs it where `go` and Go's protobuf are those of Debian 13, which knows editions: that of
# Debian 12 does not. They go into node_modules/.cache; nothing is installed.
set -euo pipefail
home=$(cd "$(dirname "$0")/../../.." && pwd)/node_modules/.cache/newer-go
readonly home
readonly go=1.24

if [ ! -x "$home/root/usr/lib/go-$go/bin/go" ]; then
  rm -rf "$home"
  "$(dirname "$0")/../../kit/from-trixie.sh" "$home" golang-google-protobuf-dev "golang-$go-go" "golang-$go-src"
fi
PATH=$home/root/usr/lib/go-$go/bin:$PATH GOPATH=$home/root/usr/share/gocode exec "$@"
