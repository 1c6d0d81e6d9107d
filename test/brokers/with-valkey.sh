#!/usr/bin/env bash
# with-valkey.sh COMMAND...: runs it where `redis-server` and `redis-cli` are Valkey's.
# Debian 12 has no Valkey. Its programs, and the libraries that they were built with, are taken from Debian 13, at the
# mirror and with the keys that apt here is set up with, into node_modules/.cache; nothing is installed.
set -euo pipefail
home=$(cd "$(dirname "$0")/../.." && pwd)/node_modules/.cache/valkey
readonly home
readonly packages=(valkey-server valkey-tools libatomic1 libc6 libcap2 libgcc-s1 libjemalloc2 liblzf1 libssl3t64 libstdc++6
  libsystemd0 libzstd1 zlib1g)

# wrap NAME PROGRAM: a script that starts it with its own libraries; the process keeps its id.
wrap() {
  local libraries
  libraries=$(dirname "$(find "$home/root/usr/lib" -name 'libc.so.6' | head -1)")
  printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' \
    "$(find "$libraries" -name 'ld-linux-*' | head -1)" "$libraries" "$home/root/usr/bin/$2" >"$home/bin/$1"
  chmod +x "$home/bin/$1"
}

if [ ! -x "$home/bin/redis-cli" ]; then
  rm -rf "$home" && mkdir -p "$home/bin"
  if command -v valkey-server >/dev/null; then
    ln -s "$(command -v valkey-server)" "$home/bin/redis-server"
    ln -s "$(command -v valkey-cli)" "$home/bin/redis-cli"
  else
    "$(dirname "$0")/../kit/from-trixie.sh" "$home" "${packages[@]}"
    wrap redis-server valkey-server
    wrap redis-cli valkey-cli
  fi
fi
PATH=$home/bin:$PATH EXPECTED_SERVER=valkey exec "$@"
