#!/bin/sh
# make-secrets.sh: create the secrets that docker-compose.yml and ops/ha name. Secrets that exist already stay unchanged.
#
# Only the owner can enter the folder. Its files are readable for everybody: in a container they keep their owner, whose
# user id differs from that of the process that reads them.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
chmod 700 secrets
cd secrets
for name in postgres_password memsvc_identity_secret memsvc_app_password memsvc_reader_password \
  memsvc_cypher_password memsvc_analyst_password replication_password backup_password
do
  [ -s "$name" ] || od -An -N32 -tx1 /dev/urandom | tr -d ' \n' > "$name"
done
printf 'postgresql://postgres:%s@database/memsvc' "$(cat postgres_password)" > memsvc_database_url
chmod 644 ./*
