"""Changes of a block's text, and what becomes of its evidence; no database.

Evidence is kept line by line, for a block says many things and each was heard somewhere else. A line that stays as it
is keeps what it rests on. A new line rests on the passages that were given with the change; where none were given, on
those of the lines that it replaces, so that rewording does not hide where something came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

import msgspec

from memsvc.errors import EmptyTextError, InvalidRequestError
from memsvc.profiles.blocks import Support
from memsvc.text.characters import is_visible, trimmed


class Append(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="append"):
    """Add lines behind the others."""

    text: str


class Replace(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="replace"):
    """Put one text into the place of another, which must stand there exactly once."""

    old: str
    new: str
    """May be empty: then the old text goes."""


class Set(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="set"):
    """Say something else."""

    text: str


Change = Append | Replace | Set


@dataclass(frozen=True, slots=True)
class Line:
    """A line and the passages that it rests on."""

    text: str
    passages: frozenset[UUID] = frozenset()


def lines_of(text: str, evidence: Iterable[Support]) -> list[Line]:
    """The lines of a block; none of an empty one."""
    resting: dict[int, set[UUID]] = {}
    for support in evidence:
        for number in support.lines:
            resting.setdefault(number, set()).add(support.passage_id)
    said = text.split("\n") if text else []
    return [Line(line, frozenset(resting.get(number, ()))) for number, line in enumerate(said, 1)]


def text_of(lines: Sequence[Line]) -> str:
    """The text again."""
    return "\n".join(line.text for line in lines)


def evidence_of(lines: Sequence[Line]) -> list[Support]:
    """The evidence again, by passage."""
    found: dict[UUID, list[int]] = {}
    for number, line in enumerate(lines, 1):
        for passage in line.passages:
            found.setdefault(passage, []).append(number)
    return [Support(passage_id=passage, lines=found[passage]) for passage in sorted(found)]


def changed(lines: Sequence[Line], change: Change, evidence: Sequence[UUID] = ()) -> list[Line]:
    """The lines after a change.

    Args:
        lines: as they are.
        change: what is to become of them.
        evidence: passages that the new lines rest on.

    Raises:
        EmptyTextError: there is nothing to append, or to look for.
        InvalidRequestError: the text that is to be replaced does not stand there, or stands there several times.
    """
    given = frozenset(evidence)
    match change:
        case Append():
            added = _split(change.text)
            if not added:
                raise EmptyTextError(
                    "There is nothing to append.", hint="Send at least one visible character.", field="text"
                )
            return [*lines, *(Line(said, given) for said in added)]
        case Set():
            return _rewritten(lines, _split(change.text), given)
        case Replace():
            first, last, middle = _replaced(text_of(lines), change)
            after = [*lines[:first], *_rewritten(lines[first : last + 1], middle, given), *lines[last + 1 :]]
            return after if any(is_visible(line.text) for line in after) else []


def _replaced(text: str, change: Replace) -> tuple[int, int, list[str]]:
    """The first and the last line that a replacement touches, from 0, and what stands there then."""
    old, new = _plain(change.old), _plain(change.new)
    if not old:
        raise EmptyTextError("There is no text to look for.", hint="Send as old what is to be replaced.", field="old")
    if (times := text.count(old)) != 1:
        raise InvalidRequestError(
            f"The old text stands there {times} times." if times else "The old text does not stand there.",
            hint="Send it to the letter, with enough around it that it stands there once.",
            field="old",
        )
    begin = text.index(old)
    end = begin + len(old)
    first, last = text.count("\n", 0, begin), text.count("\n", 0, end)
    line_begin = text.rfind("\n", 0, begin) + 1
    line_end = text.find("\n", end)
    before, behind = text[line_begin:begin], text[end : line_end if line_end >= 0 else len(text)]
    said = before + new + behind
    return first, last, said.split("\n") if is_visible(said) else []


def _rewritten(before: Sequence[Line], said: Sequence[str], given: frozenset[UUID]) -> list[Line]:
    known: dict[str, frozenset[UUID]] = {}
    for line in before:
        known[line.text] = known.get(line.text, frozenset()) | line.passages
    staying = set(said)
    replaced = frozenset[UUID]().union(*(line.passages for line in before if line.text not in staying))
    return [Line(text, known.get(text, given or replaced)) for text in said]


def _plain(text: str) -> str:
    """Lines that end as PostgreSQL's do here."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _split(text: str) -> list[str]:
    """Lines without blank ones around them."""
    plain = trimmed(_plain(text))
    return plain.split("\n") if plain else []
