"""Who uses a tool, and with which database, settings and embedder. Every tool, resource and prompt gets it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from memsvc.access.keys import Principal, Scope
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.extract.run import Extractors
from memsvc.recall.search import QueryEmbedder
from memsvc.settings import Settings

DOOR = "mcp"
"""The name of this door in receipts, recalls and metrics."""


@dataclass(frozen=True, slots=True)
class Asker:
    """A caller of tools, with what the tools need."""

    db: Database
    settings: Settings
    embedder: QueryEmbedder | None
    """Embeds queries; None: recall goes by words only."""
    principal: Principal
    extractors: Extractors | None = None
    """Read claims that are verified."""
    find: Callable[[], Awaitable[Database]] | None = None
    """Finds the user's database, for an asker who makes many calls; None: it is ``db``."""

    async def found(self) -> Asker:
        """The asker for one call, with the database that has the user's memory now.

        Raises:
            UserMovingError, UserUnknownError, DatabaseUnavailableError, OverloadedError: it cannot be found.
        """
        return self if self.find is None else replace(self, db=await self.find())

    def owner(self, scope: Scope) -> Owner:
        """The user for whom the caller acts.

        Raises:
            ForbiddenError, UserRequiredError, UserUnknownError: the scope is missing, or no existing user is named.
        """
        return self.principal.require_owner(scope)

    @property
    def asserted_by(self) -> str:
        """Who asserts what is written: user with a token or a key of one user, else app."""
        return "app" if self.principal.bound_user_id is None else "user"

    @property
    def decided_by(self) -> str:
        """Who changes the graph over MCP: a model decides, whoever's key it has, so it makes no rules of the user's."""
        return "app" if self.principal.bound_user_id is None else "assistant"
