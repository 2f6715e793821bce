#!/bin/sh
# get-debian-package.sh SUITE PACKAGE FOLDER
# Unpacks one package of a Debian suite, such as forky, into FOLDER without changing the system or its package sources,
# and without being root. apt checks the archive's signature. Works for programs without shared libraries (Go): a
# program linked to a newer libc than the system's would not start.
# The archive URL is DEBIAN_ARCHIVE, or the one that this machine uses.
set -eu
suite=$1 package=$2 folder=$3
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

if [ ! -r "$keyring" ]; then
  echo "get-debian-package.sh: $keyring is missing; install the package debian-archive-keyring" >&2
  exit 1
fi
# shellcheck disable=SC2016 # apt-get must see the dollar sign
archive_in_use=$(apt-get indextargets --no-release-info --format '$(REPO_URI)' | grep '/debian/*$' | head -n 1)
archive=${DEBIAN_ARCHIVE:-$archive_in_use}
if [ -z "$archive" ]; then
  echo "get-debian-package.sh: this machine uses no Debian archive; set DEBIAN_ARCHIVE to the address of one" >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$folder"
echo "deb [signed-by=$keyring] $archive $suite main" >"$work/sources.list"

private_apt_get() {
  apt-get -qq \
    -o Dir::Etc::sourcelist="$work/sources.list" \
    -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::State::lists="$work/lists" \
    -o Dir::Cache="$work/cache" \
    -o APT::Get::List-Cleanup=0 \
    -o APT::Sandbox::User="$(id -un)" \
    "$@"
}

private_apt_get update
(cd "$work" && private_apt_get download "$package")
dpkg -x "$work/$package"_*.deb "$folder"
