# shellcheck shell=sh disable=SC2034
# Sourced by the installers. A settings file has lines of the form NAME=value; what stands in it is never changed.

# setting FILE NAME: prints its value, or nothing.
setting() {
  if [ -r "$1" ]; then sed -n "s/^$2=//p" "$1" | tail -n 1; fi
}

# keep_setting FILE NAME VALUE: adds it if there is none of that name.
keep_setting() {
  if [ -r "$1" ] && grep -q "^$2=" "$1"; then return; fi
  if [ -s "$1" ] && [ -n "$(tail -c 1 "$1")" ]; then echo >>"$1"; fi
  printf '%s=%s\n' "$2" "$3" >>"$1"
}

random_hex() {
  od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'
}

# The letter in front keeps NATS from reading it as a number.
new_password() {
  echo "p$(random_hex 24)"
}

new_keys() {
  echo "1:$(random_hex 32)"
}

# Sets $domain and $email from the options, the settings file or the person at the terminal.
ask_names() {
  domain=${domain:-$(setting "$1" SHORT_DOMAIN)}
  if grep -qs '^CADDY_TLS=' "$1"; then email=$(setting "$1" CADDY_TLS) asked=true; else asked=$unattended; fi
  if [ -z "$domain" ]; then
    if $unattended; then fail 'which domain? Give it by --domain, such as --domain go.example.com'; fi
    printf 'Domain of the short links, such as go.example.com: ' >&2
    read -r domain
  fi
  domain=$(printf %s "$domain" | tr '[:upper:]' '[:lower:]')
  if ! printf %s "$domain" | grep -Eq '^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]*[a-z][a-z0-9-]*$'; then
    fail "$domain is no domain; give one such as go.example.com"
  fi
  if [ -z "${email-}" ] && ! $asked; then
    printf 'E-mail address for warnings about certificates (may be empty): ' >&2
    read -r email || email=''
  fi
  case ${email:=} in
    '' | internal | *@*.*) ;;
    *) fail "$email is no e-mail address; give one, nothing, or \`internal\` for certificates of Caddy's own authority" ;;
  esac
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
      *) fail "there is no option $1; see --help" ;;
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
