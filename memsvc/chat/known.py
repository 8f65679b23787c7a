"""What of a request is stored already. Clients send their conversation again with each request.

Only what the user says after the last answer in a request (``ChatRequest.asked``) may be new. One look-up reads the
last messages of the session, and which ids of the request are taken. ``placed`` compares, and ``identified`` gives each
message an id that depends on nothing else, so the same request gives the same ids. docs/chat.md has the rule.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from memsvc.access.users import Owner
from memsvc.chat.request import ChatRequest, Utterance
from memsvc.db.files import query
from memsvc.db.together import Together
from memsvc.extract.names import folded

LAST = 32
"""How many messages of the session are compared, and how many traces."""
TAKEN = "taken"
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
    taken: frozenset[str] = frozenset()
    """Those of the ids of ``candidates`` that messages of the conversation have."""
    own_names: Collection[str] = ()
    """The user's names, folded; asked for only if a message names its speaker."""

    @property
    def of_user(self) -> list[Stored]:
        """What the user and other people said, oldest first."""
        return [one for one in reversed(self.last) if one.role != "assistant"]

    @property
    def is_whole(self) -> bool:
        """True: the session has no earlier messages than ``last``."""
        return len(self.last) < LAST


@dataclass(frozen=True, slots=True)
class Place:
    """Where in its session a request belongs."""

    stored: Mapping[int, str]
    """Ids of those of ``ChatRequest.asked`` that are stored already, by their index in the request; empty: its id is
    not known, as it was said before the messages that the look-up read."""
    follows: bool
    """True: the others follow what was stored last, so they are new even if the same was said before."""


@dataclass(frozen=True, slots=True)
class Identified:
    """The ids of what the user says in a request, by index."""

    ids: Mapping[int, str]
    existing: Collection[int] = ()
    """Indexes of those that are stored already."""


def look_up(trip: Together, owner: Owner, request: ChatRequest, conversation: str, session: str) -> Callable[[], Known]:
    """Ask for what is known; returns a function that returns it after ``trip`` is sent."""
    ids = list(candidates(request, conversation, session).values())
    traces = LAST if any(one.traces for one in request.unanswered) else 0
    values = {"user_id": owner.user_id, "identifier": conversation, "session": session, "limit": LAST}
    rows = trip.ask(query("chat_last_stored"), {**values, "traces": traces, "ids": ids})
    names = trip.ask(query("own_node"), {"user_id": owner.user_id}) if _are_named(request) else []

    def found() -> Known:
        return Known(
            last=[Stored(row.role, (row.speaker, row.digest), row.id) for row in rows if row.digest is not None],
            traces={row.id for row in rows if row.digest is None and row.role != TAKEN},
            taken=frozenset(row.id for row in rows if row.role == TAKEN),
            own_names={folded(name) for row in names for name in (row.label, *row.aliases)},
        )

    return found


def candidates(request: ChatRequest, conversation: str, session: str) -> dict[int, str]:
    """Return the ids that ``request.asked`` have by everything that was said before them in the request, by index."""
    wanted = {one.at for one in request.asked}
    return {at: f"chat:{digest}" for at, digest in request.digests(conversation, session) if at in wanted}


def identified(request: ChatRequest, known: Known | None, conversation: str, session: str) -> Identified:
    """Return the ids of ``request.asked``, and which of them are stored already.

    Everything that was said before a message in the request identifies it. If that id is taken though the message is
    new, or if nothing was said before it, it is also identified by the last message of the session.
    """
    named = candidates(request, conversation, session)
    if known is None:
        return Identified(named)
    place = placed(request, known, named)
    tells = request.before or request.answered or request.continues or place.stored
    alone = not tells and known.taken.isdisjoint(list(named.values())[1:])
    ids, existing = dict[int, str](), set[int]()
    for at, name in named.items():
        own = f"{name}:{_digest(known.last[0].id)[:12]}" if known.last else name
        if at in place.stored:
            ids[at] = place.stored[at] or name
            existing.add(at)
        elif (erased := _of_answer(name, known)) is not None:
            ids[at] = erased
        elif alone or (name in known.taken and place.follows):
            ids[at] = own
        else:
            ids[at] = name
            existing |= {at} if name in known.taken else set()
    return Identified(ids, existing)


def said_by(one: Utterance) -> Said:
    """Return what is compared of a message."""
    return one.name, _digest(one.text)


