"""Structured logs with a request id, and Prometheus metrics, for operators.

Like ``settings`` and ``errors``, this module belongs to the lowest layer, so that every capability can log and count.
Logs go to standard error, one event a line. Neither logs nor metrics contain texts of memories, names of users or
secrets.
"""

from __future__ import annotations

import logging
import platform
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, NamedTuple, Protocol, TextIO
from weakref import WeakKeyDictionary, WeakSet

import structlog
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    ProcessCollector,
    generate_latest,
    start_http_server,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from structlog.typing import EventDict, Processor, WrappedLogger

from memsvc import __version__, tracebacks
from memsvc.errors import MemsvcError
from memsvc.settings import Settings

# Logs ---------------------------------------------------------------------------------------------------------------

REDACTED = "[redacted]"
SERVICE_ERROR = 500
SECRET_KEY = re.compile(
    r"""
    ^ (?: .* [_-])?                                  # x-api-key, app_password, identity_secret
    (?: authorization | token | secret | password | key | credential | cookie | jwt )
    $""",
    re.VERBOSE | re.IGNORECASE,
)


def redacted(value: Any) -> Any:
    """Return the value with everything hidden whose key is the name of a secret, at any depth."""
    match value:
        case Mapping():
            return {
                name: REDACTED if isinstance(name, str) and SECRET_KEY.match(name) else redacted(inner)
                for name, inner in value.items()
            }
        case str() | bytes():
            return value
        case Sequence():
            return [redacted(inner) for inner in value]
        case _:
            return value


def redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Hide secrets; a structlog processor."""
    hidden: EventDict = redacted(event)
    return hidden


def first_line(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Keep only the first line of a message: asyncio shows tasks with errors below it; a structlog processor."""
    event["event"] = str(event["event"]).partition("\n")[0]
    return event


def said(error: MemsvcError) -> str | None:
    """Return an error's message if a log may quote it: errors of the service; others may contain what a caller sent."""
    return error.message if error.status >= SERVICE_ERROR else None


