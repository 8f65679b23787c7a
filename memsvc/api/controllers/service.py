"""The service's own endpoints: health, metrics, and the page that documents the API."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from litestar import Controller, Request, Response, get
from litestar.openapi.datastructures import ResponseSpec
from prometheus_client import CONTENT_TYPE_LATEST

from memsvc import __version__, observe
from memsvc.api.callers import service_of
from memsvc.api.docs import CONTENT_SECURITY_POLICY, PAGE
from memsvc.api.problems import documented
from memsvc.db.engine import Database
from memsvc.errors import DatabaseTooOldError, MemsvcError
from memsvc.queue.backlog import backlog
from memsvc.server.health import database_health
from memsvc.server.state import database_state

NOT_A_NUMBER = float("nan")


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the service works."""

    status: Literal["ok", "unavailable", "stopping"]
    """stopping: it still answers, but send nothing new; it was told to stop."""
    version: str
    database: Literal["ok", "unreachable", "overloaded"]
    schema: Literal["current", "outdated", "unknown"]
    """outdated: run 'memsvc db upgrade', or restart this process if it started before the upgrade."""
    revision: str | None
    extensions: dict[str, str]
    """The database's extensions with their versions."""


async def _health(db: Database) -> Health:
    database: Literal["ok", "unreachable", "overloaded"] = "ok"
    schema: Literal["current", "outdated", "unknown"] = "unknown"
    revision, extensions = None, dict[str, str]()
    try:
        found = await database_health(db)
        revision, extensions = found.revision, found.extensions
        schema = "current" if found.current else "outdated"
    except DatabaseTooOldError:
        schema = "outdated"
    except MemsvcError as error:
        database = "overloaded" if error.code == "overloaded" else "unreachable"
    return Health(
        status="ok" if schema == "current" else "unavailable",
        version=__version__,
        database=database,
        schema=schema,
        revision=revision,
        extensions=extensions,
    )


GAUGES = {
    "pending": observe.JOBS_PENDING,
    "running": observe.JOBS_RUNNING,
    "retrying": observe.JOBS_RETRYING,
    "failed": observe.JOBS_FAILED,
    "dead_letters": observe.DEAD_LETTERS,
    "workers": observe.WORKERS,
    "oldest_pending_seconds": observe.JOBS_OLDEST_SECONDS,
    "embedding_lag_seconds": observe.EMBEDDING_LAG_SECONDS,
    "extraction_lag_seconds": observe.EXTRACTION_LAG_SECONDS,
    "unfolded_deltas": observe.UNFOLDED_DELTAS,
}
"""The gauge for each figure of the backlog."""
STATE_GAUGES = {
    "bytes": observe.DATABASE_BYTES,
    "connections": observe.DATABASE_CONNECTIONS,
    "connections_max": observe.DATABASE_CONNECTIONS_MAX,
    "oldest_transaction_seconds": observe.DATABASE_OLDEST_SECONDS,
    "xid_age": observe.DATABASE_XID_AGE,
}
"""The gauge for each figure of the database itself."""


async def _measure(db: Database) -> None:
    """Set the gauges from the database. If it does not answer, they become NaN."""
    try:
        work, state = await backlog(db), await database_state(db)
    except MemsvcError:
        observe.DATABASE_UP.set(0)
        observe.TABLE_ROWS.clear()
        for gauge in (*GAUGES.values(), *STATE_GAUGES.values()):
            gauge.set(NOT_A_NUMBER)
        return
    observe.DATABASE_UP.set(1)
    for name, gauge in GAUGES.items():
        gauge.set(getattr(work, name))
    for name, gauge in STATE_GAUGES.items():
        gauge.set(getattr(state, name))
    observe.TABLE_ROWS.clear()
    for table in state.tables:
        observe.TABLE_ROWS.labels(table.name, "live").set(table.live)
        observe.TABLE_ROWS.labels(table.name, "dead").set(table.dead)


class ServiceController(Controller):
    """The service's own endpoints. They need no key and reveal nothing about users."""

    tags = ("service",)
    security = ({},)

    @get(
        "/health",
        operation_id="getHealth",
        summary="Health",
        description="Answers 200 if the database is reachable and has the schema of this version, and the process was "
        "not told to stop; else 503.",
        response_description="The service works.",
        responses={
            503: ResponseSpec(
                Health, generate_examples=False, description="The service does not work; the fields show why."
            )
        },
    )
    async def health(self, request: Request[Any, Any, Any]) -> Response[Health]:
        """Check the database."""
        found = await _health(service_of(request).db)
        if request.app.state["draining"].is_set():
            found = msgspec.structs.replace(found, status="stopping")
        return Response(found, status_code=200 if found.status == "ok" else 503, headers={"Cache-Control": "no-store"})

    @get(
        "/metrics",
        operation_id="getMetrics",
        summary="Metrics",
        description="Returns the metrics of this process in Prometheus's text format: counts and times only.",
        response_description="Prometheus's text format.",
        responses=documented(500),
        media_type="text/plain",
    )
    async def metrics(self, request: Request[Any, Any, Any]) -> Response[bytes]:
        """Update the gauges that are measured on demand, and return all metrics."""
        await _measure(service_of(request).db)
        return Response(observe.metrics_text(), media_type=CONTENT_TYPE_LATEST)

    @get("/docs", include_in_schema=False, media_type="text/html", sync_to_thread=False)
    def docs(self) -> Response[str]:
        """The page. It loads /schema/openapi.json and nothing from outside."""
        return Response(PAGE, media_type="text/html", headers={"Content-Security-Policy": CONTENT_SECURITY_POLICY})
