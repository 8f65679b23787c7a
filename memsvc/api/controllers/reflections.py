"""Reflections: what follows from several memories."""

from __future__ import annotations

from typing import Annotated

from litestar import Controller, get
from litestar.di import NamedDependency
from litestar.params import QueryParameter

from memsvc.api.callers import READER, Caller
from memsvc.api.parameters import CursorParameter, PageSize
from memsvc.api.problems import documented
from memsvc.db.paging import Page
from memsvc.lessons.reflections import Reflection, ReflectionKind, list_reflections


class ReflectionsController(Controller):
    """Reflections."""

    path = "/reflections"
    tags = ("recall",)
    dependencies = READER

    @get(
        operation_id="listReflections",
        summary="List reflections",
        description="Returns what sleep mode found to follow from several memories: habits, changed minds, "
        "contradictions, open loops and, by a language model, insights; those on the latest things first. Each has its "
        "sources: ids of messages, which GET /v1/memories/{memory_id} opens.",
        response_description="One page.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def list_all(
        self,
        *,
        reader: NamedDependency[Caller],
        kind: Annotated[ReflectionKind | None, QueryParameter(description="Only of this kind.")] = None,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[Reflection]:
        """Return one page."""
        return await list_reflections(reader.db, reader.owner, kind=kind, cursor=cursor, limit=limit)
