# shellcheck shell=sh disable=SC2034,SC2154
# Sourced by install.sh: chooses between ClickHouse's own server and the in-process engine, and moves events to the server.
# apt decides by the package sources of this machine; nothing is fetched from elsewhere.
least_clickhouse=25.3
clickhouse_folder=/etc/clickhouse-server
clickhouse_settings=/etc/tributary/clickhouse.env
guide='docs/guides/self-hosting.md, "The ClickHouse server"'

# Sets $clickhouse to `server` or `in-process`, and $clickhouse_unit to its systemd unit.
choose_clickhouse() {
  clickhouse=in-process clickhouse_unit=tributary-clickhouse
  candidate=$(clickhouse_candidate)
  if [ -z "$candidate" ]; then
    if $move; then fail "apt has no clickhouse-server $least_clickhouse or newer; add its package source first: $guide"; fi
    say "ClickHouse runs in process, which is for development and trials. For production, add the package source of its server: $guide"
    return
  fi
  if uses_in_process && ! $move; then
    say "ClickHouse stays in process, because its events have to be moved to the server $candidate: add --clickhouse-server to do so, see $guide"
    return
  fi
  if ! uses_in_process; then move=false; fi
  clickhouse=server clickhouse_unit=clickhouse-server
  say "using clickhouse-server $candidate"
}

# Prints the version of clickhouse-server that is installed or that apt would install, if Tributary supports it. Debian's
# own package is of 2018.
clickhouse_candidate() {
  version=$(LC_ALL=C apt-cache policy clickhouse-server 2>/dev/null | sed -n 's/^ *Candidate: *//p')
  case $version in
    [0-9]*) if dpkg --compare-versions "$version" ge $least_clickhouse; then echo "$version"; fi ;;
  esac
}

uses_in_process() {
  [ -e "$units/tributary-clickhouse.service" ]
}

install_clickhouse_server() {
  say 'installing clickhouse-server'
  DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends clickhouse-server >/dev/null
}

# Writes the configuration of the server, which runs with the package's own user and unit.
configure_clickhouse_server() {
  install -d "$clickhouse_folder/config.d" "$clickhouse_folder/users.d" "$units/clickhouse-server.service.d"
  install -m 644 deploy/clickhouse/server.xml "$clickhouse_folder/config.d/tributary.xml"
  install -m 644 deploy/clickhouse/users.xml "$clickhouse_folder/users.d/tributary.xml"
  install -m 644 deploy/systemd/clickhouse-server.conf "$units/clickhouse-server.service.d/tributary.conf"
  if [ ! -e "$clickhouse_settings" ]; then install -m 600 /dev/null "$clickhouse_settings"; fi
  keep_setting "$clickhouse_settings" CLICKHOUSE_PASSWORD "$(setting "$settings" CH_PASSWORD)"
}

# Stops a server that an interrupted move has left, because the in-process engine needs its port.
undo_clickhouse_server() {
  if [ ! -e "$units/clickhouse-server.service.d/tributary.conf" ]; then return; fi
  systemctl disable --quiet --now clickhouse-server
  rm -r "$units/clickhouse-server.service.d"
}

# Stops Tributary and copies all data, while the in-process engine still runs.
save_events() {
  saved=/var/lib/tributary/before-clickhouse-server-$(date +%Y%m%d%H%M%S)
  say "stopping Tributary and making a backup in $saved"
  systemctl stop tributary
  if ! tributary backup "$saved"; then
    systemctl start tributary
    fail 'the backup failed; nothing was changed, and Tributary runs again'
  fi
  systemctl disable --quiet --now tributary-clickhouse
}

# Loads the copy into the server. If that fails, the in-process engine, whose data is unchanged, serves again. Its unit is
# removed last: until then, another run of install.sh returns to it.
load_events() {
  say 'moving the events to the ClickHouse server'
  if wait_for_clickhouse && tributary restore "$saved" --replace; then
    rm "$units/tributary-clickhouse.service"
    return
  fi
  clickhouse=in-process clickhouse_unit=tributary-clickhouse
  undo_clickhouse_server
  install_units
  systemctl daemon-reload
  systemctl enable --quiet tributary-clickhouse
  systemctl start tributary-clickhouse tributary
  fail "the events were not moved; Tributary runs with the in-process engine again, and the backup is in $saved"
}

wait_for_clickhouse() {
  tries=0
  until curl --silent --fail --output /dev/null http://127.0.0.1:8123/ping; do
    tries=$((tries + 1))
    if [ $tries -ge 60 ]; then say 'the ClickHouse server does not answer on port 8123' && return 1; fi
    sleep 1
  done
}
