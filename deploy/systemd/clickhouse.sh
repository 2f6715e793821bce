# shellcheck shell=sh disable=SC2034,SC2154
# Sourced by install.sh: chooses between ClickHouse's own server and the in-process engine.
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
    say "ClickHouse runs in process, which is for development and trials. For production, add the package source of its server: $guide"
    return
  fi
  if uses_in_process; then
    say "ClickHouse stays in process with its events. To move them to the server $candidate, see $guide"
    return
  fi
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
