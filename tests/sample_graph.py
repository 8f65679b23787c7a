"""Facts of the sample conversation (``examples/``), written by hand, with the messages that say so as evidence."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time
from uuid import UUID
from zoneinfo import ZoneInfo

from memsvc.graph.operations import Alias, Edge, Evidence, Node, Operation

BERLIN = ZoneInfo("Europe/Berlin")
NODES = {
    "Ines": "Person", "Jonas": "Person", "Paula": "Person", "Beppo": "Person", "Pix": "Person",
    "Zoë Lindqvist": "Person",
    "Hamburg": "Place", "Porto": "Place", "Leipzig": "Place", "Obermühle": "Place", "Gut Lindenhain": "Place",
    "Elbraum": "Organization", "Nordpegel": "Organization", "The Tin Lighthouses": "Organization",
    "Wedding of Ines and Jonas": "Event",
}  # fmt: skip
NAMES = {"Beppo": "Bernhard Pohl", "Pix": "Professor Pixel"}
WEDDING = "Wedding of Ines and Jonas"
# From, type, to, the fact, since, until, and the message that says so.
FACTS = [
    ("Marcel", "LIVES_IN", "Hamburg", "Marcel lives in Hamburg.", None, "2026-04-18", "S1:9"),
    ("Marcel", "LIVES_IN", "Porto", "Marcel lives in Porto.", "2026-04-18", None, "S17:2"),
    ("Marcel", "WORKS_AT", "Elbraum", "Marcel works at Elbraum.", None, "2026-03-01", "S10:3"),
    ("Marcel", "WORKS_AT", "Nordpegel", "Marcel works at Nordpegel.", "2026-04-01", None, "S10:3"),
    ("Marcel", "KNOWS", "Ines", "Marcel and Ines are friends.", None, None, "S1:3"),
    ("Marcel", "OWNS", "Pix", "Pix is Marcel's cat.", None, None, "S1:11"),
    ("Marcel", "PARTICIPATED_IN", WEDDING, "Marcel spoke at the wedding.", "2026-09-05", None, "S14:10"),
    ("Ines", "LIVES_IN", "Leipzig", "Ines lives in Leipzig.", None, None, "S8:11"),
    ("Ines", "FAMILY_OF", "Paula", "Paula is the sister of Ines.", None, None, "S9:9"),
    ("Ines", "FAMILY_OF", "Jonas", "Ines is engaged to Jonas.", "2025-08-30", None, "S1:2"),
    ("Ines", "PARTICIPATED_IN", WEDDING, "Ines married Jonas.", "2026-09-05", None, "S11:3"),
    (WEDDING, "LOCATED_AT", "Gut Lindenhain", "The wedding is at Gut Lindenhain.", None, "2026-01-25", "S1:4"),
    (WEDDING, "LOCATED_AT", "Obermühle", "The wedding is at the Obermühle.", "2026-01-25", None, "S11:3"),
    ("Beppo", "KNOWS", "Marcel", "Beppo plays in Marcel's band.", None, None, "S2:3"),
    ("Beppo", "PARTICIPATED_IN", WEDDING, "Beppo drummed at the wedding.", "2026-09-05", None, "S11:7"),
]


def moment(day: str | None) -> datetime | None:
    """Midnight of a day in Hamburg."""
    return None if day is None else datetime.combine(date.fromisoformat(day), time.min, BERLIN)


def sample_operations(marcel: UUID, messages: Mapping[str, UUID]) -> list[Operation]:
    """The facts as a batch.

    Args:
        marcel: the user's own node.
        messages: passages of the conversation by the client's ids of their messages.
    """
    makes: list[Operation] = [Node(type=kind, label=label) for label, kind in NODES.items()]
    refs = {label: place for place, label in enumerate(NODES)}
    ends: dict[str, UUID | int] = {**refs, "Marcel": marcel}
    names = [Alias(node=refs[label], alias=name) for label, name in NAMES.items()]
    facts = [
        Edge(
            from_node=ends[start],
            type=kind,
            to_node=ends[end],
            fact=fact,
            valid_from=moment(since),
            valid_to=moment(until),
            evidence=[Evidence(passage_id=messages[said])],
        )
        for start, kind, end, fact, since, until, said in FACTS
    ]
    return [*makes, *names, *facts]
