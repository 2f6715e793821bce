#!/bin/sh
# Installs Tributary without Docker on Debian 12 or newer: databases from Debian, ClickHouse from its own package source or
# else from npm, run by systemd. Run it as root from a checkout, as often as you like; it keeps existing settings in
# /etc/tributary. It replaces Caddy's configuration, so use a dedicated machine.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
cd "$here"
. deploy/settings.sh
. deploy/systemd/clickhouse.sh
settings=/etc/tributary/tributary.env
caddy_settings=/etc/tributary/caddy.env
units=/etc/systemd/system

main() {
  read_options "$@"
  if [ "$(id -u)" -ne 0 ]; then fail 'run this as root: sudo deploy/systemd/install.sh'; fi
  ask_names $settings
  if $start; then install_programs; fi
  choose_clickhouse
  if $start && [ $clickhouse = server ]; then install_clickhouse_server; fi
  add_user
  if ! runuser -u tributary -- test -r server/src/main.ts; then fail "the user tributary can't read $here; move it to /opt/tributary"; fi
  write_settings
  install_units
  if $start; then
    make_database
    start_services
    tell_next
  fi
}

usage() {
  cat <<'TEXT'
deploy/systemd/install.sh [--domain go.example.com] [--email you@example.com] [--unattended] [--settings-only]

  --domain         domain of the short links; the API is at api.<domain>. Both must resolve to this server
  --email          contact address for the certificate authority; `internal` for certificates of Caddy's own authority
  --unattended     never prompt; the default without a terminal
  --settings-only  write /etc/tributary and the units, install and start nothing
TEXT
}

install_programs() {
  had_redis=false
  if command -v redis-server >/dev/null; then had_redis=true; fi
  say 'installing packages of Debian'
  apt-get -qq update
  packages='caddy ca-certificates curl postgresql redis-server'
  if ! command -v npm >/dev/null; then packages="$packages nodejs npm"; fi
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends $packages >/dev/null
  # Debian's service uses the same port as ours, which has other settings.
  if ! $had_redis; then systemctl disable --quiet --now redis-server; fi
  say 'installing packages of npm'
  npm ci --loglevel=error || npm install --no-save --loglevel=error
  sh engines/setup.sh
  say 'building the dashboard and the documentation'
  output=$(npm run --silent dashboard 2>&1 && npm run --silent docs 2>&1) || fail "$output"
}

add_user() {
  if id tributary >/dev/null 2>&1; then return; fi
  say 'adding the user tributary'
  useradd --system --user-group --home-dir /var/lib/tributary --shell /usr/sbin/nologin tributary
}

write_settings() {
  install -d -m 750 -g tributary /etc/tributary
  if [ ! -e $settings ]; then install -m 640 -g tributary /dev/null $settings; fi
  # Only in a new installation: a worker of an earlier release could not read these clicks.
  if [ ! -s $settings ]; then keep_setting $settings CLICK_LOG_FORMAT binary; fi
  keep_setting $settings SHORT_DOMAIN "$domain"
  keep_setting $settings API_URL "https://api.$domain"
  keep_setting $settings DOMAIN_CNAME "$domain"
  keep_setting $settings CADDY_TLS "$email"
  keep_setting $settings TRUSTED_PROXIES 127.0.0.1
  for name in POSTGRES_PASSWORD NATS_PASSWORD CH_PASSWORD VALKEY_PASSWORD; do
    keep_setting $settings $name "$(new_password)"
  done
  keep_setting $settings POSTGRES_URL "postgres://tributary:$(setting $settings POSTGRES_PASSWORD)@127.0.0.1:5432/tributary"
  keep_setting $settings NATS_URL "nats://tributary:$(setting $settings NATS_PASSWORD)@127.0.0.1:4222"
  keep_setting $settings CLICKHOUSE_URL "http://tributary:$(setting $settings CH_PASSWORD)@127.0.0.1:8123/default"
  keep_setting $settings VALKEY_URL "redis://:$(setting $settings VALKEY_PASSWORD)@127.0.0.1:6379"
  keep_setting $settings CLICK_ID_KEYS "$(new_keys)"
  keep_setting $settings ENCRYPTION_KEYS "$(new_keys)"
  # Caddy gets its own settings file, because it runs as another user and needs no secrets.
  touch $caddy_settings
  keep_setting $caddy_settings API_HOST "api.$domain"
  keep_setting $caddy_settings CADDY_TLS "$email"
}

install_units() {
  install -d $units/caddy.service.d
  if [ $clickhouse = server ]; then configure_clickhouse_server; else install_unit tributary-clickhouse; fi
  for service in tributary-nats tributary-valkey tributary; do install_unit $service; done
  sed "s|/opt/tributary|$here|g" deploy/systemd/caddy.conf >$units/caddy.service.d/tributary.conf
  cat >/usr/local/bin/tributary <<TEXT
#!/bin/sh
# Installs the command tributary, which runs with the settings and permissions of the service.
exec runuser -u tributary -- '$here/node_modules/.bin/node' --env-file=$settings '$here/server/src/main.ts' "\$@"
TEXT
  chmod 755 /usr/local/bin/tributary
}

install_unit() {
  sed "s|/opt/tributary|$here|g; s|tributary-clickhouse\.service|$clickhouse_unit.service|g" "deploy/systemd/$1.service" >"$units/$1.service"
}

make_database() {
  password=$(setting $settings POSTGRES_PASSWORD)
  systemctl start postgresql
  # Creates role and database separately, because an earlier run may have been interrupted between the two.
  if [ -z "$(as_postgres "SELECT 1 FROM pg_roles WHERE rolname = 'tributary'")" ]; then as_postgres 'CREATE ROLE tributary'; fi
  as_postgres "ALTER ROLE tributary LOGIN PASSWORD '$password'"
  if [ -n "$(as_postgres "SELECT 1 FROM pg_database WHERE datname = 'tributary'")" ]; then return; fi
  say 'creating the database'
  as_postgres "CREATE DATABASE tributary OWNER tributary ENCODING 'UTF8' TEMPLATE template0"
}

as_postgres() {
  (cd / && printf '%s;\n' "$1" | runuser -u postgres -- psql --quiet --no-psqlrc --tuples-only --no-align -v ON_ERROR_STOP=1)
}

start_services() {
  say 'starting the services'
  systemctl daemon-reload
  engines="tributary-nats $clickhouse_unit tributary-valkey"
  # shellcheck disable=SC2086
  systemctl enable --quiet postgresql caddy $engines tributary
  # shellcheck disable=SC2086
  systemctl restart $engines tributary
  systemctl restart caddy
  tries=0
  until node_modules/.bin/node -e 'fetch("http://127.0.0.1:3002/readyz").then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))'; do
    tries=$((tries + 1))
    if [ $tries -ge 60 ]; then fail 'Tributary is not ready; look at: journalctl --unit "tributary*"'; fi
    sleep 1
  done
}

tell_next() {
  cat <<TEXT
Tributary runs. Both names must resolve to this server: $domain and api.$domain

  tributary workspace create Acme
  tributary key create acme
  curl https://api.$domain/links -H "Authorization: Bearer <the key>" -d '{"url":"https://example.com"}'

Keep a copy of $settings: without its keys a backup is of no use.
TEXT
}

main "$@"
