"""Windows for extractors, and answers of a language model about them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import UUID

from memsvc.extract.window import Candidate, EdgeType, Ontology, Turn, Window

NOBODY = UUID(int=0)
LISBON = timezone(timedelta(hours=1))
PERSON, PLACE = frozenset({"Person"}), frozenset({"Place"})
ONTOLOGY = Ontology(
    node_types=frozenset({"Person", "Place", "Object", "Event", "Emotion", "Summary", "Note"}),
    edge_types={
        edge.name: edge
        for edge in (
            EdgeType(name="LIVES_IN", from_types=PERSON, to_types=PLACE, functional=True, description="A lives in B."),
            EdgeType(name="FAMILY_OF", from_types=PERSON, to_types=PERSON, description="A is family of B."),
            EdgeType(name="LOCATED_AT", to_types=PLACE, description="A is in B."),
            EdgeType(name="OWNS", from_types=PERSON, description="A has B."),
            EdgeType(name="FEELS", from_types=PERSON, description="A feels B."),
            EdgeType(name="MENTIONS", description="A speaks of B."),
        )
    },
)


def turn(text: str, speaker: str = "Mara", role: str = "user", **more: Any) -> Turn:
    said_at = datetime(2025, 3, 14, 18, 20, tzinfo=LISBON)
    return Turn(passage_id=NOBODY, speaker=speaker, role=role, text=text, said_at=said_at, **more)


def window(*turns: Turn, before: tuple[Turn, ...] = ()) -> Window:
    return Window(
        turns=turns,
        before=before,
        candidates=(
            Candidate(number=0, node_id=NOBODY, label="Mara", type="Person", aliases=("I", "me")),
            Candidate(number=1, node_id=NOBODY, label="Ines", type="Person", relations=("sister",)),
        ),
        speakers={"Mara": 0, "Leo": None},
        ontology=ONTOLOGY,
    )


def entity(key: int, name: str, kind: str = "Person", **more: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "known": None,
        "named": True,
        "aliases": [],
        "of": None,
        "relation": "",
        "turn": 0,
        "quote": name,
    }
    return {"key": key, "name": name, "type": kind, **plain, **more}


def fact(subject: int, kind: str, thing: int, **more: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "turn": 0,
        "quote": "q",
        "sentence": "A B.",
        "since": None,
        "until": None,
        "change": "holds",
    }
    return {"subject": subject, "type": kind, "object": thing, "confidence": 1.0, **plain, **more}


def answer(*entities: Any, facts: tuple[Any, ...] = (), signs: tuple[Any, ...] = ()) -> dict[str, Any]:
    return {"entities": list(entities), "facts": list(facts), "signs": list(signs)}


ENDS = entity(0, "Mara"), entity(1, "Porto", "Place")
