# The database: PostgreSQL 18 with pgvector, Apache AGE and PostGIS.
#
# The packages come from PGDG, whose repository the official image has set up. The tests run on the same packages
# (ops/postgres/image.py); tzdata-legacy has time zones by their older names, such as Asia/Calcutta. The data is a volume
# on /var/lib/postgresql; since PostgreSQL 18, a folder in it is named after the version.
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

# By TCP: while the image creates a new database, it listens only on its socket and is not ready for clients.
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=12 \
    CMD ["pg_isready", "--host=127.0.0.1", "--username=postgres", "--quiet"]

# For a failed statement, the log shows the error, without the statement, its values or rows.
CMD ["postgres", "-c", "jit=off", "-c", "shared_buffers=512MB", "-c", "log_min_error_statement=panic", \
    "-c", "log_error_verbosity=terse", "-c", "log_parameter_max_length=0"]
