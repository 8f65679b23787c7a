"""A turn of an agent while it happens: what was said and done, and what of it was sent.

Files are looked up on this machine: links are followed, and the digest of a file is that of its content after the call.
The clients and the hooks of agents use it.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from memsvc.turns.calls import CallIn, document_of, reads, tool_name, writes
from memsvc.turns.documents import on_disk
from memsvc.turns.files import FileRead, read_file
from memsvc.turns.projects import Project, project_at
from memsvc.turns.results import keep_result
from memsvc.turns.storing import StoredTurn, TouchedDocument, TurnIn

AT_ONCE = 10
"""Calls after which a part is sent."""
LONGEST_RESULT = 500_000
"""Characters of a result that are sent; of a longer one head, tail, size and digest."""
LARGEST_FILE = 64_000_000
"""Bytes of a file whose digest is computed."""


class TurnDraft:
    """What was said and done in a turn, and what of it was sent."""

    def __init__(self, conversation: str, options: Mapping[str, Any]) -> None:
        """Begin a turn.

        Args:
            conversation: the client's name for the conversation.
            options: ``project`` (the project, a folder in it, or its name), and id, agent and at of ``TurnIn``.
        """
        given = dict(options)
        self.project = _project(given.pop("project", None))
        self.fields: dict[str, Any] = {"id": secrets.token_hex(12), **given, "conversation": conversation}
        self.request: str | None = None
        self.answer: str | None = None
        self.commit: str | None = None
        self.ok: bool | None = None
        self.waiting: list[CallIn] = []
        self.calls = 0
        self.begun = False
        """A part was sent, so the request cannot change any more."""
        self.seen: dict[UUID, int] = {}
        """Versions of documents that this turn read."""
        self.stored: StoredTurn | None = None
        """The result of the last part that was sent."""

    def user(self, text: str) -> None:
        """Say what the user asked; several texts are one request. What comes after the first call is kept as a call."""
        if self.begun:
            self.add("USER_MESSAGE", arguments={"text": text})
        else:
            self.request = text if self.request is None else f"{self.request}\n\n{text}"

    def agent(self, text: str, *, ok: bool | None = None, commit: str | None = None) -> None:
        """Say what the agent answered; several texts are one answer.

        Args:
            text: the answer.
            ok: whether it did what was asked; None: not known.
            commit: the commit of the project now.
        """
        self.answer = text if self.answer is None else f"{self.answer}\n\n{text}"
        self.ok = self.ok if ok is None else ok
        self.commit = commit or self.commit

    def add(self, tool: str, target: str | None = None, **fields: Any) -> bool:
        """Add a call; return whether a part is to be sent.

        Args:
            tool: READ, EDIT, WRITE, BASH, WEB_SEARCH or another name.
            target: the file or address; of BASH the command; of others the question.
            fields: of ``CallIn``: arguments, result, ok, exit_code, ms, document, sha256.
        """
        arguments = dict(fields.pop("arguments", None) or {})
        if target is not None:
            arguments = {argument_of(tool, target): target, **arguments}
        result = fields.pop("result", None)
        call = CallIn(tool=tool, arguments=arguments, number=self.calls, result=_short(result), **fields)
        self.waiting.append(self._on_disk(call))
        self.calls += 1
        return len(self.waiting) >= AT_ONCE or not self.begun

    def read(self, path: str, *, content: bool = True) -> FileRead:
        """Read a file and add the call; a failure is added, too.

        Args:
            path: absolute, or below the project's root, else the current folder.
            content: send the text as the call's result; False: only its digest.

        Raises:
            OSError: there is no such file, or it cannot be read.
        """
        found = on_disk(path, self.project.root if self.project else None)
        try:
            read = read_file(Path(found))
        except OSError as error:
            self.add("READ", path, ok=False, document=found, result=f"{type(error).__name__}: {error.strerror}")
            raise
        result = read.text if content else None
        self.add("READ", path, document=found, sha256=read.sha256, size=read.size, result=result)
        return read

    def touched(self) -> TouchedDocument | None:
        """Return what the last call touched, as it was stored; None: nothing is stored."""
        found = self.stored.documents if self.stored is not None else []
        return next((one for one in found if one.number == self.calls - 1), None)

    def part(self, *, done: bool) -> TurnIn:
        """Return what is new; it counts as sent."""
        waiting, self.waiting, self.begun = self.waiting, [], True
        return TurnIn(
            **self.fields,
            request=self.request,
            calls=waiting,
            answer=self.answer if done else None,
            ok=self.ok if done else None,
            commit=self.commit if done else None,
            done=done,
            project=self.project.name if self.project else None,
            root=self.project.root if self.project else None,
            ignores_case=bool(self.project and self.project.ignores_case),
        )

    def _on_disk(self, call: CallIn) -> CallIn:
        named = document_of(call)
        if named is None or not (reads(call) or writes(call) or call.document is not None):
            return call
        found = on_disk(named, self.project.root if self.project else None)
        call.document = found
        if call.sha256 is None and call.ok:
            call.sha256, call.size = _digest(Path(found))
        return call


def _project(given: object) -> Project | None:
    if given is None or isinstance(given, Project):
        return given
    named = Path(str(given))
    return project_at(named) if named.is_dir() else Project(str(given))


def argument_of(tool: str, target: str) -> str:
    """Return the name of the argument that a tool's target is: path, url, command or query."""
    call = CallIn(tool=tool)
    if "://" in target:
        return "url"
    if reads(call) or writes(call):
        return "path"
    return "command" if tool_name(tool) in {"BASH", "SHELL"} else "query"


def _short(result: object) -> str | None:
    if result is None or (isinstance(result, str) and len(result) <= LONGEST_RESULT):
        return result if isinstance(result, str) else None
    kept = keep_result(result if isinstance(result, str | bytes) else str(result))
    return f"{kept.head}\n[{kept.size:,} bytes, sha256 {kept.sha256}]\n{kept.tail}" if kept.tail else kept.head


def _digest(path: Path) -> tuple[str | None, int | None]:
    """Return the digest and the size of a file; None of what is none, is too large, or cannot be read."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_FILE:
            return None, None
        content = path.read_bytes()
    except OSError:
        return None, None
    return hashlib.sha256(content).hexdigest(), len(content)
