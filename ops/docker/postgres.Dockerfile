# The database: PostgreSQL 18 with pgvector, Apache AGE and PostGIS.
#
# The packages come from PGDG's repository, which the official image contains. The tests use the same packages
# (ops/postgres/image.py). tzdata-legacy has the older names of time zones, such as Asia/Calcutta. The data are a volume
# on /var/lib/postgresql; since version 18 the folder below it names the version.
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
    && rm -rf /var/lib/apt/lists/*

# The check uses TCP: while the image initialises a new database, the server listens on its socket only.
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=12 \
    CMD ["pg_isready", "--host=127.0.0.1", "--username=postgres", "--quiet"]

# The log shows the error of a failed statement, but not the statement, its values or the rows concerned.
CMD ["postgres", "-c", "jit=off", "-c", "shared_buffers=512MB", "-c", "log_min_error_statement=panic", \
    "-c", "log_error_verbosity=terse", "-c", "log_parameter_max_length=0"]
