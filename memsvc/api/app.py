"""The one place where the API is assembled.

``create_app`` combines controllers, guards, errors and documentation into a Litestar application. ``application`` is
the factory for a server: ``granian --interface asgi --factory memsvc.api.app:application``.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import structlog
from litestar import Litestar, Router
from litestar.datastructures import State
from litestar.enums import ScopeType
from litestar.types import (
    HTTPResponseStartEvent,
    LifeSpanReceive,
    LifeSpanScope,
    LifeSpanSend,
    Message,
    Receive,
    Scope,
    Send,
)

from memsvc import observe, traces
from memsvc.access.audit import KeyUse
from memsvc.api.bodies import JsonRequest, Room
from memsvc.api.callers import Service, authenticate
from memsvc.api.controllers.accounts import AccountController, KeysController, PauseController, UsersController
from memsvc.api.controllers.agenda import AgendaController
from memsvc.api.controllers.analysis import AnalysisController
from memsvc.api.controllers.anonymising import AnonymisingController, FiguresController
from memsvc.api.controllers.answer import AnswerController
from memsvc.api.controllers.anthropic import AnthropicController
from memsvc.api.controllers.archive import ArchiveController
from memsvc.api.controllers.audit import AuditController, KeyUseController
from memsvc.api.controllers.budgets import BudgetsController
from memsvc.api.controllers.changes import ChangesController, DiffController
from memsvc.api.controllers.chat import ChatController
from memsvc.api.controllers.contexts import ContextController, MemoriesController
from memsvc.api.controllers.conversations import ConversationsController, SourcesController
from memsvc.api.controllers.cypher import CypherController
from memsvc.api.controllers.documents import PATH as DOCUMENTS
from memsvc.api.controllers.documents import DocumentsController
from memsvc.api.controllers.duplicates import DuplicatesController
from memsvc.api.controllers.erasures import ErasuresController, ForgetController, ForgetUserController
from memsvc.api.controllers.events import EventsController, LiveController
from memsvc.api.controllers.export import ExportController
from memsvc.api.controllers.extraction import ExtractController, ExtractionsController
from memsvc.api.controllers.facts import FactsController
from memsvc.api.controllers.feeds import FeedsController
from memsvc.api.controllers.hooks import HooksController
from memsvc.api.controllers.ingests import IngestsController
from memsvc.api.controllers.jobs import JobsController
from memsvc.api.controllers.lessons import CritiquesController, LessonsController
from memsvc.api.controllers.messages import MessagesController
from memsvc.api.controllers.nodes import AliasesController, NodesController
from memsvc.api.controllers.notes import LinksController, NotesController
from memsvc.api.controllers.ontology import OntologyController
from memsvc.api.controllers.operations import OperationsController
from memsvc.api.controllers.page import PageController
from memsvc.api.controllers.places import LocationController, NearbyController
from memsvc.api.controllers.plans import PlansController
from memsvc.api.controllers.policies import AppPolicyController, OwnPolicyController
from memsvc.api.controllers.profile import ProfileController
from memsvc.api.controllers.proposals import ProposalsController, WaitingController
from memsvc.api.controllers.recall import RecallController
from memsvc.api.controllers.recalls import RecallsController, TopOfMindController, UsefulnessController
from memsvc.api.controllers.reflections import ReflectionsController
from memsvc.api.controllers.rereadings import RereadingsController
from memsvc.api.controllers.reviews import ReviewsController
from memsvc.api.controllers.schedules import SchedulesController
from memsvc.api.controllers.service import ServiceController
from memsvc.api.controllers.shortcuts import ShortcutsController
from memsvc.api.controllers.sleep import SleepController
from memsvc.api.controllers.summaries import SummariesController
from memsvc.api.controllers.timeline import TimelineController
from memsvc.api.controllers.turns import TurnsController
from memsvc.api.controllers.verify import VerifyController
from memsvc.api.controllers.walks import WalksController
from memsvc.api.examples import add_answers
from memsvc.api.forms import make_exact
from memsvc.api.live import Hubs
from memsvc.api.mcp.door import HANDLERS as MCP_HANDLERS
from memsvc.api.mcp.door import mcp_served
from memsvc.api.openapi import CONFIG, add_words
from memsvc.api.parameters import known_parameters
from memsvc.api.positions import known_position, position_asked, position_header
from memsvc.api.problems import EXCEPTION_HANDLERS
from memsvc.api.sockets import live_socket
from memsvc.api.uploads import add_form, largest_body
from memsvc.cells.directory import Cells
from memsvc.db.engine import Database, role_url
from memsvc.errors import ConfigurationError
from memsvc.extract.run import Extractors
from memsvc.graph.cypher import cypher_database
from memsvc.llm.embedders.residents import residents
from memsvc.llm.upstream import Upstream, anthropic_server
from memsvc.recall.rerank import reranker_of
from memsvc.recall.search import QueryEmbedder
from memsvc.settings import Settings, settings

V1 = (
    MessagesController,
    IngestsController,
    FeedsController,
    RecallController,
    ContextController,
    AgendaController,
    ChatController,
    HooksController,
    AnswerController,
    TurnsController,
    VerifyController,
    MemoriesController,
    RecallsController,
    TopOfMindController,
    UsefulnessController,
    ConversationsController,
    SourcesController,
    NotesController,
    LinksController,
    ProfileController,
    OntologyController,
    WalksController,
    CypherController,
    ForgetController,
    ErasuresController,
    NodesController,
    AliasesController,
    LocationController,
    NearbyController,
    FactsController,
    ChangesController,
    DiffController,
    DuplicatesController,
    ProposalsController,
    WaitingController,
    ExtractController,
    ExtractionsController,
    RereadingsController,
    ReviewsController,
    JobsController,
    SchedulesController,
    SleepController,
    SummariesController,
    TimelineController,
    ReflectionsController,
    CritiquesController,
    LessonsController,
    PlansController,
    ArchiveController,
    AnalysisController,
    EventsController,
    LiveController,
    AccountController,
    PauseController,
    OwnPolicyController,
    AppPolicyController,
    AnonymisingController,
    FiguresController,
    ExportController,
    UsersController,
    ForgetUserController,
    KeysController,
    KeyUseController,
    BudgetsController,
    AuditController,
    OperationsController,
)
GUARDS = (authenticate, known_parameters, known_position)
GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
METHODS = frozenset({"GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"})
UNMATCHED = "unmatched"
LARGEST_BODIES = 8
"""How many bodies of the largest size fit into memory at the same time; of smaller ones, more fit."""
LARGEST_UPLOADS = 4
"""The same of files to be stored. One key has room for one of the largest size."""
FAILED = 500
CLOSE = (b"connection", b"close")
QUIET_ROUTES = frozenset({"/health", "/metrics"})


class ObservedLitestar(Litestar):
    """Litestar with an id, a log line and metrics for each request.

    This wraps the application, because middleware does not see requests that match no route.
    """

    async def __call__(
        self, scope: Scope | LifeSpanScope, receive: Receive | LifeSpanReceive, send: Send | LifeSpanSend
    ) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan" or scope["type"] == ScopeType.WEBSOCKET:
            await super().__call__(scope, receive, send)
            return
        request_id = _request_id(scope)
        started = time.perf_counter()
        status = 500

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                more = [(b"x-request-id", request_id.encode())]
                if self.state["draining"].is_set():
                    more.append(CLOSE)
                if asked is not None:
                    more.append(await position_header(asked, scope["state"].get("db") or self.state["service"].db))
                message["headers"] = [*message.get("headers", ()), *more]
                if scope["method"] == "OPTIONS":
                    self._name_all_methods(scope, message)
            await send(message)  # type: ignore[arg-type]

        with (
            _traced(scope) as span,
            structlog.contextvars.bound_contextvars(**_names_of(request_id, span)),
            position_asked(scope) as asked,
        ):
            room: Room = self.state["uploads" if scope["path"] == DOCUMENTS else "room"]
            try:
                with room.receiving(scope, cast("Receive", receive)) as counted:
                    await super().__call__(scope, counted, send_with_id)
            finally:
                _record(scope, status, time.perf_counter() - started, span)

    def _name_all_methods(self, scope: Scope, answer: HTTPResponseStartEvent) -> None:
        """List the methods of all handlers of an address. Litestar's own answer lists those of only one."""
        path = scope.get("path_template")
        methods = {method for route in self.routes if route.path_format == path for method in route.methods}
        if methods:
            rest = [(name, value) for name, value in answer["headers"] if name.lower() != b"allow"]
            answer["headers"] = [*rest, (b"allow", ", ".join(sorted(methods)).encode())]


