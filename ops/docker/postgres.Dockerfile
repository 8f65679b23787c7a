# The database: PostgreSQL 18 with pgvector, Apache AGE and PostGIS.
#
# The packages come from PGDG's repository, which the official image contains. The tests use the same packages
# (ops/postgres/image.py). tzdata-legacy has the older names of time zones, such as Asia/Calcutta. The data are a volume
# on /var/lib/postgresql; since version 18 the folder below it names the version.
FROM postgres:18-trixie

RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        postgresql-18-age \
        postgresql-18-pgvector \
        postgresql-18-postgis-3 \
        tzdata-legacy \
    && rm -rf /var/lib/apt/lists/*

# The check uses TCP: while the image initialises a new database, the server listens on its socket only.
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=12 \
    CMD ["pg_isready", "--host=127.0.0.1", "--username=postgres", "--quiet"]

CMD ["postgres", "-c", "jit=off", "-c", "shared_buffers=512MB"]
