"""Records a span for each statement, with the statement's name, but never its text or its values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from sqlalchemy import TextClause, event
from sqlalchemy.ext.asyncio import AsyncEngine

from memsvc import traces
from memsvc.db.files import queries

VERBS = frozenset({"SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "LISTEN", "COPY", "SET"})
FUNCTION = re.compile(r"\bmemsvc\.(\w+)\(")


@cache
def _names() -> dict[int, str]:
    return {id(clause): name for name, clause in queries().items()}


def name_of(clause: object, statement: str) -> str:
    """The name of a statement in traces.

    Args:
        clause: the statement as SQLAlchemy received it. A named query has its name, another statement of memsvc the
            name of the function that it calls.
        statement: the statement's text. Of any other statement only the first word is shown, because somebody else may
            have written the rest.
    """
    if isinstance(clause, TextClause):
        if (name := _names().get(id(clause))) is not None:
            return name
        if (called := FUNCTION.search(clause.text)) is not None:
            return called[1]
    verb = statement.split(maxsplit=1)[0].upper() if statement.strip() else ""
    return verb if verb in VERBS else "statement"


def _begun(name: str) -> traces.Span:
    return traces.span(name, "client", values={"db.system.name": "postgresql", "db.query.summary": name})


@contextmanager
def together(clauses: Iterable[TextClause]) -> Iterator[None]:
    """Record statements that are sent together, if traces are recorded; their spans begin and end together."""
    spans = [_begun(name_of(clause, clause.text)) for clause in clauses] if traces.is_on() else []
    failed: str | None = None
    try:
        yield
    except Exception as error:
        failed = type(error).__name__
        raise
    finally:
        for span in spans:
            span.end(failed)


def watch(engine: AsyncEngine) -> None:
    """Record each statement of an engine, if traces are recorded."""

    def begin(_connection: Any, _cursor: Any, statement: str, _parameters: Any, execution: Any, _many: bool) -> None:
        execution.memsvc_span = _begun(name_of(getattr(execution, "invoked_statement", None), statement))

    def end(_connection: Any, _cursor: Any, _statement: str, _parameters: Any, execution: Any, _many: bool) -> None:
        execution.memsvc_span.end()

    def fail(failure: Any) -> None:
        begun: traces.Span = getattr(failure.execution_context, "memsvc_span", traces.NOTHING)
        begun.end(type(failure.original_exception).__name__)

    event.listen(engine.sync_engine, "before_cursor_execute", begin)
    event.listen(engine.sync_engine, "after_cursor_execute", end)
    event.listen(engine.sync_engine, "handle_error", fail)
