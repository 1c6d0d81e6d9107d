#!/usr/bin/env bash
# Brings the C library that Tailcall's binary was built with, where this machine's is older. Where that cannot be, the
# benchmark goes without Tailcall.
set -euo pipefail
cd "$(dirname "$0")"
binary=node_modules/@tailcallhq/core-linux-x64-gnu/bin/tailcall
[ -x "$binary" ] || { echo 'without Tailcall: there is no binary for this machine' && exit 0; }
"$binary" --version >/dev/null 2>&1 || [ -d libc/root ] || ../../kit/from-trixie.sh libc libc6 libgcc-s1 ||
  echo 'without Tailcall: its C library cannot be had here'
