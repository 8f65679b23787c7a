"""Callers: the guard that checks the key, and the dependencies with which a handler declares the scope it needs.

The guard applies to all of ``/v1`` and runs before a body is read. A handler then asks for a ``reader``, ``writer``,
``talker``, ``forgetter``, ``administrator`` or ``keyholder``. It gets the user for whom it acts and cannot act for
another one.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from litestar import Request
from litestar.connection import ASGIConnection
from litestar.di import Provide
from litestar.handlers import BaseRouteHandler
from litestar.params import HeaderParameter

from memsvc.access import keys
from memsvc.access.audit import KeyUse
from memsvc.access.keys import Principal
from memsvc.access.users import HOME, Owner
from memsvc.api.sessions import HEADER as PAGE_HEADER
from memsvc.api.sessions import credential_of
from memsvc.cells.directory import Cells
from memsvc.cells.people import add_user_somewhere
from memsvc.chat.admitting import NO_ANSWER, Admitting, Doubt
from memsvc.chat.afterwards import Afterwards
from memsvc.db.acting import act_as
from memsvc.db.admission import Admission, Work, work_is
from memsvc.db.engine import Database
from memsvc.errors import (
    ConfigurationError,
    ExtractorMissingError,
    ForbiddenError,
    InvalidRequestError,
    MemsvcError,
    UnauthenticatedError,
)
from memsvc.extract.extraction import Extractor
from memsvc.extract.run import Extractors
from memsvc.graph.cypher import cypher_database
from memsvc.llm.upstream import Upstream
from memsvc.recall.rerank import ResidentReranker
from memsvc.recall.search import QueryEmbedder
from memsvc.settings import Settings

USER_HEADER = "X-Memsvc-User"
UserHeader = Annotated[
    str | None,
    HeaderParameter(
        name=USER_HEADER,
        description="Id or external id of the user to act for. Needed if the key may act for several users.",
    ),
]
CHECKED_AT_ONCE = 4
"""How many requests are checked at the same time; one key has at most three of them while others come."""
CHATS_ON = {"chats_on": True}
"""The ``opt`` of handlers that can answer without the database, and then give unchecked callers no memory."""

SIGNED = {"signed": True}
"""The ``opt`` of handlers that ask for no key, because they check a signature of the body themselves."""
WORK = "work"
"""The key of the ``opt`` that says what kind of work a handler does (``memsvc.db.admission``); without it, LOOK."""
ASKS: dict[str, Work | None] = {WORK: Work.ASK}
"""The ``opt`` of handlers that recall, which takes its turn itself."""
ALONE: dict[str, Work | None] = {WORK: None}
"""The ``opt`` of handlers that limit themselves."""
STORES: dict[str, Work | None] = {WORK: Work.STORE}
"""The ``opt`` of handlers that take in messages and documents."""
KEY_HEADER = {"key_header": True}
"""The ``opt`` of handlers that also accept a key in the header X-Api-Key."""


@dataclass(frozen=True, slots=True)
class Service:
    """What all requests of a process share."""

    db: Database
    """The home: keys, and the directory of users."""
    settings: Settings
    embedder: QueryEmbedder | None
    """Embeds queries; None: recall goes by words only."""
    cells: Cells
    """The databases with users' memories."""
    reranker: ResidentReranker | None = None
    """Sorts the best memories if a recall asks for it; None: not configured."""
    extractors: Extractors | None = None
    """Extract facts from text. Each is loaded on first use."""
    upstream: Upstream | None = None
    """The chat server to which chat completions are passed on."""
    anthropic: Upstream | None = None
    """The chat server with Anthropic's API."""
    cypher: Database | None = None
    """The pool of the login for Cypher."""
    afterwards: Afterwards = field(default_factory=Afterwards)
    """Work that continues after answers are sent."""
    admitting: Admitting = field(default_factory=Admitting)
    """Decides who may chat while the database does not answer."""
    use: KeyUse | None = None
    """Counts the requests of keys; None: nobody counts."""
    cyphers: dict[Database, Database] = field(default_factory=dict)
    """The pools of the login for Cypher of other cells, by the cells' databases."""
    door: Admission = field(default_factory=lambda: Admission(CHECKED_AT_ONCE))
    """Lets keys take turns to be checked, so that many cheap requests with one key do not keep others waiting."""

    def cypher_of(self, db: Database) -> Database | None:
        """The pool of the login for Cypher of a cell's database, with which it is closed.

        None: the login has no password.

        Raises:
            UserMovingError: the database is closed.
        """
        if db is self.db or self.cypher is None:
            return self.cypher
        if db not in self.cyphers:
            db.closes_first(partial(self._close_cypher_of, db))
            self.cyphers[db] = cypher_database(db.engine.url, self.settings)
        return self.cyphers[db]

    async def _close_cypher_of(self, db: Database) -> None:
        await self.cyphers.pop(db).close()

    async def enrol(self, app_id: UUID, name: str) -> None:
        """Add a user whom a key names for the first time."""
        await add_user_somewhere(self.cells, app_id, name=name)

    async def close(self) -> None:
        """Finish the work after answers, and close all but the home, whose opener closes it."""
        await self.afterwards.settle()
        if self.use is not None:
            with suppress(MemsvcError):
                await self.use.flush()
        for upstream in (self.upstream, self.anthropic):
            if upstream is not None:
                await upstream.close()
        if self.cypher is not None:
            await self.cypher.close()
        await self.cells.close()


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller who acts for one user."""

    db: Database
    """The database with the user's memory."""
    home: Database
    """The database with the keys."""
    settings: Settings
    embedder: QueryEmbedder | None
    principal: Principal
    owner: Owner
    reranker: ResidentReranker | None = None
    extractors: Extractors | None = None

    async def extractor(self, name: str | None) -> tuple[Extractor, str]:
        """Return the extractor with this name, loaded, and its name. Default: the configured one.

        Raises:
            InvalidRequestError: no installed extractor has this name.
            ExtractorMissingError: the configured one is not installed, or extraction is switched off.
            ConfigurationError: a setting that the configured one needs is missing.
        """
        if self.extractors is None:
            raise ExtractorMissingError
        try:
            return await self.extractors.named(name)
        except (ExtractorMissingError, ConfigurationError) as error:
            if not name:
                raise
            raise InvalidRequestError(
                "No such extractor is installed.", hint="Leave it out to use the configured one.", field="extractor"
            ) from error

    async def spend_messages(self, messages: int) -> None:
        """Count messages that are about to be stored, if the key has a limit.

        Raises:
            QuotaExceededError: they exceed today's quota.
        """
        await keys.spend_messages(self.db, self.principal, messages)

    @property
    def asserted_by(self) -> str:
        """Who asserts what is written: user with a token or a key of one user, else app."""
        return "app" if self.principal.bound_user_id is None else "user"


