"""An extractor for tests: it reads a small language, in which a message says its facts itself.

``I LIVES_IN Porto.`` · ``Ana KNOWS Rui since 2020.`` · ``no longer I WORKS_AT Lidl.`` ·
``off I LIVES_IN Porto.`` · ``no, I LIVES_IN Faro.`` ·
``maybe Ana LIKES tea.`` · ``also I WORKS_AT Boots.`` ·
``Ana KNOWS Rui as colleague.`` What is written in small letters is a description,
not a name.
"""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime

from memsvc.errors import ExtractorError, MemsvcError
from memsvc.extract.extraction import Entity, Extraction, Fact, Signs
from memsvc.extract.window import Window
from memsvc.graph.operations import BESIDE

SENTENCE = re.compile(
    r"\s*(?P<how>no longer |off |no, |maybe |also )?(?P<subject>[\w' ]+?) (?P<type>[A-Z][A-Z_]{2,})"
    r" (?P<object>[\w' ]+?)"
    r"(?: as (?P<relation>\w+))?(?: since (?P<since>\d{4}))?(?: until (?P<until>\d{4}))?[.!]"
)
TYPES = {
    "LIVES_IN": "Place", "LOCATED_AT": "Place", "WORKS_AT": "Organization", "KNOWS": "Person", "FAMILY_OF": "Person",
    "FEELS": "Emotion", "PARTICIPATED_IN": "Event",
}  # fmt: skip


class SayingExtractor:
    """Finds what messages say in the language above."""

    def __init__(self, name: str = "saying/1", *, slow_s: float = 0.0) -> None:
        self.name = name
        self.windows: list[Window] = []
        """All that it was given."""
        self.failure: MemsvcError | None = None
        """Raised while it is there."""
        self.deaf_to = "do not read"
        """Messages with these words cannot be read."""
        self.without: frozenset[str] = frozenset()
        """Types that it does not find."""
        self.slow_s = slow_s

    async def extract(self, window: Window) -> Extraction:
        self.windows.append(window)
        await asyncio.sleep(self.slow_s)
        if self.failure is not None:
            raise self.failure
        if any(self.deaf_to in turn.text for turn in window.turns):
            raise UnreadableError("It cannot be read.")
        found = _Found(window)
        for place, turn in enumerate(window.turns):
            for said in SENTENCE.finditer(turn.text):
                if said["type"] not in self.without:
                    found.take(place, said)
        signs = [Signs(turn=place, sentiment=0.5, importance=7) for place in range(len(window.turns))]
        return Extraction(entities=tuple(found.entities.values()), facts=tuple(found.facts), signs=tuple(signs))


class UnreadableError(ExtractorError):
    """For good."""

    passing = False


class _Found:
    def __init__(self, window: Window) -> None:
        self.window = window
        self.entities: dict[str, Entity] = {}
        self.facts: list[Fact] = []

    def take(self, place: int, said: re.Match[str]) -> None:
        how = (said["how"] or "").strip()
        self.facts.append(
            Fact(
                subject=self._entity(said["subject"], "Person", place),
                type=said["type"],
                object=self._entity(said["object"], TYPES.get(said["type"], "Object"), place),
                sentence=said[0].strip().removeprefix(said["how"] or ""),
                turn=place,
                quote=said[0].strip(),
                since=datetime(int(said["since"]), 1, 1, tzinfo=UTC) if said["since"] else None,
                until=datetime(int(said["until"]), 1, 1, tzinfo=UTC) if said["until"] else None,
                change={"no longer": "ended", "off": "ended", "no,": "corrects"}.get(how, "holds"),  # type: ignore[arg-type]
                never=how == "off",
                confidence=0.3 if how == "maybe" else 0.9,
                data=({"relation": said["relation"]} if said["relation"] else {})
                | ({BESIDE: True} if how == "also" else {}),
            )
        )

    def _entity(self, name: str, kind: str, place: int) -> int:
        turn = self.window.turns[place]
        known = self.window.speakers.get(turn.speaker) if name == "I" else None
        name = turn.speaker or "Ada" if name == "I" else name.strip()
        if name not in self.entities:
            self.entities[name] = Entity(
                key=len(self.entities), name=name, type=kind, known=known, named=name[0].isupper(), turn=place,
                quote=name if name in turn.text else "",
            )  # fmt: skip
        return self.entities[name].key
