"""Who uses a tool, and on what the process stands: what all tools, resources and prompts are given."""

from __future__ import annotations

from dataclasses import dataclass

from memsvc.access.keys import Principal, Scope
from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.recall.search import QueryEmbedder
from memsvc.settings import Settings

DOOR = "mcp"
"""What receipts, recalls and metrics call this door."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Somebody who uses tools."""

    db: Database
    settings: Settings
    embedder: QueryEmbedder | None
    """Gives vectors of queries; None: words only."""
    principal: Principal

    def owner(self, scope: Scope) -> Owner:
        """The user acted for.

        Raises:
            ForbiddenError, UserRequiredError, UserUnknownError: the scope is missing, or nobody is named.
        """
        return self.principal.require_owner(scope)

    @property
    def asserted_by(self) -> str:
        """Who says what is written: user, with a token or a key of one user; else app."""
        return "app" if self.principal.bound_user_id is None else "user"
