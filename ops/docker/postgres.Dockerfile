# The database: PostgreSQL 18 with pgvector, Apache AGE and PostGIS.
#
# The packages come from PGDG, whose repository the official image has set up. They are the ones that the tests run on
# (ops/postgres/image.py); tzdata-legacy has time zones by their older names, as Asia/Calcutta. Data: a volume on /var/lib/postgresql; since 18 the folder below it carries the version.
# The base image's digest is written behind its tag by ops/docker/pin-digests.sh.
ARG POSTGRES_IMAGE=postgres:18-trixie
FROM ${POSTGRES_IMAGE}

RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        postgresql-18-age \
        postgresql-18-pgvector \
        postgresql-18-postgis-3 \
        tzdata-legacy \
    && rm -rf /var/lib/apt/lists/*

# By TCP: while the image makes a new database it listens on its socket only, and is not there for others yet.
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=12 \
    CMD ["pg_isready", "--host=127.0.0.1", "--username=postgres", "--quiet"]

# The log says of a failed statement what was wrong, without the statement, its values, and the rows it met.
CMD ["postgres", "-c", "jit=off", "-c", "shared_buffers=512MB", "-c", "log_min_error_statement=panic", \
    "-c", "log_error_verbosity=terse", "-c", "log_parameter_max_length=0"]
