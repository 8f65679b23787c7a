"""Critiques of answers, and the lessons that a person may make instructions."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import msgspec
from litestar import Controller, get, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, FromPath, QueryParameter

from memsvc.api.callers import READER, WRITER, Caller
from memsvc.api.parameters import CursorParameter, PageSize
from memsvc.api.problems import documented
from memsvc.db.paging import Page
from memsvc.lessons.critiques import (
    Critique,
    NewCritique,
    State,
    add_critique,
    decide_lesson,
    get_critique,
    list_critiques,
)

TAGS = ("lessons",)


class CritiqueIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """An answer that was wrong, and what is right."""

    question: str
    """What was asked: 1 to 1,000 characters."""
    correction: str
    """What is right: 1 to 2,000 characters."""
    answer: str = ""
    """What was answered: up to 2,000 characters."""
    source: str | None = None
    """Short or full id of the memory that says what is right."""
    lesson: str = ""
    """An instruction that would prevent the mistake, up to 1,000 characters. It waits for a person."""
    id: str | None = None
    """Your own id, 1 to 200 characters. Sent again with the same content, nothing is written."""


class LessonIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A lesson to accept."""

    text: str | None = None
    """The instruction in other words than proposed; of a critique without a lesson, its words."""


class CritiquesController(Controller):
    """Critiques."""

    path = "/critique"
    tags = TAGS
    dependencies = WRITER

    @post(
        operation_id="addCritique",
        summary="Correct an answer",
        description="Stores what was asked, what was answered wrongly and what is right. Recall and contexts give it "
        "as a lesson when the question comes again, in whatever words. With lesson, it also proposes an instruction, "
        "which counts once a person accepts it.",
        response_description="The critique.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
    )
    async def add(
        self,
        data: Annotated[
            CritiqueIn,
            BodyKwarg(
                examples=[
                    Example(
                        value={
                            "question": "When is the wedding of Ines and Jonas?",
                            "answer": "On 13 June 2026.",
                            "correction": "It was moved to Saturday, 5 September 2026.",
                            "lesson": "Before you give a date, look for a later message that moves it.",
                            "id": "correction-7",
                        }
                    )
                ]
            ),
        ],
        writer: NamedDependency[Caller],
    ) -> Critique:
        """Store it."""
        given = NewCritique(**{name: getattr(data, name) for name in CritiqueIn.__struct_fields__})
        return await add_critique(writer.db, writer.owner, given, asserted_by=writer.asserted_by)


class LessonsController(Controller):
    """Lessons."""

    path = "/lessons"
    tags = TAGS

    @get(
        operation_id="listLessons",
        summary="List critiques and their lessons",
        description="Lists critiques, newest first. state: proposed are lessons that wait for a person, accepted and "
        "rejected are decided, none are critiques without a lesson.",
        response_description="One page.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(
        self,
        *,
        reader: NamedDependency[Caller],
        of: Annotated[
            State | None, QueryParameter(name="state", description="Only with a lesson in this state.")
        ] = None,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[Critique]:
        """Return one page."""
        return await list_critiques(reader.db, reader.owner, state=of, cursor=cursor, limit=limit)

    @get(
        "/{critique_id:uuid}",
        operation_id="getLesson",
        summary="Read a critique",
        description="Returns a critique with its lesson and what became of it.",
        response_description="The critique.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def read(self, reader: NamedDependency[Caller], critique_id: FromPath[UUID]) -> Critique:
        """Return it."""
        return await get_critique(reader.db, reader.owner, critique_id)

    @post(
        "/{critique_id:uuid}/accept",
        status_code=200,
        operation_id="acceptLesson",
        summary="Make a lesson an instruction",
        description="Writes the lesson as an instruction of the category lesson. It is a rule in contexts if the user "
        "accepts it (a key or token of one user), else a quote. Undoing the change takes it back.",
        response_description="The critique, with the instruction.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def accept(
        self,
        data: Annotated[LessonIn, BodyKwarg(examples=[Example(value={"text": "Look for later dates first."})])],
        writer: NamedDependency[Caller],
        critique_id: FromPath[UUID],
    ) -> Critique:
        """Accept it."""
        return await decide_lesson(
            writer.db, writer.owner, critique_id, accept=True, text=data.text, by=writer.asserted_by
        )

    @post(
        "/{critique_id:uuid}/reject",
        status_code=200,
        operation_id="rejectLesson",
        summary="Reject a lesson",
        description="The critique stays, and no instruction comes of it.",
        response_description="The critique.",
        responses=documented(400, 401, 403, 404, 409, 503),
        dependencies=WRITER,
    )
    async def reject(self, writer: NamedDependency[Caller], critique_id: FromPath[UUID]) -> Critique:
        """Reject it."""
        return await decide_lesson(writer.db, writer.owner, critique_id, accept=False, by=writer.asserted_by)
