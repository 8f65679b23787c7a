"""Changes of a block's text and their effect on its evidence; without the database.

Evidence is kept by line, because the lines of a block come from different passages. An unchanged line keeps its
evidence. A new line gets the passages that were given with the change; if none were given, it gets those of the lines
that it replaces, so that rewording does not hide where a statement came from.
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
    """Add lines at the end."""

    text: str


class Replace(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="replace"):
    """Replace one text by another; the old text must occur exactly once."""

    old: str
    new: str
    """May be empty: then the old text is deleted."""


class Set(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="op", tag="set"):
    """Replace the whole text."""

    text: str


Change = Append | Replace | Set


@dataclass(frozen=True, slots=True)
class Line:
    """A line, and the passages that support it."""

    text: str
    passages: frozenset[UUID] = frozenset()


def lines_of(text: str, evidence: Iterable[Support]) -> list[Line]:
    """Return the lines of a block; an empty block has none."""
    resting: dict[int, set[UUID]] = {}
    for support in evidence:
        for number in support.lines:
            resting.setdefault(number, set()).add(support.passage_id)
    said = text.split("\n") if text else []
    return [Line(line, frozenset(resting.get(number, ()))) for number, line in enumerate(said, 1)]


def text_of(lines: Sequence[Line]) -> str:
    """Join the lines to a text."""
    return "\n".join(line.text for line in lines)


def evidence_of(lines: Sequence[Line]) -> list[Support]:
    """Return the evidence of the lines, by passage."""
    found: dict[UUID, list[int]] = {}
    for number, line in enumerate(lines, 1):
        for passage in line.passages:
            found.setdefault(passage, []).append(number)
    return [Support(passage_id=passage, lines=found[passage]) for passage in sorted(found)]


def changed(lines: Sequence[Line], change: Change, evidence: Sequence[UUID] = ()) -> list[Line]:
    """Return the lines after a change.

    Args:
        lines: the present lines.
        change: the change.
        evidence: passages that support the new lines.

    Raises:
        EmptyTextError: the text to append, or to search for, is empty.
        InvalidRequestError: the text to replace does not occur, or occurs several times.
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
    """Return the first and the last line that a replacement changes, from 0, and the new lines for them."""
    old, new = _plain(change.old), _plain(change.new)
    if not old:
        raise EmptyTextError("The old text is empty.", hint="Send the text to replace as old.", field="old")
    if (times := text.count(old)) != 1:
        raise InvalidRequestError(
            f"The old text occurs {times} times in the block." if times else "The old text is not in the block.",
            hint="Send it letter for letter, with enough text around it that it occurs once.",
            field="old",
        )
    begin = text.index(old)
    end = begin + len(old)
    first, last = text.count("\n", 0, begin), text.count("\n", 0, end)
    line_begin = text.rfind("\n", 0, begin) + 1
    line_end = text.find("\n", end)
    before, after = text[line_begin:begin], text[end : line_end if line_end >= 0 else len(text)]
    said = before + new + after
    return first, last, said.split("\n") if is_visible(said) else []


def _rewritten(before: Sequence[Line], said: Sequence[str], given: frozenset[UUID]) -> list[Line]:
    known: dict[str, frozenset[UUID]] = {}
    for line in before:
        known[line.text] = known.get(line.text, frozenset()) | line.passages
    staying = set(said)
    replaced = frozenset[UUID]().union(*(line.passages for line in before if line.text not in staying))
    return [Line(text, known.get(text, given or replaced)) for text in said]


def _plain(text: str) -> str:
    """Convert line ends to line feeds."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _split(text: str) -> list[str]:
    """Return the lines, without blank ones at both ends."""
    plain = trimmed(_plain(text))
    return plain.split("\n") if plain else []