class _ToStandardError:
    """Writes to the current standard error, which may have changed since logging was configured."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


def configure_logging(settings: Settings, stream: TextIO | None = None) -> None:
    """Send all logs, also those of libraries, to ``stream`` (default: standard error) in the configured format."""
    as_json = settings.log_format == "json" or (settings.log_format == "auto" and not sys.stderr.isatty())
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        redact,
    ]
    rendering: list[Processor] = (
        [structlog.processors.ExceptionRenderer(tracebacks.dictionaries), structlog.processors.JSONRenderer()]
        if as_json
        else [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=tracebacks.write)]
    )
    out: Any = stream or _ToStandardError()
    structlog.configure(
        processors=[*shared, *rendering],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=out),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, first_line],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering],
        )
    )
    logging.basicConfig(handlers=[handler], level=max(level, logging.WARNING), force=True)


def log_uncaught() -> None:
    """Log uncaught exceptions of this process and its threads; Python's own output would include error messages."""

    def log_error(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None and isinstance(error, Exception):
            logger().critical("ended by an unexpected error", exc_info=(kind, error, trace))

    sys.excepthook = log_error
    threading.excepthook = lambda args: log_error(args.exc_type, args.exc_value, args.exc_traceback)


def logger() -> structlog.typing.FilteringBoundLogger:
    """Return the service's logger; each event includes what ``structlog.contextvars`` holds (the request id)."""
    found: structlog.typing.FilteringBoundLogger = structlog.get_logger("memsvc")
    return found


def request_id() -> str | None:
    """Return the id of the current request; None outside a request."""
    found: str | None = structlog.contextvars.get_contextvars().get("request_id")
    return found


# Metrics ------------------------------------------------------------------------------------------------------------

REGISTRY = CollectorRegistry()
SECONDS = (0.001, 0.0025, 0.005, 0.0075, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

REQUESTS = Counter("memsvc_http_requests", "Answered requests.", ["method", "route", "status"], registry=REGISTRY)
REQUEST_SECONDS = Histogram(
    "memsvc_http_request_duration_seconds",
    "Time from a request's arrival to the end of the answer.",
    ["method", "route", "status"],
    buckets=SECONDS,
    registry=REGISTRY,
)
ERRORS = Counter("memsvc_errors", "Refused or failed requests by stable error code.", ["code"], registry=REGISTRY)
SHED = Counter(
    "memsvc_shed", "Requests refused because they would wait too long, by work: ask, look or store.", ["work"],
    registry=REGISTRY,
)  # fmt: skip
MESSAGES = Counter(
    "memsvc_messages",
    "Messages received, by outcome: created, existing (sent before) or erased.",
    ["outcome"],
    registry=REGISTRY,
)
SECRETS = Counter(
    "memsvc_secrets",
    "Secrets found in text that was to be stored under a policy, by kind and treatment: mask or refuse.",
    ["kind", "treatment"],
    registry=REGISTRY,
)
INGEST_SECONDS = Histogram(
    "memsvc_ingest_duration_seconds", "Time to store one request's messages.", buckets=SECONDS, registry=REGISTRY
)
RECALL_SECONDS = Histogram(
    "memsvc_recall_duration_seconds",
    "Time of a recall, including the database.",
    ["door"],
    buckets=SECONDS,
    registry=REGISTRY,
)
RECALL_STAGE_SECONDS = Histogram(
    "memsvc_recall_stage_duration_seconds",
    "Time of recall's stages: embed (the query's vectors), wait (for a turn), database (the statements), answer "
    "(reranker, diversity).",
    ["stage"],
    buckets=SECONDS,
    registry=REGISTRY,
)
DEGRADED = Counter(
    "memsvc_degraded",
    "Answers that lacked something: vector, order, reranker, words, llm; for chats and hooks also the error's code.",
    ["part"],
    registry=REGISTRY,
)
RECALLS_RECORDED = Counter(
    "memsvc_recalls_recorded", "Answers whose memories were to be recorded: stored or failed.", ["outcome"],
    registry=REGISTRY,
)  # fmt: skip
FEEDBACK = Counter(
    "memsvc_feedback", "New verdicts on recalled memories: used or irrelevant.", ["verdict"],
    registry=REGISTRY,
)  # fmt: skip
EMBED_SECONDS = Histogram(
    "memsvc_embedding_duration_seconds",
    "Time that the embedding model took for one batch of passages or one query.",
    ["of"],
    buckets=SECONDS,
    registry=REGISTRY,
)
EMBEDDED = Counter("memsvc_embedded_passages", "Stored vectors of passages.", registry=REGISTRY)
EXTRACT_SECONDS = Histogram(
    "memsvc_extraction_duration_seconds",
    "Time that an extractor took to read one window of turns.",
    buckets=(*SECONDS, 60.0, 120.0),
    registry=REGISTRY,
)
TURNS_READ = Counter(
    "memsvc_turns_read", "Messages, or parts of long ones, that extractors have read.", registry=REGISTRY
)
FACTS_FOUND = Counter(
    "memsvc_facts_found", "Facts that extractors found: written, doubtful or refused.", ["outcome"], registry=REGISTRY
)
LLM_CALLS = Counter(
    "memsvc_llm_calls",
    "Requests to the language model by task and outcome: answered, unusable, refused or failed.",
    ["task", "outcome"],
    registry=REGISTRY,
)
LLM_SECONDS = Histogram(
    "memsvc_llm_duration_seconds",
    "Time of one request to the language model, including retries and pauses.",
    ["task"],
    buckets=(*SECONDS, 60.0, 120.0),
    registry=REGISTRY,
)
LLM_TOKENS = Counter(
    "memsvc_llm_tokens", "Tokens that the language model received (in) and returned (out).", ["task", "direction"],
    registry=REGISTRY,
)  # fmt: skip
LLM_COST = Counter(
    "memsvc_llm_cost", "Cost of requests in the currency of the model's server, if it reports it.", ["task"],
    registry=REGISTRY,
)  # fmt: skip
LIVE_CONNECTIONS = Gauge("memsvc_live_connections", "Clients that are listening for events.", registry=REGISTRY)
LIVE_DROPPED = Counter(
    "memsvc_live_dropped", "Clients that were disconnected because they were slow.", registry=REGISTRY
)
LIVE_MESSAGES = Counter("memsvc_live_messages", "Messages sent to live clients.", registry=REGISTRY)
LIVE_LAG_SECONDS = Histogram(
    "memsvc_live_lag_seconds",
    "Time from writing an event to reading it for listeners; the clocks of both machines count.",
    buckets=SECONDS,
    registry=REGISTRY,
)
JOBS_RUN = Counter(
    "memsvc_jobs_run", "Runs of jobs: done, again, failed, gone or busy.", ["kind", "outcome"], registry=REGISTRY
)
JOB_SECONDS = Histogram(
    "memsvc_job_duration_seconds", "Time of one run of a job.", ["kind"], buckets=SECONDS, registry=REGISTRY
)
BUILD = Info("memsvc_build", "Version of memsvc and of Python.", registry=REGISTRY)
BUILD.info({"version": __version__, "python": platform.python_version()})
ProcessCollector(registry=REGISTRY)


class Pool(Protocol):
    """The part of a connection pool that is counted."""

    def size(self) -> int:
        """Return the most connections that it may have."""
        ...

    def checkedout(self) -> int:
        """Return the connections in use."""
        ...


class _Pools(Collector):
    """Counts the connections of this process's pools when metrics are collected, at no cost for transactions."""

    def __init__(self) -> None:
        self._pools: WeakKeyDictionary[Pool, str] = WeakKeyDictionary()

    def watch(self, pool: Pool, login: str) -> None:
        """Count a pool, under its login, for as long as it exists."""
        self._pools[pool] = login

    def collect(self) -> Iterable[Metric]:
        used = GaugeMetricFamily("memsvc_pool_connections_used", "Connections in use, by login.", labels=["login"])
        most = GaugeMetricFamily("memsvc_pool_connections_max", "Most connections, by login.", labels=["login"])
        sums: dict[str, tuple[int, int]] = {}
        for pool, login in list(self._pools.items()):
            before = sums.get(login, (0, 0))
            sums[login] = before[0] + pool.checkedout(), before[1] + pool.size()
        for login, (out, size) in sums.items():
            used.add_metric([login], out)
            most.add_metric([login], size)
        return used, most


POOLS = _Pools()
REGISTRY.register(POOLS)


class ReplicaState(NamedTuple):
    """What is known of a replica."""

    name: str
    """Its host and port."""
    reachable: bool
    """Whether it answered the last look, as a replica."""
    lag_s: float | None
    """How much older what it shows may be than the newest known state of the primary, in seconds; None: unknown."""
    served: int
    """The reads that it has served."""


class HasReplicas(Protocol):
    """What knows about replicas."""

    def states(self) -> list[ReplicaState]:
        """Return what is known of each."""
        ...


class _Replicas(Collector):
    """Tells about the replicas that this process reads from, when metrics are collected."""

    def __init__(self) -> None:
        self._known: WeakSet[HasReplicas] = WeakSet()

    def watch(self, known: HasReplicas) -> None:
        """Tell about these for as long as they exist."""
        self._known.add(known)

    def collect(self) -> Iterable[Metric]:
        lag = GaugeMetricFamily("memsvc_replica_lag_seconds", "How far a replica may be behind.", labels=["replica"])
        here = GaugeMetricFamily("memsvc_replica_reachable", "Whether a replica answers: 1 or 0.", labels=["replica"])
        reads = CounterMetricFamily("memsvc_replica_reads", "Reads that a replica has served.", labels=["replica"])
        for state in (one for known in list(self._known) for one in known.states()):
            here.add_metric([state.name], state.reachable)
            reads.add_metric([state.name], state.served)
            if state.lag_s is not None:
                lag.add_metric([state.name], state.lag_s)
        return lag, here, reads


REPLICAS = _Replicas()
REGISTRY.register(REPLICAS)

# An API process reads these from the database when /metrics is called. They have a registry of their own, because a
# worker's metrics (REGISTRY) must not report an empty queue.
DATABASE = CollectorRegistry()
JOBS_PENDING = Gauge("memsvc_jobs_pending", "Pending jobs of all users.", registry=DATABASE)
JOBS_RUNNING = Gauge("memsvc_jobs_running", "Pending jobs that a worker is running.", registry=DATABASE)
JOBS_RETRYING = Gauge("memsvc_jobs_retrying", "Pending jobs that failed and wait for a retry.", registry=DATABASE)
JOBS_FAILED = Gauge("memsvc_jobs_failed", "Permanently failed jobs of all users.", registry=DATABASE)
JOBS_OLDEST_SECONDS = Gauge("memsvc_jobs_oldest_pending_seconds", "Age of the oldest pending job.", registry=DATABASE)
DEAD_LETTERS = Gauge("memsvc_dead_letters", "Queue messages that no worker could handle.", registry=DATABASE)
WORKERS = Gauge("memsvc_workers", "Live worker processes.", registry=DATABASE)
EMBEDDING_LAG_SECONDS = Gauge(
    "memsvc_embedding_lag_seconds",
    "Longest time that a message with a job has waited for its vector.",
    registry=DATABASE,
)
EXTRACTION_LAG_SECONDS = Gauge(
    "memsvc_extraction_lag_seconds",
    "Longest time that a message with a job has waited for extraction.",
    registry=DATABASE,
)
UNFOLDED_DELTAS = Gauge("memsvc_term_deltas_unfolded", "Term deltas that are not folded yet.", registry=DATABASE)
DATABASE_UP = Gauge("memsvc_database_up", "1: the last reading from the database succeeded.", registry=DATABASE)
DATABASE_BYTES = Gauge("memsvc_database_bytes", "Size of the database on disk.", registry=DATABASE)
DATABASE_CONNECTIONS = Gauge(
    "memsvc_database_connections", "Sessions of the whole server, over all its databases.", registry=DATABASE
)
DATABASE_CONNECTIONS_MAX = Gauge(
    "memsvc_database_connections_max", "Sessions that the server allows.", registry=DATABASE
)
DATABASE_OLDEST_SECONDS = Gauge(
    "memsvc_database_oldest_transaction_seconds",
    "Age of the oldest transaction whose start memsvc_app may see: its own ones.",
    registry=DATABASE,
)
DATABASE_XID_AGE = Gauge(
    "memsvc_database_xid_age",
    "Transactions since the oldest unfrozen one of any database; the server stops at 2 billion.",
    registry=DATABASE,
)
TABLE_ROWS = Gauge(
    "memsvc_table_rows",
    "Rows of a table as PostgreSQL estimates them: live, or dead and not yet vacuumed.",
    ["table", "state"],
    registry=DATABASE,
)


def metrics_text() -> bytes:
    """Return the metrics of this process and those read from the database, in Prometheus's text format."""
    return generate_latest(REGISTRY) + generate_latest(DATABASE)


@contextmanager
def metrics_served(host: str, port: int) -> Iterator[None]:
    """Serve only this process's metrics on ``/metrics`` while the block runs, for processes without an API.

    Raises:
        OSError: the address or port cannot be used.
    """
    server, thread = start_http_server(port, addr=host, registry=REGISTRY)
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
