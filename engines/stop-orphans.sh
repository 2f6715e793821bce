#!/bin/sh
# stop-orphans.sh FOLDER [remove]
# Waits until the process at the other end of stdin exits, even by kill -9. Then stops the database processes whose pid
# files are FOLDER/*/pid ("SIGNAL PID") and, with `remove`, deletes FOLDER.
set -u
folder=$1

# signal_engines [SIGNAL]: sends SIGNAL, or the one in each pid file; fails when no process is left.
signal_engines() {
  found=1
  for file in "$folder"/*/pid; do
    [ -r "$file" ] && read -r own_signal pid <"$file" && kill -s "${1:-$own_signal}" "$pid" 2>/dev/null && found=0
  done
  return $found
}

cat >/dev/null
# A process that is just starting needs a moment to write its pid file.
sleep 0.2

signal_engines
tries=0
while signal_engines 0 && [ "$tries" -lt 50 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
signal_engines KILL

if [ "${2-}" != remove ]; then exit; fi
# An orphaned initdb may still write to the folder.
for _ in 1 2 3 4 5; do
  rm -rf "$folder" && exit
  sleep 1
done
