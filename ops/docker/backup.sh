#!/bin/sh
# backup.sh: back up all memories into a folder named by the moment, write the log of erasures, remove old backups.
#
# BACKUPS: the folder. KEEP: how many backups stay. EVERY: repeat after so many seconds; without it, once.
# Copy the folder to another machine: erasures.jsonl says what must be erased again after a restore.
set -eu
umask 077
if [ -n "${EVERY:-}" ]; then
  while :; do
    EVERY='' "$0" || echo "the backup failed; the next try is in $EVERY s" >&2
    sleep "$EVERY" &
    wait $! # so that SIGTERM ends it at once
  done
fi
memsvc backup "$BACKUPS/$(date -u +%Y-%m-%dT%H-%M-%S)"
memsvc db erasures > "$BACKUPS/.erasures.new"
mv "$BACKUPS/.erasures.new" "$BACKUPS/erasures.jsonl"
# Names sort by time. The one log of erasures is for all backups.
find "$BACKUPS" -mindepth 1 -maxdepth 1 -type d -name '2*T*' | sort -r | tail -n "+$((${KEEP:-14} + 1))" |
  while IFS= read -r old; do rm -rf "$old"; done
