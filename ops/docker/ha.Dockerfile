# A node of the database for ops/ha: the packages of postgres.Dockerfile, with Patroni, pgBackRest, etcd, HAProxy and
# PgBouncer. The tests use the same packages (tests/full/patroni.py). ops/ha/start.sh starts one of these programs.
#
# ops/docker/pin-digests.sh writes the base image's digest after its tag.
ARG POSTGRES_IMAGE=postgres:18-trixie
FROM ${POSTGRES_IMAGE}

RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        postgresql-18-age \
        postgresql-18-pgvector \
        postgresql-18-postgis-3 \
        tzdata-legacy \
        etcd-client \
        etcd-server \
        haproxy \
        openssl \
        patroni \
        pgbackrest \
        pgbouncer \
        python3-etcd \
    && mkdir -p /etc/memsvc/tls /run/memsvc /var/lib/etcd /var/lib/pgbackrest /var/spool/pgbackrest \
    && chown postgres:postgres /etc/memsvc/tls /run/memsvc /var/lib/etcd /var/lib/pgbackrest /var/spool/pgbackrest \
    && rm -rf /var/lib/apt/lists/*
COPY ops/ha/start.sh /usr/local/bin/start
COPY ops/ha/haproxy.cfg ops/ha/pgbouncer.ini /etc/memsvc/
COPY ops/patroni/patroni.yml /etc/memsvc/patroni.yml
COPY ops/pgbackrest/pgbackrest.conf /etc/pgbackrest/pgbackrest.conf
COPY ops/pgbackrest/drill.sh /usr/local/bin/drill
USER postgres

ENTRYPOINT ["start"]
CMD ["patroni"]
