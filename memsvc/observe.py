"""What operators see: structured logs with a request id, and Prometheus metrics.

Stands at the bottom beside ``settings`` and ``errors``, so that every capability may log and count. Logs go to standard
error, one event a line; neither logs nor metrics hold texts of memories, names of users or secrets.
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
from typing import Any, Protocol, TextIO
from weakref import WeakKeyDictionary

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
from prometheus_client.core import GaugeMetricFamily
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
    """The same value with everything hidden that stands under a secret's name, at any depth."""
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
    """The structlog processor that hides secrets."""
    hidden: EventDict = redacted(event)
    return hidden


def first_line(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """The structlog processor that cuts what libraries say: below the first line asyncio shows tasks with errors."""
    event["event"] = str(event["event"]).partition("\n")[0]
    return event


def said(error: MemsvcError) -> str | None:
    """What a log may quote of an error's message: what is wrong with the service. Others name what callers sent."""
    return error.message if error.status >= SERVICE_ERROR else None


class _ToStandardError:
    """Writes to whatever standard error is now, not to what it was when logging was configured."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


def configure_logging(settings: Settings, stream: TextIO | None = None) -> None:
    """Send all logs, ours and those of libraries, to ``stream`` (standard error) in the form that the settings name."""
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
        else [structlog.dev.ConsoleRenderer(exception_formatter=tracebacks.write)]
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
    """Log what nobody catches, in this process and its threads; Python itself would print the words of errors."""

    def tell(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None and isinstance(error, Exception):
            logger().critical("ended by an unexpected error", exc_info=(kind, error, trace))

    sys.excepthook = tell
    threading.excepthook = lambda args: tell(args.exc_type, args.exc_value, args.exc_traceback)


def logger() -> structlog.typing.FilteringBoundLogger:
    """The logger of this service; what ``structlog.contextvars`` holds (the request id) goes into each event."""
    found: structlog.typing.FilteringBoundLogger = structlog.get_logger("memsvc")
    return found


def request_id() -> str | None:
    """The id of the request that is being answered; None outside of one."""
    found: str | None = structlog.contextvars.get_contextvars().get("request_id")
    return found


# Metrics ------------------------------------------------------------------------------------------------------------

REGISTRY = CollectorRegistry()
SECONDS = (0.001, 0.0025, 0.005, 0.0075, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

REQUESTS = Counter("memsvc_http_requests", "Answered requests.", ["method", "route", "status"], registry=REGISTRY)
REQUEST_SECONDS = Histogram(
    "memsvc_http_request_duration_seconds",
    "Time from a request's arrival to the end of its answer.",
    ["method", "route", "status"],
    buckets=SECONDS,
    registry=REGISTRY,
)
ERRORS = Counter("memsvc_errors", "Refused or failed requests by stable error code.", ["code"], registry=REGISTRY)
MESSAGES = Counter(
    "memsvc_messages",
    "Messages answered for: created, existing (sent before) or erased.",
    ["outcome"],
    registry=REGISTRY,
)
INGEST_SECONDS = Histogram(
    "memsvc_ingest_duration_seconds", "Time to store one request's messages.", buckets=SECONDS, registry=REGISTRY
)
RECALL_SECONDS = Histogram(
    "memsvc_recall_duration_seconds", "Time to recall, database included.", ["door"], buckets=SECONDS, registry=REGISTRY
)
RECALL_STAGE_SECONDS = Histogram(
    "memsvc_recall_stage_duration_seconds",
    "Time of recall's stages: embed (the query's vectors), wait (for its turn), database (the statements), answer "
    "(reranker, diversity).",
    ["stage"],
    buckets=SECONDS,
    registry=REGISTRY,
)
DEGRADED = Counter(
    "memsvc_degraded",
    "What answers had to do without: vector, reranker, llm; for chats and hooks also the code of what failed.",
    ["part"],
    registry=REGISTRY,
)
RECALLS_RECORDED = Counter(
    "memsvc_recalls_recorded", "Answers whose memories were noted: stored or failed.", ["outcome"],
    registry=REGISTRY,
)  # fmt: skip
FEEDBACK = Counter(
    "memsvc_feedback", "Verdicts on recalled memories that were new: used or irrelevant.", ["verdict"],
    registry=REGISTRY,
)  # fmt: skip
EMBED_SECONDS = Histogram(
    "memsvc_embedding_duration_seconds",
    "Time for which the embedding model worked on one batch of passages, or on one query.",
    ["of"],
    buckets=SECONDS,
    registry=REGISTRY,
)
EMBEDDED = Counter("memsvc_embedded_passages", "Vectors of passages that were stored.", registry=REGISTRY)
EXTRACT_SECONDS = Histogram(
    "memsvc_extraction_duration_seconds",
    "Time for which an extractor read one window of turns.",
    buckets=(*SECONDS, 60.0, 120.0),
    registry=REGISTRY,
)
TURNS_READ = Counter(
    "memsvc_turns_read", "Messages, or parts of long ones, that were read for facts.", registry=REGISTRY
)
FACTS_FOUND = Counter(
    "memsvc_facts_found", "Facts that extractors found: written, doubtful or refused.", ["outcome"], registry=REGISTRY
)
LLM_CALLS = Counter(
    "memsvc_llm_calls",
    "Turns with the language model by task and outcome: answered, unusable, refused or failed.",
    ["task", "outcome"],
    registry=REGISTRY,
)
LLM_SECONDS = Histogram(
    "memsvc_llm_duration_seconds",
    "Time of one turn with the language model, tries and pauses included.",
    ["task"],
    buckets=(*SECONDS, 60.0, 120.0),
    registry=REGISTRY,
)
LLM_TOKENS = Counter(
    "memsvc_llm_tokens", "Tokens that the language model took (in) and gave (out).", ["task", "direction"],
    registry=REGISTRY,
)  # fmt: skip
LLM_COST = Counter(
    "memsvc_llm_cost", "What turns cost in the currency of the model's server, where it tells.", ["task"],
    registry=REGISTRY,
)  # fmt: skip
LIVE_CONNECTIONS = Gauge("memsvc_live_connections", "Clients that listen for events now.", registry=REGISTRY)
LIVE_DROPPED = Counter("memsvc_live_dropped", "Clients that were dropped because they were slow.", registry=REGISTRY)
LIVE_MESSAGES = Counter("memsvc_live_messages", "Messages that went out to live clients.", registry=REGISTRY)
LIVE_LAG_SECONDS = Histogram(
    "memsvc_live_lag_seconds",
    "Time from an event's writing until it was read for those who listen; clocks of both machines count.",
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
    """A pool of connections, as far as it is counted."""

    def size(self) -> int:
        """How many it may have."""
        ...

    def checkedout(self) -> int:
        """How many are in use."""
        ...


class _Pools(Collector):
    """Counts the connections of this process's pools when it is asked, so that transactions pay nothing for it."""

    def __init__(self) -> None:
        self._pools: WeakKeyDictionary[Pool, str] = WeakKeyDictionary()

    def watch(self, pool: Pool, login: str) -> None:
        """Count a pool for as long as it lives, by the login that it is for."""
        self._pools[pool] = login

    def collect(self) -> Iterable[Metric]:
        used = GaugeMetricFamily("memsvc_pool_connections_used", "Connections in use, by login.", labels=["login"])
        most = GaugeMetricFamily("memsvc_pool_connections_max", "Connections that fit, by login.", labels=["login"])
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

# What an API process asks from the database when it is asked itself. It stands apart, because a worker's own metrics
# (REGISTRY) must not say that nothing waits.
DATABASE = CollectorRegistry()
JOBS_PENDING = Gauge("memsvc_jobs_pending", "Jobs that are not done, over all users.", registry=DATABASE)
JOBS_RUNNING = Gauge("memsvc_jobs_running", "Those of them that are in a worker's hands.", registry=DATABASE)
JOBS_RETRYING = Gauge("memsvc_jobs_retrying", "Those of them that failed and wait for another try.", registry=DATABASE)
JOBS_FAILED = Gauge("memsvc_jobs_failed", "Jobs that failed for good, over all users.", registry=DATABASE)
JOBS_OLDEST_SECONDS = Gauge(
    "memsvc_jobs_oldest_pending_seconds", "Age of the oldest job that is not done.", registry=DATABASE
)
DEAD_LETTERS = Gauge("memsvc_dead_letters", "Messages that no worker understood.", registry=DATABASE)
WORKERS = Gauge("memsvc_workers", "Worker processes that live.", registry=DATABASE)
EMBEDDING_LAG_SECONDS = Gauge(
    "memsvc_embedding_lag_seconds",
    "The longest that a message with a job has waited for its vector.",
    registry=DATABASE,
)
EXTRACTION_LAG_SECONDS = Gauge(
    "memsvc_extraction_lag_seconds",
    "The longest that a message with a job has waited for being read for facts.",
    registry=DATABASE,
)
UNFOLDED_DELTAS = Gauge("memsvc_term_deltas_unfolded", "Statistics not folded yet.", registry=DATABASE)
DATABASE_UP = Gauge("memsvc_database_up", "1: the last look at the database worked.", registry=DATABASE)
DATABASE_BYTES = Gauge("memsvc_database_bytes", "Size of the database on disk.", registry=DATABASE)
DATABASE_CONNECTIONS = Gauge(
    "memsvc_database_connections", "Sessions of the whole server, of all its databases.", registry=DATABASE
)
DATABASE_CONNECTIONS_MAX = Gauge(
    "memsvc_database_connections_max", "Sessions that the server allows.", registry=DATABASE
)
DATABASE_OLDEST_SECONDS = Gauge(
    "memsvc_database_oldest_transaction_seconds",
    "Age of the oldest transaction whose beginning memsvc_app may see: its own ones.",
    registry=DATABASE,
)
DATABASE_XID_AGE = Gauge(
    "memsvc_database_xid_age",
    "Transactions since the oldest one that a database of the server has not frozen; at 2 billion it stops.",
    registry=DATABASE,
)
TABLE_ROWS = Gauge(
    "memsvc_table_rows",
    "Rows of a table as PostgreSQL estimates them: live, or dead and not yet vacuumed.",
    ["table", "state"],
    registry=DATABASE,
)


def metrics_text() -> bytes:
    """All metrics of this process, and what it asked from the database, in Prometheus's text format."""
    return generate_latest(REGISTRY) + generate_latest(DATABASE)


@contextmanager
def metrics_served(host: str, port: int) -> Iterator[None]:
    """Serve the metrics of this process alone on ``/metrics`` while the block runs: for one that has no API.

    Raises:
        OSError: nobody can listen there.
    """
    server, thread = start_http_server(port, addr=host, registry=REGISTRY)
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
