"""Random histories in which passages are erased.

To keep the model simple and exact, whatever is said is said by one passage: each content has a name, one of a few, and
all that assert or correct to it cite that name's present passage. Erasing it takes every such content out of the past;
who says it again cites a new passage.
"""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import msgspec
import psycopg

from memsvc.graph import operations as ops
from tests.model import history as plain
from tests.sql.histories import EDGE_TYPES, NODES, TICKS, Player, Raw, day
from tests.sql.world import append_rows, message

ERASED_WORDS: set[str] = set()
"""Words that only erased passages and what they supported held, of all players of this process."""
SPEAKERS = ("s0", "s1", "s2", "s3", "s4")
ERASE = "SELECT state, counts FROM memsvc.erase(%s, 'passage', %s, 'tests', 2000)"

Pair = tuple[ops.Operation, plain.Operation]


def said_by(content: plain.Content) -> str:
    """The name of the passages that say this; none for what was said by hand at the beginning."""
    if content.get("label") in NODES:
        return ""
    return SPEAKERS[zlib.crc32(json.dumps(dict(content), sort_keys=True).encode()) % len(SPEAKERS)]


@dataclass(slots=True)
class Eraser(Player):
    """A player of histories in which passages go."""

    present: dict[str, int] = field(default_factory=dict)
    """For each name its present passage, by its place in ``passages``."""

    def begin(self) -> None:
        Player.begin(self)
        self.model.said_by = said_by
        for name in SPEAKERS:
            self.speak(name)

    def word(self, place: int) -> str:
        """A word that a passage and all that it supports hold, and nothing else."""
        return f"quark{self.user_id.hex}x{place}q"

    def speak(self, name: str) -> None:
        """Give a name a new passage."""
        place = len(self.passages)
        said_at = str(day(place % (TICKS + 1)))
        said = message(f"{name} says {self.word(place)}.", place, said_at=said_at, speaker=self.word(place))
        rows = append_rows(self.connection, self.user_id, [said])
        self.passages.append(rows[0][3])
        self.present[name] = place

    def assertion(self, raw: Raw, types: Sequence[str] = EDGE_TYPES) -> tuple[ops.Operation, plain.Operation]:
        operation, mirrored = Player.assertion(self, raw, types)
        assert isinstance(mirrored, plain.Assert)
        place = self.present[said_by(mirrored.content)]
        given: dict[str, Any] = {"evidence": [ops.Evidence(passage_id=self.passages[place])]}
        if not isinstance(operation, ops.Alias):
            given["data"] = {"quote": self.word(place)}
        return (
            msgspec.structs.replace(operation, **given),
            replace(mirrored, evidence=frozenset({str(place)})),
        )

    def both(self, operations: Sequence[ops.Operation], mirrored: Sequence[plain.Operation]) -> None:
        """A correction brings the passage that says so, too."""
        given, expected = list(operations), list(mirrored)
        for place, (operation, entry) in enumerate(zip(operations, mirrored, strict=True)):
            if isinstance(operation, ops.Correct) and isinstance(entry, plain.Assert):
                passage = self.present[said_by(entry.content)]
                given[place] = msgspec.structs.replace(
                    operation,
                    evidence=[ops.Evidence(passage_id=self.passages[passage])],
                    content={**operation.content, "data": {"quote": self.word(passage)}},
                )
                expected[place] = replace(entry, evidence=frozenset({str(passage)}))
        Player.both(self, given, expected)

    def step(self, raws: Sequence[Raw]) -> None:
        """One step in six erases."""
        kind, *rest = raws[0]
        if kind % 10 == 9 or kind % 30 == 3:
            name = SPEAKERS[rest[0] % len(SPEAKERS)]
            pairs = list(self.pairs(raws, EDGE_TYPES[:2]))
            match rest[1] % 4:
                case 0 if pairs:
                    self.erase_behind(name, pairs)
                case 1 if pairs:
                    self.erase_before(name, pairs)
                case _:
                    self.erase(name, self.connection)
                    self.forgotten(name, self.changes[-1][1])
            return
        Player.step(self, [(kind - kind // 10, *rest), *raws[1:]])

    def erase(self, name: str, connection: psycopg.Connection) -> dict[str, int]:
        """Erase a name's passage; counts of the receipt."""
        passage = self.passages[self.present[name]]
        row = connection.execute(ERASE, [self.user_id, passage]).fetchone()
        assert row is not None
        assert row[0] == "done"
        counts: dict[str, int] = row[1]
        return counts

    def forgotten(self, name: str, at: datetime) -> None:
        """The same in the model: older than this is erased. Edges that are gone have no id any more."""
        self.model.erase(at, name)
        ERASED_WORDS.add(self.word(self.present[name]))
        self.outcomes.append("erased")
        self.speak(name)
        left = self.connection.execute("SELECT edge_id FROM memsvc.edges WHERE user_id = %s", [self.user_id])
        kept = {row[0] for row in left}
        self.edges = {edge: thread for edge, thread in self.edges.items() if edge in kept}

    def erase_behind(self, name: str, pairs: Sequence[Pair]) -> None:
        """Somebody erases while a writer who cites the passage has not committed: the writer comes first."""
        begun = threading.Event()

        def late() -> dict[str, int]:
            begun.set()
            return self.erase(name, self.second)

        with ThreadPoolExecutor(1) as pool:
            with self.connection.transaction():
                self.write(self.connection, [pair[0] for pair in pairs])
                erasing = pool.submit(late)
                begun.wait()
            erasing.result()
        self.model.apply(self.changes[-1][1], [pair[1] for pair in pairs])
        self.forgotten(name, self.changes[-1][1])

    def erase_before(self, name: str, pairs: Sequence[Pair]) -> None:
        """Somebody writes while an eraser has not committed: what cites the passage is refused, the rest is not."""
        gone = str(self.present[name])
        cites = any(isinstance(entry, plain.Assert) and gone in entry.evidence for _, entry in pairs)
        begun = threading.Event()

        def late() -> list[Any] | str:
            begun.set()
            return self.call(self.second, [pair[0] for pair in pairs])

        before = self.changes[-1][1]
        with ThreadPoolExecutor(1) as pool:
            with self.connection.transaction():
                self.erase(name, self.connection)
                writing = pool.submit(late)
                begun.wait()
            answer = writing.result()
        if isinstance(answer, str):
            # An edge that the batch takes back may be gone as well.
            assert answer == "fact_unknown" or (cites and answer == "passage_unknown"), answer
            self.outcomes.append(answer)
        else:
            assert not cites
        self.forgotten(name, before)
        if not isinstance(answer, str):
            self.model.apply(self.changes[-1][1], [pair[1] for pair in pairs])
