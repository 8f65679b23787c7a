#!/bin/sh
# make-secrets.sh: make the secrets that docker-compose.yml names; existing ones are not changed.
#
# Other users cannot enter the folder, but its files are readable by all: in a container, the reading user has another
# id than their owner.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
chmod 700 secrets
cd secrets
for name in postgres_password memsvc_identity_secret memsvc_app_password memsvc_reader_password \
  memsvc_cypher_password memsvc_analyst_password
do
  [ -s "$name" ] || od -An -N32 -tx1 /dev/urandom | tr -d ' \n' > "$name"
done
printf 'postgresql://postgres:%s@database/memsvc' "$(cat postgres_password)" > memsvc_database_url
chmod 644 ./*
