"""A request to a chat server, whichever API it comes by, as far as memory needs it.

Readers of the APIs (``memsvc.chat.completions`` and others beside it) make it. The rest of a request is passed on
unchanged, byte by byte (``msgspec.Raw``): unknown fields, tools, pictures and numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import msgspec

from memsvc.turns.chat_turns import ChatTurn

OURS = "memsvc"
"""A model of this name means the configured one."""
LONGEST_ID = 300
"""Longer ids of clients are replaced by a digest where an id of ours contains them: a stored id has 400 characters."""
Decode = Callable[[bytes, Any], Any]
"""Decodes JSON into a type; raises errors of ``memsvc.errors``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Something of a request that is stored, but recalled only if a recall asks for traces."""

    role: Literal["tool", "thinking", "system"]
    text: str
    speaker: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """A message of a request."""

    at: int
    """Its index in the request, from 0."""
    role: str
    """user, assistant or tool; others are instructions of the client."""
    text: str = ""
    """What a person or the assistant says, without surrounding blanks."""
    name: str = ""
    """Who speaks, if the client says so."""
    calls: bool = False
    """The assistant calls tools, so its text, if any, is not yet an answer."""
    traces: Sequence[Trace] = ()
    """Calls of tools, their results, and parts without text."""
    shortened: bool = False
    """A part has data that is not stored."""

    @property
    def is_answer(self) -> bool:
        """True: it is an answer of the assistant, so everything before it has been answered."""
        return self.role == "assistant" and bool(self.text) and not self.calls

    @property
    def is_silent(self) -> bool:
        """True: nobody says anything; it is an instruction, or empty."""
        return self.role not in {"user", "assistant", "tool"} or not (self.text or self.traces)


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """A request, and what memory needs from it."""

    said: Sequence[Utterance]
    """All messages, in their order."""
    passing: Callable[[str | None, str | None], bytes]
    """Makes the request for the chat server from a memory block, or None, and the model for requests that name none."""
    acts: Callable[[int], Sequence[ChatTurn]] = lambda _begin: ()
    """Makes turns of an agent of the messages from an index on."""
    continues: str = ""
    """The server's id of the answer that this request follows, if the server keeps the history; empty: none."""

    @cached_property
    def turns(self) -> Sequence[Utterance]:
        """The texts of the user and the assistant."""
        return [one for one in self.said if one.role in {"user", "assistant"} and one.text]

    @cached_property
    def _unanswered(self) -> tuple[int, int]:
        end = len(self.said)
        while end and (self.said[end - 1].is_answer or self.said[end - 1].is_silent):
            end -= 1
        begin = end
        while begin and not self.said[begin - 1].is_answer:
            begin -= 1
        return begin, end

    @property
    def begin(self) -> int:
        """The index of the first message after the last answer."""
        return self._unanswered[0]

    @property
    def unanswered(self) -> Sequence[Utterance]:
        """The messages after the last answer. An answer at the end of the request, to be continued, does not count."""
        begin, end = self._unanswered
        return self.said[begin:end]

    @cached_property
    def asked(self) -> Sequence[Utterance]:
        """What the user says in ``unanswered``: only this may have to be stored."""
        return [one for one in self.unanswered if one.role == "user" and one.text]

    @cached_property
    def before(self) -> Sequence[Utterance]:
        """What the user said before ``unanswered``."""
        return [one for one in self.said[: self.begin] if one.role == "user" and one.text]

    @property
    def answered(self) -> str:
        """The answer before ``unanswered``; empty: there is none."""
        return self.said[self.begin - 1].text if self.begin else ""

    @property
    def prefill(self) -> str:
        """The beginning of an answer at the end of the request; empty: there is none."""
        _, end = self._unanswered
        return next((one.text for one in reversed(self.said[end:]) if one.is_answer), "")

    @property
    def query(self) -> str:
        """The user's last text; empty: there is none."""
        return next((turn.text for turn in reversed(self.turns) if turn.role == "user"), "")

    def digests(self, *of: str) -> Iterator[tuple[int, str]]:
        """Yield the index of each turn with a digest of all turns up to it, so a repeated request has the same ones.

        A person who says the same again says it after other turns, which gives another digest.
        """
        running = hashlib.sha256(msgspec.json.encode(self._place(of))[:-1])
        for turn in self.turns:
            running.update(b"," + msgspec.json.encode([turn.role, turn.text, *([turn.name] if turn.name else [])]))
            whole = running.copy()
            whole.update(b"]")
            yield turn.at, whole.hexdigest()[:40]

    def digest(self, *of: str, traces: bool = False) -> str:
        """Return a digest of the history that the server keeps; with ``traces`` also of those in ``unanswered``."""
        kept = [[one.text, *one.metadata.values()] for said in self.unanswered for one in said.traces] if traces else []
        return hashlib.sha256(msgspec.json.encode([*self._place(of), *kept])).hexdigest()[:40]

    def _place(self, of: tuple[str, ...]) -> tuple[str, ...]:
        return (*of, self.continues) if self.continues else of


def named_model(fields: Mapping[str, Any], named: str | None, configured: str | None) -> dict[str, Any]:
    """Return the fields with the configured model, if the request names none or memsvc."""
    return {**fields, "model": configured} if configured is not None and named in {None, "", OURS} else dict(fields)


def anchored(name: str) -> str:
    """Return an id that ids of ours can contain: the client's, or its digest if it is long."""
    return (
        name if len(name) <= LONGEST_ID else f"sha256:{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()}"
    )
