#!/bin/sh
# Writes .env with new secrets, where there are none yet, and starts everything with Docker Compose. Run it as often as
# you like: what stands in .env is kept. Without Docker: deploy/systemd/install.sh.
set -eu
cd "$(dirname "$0")"
. deploy/settings.sh
file=.env

main() {
  read_options "$@"
  if $start; then require_docker; fi
  ask_names $file
  write_settings
  if $start; then
    start_services
    tell_next
  else
    say "$file is written. Start with: docker compose up --detach --build"
  fi
}

usage() {
  cat <<'TEXT'
./install.sh [--domain go.example.com] [--email you@example.com] [--unattended] [--settings-only]

  --domain         domain of the short links; the API is at api.<domain>. Both must resolve to this server
  --email          contact address for the certificate authority; `internal` for certificates of Caddy's own authority
  --unattended     never prompt; the default without a terminal
  --settings-only  write .env and start nothing

DOMAIN and EMAIL in the environment do the same.
TEXT
}

require_docker() {
  if ! docker compose version >/dev/null 2>&1; then
    fail 'Docker with Compose is needed (https://docs.docker.com/engine/install), or use deploy/systemd/install.sh'
  fi
  if ! docker info >/dev/null 2>&1; then
    fail 'the Docker engine does not answer; start it, and run this as root or as a member of the group docker'
  fi
}

write_settings() {
  (umask 077 && touch $file)
  # Only in a new installation: a worker of an earlier release could not read these clicks.
  if [ ! -s $file ]; then keep_setting $file CLICK_LOG_FORMAT binary; fi
  keep_setting $file SHORT_DOMAIN "$domain"
  keep_setting $file API_HOST "api.$domain"
  keep_setting $file CADDY_TLS "$email"
  for name in POSTGRES_PASSWORD NATS_PASSWORD CLICKHOUSE_PASSWORD VALKEY_PASSWORD; do
    keep_setting $file $name "$(new_password)"
  done
  keep_setting $file CLICK_ID_KEYS "$(new_keys)"
  keep_setting $file ENCRYPTION_KEYS "$(new_keys)"
}

start_services() {
  docker compose up --detach --build || fail 'that did not start; if it says no more, look at: docker compose logs migrate'
  say 'waiting until everything answers'
  tries=0
  until is_ready; do
    tries=$((tries + 1))
    if [ $tries -ge 60 ]; then fail 'the server is not ready; look at: docker compose logs server migrate'; fi
    sleep 2
  done
}

is_ready() {
  docker compose exec -T server node -e \
    'fetch("http://127.0.0.1:3002/readyz").then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))' >/dev/null 2>&1
}

tell_next() {
  api=$(setting $file API_HOST)
  cat <<TEXT
Tributary runs. Both names must resolve to this server: $(setting $file SHORT_DOMAIN) and $api

  docker compose exec server tributary workspace create Acme
  docker compose exec server tributary key create acme
  curl https://$api/links -H "Authorization: Bearer <the key>" -d '{"url":"https://example.com"}'

Keep a copy of $file: without its keys a backup is of no use.
TEXT
}

main "$@"
