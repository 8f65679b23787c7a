"""What of a request is stored already. Clients send their conversation again with each request.

Only what the user says after the last answer in a request (``ChatRequest.asked``) may be new. One look-up reads the
last messages of the session, and ``repeated`` compares. docs/chat.md has the rule.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import takewhile

from memsvc.access.users import Owner
from memsvc.chat.request import ChatRequest, Utterance
from memsvc.db.files import query
from memsvc.db.together import Together
from memsvc.extract.names import folded

LAST = 32
"""How many messages of the session are compared, and how many traces."""
Said = tuple[str, str]
"""A speaker, and a digest of what was said."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored message."""

    role: str
    said: Said
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known before a request is stored."""

    last: Sequence[Stored]
    """The last messages of the session without traces, newest first."""
    traces: Collection[str] = ()
    """The clients' ids of the last traces."""
    own_names: Collection[str] = ()
    """The user's names, folded; asked for only if a message names its speaker."""

    @property
    def of_user(self) -> list[Stored]:
        """What the user and other people said, oldest first."""
        return [one for one in reversed(self.last) if one.role != "assistant"]


def look_up(trip: Together, owner: Owner, request: ChatRequest, conversation: str, session: str) -> Callable[[], Known]:
    """Ask for what is known; returns a function that returns it after ``trip`` is sent."""
    values = {"user_id": owner.user_id, "identifier": conversation, "session": session, "limit": LAST}
    traces = LAST if any(one.traces for one in request.unanswered) else 0
    rows = trip.ask(query("chat_last_stored"), {**values, "traces": traces})
    names = trip.ask(query("own_node"), {"user_id": owner.user_id}) if _are_named(request) else []

    def found() -> Known:
        return Known(
            last=[Stored(row.role, (row.speaker, row.digest), row.id) for row in rows if row.digest is not None],
            traces={row.id for row in rows if row.digest is None},
            own_names={folded(name) for row in names for name in (row.label, *row.aliases)},
        )

    return found


def said_by(one: Utterance) -> Said:
    """Return what is compared of a message."""
    return one.name, _digest(one.text)


def repeated(request: ChatRequest, known: Known) -> dict[int, str]:
    """Return the ids of those of ``request.asked`` that are stored already, by their index in the request.

    What the user said, in the request and in the session, is laid side by side, so that it ends alike.
    """
    last = list(known.last)
    if last and last[0].role == "assistant" and request.prefill and last[0].said[1] == _digest(request.prefill):
        last = last[1:]  # this answer is to be continued
    stored = [one for one in reversed(last) if one.role != "assistant"]
    answers = [number for number, one in enumerate(last) if one.role == "assistant"]
    told = [number for number in answers if last[number].said[1] == _digest(request.answered)]
    if told and told[0] == 0:  # asked after the last answer
        return {}
    if answers[:1] == [0] and not request.before:
        return _after_answer(request, last[: told[0]]) if told else _at_first(request, known)
    count = _overlap(
        [said_by(one) for one in request.before[-LAST:]],
        [said_by(one) for one in request.asked],
        [one.said for one in stored],
    )
    if count is not None or answers[:1] == [0]:
        found = stored[len(stored) - (count or 0) :]
        return {one.at: known_one.id for one, known_one in zip(request.asked, found, strict=False)}
    # Other words came before, such as a summary of the history.
    ends = zip(reversed(request.asked), last[: answers[0] if answers else None], strict=False)
    same = takewhile(lambda pair: said_by(pair[0]) == pair[1].said, ends)
    return {one.at: known_one.id for one, known_one in same}


def _after_answer(request: ChatRequest, since: Sequence[Stored]) -> dict[int, str]:
    """Compare with what was said since the answer that the request begins with; newest first."""
    said = [one for one in reversed(since) if one.role != "assistant"]
    same = takewhile(lambda pair: said_by(pair[0]) == pair[1].said, zip(request.asked, said, strict=False))
    return {one.at: known_one.id for one, known_one in same}


def _at_first(request: ChatRequest, known: Known) -> dict[int, str]:
    """Compare with a session that consists of one question and its answers.

    Without history, the same again is new, but right at the beginning it asks for another answer.
    """
    said = known.of_user
    if len(known.last) >= LAST or [one.said for one in said] != [said_by(one) for one in request.asked]:
        return {}
    return {one.at: known_one.id for one, known_one in zip(request.asked, said, strict=True)}


def _overlap(before: Sequence[Said], asked: Sequence[Said], stored: Sequence[Said]) -> int | None:
    """Return how many of ``asked`` are the last of ``stored``, if what was said before them is the same, too.

    If there are several possibilities, as people repeat themselves, the one counts that leaves the least of the request
    before the beginning of the session; then the one with the most messages. None: nothing is the same.
    """
    best: tuple[int, int] | None = None
    for count in range(min(len(asked), len(stored)) + 1):
        said = [*before, *asked[:count]]
        both = min(len(said), len(stored))
        if both and list(said[-both:]) == list(stored[-both:]):
            best = min(best or (len(said), 0), (len(said) - both, -count))
    return -best[1] if best is not None else None


def unknown_history(request: ChatRequest, known: Known) -> range:
    """Return the indexes of the answered messages after the last one of the user that is known."""
    names = {one.said for one in known.of_user}
    unknown = list(takewhile(lambda one: said_by(one) not in names, reversed(request.before)))
    return range(unknown[-1].at, request.begin) if unknown else range(0)


def _are_named(request: ChatRequest) -> bool:
    return any(one.name for one in request.asked)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
