#!/bin/sh
# start.sh <nats-server> [argument...]: runs NATS, and ends it when its disk has space again after a write has failed. NATS
# refuses every message from the first failed write until it starts again; Docker and systemd start it when it has ended.
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
  # In the background, because a signal waits for a command in the foreground.
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
