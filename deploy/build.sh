#!/usr/bin/env bash
# Builds the gateway from a checkout and copies it, with its production dependencies, to a folder.
# Usage: deploy/build.sh <folder>. Needs Node 20.19 or newer and npm.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:?usage: deploy/build.sh <folder>}
pnpm=(npx -y pnpm@10.34.9)

"${pnpm[@]}" install --frozen-lockfile
"${pnpm[@]}" exec turbo run build --filter=@vinyasa/gateway... --output-logs=errors-only
"${pnpm[@]}" --filter @vinyasa/gateway deploy --prod --legacy "$target"
