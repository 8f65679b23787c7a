"""A span for each statement, by the statement's name: never its text, never its values."""

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
    """What a statement is called.

    Args:
        clause: as it was given to SQLAlchemy. Named ones have their name, others of ours the function that they call.
        statement: its text, of which no more than the first word is told where somebody else may have written some.
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
    """Record statements that go to the database at once, in traces that are recorded: they begin and end as one."""
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
    """Record each statement of an engine, in traces that are recorded."""

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
