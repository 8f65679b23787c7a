#!/bin/sh
# drill.sh FOLDER [MOMENT]: restore a backup beside the running cluster, and look at it. It changes nothing elsewhere.
#
# Run it as the user of PostgreSQL, on a machine that reaches the repository. FOLDER must not exist. MOMENT is a time such
# as '2026-11-23 01:30:00+00'; without it, the log is replayed to its end. The server listens on a socket in FOLDER only
# and archives nothing. It is stopped at the end, unless KEEP=1: then it stays up for 'memsvc db erasures' or the like.
set -eu
folder=$1 moment=${2:-}
programs=${PROGRAMS:-/usr/lib/postgresql/18/bin}
umask 077
mkdir "$folder"
set -- --stanza=memsvc --pg1-path="$folder/pg" --archive-mode=off
[ -z "$moment" ] || set -- "$@" --type=time --target="$moment" --target-action=promote
mkdir "$folder/pg"
pgbackrest "$@" restore
# Settings of the cluster that must not count here: its addresses, its certificate, and who has to confirm commits.
echo 'local all all trust' > "$folder/pg_hba.conf" # nobody else reaches the socket
"$programs/pg_ctl" start --silent --wait --timeout=3600 --pgdata="$folder/pg" --log="$folder/log" --options="\
  -c listen_addresses= -c unix_socket_directories=$folder -c port=5432 -c ssl=off -c hba_file=$folder/pg_hba.conf \
  -c synchronous_standby_names= -c hot_standby=off -c shared_buffers=128MB"
ask() { "$programs/psql" -XAtq --host="$folder" --username=postgres --dbname="${DATABASE:-memsvc}" --command="$1"; }
until [ "$(ask 'SELECT pg_is_in_recovery()' 2>/dev/null)" = f ]; do
  "$programs/pg_ctl" status --pgdata="$folder/pg" > /dev/null || { tail -n 20 "$folder/log" >&2; exit 1; }
  sleep 1
done
ask "SELECT format('restored to %s: %s users, %s passages',
  coalesce(nullif('$moment', ''), 'the end of the log'),
  (SELECT count(*) FROM memsvc.users), (SELECT count(*) FROM memsvc.passages))"
if [ "${KEEP:-}" = 1 ]; then
  echo "postgresql://postgres@/${DATABASE:-memsvc}?host=$folder"
else
  "$programs/pg_ctl" stop --silent --wait --pgdata="$folder/pg"
fi