@dataclass(frozen=True, slots=True)
class Administrator:
    """A caller who may manage the users and keys of one app."""

    db: Database
    """The home: keys, and the directory of users."""
    cells: Cells
    app_id: UUID
    settings: Settings
    use: KeyUse | None = None

    async def at(self, cell: str | None) -> Database:
        """The database of a cell by its name; None: the home.

        Raises:
            InvalidRequestError: there is no such cell.
            DatabaseUnavailableError, OverloadedError: the directory does not answer.
        """
        return self.db if cell is None else await self.cells.named(cell)


def service_of(connection: ASGIConnection[Any, Any, Any, Any]) -> Service:
    """Return the service of the app that answers this request."""
    found: Service = connection.app.state["service"]
    return found


def _credential(connection: ASGIConnection[Any, Any, Any, Any]) -> str:
    scheme, _, credential = connection.headers.get("authorization", "").partition(" ")
    if not scheme:
        return credential_of(connection)
    return credential.strip() if scheme.lower() == "bearer" else ""


def _user_ref(connection: ASGIConnection[Any, Any, Any, Any]) -> str | None:
    """Read the user header. Names outside Latin-1 arrive as UTF-8 bytes."""
    value = connection.headers.get(USER_HEADER)
    if value is None:
        return None
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


async def authenticate(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """The guard of ``/v1``: refuses callers without a valid key or token.

    If the handler's ``opt`` has ``CHATS_ON``, a key that was valid recently is enough while the database does not
    answer. ``doubt_of`` returns whether that was the case. For other handlers it is enough if the user's memory is in
    another cell than the keys.

    Raises:
        UnauthenticatedError: the key or token is missing or invalid.
        UserMovingError: the user is on the way to another cell.
    """
    work_is(handler.opt.get(WORK, Work.LOOK))
    if SIGNED.items() <= handler.opt.items():
        return
    credential, user_ref, service = _credential(connection), _user_ref(connection), service_of(connection)
    if not credential and KEY_HEADER.items() <= handler.opt.items():
        credential = connection.headers.get("x-api-key", "").strip()
    if not credential:
        raise UnauthenticatedError
    if CHATS_ON.items() <= handler.opt.items():
        connection.scope["auth"], connection.state["doubt"] = await service.admitting.admit(
            service.db, service.settings, service.afterwards, credential, user_ref, enrol=service.enrol
        )
    else:
        with await service.door.turn(credential):
            connection.scope["auth"] = await _looked_up(service, credential, user_ref)
    connection.state["db"] = await service.cells.database(connection.scope["auth"])
    _note(connection, service)


async def _looked_up(service: Service, credential: str, user_ref: str | None) -> Principal:
    """Ask the directory who calls; if it does not answer, believe what it said lately of users of other cells."""
    admitting = service.admitting
    try:
        found = await keys.authenticate(service.db, credential, user_ref, enrol=service.enrol)
    except UnauthenticatedError:
        admitting.forget(credential)
        raise
    except NO_ANSWER:
        known = admitting.known(credential, user_ref)
        if known is None or known.place.cell_id == HOME.cell_id:
            raise
        return known
    if found.place.cell_id != HOME.cell_id:
        admitting.remember(credential, user_ref, found)
    return found


def _note(connection: ASGIConnection[Any, Any, Any, Any], service: Service) -> None:
    """Say who acts, for the audit log, and count the request."""
    principal: Principal = connection.scope["auth"]
    act_as("page" if PAGE_HEADER in connection.headers else "api", principal.key_id)
    if service.use is not None:
        service.use.add(principal.key_id)


def doubt_of(request: Request[Any, Any, Any]) -> Doubt | None:
    """Why the caller of a ``CHATS_ON`` handler was admitted without asking the database; None: it was asked.

    Raises:
        MemsvcError: the database has refused the key since.
    """
    found: Doubt | None = request.state["doubt"]
    return None if found is None or found.is_over() else found


def _principal(request: Request[Any, Any, Any]) -> Principal:
    found: Principal = request.auth
    return found


def _caller(request: Request[Any, Any, Any], owner: Owner) -> Caller:
    service = service_of(request)
    return Caller(
        request.state["db"],
        service.db,
        service.settings,
        service.embedder,
        _principal(request),
        owner,
        service.reranker,
        service.extractors,
    )


async def provide_reader(request: Request[Any, Any, Any], user: UserHeader = None) -> Caller:  # noqa: ARG001
    """A caller with the scope read."""
    return _caller(request, _principal(request).require_owner("read"))


async def provide_writer(request: Request[Any, Any, Any], user: UserHeader = None) -> Caller:  # noqa: ARG001
    """A caller with the scope write."""
    return _caller(request, _principal(request).require_owner("write"))


async def provide_talker(request: Request[Any, Any, Any], user: UserHeader = None) -> Caller:  # noqa: ARG001
    """A caller with the scopes read and write."""
    principal = _principal(request)
    principal.require("read")
    return _caller(request, principal.require_owner("write"))


async def provide_forgetter(request: Request[Any, Any, Any], user: UserHeader = None) -> Caller:  # noqa: ARG001
    """A caller with the scope forget."""
    return _caller(request, _principal(request).require_owner("forget"))


async def provide_keyholder(request: Request[Any, Any, Any], user: UserHeader = None) -> Caller:  # noqa: ARG001
    """A caller with a key that may read or write for a user. A token must not extend its own life."""
    if not _credential(request).startswith(keys.KEY_PREFIX):
        raise ForbiddenError("A token cannot make tokens.", hint="Use the key with which the token was made.")
    principal = _principal(request)
    return _caller(request, principal.require_owner("write" if "write" in principal.scopes else "read"))


async def provide_administrator(request: Request[Any, Any, Any]) -> Administrator:
    """A caller with the scope admin whose key is not bound to one user."""
    principal = _principal(request)
    principal.require("admin")
    if principal.bound_user_id is not None:
        raise ForbiddenError(
            "A key of one user cannot manage users and keys.", hint="Use a key of the whole app with the scope admin."
        )
    service = service_of(request)
    return Administrator(service.db, service.cells, principal.app_id, service.settings, service.use)


READER = {"reader": Provide(provide_reader)}
WRITER = {"writer": Provide(provide_writer)}
TALKER = {"talker": Provide(provide_talker)}
FORGETTER = {"forgetter": Provide(provide_forgetter)}
KEYHOLDER = {"keyholder": Provide(provide_keyholder)}
ADMINISTRATOR = {"administrator": Provide(provide_administrator)}
