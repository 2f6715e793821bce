#!/bin/sh
# setup.sh [--browser] [--deploy]: installs missing programs for development and tests. PostgreSQL and ClickHouse come
# with `npm install`; this installs redis-server and nats-server, with --browser also chromium, and with --deploy also the
# programs that tests of deploy/ and of the guides call.
set -eu
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin:/usr/local/sbin
own_nats=.tools/nats/usr/sbin/nats-server
own_compose=.tools/compose/usr/bin/docker-compose
policy=/usr/sbin/policy-rc.d
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
# Debian packages and the programs in them.
deploy_programs='caddy/caddy curl/curl golang-go/go iproute2/ip openssl/openssl procps/ps prometheus/promtool python3/python3
  shellcheck/shellcheck systemd/systemd-analyze'
go_libraries='golang-github-masterminds-sprig-dev golang-k8s-sigs-yaml-dev'

main() {
  browser=false deploy=false need_nats=false need_compose=false packages=''
  for option in "$@"; do
    case $option in
      --browser) browser=true ;;
      --deploy) deploy=true ;;
      *) fail "unknown option $option; use --browser or --deploy" ;;
    esac
  done
  find_valkey >/dev/null || need redis-server
  find_nats >/dev/null || need_nats=true
  if $browser; then find_browser >/dev/null || need chromium; fi
  if $deploy; then
    find_compose >/dev/null || need_compose=true
    for program in $deploy_programs; do command -v "${program#*/}" >/dev/null || need "${program%/*}"; done
    for library in $go_libraries; do dpkg -s "$library" >/dev/null 2>&1 || need "$library"; done
  fi

  case $need_nats$need_compose$packages in
    falsefalse) ;;
    *) command -v apt-get >/dev/null || explain_other_systems ;;
  esac
  if $need_nats || $need_compose; then [ -r $keyring ] || need debian-archive-keyring; fi
  if [ -n "$packages" ]; then install_without_service; fi
  if $need_nats; then install_nats; fi
  if $need_compose; then install_compose; fi

  report valkey "$(find_valkey)"
  report nats "$(find_nats)"
  if $browser; then report browser "$(find_browser)"; fi
  if $deploy; then
    for program in $deploy_programs; do say "${program%/*}: $(command -v "${program#*/}")"; done
    say "compose: $(find_compose), $("$(find_compose)" version)"
  fi
}

need() {
  packages="$packages $1"
}

find_valkey() {
  command -v valkey-server || command -v redis-server
}

find_nats() {
  for program in "$own_nats" nats-server; do
    command -v "$program" >/dev/null && is_new_nats "$program" && command -v "$program" && return
  done
  return 1
}

find_browser() {
  command -v chromium || command -v chromium-browser || command -v google-chrome
}

# Installs Compose v2, which can parse files without Docker. Debian 12 has only version 1, in Python.
find_compose() {
  command -v $own_compose
}

# Installs nats-server 2.12 or newer, because older ones may not support `sync_interval: always`.
is_new_nats() {
  version=$("$1" --version) || return 1
  version=${version##*v}
  major=${version%%.*}
  minor=${version#*.}
  minor=${minor%%.*}
  [ "$major" -gt 2 ] || { [ "$major" -eq 2 ] && [ "$minor" -ge 12 ]; }
}

install_nats() {
  mkdir -p .tools
  for suite in forky sid trixie-backports; do
    say "fetching nats-server of Debian $suite into .tools/nats"
    fetched=$(mktemp -d .tools/nats.XXXXXX)
    if sh engines/get-debian-package.sh "$suite" nats-server "$fetched" && is_new_nats "$fetched/usr/sbin/nats-server"; then
      rm -rf .tools/nats
      mv "$fetched" .tools/nats
      return
    fi
    rm -rf "$fetched"
  done
  fail 'no nats-server 2.12 or newer could be fetched; check the network, or put one on PATH (https://nats.io/download)'
}

install_compose() {
  mkdir -p .tools
  for suite in forky trixie sid; do
    say "fetching docker-compose of Debian $suite into .tools/compose"
    fetched=$(mktemp -d .tools/compose.XXXXXX)
    if sh engines/get-debian-package.sh "$suite" docker-compose "$fetched" && "$fetched/usr/bin/docker-compose" version; then
      rm -rf .tools/compose
      mv "$fetched" .tools/compose
      return
    fi
    rm -rf "$fetched"
  done
  fail "no docker-compose could be fetched; check the network, or put one at $own_compose"
}

# Keeps Debian from starting services: policy-rc.d on installation, and disabling them at boot.
install_without_service() {
  say "installing$packages"
  as_root true || fail "these packages are missing, and installing them takes root; run: sudo apt-get install$packages"
  if [ ! -e $policy ]; then
    trap 'as_root rm -f $policy' EXIT
    as_root sh -c "printf '#!/bin/sh\nexit 101\n' >$policy && chmod 755 $policy"
  fi
  apt_get_install || { say 'retrying with updated package lists' && as_root apt-get -qq update >&2 && apt_get_install; } ||
    { echo "$output" >&2 && fail "apt-get failed, see above. If its lock is held, wait for the other apt; if it reaches \
no archive, check the network and /etc/apt; if it was interrupted, run: dpkg --configure -a. Then run this again"; }
  if [ ! -d /run/systemd/system ]; then return; fi
  for package in $packages; do
    if systemctl cat "$package" >/dev/null 2>&1; then as_root systemctl -q disable "$package"; fi
  done
}

apt_get_install() {
  # shellcheck disable=SC2086 # one word each
  output=$(as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o DPkg::Lock::Timeout=120 install --yes --no-install-recommends $packages 2>&1)
}

# Runs a command as root; sudo asks for a password only on a terminal.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif [ -t 0 ]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

explain_other_systems() {
  if [ -n "$packages" ]; then say "missing, by their names in Debian:$packages (redis-server may be valkey-server)"; fi
  if $need_nats; then say 'missing: nats-server 2.12 or newer on PATH'; fi
  if $need_compose; then say "missing: $own_compose"; fi
  fail 'this system has no apt-get; install them (macOS: brew install valkey nats-server) and run this again'
}

report() {
  say "$1: $2, $("$2" --version | head -n 1)"
}

say() {
  echo "setup: $*" >&2
}

fail() {
  say "$*"
  exit 1
}

main "$@"
