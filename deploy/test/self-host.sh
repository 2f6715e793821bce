#!/bin/sh
# self-host.sh: follows the guide without Docker on an empty Debian machine with systemd, until a visitor is redirected over
# HTTPS, and prints how long it took. It has no package source of ClickHouse, so it tests the in-process engine. Needs root, the packages debootstrap and systemd-container, and the default ports of
# this machine, whose network the new machine shares. KEEP=1 keeps the machine's folder.
set -eu
cd "$(dirname "$0")/../.."
most_seconds=600
domain=go.tributary.test
work=$(mktemp -d /var/tmp/tributary-self-host.XXXXXX)
machine=$work/machine
container=''

main() {
  require_tools
  require_ports 80 443 2019 3000 3001 3002 4222 5432 6379 8123 8222
  trap clean EXIT
  trap 'exit 1' INT TERM
  say "an empty Debian 12 in $machine"
  debootstrap --variant=minbase --include=systemd-sysv,dbus,ca-certificates bookworm "$machine" >"$work/debootstrap.log" || fail "$(tail -n 3 "$work/debootstrap.log")"
  # For networks that intercept TLS, the new machine trusts the same authorities as this one.
  cp /etc/ssl/certs/ca-certificates.crt "$machine/etc/ssl/certs/ca-certificates.crt"
  find /usr/local/share/ca-certificates -name '*.crt' -exec cp {} "$machine/usr/local/share/ca-certificates" \; 2>/dev/null || true
  # The new machine accepts mirrors as old as this one does.
  apt-config dump | grep -i 'check-valid-until' >"$machine/etc/apt/apt.conf.d/99mirror" || true
  boot

  started=$(date +%s)
  mkdir -p "$machine/opt/tributary"
  git ls-files --cached --others --exclude-standard -z | xargs -0 ls -d 2>/dev/null | tar -c -T - | tar -x -C "$machine/opt/tributary"
  chown -R 0:0 "$machine/opt/tributary"
  inside sh -euc "$(block 1 | grep -v '^git clone')"
  step 'installed'
  # Debian has no ClickHouse of a supported version, so the in-process engine runs, and warns.
  inside journalctl --unit=tributary-clickhouse --no-pager | grep -q 'development and trials' || fail 'tributary-clickhouse does not warn'
  trust_authority
  answers=$(inside sh -euc "$(block 2 | sed "s|^curl |curl -A '$browser' |")")
  seconds=$(($(date +%s) - started))
  echo "$answers" | grep -q 'HTTP/2 302' || fail "the short link was not redirected: $answers"
  echo "$answers" | grep -qi '^location: https://example.com/landing' || fail "the short link leads elsewhere: $answers"
  say "redirected over HTTPS after $seconds s"
  key=$(inside tributary key create acme --json | sed 's/.*"key":"\([^"]*\)".*/\1/')

  count_click
  say 'the click is an event'
  inside sh -euc 'cd /opt/tributary && cp /etc/tributary/tributary.env /root/before && deploy/systemd/install.sh --unattended && cmp /root/before /etc/tributary/tributary.env'
  count_click
  say 'a second run of install.sh changed no setting and lost nothing'
  inside systemctl is-active postgresql tributary-nats tributary-clickhouse tributary-valkey tributary caddy
  [ "$seconds" -lt $most_seconds ] || fail "that is more than $most_seconds s"
  echo "from an empty machine to a redirect over HTTPS: $seconds s"
}

browser='Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0'

# block NUMBER: prints commands of the guide, with the test domain and certificates of Caddy's own authority.
block() {
  sed -n '/^## Without Docker/,/^## Several/p' docs/guides/self-hosting.md |
    awk -v wanted="$1" '/^```/ { inside = /^```sh/; count += inside; next } inside && count == wanted' |
    sed "s/go\.example\.com/$domain/g; s/you@example\.com/internal/"
}

# Stands in for DNS records and a public certificate authority.
trust_authority() {
  echo "127.0.0.1 $domain api.$domain" >>"$machine/etc/hosts"
  echo 'cacert = /var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt' >"$machine/root/.curlrc"
  printf 'silent\nshow-error\nretry = 5\nretry-all-errors\n' >>"$machine/root/.curlrc"
}

count_click() {
  tries=0
  until inside curl "https://api.$domain/events?interval=24h" -H "Authorization: Bearer $key" | grep -q '"event":"click"'; do
    tries=$((tries + 1))
    if [ $tries -ge 30 ]; then fail 'the click did not become an event'; fi
    sleep 1
  done
}

require_tools() {
  if [ "$(id -u)" -ne 0 ]; then fail 'run this as root'; fi
  for tool in awk debootstrap git nsenter ss systemd-nspawn; do
    command -v $tool >/dev/null || fail "$tool is missing; run: apt-get install debootstrap git iproute2 systemd-container util-linux"
  done
}

require_ports() {
  for port in "$@"; do
    if ss -Hltn "sport = :$port" | grep -q .; then fail "port $port is in use; stop the program that uses it"; fi
  done
}

boot() {
  systemd-nspawn --directory="$machine" --boot --register=no --keep-unit --machine=tributary --resolv-conf=copy-host >"$work/boot.log" 2>&1 </dev/null &
  container=$!
  tries=0
  until leader=$(pgrep -P $container) && inside systemctl is-system-running 2>/dev/null | grep -Eq 'running|degraded'; do
    tries=$((tries + 1))
    if [ $tries -ge 60 ]; then fail "the machine did not start; see $work/boot.log"; fi
    sleep 1
  done
}

inside() {
  nsenter --target "$leader" --mount --uts --ipc --pid --cgroup --root --wd env -i HOME=/root LANG=C.UTF-8 \
    NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

clean() {
  if [ -n "$container" ]; then
    inside systemctl poweroff >/dev/null 2>&1 || kill "$container"
    wait "$container" || true
  fi
  if [ -z "${KEEP-}" ]; then rm -rf "$work"; fi
}

step() {
  say "$(($(date +%s) - started)) s: $*"
}

say() {
  echo "self-host: $*" >&2
}

fail() {
  say "$*"
  exit 1
}

main "$@"
