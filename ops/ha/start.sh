#!/bin/sh
# start.sh patroni | etcd | haproxy | pgbouncer | pgbackrest …: start a program of the image of ops/docker/ha.Dockerfile.
#
# Secrets are files in /run/secrets. Patroni reads its own from the environment of its process, where only this user sees
# them. A node without a certificate makes one for itself: that encrypts, and proves nothing. Mount real ones over it.
set -eu
secrets=${SECRETS:-/run/secrets} own=${OWN:-/run/memsvc} etc=${ETC:-/etc/memsvc}
secret() { cat "$secrets/$1"; }
case $1 in
  patroni)
    if [ ! -s "$etc/tls/server.crt" ]; then
      openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj "/CN=$PATRONI_NAME" \
        -keyout "$etc/tls/server.key" -out "$etc/tls/server.crt" 2> /dev/null
      chmod 600 "$etc/tls/server.key"
    fi
    mkdir -p /var/lib/postgresql/18
    PATRONI_SUPERUSER_PASSWORD=$(secret postgres_password)
    PATRONI_REPLICATION_PASSWORD=$(secret replication_password)
    PATRONI_REWIND_PASSWORD=$PATRONI_REPLICATION_PASSWORD
    PATRONI_RESTAPI_PASSWORD=$PATRONI_REPLICATION_PASSWORD
    PGBACKREST_REPO1_CIPHER_PASS=$(secret backup_password)
    export PATRONI_SUPERUSER_PASSWORD PATRONI_REPLICATION_PASSWORD PATRONI_REWIND_PASSWORD PATRONI_RESTAPI_PASSWORD \
      PGBACKREST_REPO1_CIPHER_PASS
    exec patroni "$etc/patroni.yml"
    ;;
  pgbackrest)
    PGBACKREST_REPO1_CIPHER_PASS=$(secret backup_password)
    export PGBACKREST_REPO1_CIPHER_PASS
    exec "$@"
    ;;
  pgbouncer)
    umask 077
    printf '"memsvc_app" "%s"\n' "$(secret memsvc_app_password)" > "$own/users"
    exec pgbouncer "$etc/pgbouncer.ini"
    ;;
  haproxy) exec haproxy -f "$etc/haproxy.cfg" ;;
  *) exec "$@" ;;
esac
