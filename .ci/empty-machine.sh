#!/bin/sh
# empty-machine.sh [command]: runs .ci/run, or another command, in a clone of the last commit on an empty Debian 12 that has
# no more than git, curl, Node and npm, and this machine's network. Needs root and the package debootstrap.
# MACHINE=<folder> keeps the new machine in that folder, or reuses one of an earlier run; without it the machine is removed.
set -eu
kept=${MACHINE:+$(realpath -m "$MACHINE")}
cd "$(dirname "$0")/.."
path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mark=etc/tributary-empty-machine

main() {
  require_tools
  machine=${kept:-$(mktemp -d /var/tmp/tributary-empty-machine.XXXXXX)}
  if [ -z "$kept" ]; then trap 'remove_tree "$machine"' EXIT; fi
  trap 'exit 1' INT TERM
  if [ ! -e "$machine/$mark" ]; then
    if [ -n "$(ls -A "$machine" 2>/dev/null)" ]; then fail "$machine is not empty, and no machine of this script: name another folder"; fi
    make_machine
  fi
  if [ $# -eq 0 ]; then set -- .ci/run; fi

  remove_tree "$machine/root/tributary"
  git clone --quiet --no-hardlinks . "$machine/root/tributary"
  say "commit $(git rev-parse --short HEAD) in $machine/root/tributary: $*"
  inside "$@"
}

make_machine() {
  say "an empty Debian 12 in $machine"
  mkdir -p "$machine"
  chmod 755 "$machine" # PostgreSQL runs as another user, which must be able to enter it.
  # shellcheck disable=SC2016 # apt-get must see the dollar sign
  archive=$(apt-get indextargets --no-release-info --format '$(REPO_URI)' | grep '/debian/*$' | head -n 1)
  output=$(unshare --mount debootstrap --variant=minbase --include=ca-certificates,curl,git bookworm "$machine" "$archive" 2>&1) ||
    fail "debootstrap failed; remove $machine, check the network and try again: $(echo "$output" | tail -n 5)"

  # The new machine gets this machine's access to the Debian archive and the npm registry.
  cp /etc/hosts /etc/resolv.conf "$machine/etc"
  cp /etc/ssl/certs/ca-certificates.crt "$machine/etc/ssl/certs"
  apt-config dump | grep -iE '^Acquire::(https?::Proxy|Check-Valid-Until)' >"$machine/etc/apt/apt.conf.d/99host" || true
  echo cafile=/etc/ssl/certs/ca-certificates.crt >"$machine/root/.npmrc"
  for name in registry proxy https-proxy; do
    value=$(npm config get $name 2>/dev/null)
    case $value in '' | null) ;; *) echo "$name=$value" >>"$machine/root/.npmrc" ;; esac
  done

  mkdir -p "$machine/usr/local/lib/node_modules"
  cp -R "$(npm root --global 2>/dev/null)/npm" "$machine/usr/local/lib/node_modules"
  for name in npm npx; do ln -s ../lib/node_modules/npm/bin/$name-cli.js "$machine/usr/local/bin/$name"; done
  cp "$(node -p process.execPath)" "$machine/usr/local/bin/node"
  touch "$machine/$mark"
}

# Runs the command in separate namespaces, so that its mounts and processes end with it and stay invisible to this machine.
inside() {
  # shellcheck disable=SC2016 # for the shell inside
  unshare --mount --pid --fork --kill-child sh -euc '
    machine=$1 path=$2
    shift 2
    mount --rbind /dev "$machine/dev"
    mount --rbind /sys "$machine/sys"
    mount -t tmpfs tmpfs "$machine/dev/shm"
    mount -t proc proc "$machine/proc"
    chroot "$machine" /usr/bin/env -i HOME=/root CI=true PATH="$path" sh -c "cd /root/tributary && exec \"\$@\"" sh "$@" </dev/null
    exit' sh "$machine" $path "$@"
}

require_tools() {
  if [ "$(id -u)" -ne 0 ]; then fail 'run this as root'; fi
  for tool in apt-get debootstrap findmnt git node npm unshare; do
    command -v $tool >/dev/null || fail "$tool is missing; run: apt-get install debootstrap git nodejs npm util-linux"
  done
}

remove_tree() {
  if findmnt --noheadings --list --output TARGET | grep -qF "$1/"; then fail "something is mounted in $1: unmount it first"; fi
  rm -rf --one-file-system "$1"
}

say() {
  echo "empty-machine: $*" >&2
}

fail() {
  say "$*"
  exit 1
}

main "$@"