def _header(scope: Scope, wanted: bytes) -> str:
    return next((value for name, value in scope["headers"] if name.lower() == wanted), b"").decode("latin-1")


def _traced(scope: Scope) -> traces.Span:
    """Start the request's span. Health checks and metrics get none."""
    if not traces.is_on() or scope["path"] in QUIET_ROUTES:
        return traces.NOTHING
    return traces.span("request", "server", parent=_header(scope, b"traceparent"))


def _names_of(request_id: str, span: traces.Span) -> dict[str, str]:
    """The ids by which the log lines of a request are found."""
    return {"request_id": request_id} | ({"trace_id": span.trace_id} if span.trace_id else {})


def _request_id(scope: Scope) -> str:
    given = _header(scope, b"x-request-id")
    return given if GIVEN_ID.fullmatch(given) else secrets.token_hex(8)


def _record(scope: Scope, status: int, seconds: float, span: traces.Span) -> None:
    """Count, log and trace a request by its route's template. Clients' paths and methods must not become labels."""
    route = str(scope.get("path_template") or UNMATCHED)
    method = str(scope.get("method"))
    labels = {"method": method if method in METHODS else "OTHER", "route": route, "status": str(status)}
    observe.REQUESTS.labels(**labels).inc()
    observe.REQUEST_SECONDS.labels(**labels).observe(seconds)
    span.rename(f"{labels['method']} {route}")
    span.note("http.request.method", labels["method"])
    span.note("http.route", route)
    span.note("http.response.status_code", status)
    if status >= FAILED:
        span.fail(str(status))
    log = observe.logger()
    say = log.debug if route in QUIET_ROUTES else log.info
    say("request", **labels, milliseconds=round(seconds * 1000, 2))


