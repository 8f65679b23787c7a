"""Names of which it is doubtful that they are any, or of what: they become nobody unless a fact is said of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from memsvc.extract.offline.calibration import LEAST, Judge

if TYPE_CHECKING:
    from spacy.tokens import Span

    from memsvc.extract.extraction import Entity, Fact
    from memsvc.extract.offline.cast import Cast
    from memsvc.extract.offline.reading import Reading


def without_doubtful(
    entities: Iterable[Entity], facts: Sequence[Fact], cast: Cast, readings: Sequence[Reading], judge: Judge
) -> list[Entity]:
    """The entities of an extraction, without names that are too doubtful.

    One of which only doubtful facts are told stays for them, as if it had no name: nothing is made of it unless a
    person accepts such a fact.
    """
    said = {end for fact in facts if fact.confidence >= LEAST for end in (fact.subject, fact.object)}
    asked = {end for fact in facts for end in (fact.subject, fact.object)}
    asked |= {one.of for one in entities if one.of is not None}
    where = places(readings)
    kept = []
    for entity in entities:
        entry, spans = cast[entity.key], where.get(entity.key, [])
        certain = not entity.named or entity.known is not None or entry.sure or entity.key in said or not spans
        if certain or judge.name(entry, spans) >= LEAST:
            kept.append(entity)
        elif entity.key in asked:
            kept.append(msgspec.structs.replace(entity, named=False))
    return kept


def places(readings: Iterable[Reading]) -> dict[int, list[Span]]:
    """Where each entity is named, by key."""
    found: dict[int, list[Span]] = {}
    for reading in readings:
        for name in reading.names:
            key = reading.entity(reading.doc[name.head])
            if key is not None:
                found.setdefault(key, []).append(reading.doc[name.start : name.end])
    return found
