"""A call of a tool as a client sends it, and what its name and arguments say: document, digest, line of work."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from memsvc.turns.results import storable

PLACES = ("path", "file_path", "filePath", "notebook_path", "absolute_path", "file", "filename", "url", "uri")
"""Arguments that name a document, the most telling first."""
TELLING = ("command", "cmd", "query", "q", "pattern", "regex", "prompt", "description")
"""Arguments that say what a call was for, after a document."""
READS = frozenset({"READ", "VIEW", "OPEN", "CAT", "FETCH"})
WRITES = frozenset({"EDIT", "WRITE", "CREATE", "PATCH", "REPLACE", "INSERT", "APPEND", "SAVE", "UPDATE", "STR"})
CONTENTS = frozenset({
    "content", "contents", "text", "file_text", "insert_text", "old", "new", "old_str", "new_str", "old_string",
    "new_string", "edits", "patch", "diff", "input",
})  # fmt: skip
"""Arguments in which a call that writes has content of its document."""
WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])")
ERROR = re.compile(
    r"error|fail|fatal|denied|refused|cannot|can't|could not|not found|no such|exception|traceback", re.IGNORECASE
)
MAX_TOOL_CHARS, ARGUMENT_CHARS, ERROR_CHARS, WORK_CHARS = 100, 160, 240, 1_500


class CallIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A call of a tool."""

    tool: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TOOL_CHARS)]
    """READ, EDIT, BASH, WEB_SEARCH, or any other name; stored in capitals with underscores."""
    arguments: dict[str, Any] | str = {}
    """Secrets in them are masked before they are stored."""
    result: str | None = None
    """Of a long one, head, tail, size and digest are kept."""
    ok: bool = True
    """False: the call failed, or showed the failure that was looked for."""
    exit_code: Annotated[int, msgspec.Meta(ge=-2_147_483_648, le=2_147_483_647)] | None = None
    ms: Annotated[int, msgspec.Meta(ge=0, le=9_000_000_000_000)] | None = None
    """How long it took, in milliseconds."""
    document: str | None = None
    """The path or address of the document that it touched; default: by its arguments."""
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")] | None = None
    """Of the document's content after the call; default: of the result of a whole READ, and of what a WRITE wrote."""
    size: Annotated[int, msgspec.Meta(ge=0, le=9_000_000_000_000_000)] | None = None
    """Of the document after the call, in bytes."""
    number: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] | None = None
    """Its place in the turn, from 0; default: of a call without an id, the place in this request."""
    id: Annotated[str, msgspec.Meta(min_length=1, max_length=400)] | None = None
    """The client's own id, unique in the turn: the call has one place, however often it is sent, and its result can be
    sent later."""


def tool_name(tool: str) -> str:
    """Return a tool's name in capitals with underscores: ``WebSearch`` as ``WEB_SEARCH``."""
    return "_".join(WORD.findall(tool)).upper()[:MAX_TOOL_CHARS] or storable(tool).strip()[:MAX_TOOL_CHARS] or "TOOL"


def reads(call: CallIn) -> bool:
    """Whether a call read its document."""
    return not READS.isdisjoint(tool_name(call.tool).split("_"))


def writes(call: CallIn) -> bool:
    """Whether a call changed its document, by its tool's name."""
    return not WRITES.isdisjoint(tool_name(call.tool).split("_"))


def _writes_all(call: CallIn) -> bool:
    """Whether a call that writes gives all of its document's content: WRITE, ``write_file``."""
    return WRITES.intersection(tool_name(call.tool).split("_")) == {"WRITE"}


def document_of(call: CallIn) -> str | None:
    """Return the path or address of the document that a call touched; None: of none."""
    if call.document is not None:
        return call.document
    if not isinstance(call.arguments, Mapping):
        return None
    found = (call.arguments.get(name) for name in PLACES)
    return next((one for one in found if isinstance(one, str) and one.strip()), None)


def digest_of(call: CallIn) -> tuple[str, int] | None:
    """Return the digest and the size of a document's content after a call; None: unknown, or the call failed."""
    if not call.ok or not (reads(call) or writes(call)):
        return None
    if call.sha256 is not None:
        return call.sha256, call.size or 0
    given = call.arguments if isinstance(call.arguments, Mapping) else {}
    content = given.get("content") if writes(call) else call.result
    partly = any(given.get(name) is not None for name in ("offset", "limit", "line", "lines", "view_range", "pages"))
    if not isinstance(content, str) or partly or (writes(call) and not _writes_all(call)):
        return None
    raw = content.encode("utf-8", "surrogatepass")
    return hashlib.sha256(raw).hexdigest(), len(raw)


def without_contents(arguments: dict[str, Any] | str) -> dict[str, Any] | str:
    """Return arguments of a call that writes without the content of its document, of which only the size stays."""
    if isinstance(arguments, str):
        return f"[{len(arguments.encode('utf-8', 'surrogatepass')):,} bytes]"
    return {
        name: f"[{len(str(value).encode('utf-8', 'surrogatepass')):,} bytes]" if name in CONTENTS else value
        for name, value in arguments.items()
    }


def told_argument(arguments: object, shown: str | None = None) -> str:
    """Return what a call was for, in a line: its document, its command, its question."""
    if isinstance(arguments, Mapping):
        places = [shown] if shown else [arguments.get(name) for name in PLACES]
        found = [*places, *(arguments.get(name) for name in TELLING)]
        told = " ".join(one for one in found if isinstance(one, str) and one) or " ".join(
            str(one) for one in arguments.values() if isinstance(one, str | int | float)
        )
    else:
        told = str(arguments)
    return _line(told, ARGUMENT_CHARS)


def told_error(result: str) -> str:
    """Return the line of a failed call's result that says why: the last with the word of an error, else the last."""
    lines = [line for line in result.splitlines() if line.strip()]
    telling = [line for line in lines if ERROR.search(line)]
    return _line((telling or lines or [""])[-1], ERROR_CHARS)


def _line(text: str, longest: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
