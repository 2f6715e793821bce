# shellcheck shell=sh disable=SC2034
# Sourced by the installers. A settings file has lines of the form NAME=value; existing lines are never changed.

# setting FILE NAME: prints the setting's value, or nothing.
setting() {
  if [ -r "$1" ]; then sed -n "s/^$2=//p" "$1" | tail -n 1; fi
}

# keep_setting FILE NAME VALUE: adds the setting unless the file has one of that name.
keep_setting() {
  if [ -r "$1" ] && grep -q "^$2=" "$1"; then return; fi
  if [ -s "$1" ] && [ -n "$(tail -c 1 "$1")" ]; then echo >>"$1"; fi
  printf '%s=%s\n' "$2" "$3" >>"$1"
}

random_hex() {
  od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'
}

# The password begins with a letter, because NATS reads a leading digit as a number.
new_password() {
  echo "p$(random_hex 24)"
}

new_keys() {
  echo "1:$(random_hex 32)"
}

# Sets $domain and $email from the settings file, the options or a prompt.
ask_names() {
  prefer_kept "$1"
  if [ -z "$domain" ]; then
    if $unattended; then fail 'no domain given; use --domain, such as --domain go.example.com'; fi
    printf 'Domain of the short links, such as go.example.com: ' >&2
    read -r domain
  fi
  domain=$(bare_domain "$domain")
  if ! is_whole "$domain" '([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]*[a-z][a-z0-9-]*'; then
    fail "$domain is not a domain; give one such as go.example.com, and xn--… for letters such as ü"
  fi
  if grep -qs '^CADDY_TLS=' "$1"; then return; fi
  if [ -z "$email" ] && ! $unattended; then
    printf 'E-mail address for warnings about certificates (may be empty): ' >&2
    read -r email || email=''
  fi
  if ! is_whole "$email" '(internal|[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z0-9-]+)?'; then
    fail "$email is not an e-mail address; give one, nothing, or \`internal\` for certificates of Caddy's own authority"
  fi
}

# prefer_kept FILE: existing settings override the options, with a message where they differ.
prefer_kept() {
  kept=$(setting "$1" SHORT_DOMAIN)
  if [ -n "$kept" ] && [ -n "$domain" ] && [ "$(bare_domain "$domain")" != "$kept" ]; then
    say "SHORT_DOMAIN stays $kept, because it is in $1; change it there, and the names derived from it"
  fi
  domain=${kept:-$domain}
  if ! grep -qs '^CADDY_TLS=' "$1"; then return; fi
  kept=$(setting "$1" CADDY_TLS)
  if [ -n "$email" ] && [ "$email" != "$kept" ]; then
    say "CADDY_TLS stays ${kept:-empty}, because it is in $1; change it there"
  fi
  email=$kept
}

# Normalizes a pasted domain: removes https://, a trailing slash or dot and spaces, and lowers the case.
bare_domain() {
  printf %s "$1" | tr '[:upper:]' '[:lower:]' | sed 's|^[[:space:]]*||; s|^https\{0,1\}://||; s|[[:space:]]*$||; s|/$||; s|\.$||'
}

# is_whole TEXT PATTERN: whether the whole text matches; grep alone would match a single line of it.
is_whole() {
  [ "$(printf '%s\n' "$1" | wc -l)" -eq 1 ] && printf '%s\n' "$1" | grep -Eqx "$2"
}

# read_options WORD…: sets $domain, $email, $unattended and $start.
read_options() {
  domain=${DOMAIN-} email=${EMAIL-} unattended=false start=true
  if [ ! -t 0 ]; then unattended=true; fi
  while [ $# -gt 0 ]; do
    case $1 in
      --domain | --email)
        if [ $# -lt 2 ]; then fail "$1 needs a value"; fi
        if [ "$1" = --domain ]; then domain=$2; else email=$2; fi
        shift
        ;;
      --unattended) unattended=true ;;
      --settings-only) start=false ;;
      --help) usage && exit ;;
      *) fail "unknown option $1; see --help" ;;
    esac
    shift
  done
}

say() {
  echo "install: $*" >&2
}

fail() {
  say "$*"
  exit 1
}
