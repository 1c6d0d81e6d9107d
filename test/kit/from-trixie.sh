#!/usr/bin/env bash
# from-trixie.sh FOLDER PACKAGE...: unpacks packages of Debian 13 under FOLDER/root, for what Debian 12 has too old or not at
# all. They come from the mirror, and are checked with the keys, that apt here is set up with; nothing is installed.
set -euo pipefail
mkdir -p "$1" && home=$(cd "$1" && pwd) && shift
readonly home suite=trixie

mirror() {
  # The address that the packages of this machine's own release come from: not those of its security updates.
  local codename
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
    awk -v codename="$codename" '$1 == codename && /debian/ { print $2; exit }'
}

options=(-qq -o "Dir::Etc::SourceList=$home/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State=$home/state"
  -o "Dir::Cache=$home/cache" -o Acquire::Languages=none -o APT::Sandbox::User=root)
mkdir -p "$home/state/lists/partial" "$home/cache/archives/partial" "$home/packages"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) $suite main" >"$home/sources.list"
apt-get "${options[@]}" update
(cd "$home/packages" && apt-get "${options[@]}" download "$@")
for package in "$home"/packages/*.deb; do dpkg-deb -x "$package" "$home/root"; done
