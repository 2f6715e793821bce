#!/bin/sh
# start.sh <nats-server> [argument...]: runs NATS, and stops it when its disk has space again after a failed write. NATS
# rejects every message from the first failed write until it restarts; Docker or systemd then restart it.
set -u
ask_every=${NATS_ASK_EVERY_SECONDS:-5}
needed_kilobytes=32768
port=${NATS_HEALTH_LISTEN##*:}

health() {
  if command -v curl >/dev/null; then
    curl --silent --max-time 5 "http://127.0.0.1:$port/healthz"
  else
    printf 'GET /healthz HTTP/1.0\r\n\r\n' | nc -w 5 127.0.0.1 "$port"
  fi
}

free_kilobytes() {
  df -Pk "$NATS_STORE" | awk 'NR == 2 { print $4 }'
}

"$@" &
server=$!
trap 'kill -TERM "$server"' TERM INT
while kill -0 "$server" 2>/dev/null; do
  # Sleeps in the background, because the shell handles signals only after a foreground command ends.
  sleep "$ask_every" &
  wait "$!"
  case $(health 2>/dev/null) in
    *'write error'*)
      if [ "$(free_kilobytes)" -ge "$needed_kilobytes" ]; then
        echo 'disk has space again after a failed write; stopping NATS so that it restarts' >&2
        kill -TERM "$server"
      fi
      ;;
  esac
done
wait "$server"
