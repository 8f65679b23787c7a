"""Writes errors to a log: what they were and where they happened, but never their messages.

An error's message may quote user data: PostgreSQL's "Key (text)=(…) already exists", Python's "invalid literal for
int() with base 10: …". So a log shows the class, PostgreSQL's code and constraint, the operating system's error, the
code of memsvc's own errors, and the lines of code that were running.
"""

from __future__ import annotations

import errno
import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import Any, TextIO

from memsvc.errors import MemsvcError

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]
MOST_FRAMES = 50


def named(error: BaseException) -> str:
    """The class and codes of an error, without its message."""
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    facts: list[object] = []
    if isinstance(error, MemsvcError):
        facts.append(error.code)
    elif isinstance(error, OSError) and error.errno:
        facts.append(errno.errorcode.get(error.errno, error.errno))
    elif isinstance(state := getattr(error, "sqlstate", None), str):  # psycopg's; this module must not import psycopg
        diagnosis = getattr(error, "diag", None)
        facts += [state, getattr(diagnosis, "table_name", None), getattr(diagnosis, "constraint_name", None)]
    return " ".join([name, *(str(fact) for fact in facts if fact)])


def dictionaries(exc_info: ExcInfo) -> list[dict[str, Any]]:
    """The error and its causes, the last error first, as values for JSON."""
    return [
        {
            "exc_type": named(error),
            "is_cause": is_cause,
            "frames": [
                {"filename": frame.filename, "lineno": frame.lineno or 0, "name": frame.name}
                for frame in _frames(error)
            ],
            **(
                {"exceptions": [dictionaries((type(one), one, one.__traceback__)) for one in error.exceptions]}
                if isinstance(error, BaseExceptionGroup)
                else {}
            ),
        }
        for error, is_cause in _chain(exc_info[1])
    ]


def write(stream: TextIO, exc_info: ExcInfo) -> None:
    """Write the error and its causes as text, in Python's own order: the first error comes first."""
    for error, _ in reversed(list(_chain(exc_info[1]))):
        stream.write("Traceback (most recent call last):\n")
        stream.writelines(traceback.format_list(_frames(error)))
        stream.write(f"{named(error)}\n")
        for one in error.exceptions if isinstance(error, BaseExceptionGroup) else ():
            write(stream, (type(one), one, one.__traceback__))


def _chain(error: BaseException) -> Iterator[tuple[BaseException, bool]]:
    """The error and its causes; for each, whether it is the explicit cause of the error before it."""
    seen: set[int] = set()
    following: BaseException | None = error
    is_cause = False
    while following is not None and id(following) not in seen:
        yield following, is_cause
        seen.add(id(following))
        is_cause = following.__cause__ is not None
        hidden = following.__suppress_context__ and not is_cause
        following = None if hidden else following.__cause__ or following.__context__


def _frames(error: BaseException) -> traceback.StackSummary:
    """The stack where the error was raised: lines of code, no values."""
    return traceback.extract_tb(error.__traceback__, limit=-MOST_FRAMES)