def placed(request: ChatRequest, known: Known, named: Mapping[int, str]) -> Place:
    """Return where a request belongs in its session.

    What the user said, in the request and in the session, is laid side by side, so that it ends alike.

    Args:
        request: the request.
        known: the end of the session.
        named: the ids of ``candidates``.
    """
    if request.continues:  # the server's own id of the history says it
        return Place({}, follows=False)
    last = list(known.last)
    if last and last[0].role == "assistant" and request.prefill and last[0].said[1] == _digest(request.prefill):
        last = last[1:]  # this answer is to be continued
    stored = [one for one in reversed(last) if one.role != "assistant"]
    answers = [number for number, one in enumerate(last) if one.role == "assistant"]
    told = [number for number in answers if last[number].said[1] == _digest(request.answered)]
    count = _overlap(request, [one.said for one in stored], known, named)
    if told[:1] == [0]:  # asked after the last answer
        return Place({}, follows=not request.before or count == 0)
    is_answered = answers[:1] == [0]
    if is_answered and not request.before and (told or len(request.asked) == 1):
        found = _after_answer(request, last[: told[0]]) if told else _at_first(request, known)
        return Place(found, follows=True)
    if count is not None or is_answered:
        beside = list(enumerate(request.asked[: count or 0], len(stored) - (count or 0)))
        seen = {one.at: stored[number].id for number, one in beside if number >= 0}
        earlier = {one.at: "" for number, one in beside if number < 0 and not known.is_whole}
        return Place(earlier | seen, follows=bool(count))
    # Other words came before, such as a summary of the history.
    ends = zip(reversed(request.asked), last[: answers[0] if answers else None], strict=False)
    same = {one.at: known_one.id for one, known_one in takewhile(_is_same, ends)}
    return Place(same, follows=bool(same))


def _is_same(pair: tuple[Utterance, Stored]) -> bool:
    return said_by(pair[0]) == pair[1].said


def _after_answer(request: ChatRequest, since: Sequence[Stored]) -> dict[int, str]:
    """Compare with what was said since the answer that the request begins with; newest first."""
    said = [one for one in reversed(since) if one.role != "assistant"]
    same = takewhile(_is_same, zip(request.asked, said, strict=False))
    return {one.at: known_one.id for one, known_one in same}


def _at_first(request: ChatRequest, known: Known) -> dict[int, str]:
    """Compare with a session that consists of one question and its answers.

    Without history, the same again is new, but right at the beginning it asks for another answer.
    """
    said = known.of_user
    if not known.is_whole or [one.said for one in said] != [said_by(one) for one in request.asked]:
        return {}
    return {one.at: known_one.id for one, known_one in zip(request.asked, said, strict=True)}


def _overlap(request: ChatRequest, stored: Sequence[Said], known: Known, named: Mapping[int, str]) -> int | None:
    """Return how many of ``request.asked`` are the last of ``stored``, if the same was said before them, too.

    If there are several possibilities, as people repeat themselves, the one counts that leaves out no message whose id
    is taken; then the one that leaves the least of the request before the beginning of the session; then the one with
    the most messages. None: nothing is the same.
    """
    before = [said_by(one) for one in request.before[-LAST:]]
    said = [*before, *(said_by(one) for one in request.asked)]
    taken = [number for number, one in enumerate(request.asked, 1) if named[one.at] in known.taken]
    best: tuple[bool, int, int] | None = None
    for count in range(len(request.asked) + 1):
        end = len(before) + count
        both = min(end, len(stored))
        if both and said[end - both : end] == stored[-both:]:
            found = (count < max(taken, default=0), end - both, -count)
            best = min(best or found, found)
    return -best[2] if best is not None else None


def _of_answer(name: str, known: Known) -> str | None:
    """Return the id of a message with an answer in the session that is no longer stored itself: it was erased."""
    present = {one.id for one in known.last} | known.taken
    for number, one in enumerate(known.last):
        if one.role != "assistant":
            if _has_name(one.id, name):
                return None
            continue
        asked = one.id.removeprefix("answer:").rpartition(":")[0]
        reads = known.is_whole or any(older.role != "assistant" for older in known.last[number + 1 :])
        if asked not in present and reads and _has_name(asked, name):
            return asked
    return None


def _has_name(full: str, name: str) -> bool:
    return full == name or full.startswith(f"{name}:")


def unknown_history(request: ChatRequest, known: Known) -> range:
    """Return the indexes of the answered messages after the last one of the user that is known."""
    names = {one.said for one in known.of_user}
    unknown = list(takewhile(lambda one: said_by(one) not in names, reversed(request.before)))
    return range(unknown[-1].at, request.begin) if unknown else range(0)


def _are_named(request: ChatRequest) -> bool:
    return any(one.name for one in request.asked)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