def create_app(
    settings: Settings,
    db: Database | None = None,
    embedder: QueryEmbedder | None = None,
    extractors: Extractors | None = None,
) -> Litestar:
    """Build the API.

    Args:
        settings: limits, secrets, and the database's URL if ``db`` is not given.
        db: a database that the caller opens and closes. Default: the app opens one and closes it.
        embedder: embeds queries; None: recall goes by words only.
        extractors: extract facts from text; None: those of the settings, loaded on first use.

    Raises:
        ConfigurationError: neither ``db`` nor a database's URL is given, or the reranker's URL is missing.
    """
    if db is None and settings.database_url is None:
        raise ConfigurationError("MEMSVC_DATABASE_URL is empty.", hint="Set it, or run 'memsvc api', which needs none.")

    reranker = reranker_of(settings)

    @asynccontextmanager
    async def database(app: Litestar) -> AsyncIterator[None]:
        opened = db or _open(settings)
        use = KeyUse(opened)
        service = Service(
            opened,
            settings,
            embedder,
            Cells(opened, settings),
            reranker,
            extractors or Extractors(settings),
            Upstream(settings),
            Upstream(settings, anthropic_server(settings)),
            cypher_database(opened.engine.url, settings) if settings.has_secret("cypher_password") else None,
            use=use,
        )
        counting = asyncio.create_task(use.keep())
        app.state["service"] = service
        hubs = Hubs(opened, most=settings.live_connections, most_of_user=settings.live_per_user)
        app.state["live"] = hubs
        try:
            yield
        finally:
            await hubs.close()
            counting.cancel()
            await service.close()
            if reranker is not None:
                reranker.close()
            if opened is not db:
                await opened.close()

    app = ObservedLitestar(
        route_handlers=[
            Router("/v1", route_handlers=V1, guards=GUARDS),
            Router(
                "/v1", route_handlers=[DocumentsController], guards=GUARDS, request_max_body_size=largest_body(settings)
            ),
            Router("/anthropic/v1", route_handlers=[AnthropicController], guards=GUARDS),
            Router("/", route_handlers=[ShortcutsController], guards=GUARDS),
            *MCP_HANDLERS,
            ServiceController,
            PageController,
            live_socket,
        ],
        lifespan=[database, mcp_served],
        request_class=JsonRequest,
        request_max_body_size=settings.max_body_bytes,
        exception_handlers=EXCEPTION_HANDLERS,
        openapi_config=CONFIG,
        logging_config=None,
        state=State(
            {
                "draining": asyncio.Event(),
                "room": Room(LARGEST_BODIES * settings.max_body_bytes),
                "uploads": Room(LARGEST_UPLOADS * largest_body(settings)),
            }
        ),
    )
    add_form(app.openapi_schema)
    add_words(app.openapi_schema)
    make_exact(app.openapi_schema)
    add_answers(app.openapi_schema)
    return app


async def drain(app: Litestar, seconds: float) -> None:
    """Say that the service will stop, and go on serving for so many seconds, so that proxies send no new requests.

    /health answers 503 from now on, and each answer closes its connection: a kept one would break later, perhaps just
    when a client sends a request on it. Live clients are told to connect again, which they do elsewhere.
    """
    app.state["draining"].set()
    if seconds:
        await asyncio.sleep(seconds)


async def hang_up(app: Litestar) -> None:
    """Disconnect live clients, for which a stopping server would wait for ever."""
    hubs: Hubs | None = app.state.get("live")
    if hubs is not None:
        await hubs.close()


def _open(settings: Settings) -> Database:
    base = settings.database_url.get_secret_value() if settings.database_url else ""
    return Database(role_url(base, "memsvc_app", settings.secret("app_password")), settings)


def application() -> Litestar:
    """Build the application of this process, configured by the environment, for a server."""
    configured = settings()
    observe.configure_logging(configured)
    traces.start(configured)
    return create_app(configured, embedder=residents(configured))
