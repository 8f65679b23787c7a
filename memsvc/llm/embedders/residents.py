"""The embedding models of this process: those that are in use by the database, loaded when they are needed.

MEMSVC_EMBEDDING_MODEL names only the first model of a new database; after that ``embedding_models`` records which model
is active, which is leaving and which is being built. It is read every few seconds, so a change reaches all processes
within that time. A model that is not in use any more is closed.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import NamedTuple

import structlog
from pgvector import HalfVector

from memsvc.db.engine import Database
from memsvc.errors import MemsvcError
from memsvc.llm.embedders.registry import Model, State, known_models, projections
from memsvc.llm.embedders.resident import ResidentEmbedder
from memsvc.settings import Settings

REREAD_S = 5.0
ORDER: tuple[State, ...] = ("active", "leaving", "building")
"""The order in which models give vectors."""
log = structlog.get_logger()


class QueryVector(NamedTuple):
    """A query's vector."""

    model: str
    """Whose."""
    vector: HalfVector
    tokens: str | None = None
    """Its token vectors as memsvc.late_scores takes them, an array of bit(128); None: the model gives none (yet)."""


class InUse(NamedTuple):
    """A model that gives vectors to passages."""

    state: State
    resident: ResidentEmbedder


class Residents:
    """The models in use; they cost nothing until needed. All methods are called in the thread of one event loop."""

    def __init__(self, settings: Settings) -> None:
        """Store the settings; nothing is read, imported or loaded yet."""
        self._settings = settings
        self._known: tuple[Model, ...] = ()
        self._read_again_at = 0.0
        self._reading = asyncio.Lock()
        self._holders: dict[str, ResidentEmbedder] = {}
        self._warned = "embedding_model" not in settings.model_fields_set

    async def for_passages(self, db: Database) -> list[InUse]:
        """Return the models that give vectors to passages now: the active one first.

        Raises:
            MemsvcError: the database cannot be read.
        """
        await self._read(db)
        return [InUse(model.state, self._holder(model.name)) for model in self._chosen("active", "leaving", "building")]

    async def query_vectors(
        self, db: Database, query: str, timeout_ms: int
    ) -> tuple[QueryVector | None, QueryVector | None]:
        """Return a query's vectors by the active model and by the leaving one, which run at the same time.

        None if there is no such model, or it is missing, fails or is too slow; the latter three with a warning.
        """
        await self._read_if_old(db)
        asked = {model.state: self._holder(model.name) for model in self._chosen("active", "leaving")}
        made = await asyncio.gather(*(holder.query_vector(query, timeout_ms) for holder in asked.values()))
        found = {
            state: QueryVector(holder.model_name, *made_of_it)
            for (state, holder), made_of_it in zip(asked.items(), made, strict=True)
            if made_of_it is not None
        }
        return found.get("active"), found.get("leaving")

    async def ready(self, db: Database) -> bool:
        """Wait until the models for queries are loaded; False, and a warning, if the active one cannot be loaded."""
        try:
            await self._read_if_old(db)
        except MemsvcError:
            return False
        loaded = [await self._holder(model.name).ready() for model in self._chosen("active", "leaving")]
        return loaded[0]

    async def active_name(self, db: Database) -> str:
        """Return the active model's name."""
        await self._read_if_old(db)
        return self._chosen("active")[0].name

    def _chosen(self, *states: State) -> list[Model]:
        """Return unpaused models in these states; the configured one counts as active if none is active yet."""
        known = [model for model in self._known if model.state in states and not model.paused]
        if not any(model.state == "active" for model in self._known):
            name = self._settings.embedding_model
            known = [model for model in known if model.name != name]
            known.append(Model(model_id=0, name=name, dimensions=0, state="active", paused=False))
        return sorted(known, key=lambda model: ORDER.index(model.state))

    def _holder(self, name: str) -> ResidentEmbedder:
        if name not in self._holders:
            self._holders[name] = ResidentEmbedder(self._settings.model_copy(update={"embedding_model": name}))
        return self._holders[name]

    async def _read_if_old(self, db: Database) -> None:
        """Read the models again if the last time is some seconds ago; if that fails, the earlier result is used.

        Raises:
            MemsvcError: the database cannot be read, and there is no earlier result.
        """
        if time.monotonic() < self._read_again_at or (self._known and self._reading.locked()):
            return
        if self._known:
            with suppress(MemsvcError):
                await self._read(db)
        else:
            await self._read(db)

    async def _read(self, db: Database) -> None:
        async with self._reading:
            self._known = tuple(await known_models(db))
            self._read_again_at = time.monotonic() + REREAD_S
            used = {model.name for model in self._chosen(*ORDER)}
            await self._read_projections(db, used)
        for name in self._holders.keys() - used:
            self._holders.pop(name).close(now=False)
        self._warn()

    async def _read_projections(self, db: Database, used: set[str]) -> None:
        """Give models the projections of their token vectors, which a worker fits and the database stores."""
        if self._settings.late_interaction:
            waiting = [name for name in used if self._holder(name).lacks_projection]
            for name, stored in (await projections(db, waiting)).items() if waiting else ():
                self._holder(name).project(stored)

    def _warn(self) -> None:
        """Warn once if the setting names another model than the active one."""
        named = self._settings.embedding_model
        active = next((model.name for model in self._known if model.state == "active"), named)
        if not self._warned and active != named:
            self._warned = True
            log.warning(
                "MEMSVC_EMBEDDING_MODEL is not the active model, which counts",
                configured=named,
                active=active,
                hint=f"'memsvc models build {named}' begins a change; else set it to {active}",
            )

    def close(self) -> None:
        """Take no more work; a text that is being embedded is finished in the background."""
        for holder in self._holders.values():
            holder.close()
        self._holders.clear()


def residents(settings: Settings) -> Residents | None:
    """Return the models of this process; None if MEMSVC_EMBEDDING_MODEL is empty: then no model is used."""
    return Residents(settings) if settings.embedding_model else None
