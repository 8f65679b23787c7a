"""The set of nodes, facts, notes, messages and instructions: how it is read, written and counted; no database."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from bench.harness import Outcome
from bench.known import OPEN, Person, Written, as_set, by_kind, day, edge_type, judge, operations, read
from memsvc.errors import ConfigurationError
from memsvc.graph.ontology import EdgeType, NodeType, Ontology
from memsvc.graph.operations import Alias, Edge, Node
from memsvc.recall.results import RecalledFact
from tests.recalled import memory

OWN = UUID(int=1)
ABOUT_TYPES: dict[str, Any] = {
    "status": "core", "category": "", "description": "", "parent": None, "reason": "", "proposed_by": None,
    "proposed_at": None, "decided_by": None, "decided_at": None,
}  # fmt: skip
TYPES = Ontology(
    node_types=[
        NodeType(name=name, nodes=0, **ABOUT_TYPES) for name in ("Person", "Place", "Organization", "Instruction")
    ],
    edge_types=[
        EdgeType(name=name, from_types=starts, to_types=ends, functional=False, facts=0, **ABOUT_TYPES)
        for name, starts, ends in (("LIVES_IN", ["Person"], ["Place"]), ("RELATED_TO", [], []))
    ],
)
ADA: dict[str, list[dict[str, Any]]] = {
    "nodes": [
        {"id": "n1", "type": "Person", "label": "Ada Wren", "names": ["Ada"], "description": "A gardener."},
        {"id": "n2", "type": "Place", "label": "Leeds", "names": [], "description": None},
        {"id": "n3", "type": "Boat", "label": "the Heron", "names": ["Heron"], "description": "Leaks."},
    ],
    "facts": [
        {
            "id": "f1", "from": "n1", "type": "LIVES_IN", "to": "n2", "sentence": "Ada lives in Leeds.",
            "valid_from": "2020-02-01", "valid_to": "2020-02-29",
        },
        {
            "id": "f2", "from": "n3", "type": "LIVES_IN", "to": "n2", "sentence": "The Heron lies in Leeds.",
            "valid_from": None, "valid_to": None,
        },
    ],
    "notes": [{"id": "t1", "title": "Roses", "text": "Cut them in March."}],
    "messages": [
        {"id": "m1", "time": "2025-01-03T07:40:00Z", "speaker": "Ada", "text": "Is it raining?"},
        {"id": "m2", "time": "2025-01-03T07:41:00Z", "speaker": "Assistant", "text": "Yes."},
        {"id": "m3", "time": "2025-01-03T07:42:00Z", "speaker": "Bo", "text": "The Heron leaks."},
    ],
    "instructions": [{"id": "i1", "text": "Use metres."}],
    "questions": [
        {"id": "q1", "question": "Is the boat dry?", "answers": ["n3", "m3"], "shares_words": False},
        {"id": "q2", "question": "When are roses cut?", "answers": ["t1"], "shares_words": True},
    ],
}  # fmt: skip


def written(folder: Path, **more: list[dict[str, Any]]) -> Path:
    """A folder with Ada's files, some of them others."""
    (folder / "ada").mkdir()
    for name, rows in {**ADA, **more}.items():
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "ada" / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def ada(tmp_path: Path) -> Person:
    (person,) = read(["ada"], written(tmp_path))
    return person


def test_the_open_gold_can_be_read() -> None:
    data = as_set(people := read())
    assert [person.name for person in people] == list(OPEN)
    assert len(data.questions) == len(data.members("all")) == 120
    assert len(data.members("shares_words")) + len(data.members("no_shared_words")) == 120


def test_people_speak_in_their_roles_and_ids_stay(ada: Person) -> None:
    assert [(one.id, one.role, one.speaker) for one in ada.sent()] == [
        ("m1", "user", "Ada"), ("m2", "assistant", "Assistant"), ("m3", "other", "Bo"),
    ]  # fmt: skip


def test_an_answer_that_is_no_memory_is_refused(tmp_path: Path) -> None:
    asked = {"id": "q1", "question": "?", "answers": ["n9"], "shares_words": False}
    with pytest.raises(ConfigurationError, match="ada has no memory n9"):
        read(["ada"], written(tmp_path, questions=[asked]))


def test_a_first_node_that_is_not_the_person_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="first node of ada"):
        read(["ada"], written(tmp_path, nodes=ADA["nodes"][1:] + ADA["nodes"][:1]))


def test_a_person_who_says_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="says nothing"):
        read(["ada"], written(tmp_path, messages=ADA["messages"][1:], questions=ADA["questions"]))


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    (written(tmp_path) / "ada" / "notes.jsonl").unlink()
    with pytest.raises(ConfigurationError, match=r"notes\.jsonl"):
        read(["ada"], tmp_path)


def test_the_person_is_the_users_own_node(ada: Person) -> None:
    made, makes, _ = operations(ada, OWN, TYPES)
    assert isinstance(made[0], Node)
    assert (made[0].node, made[0].data, makes[0]) == (OWN, {"self": True}, "n1")
    names = [(one.node, one.alias) for one in made if isinstance(one, Alias)]
    assert names == [(OWN, "Ada Wren"), (OWN, "Ada"), (3, "Leeds"), (5, "the Heron"), (5, "Heron")]


def test_types_that_the_ontology_lacks_or_forbids_are_replaced(ada: Person) -> None:
    made, makes, replaced = operations(ada, OWN, TYPES)
    assert [one.type for one in made if isinstance(one, Node)] == ["Person", "Place", "Concept", "Instruction"]
    facts = [one for one in made if isinstance(one, Edge)]
    assert [(one.from_node, one.type, one.to_node) for one in facts] == [(OWN, "LIVES_IN", 3), (5, "RELATED_TO", 3)]
    assert replaced == ["Boat", "LIVES_IN"]
    assert [*makes.values()] == ["n1", "n2", "n3", "f1", "f2", "i1"]
    assert edge_type("SAILS", ("Person", "Place"), TYPES) == "RELATED_TO"


def test_a_fact_is_true_until_the_end_of_its_last_day(ada: Person) -> None:
    made, _, _ = operations(ada, OWN, TYPES)
    fact = next(one for one in made if isinstance(one, Edge))
    assert (fact.valid_from, fact.valid_to) == (datetime(2020, 2, 1, tzinfo=UTC), datetime(2020, 3, 1, tzinfo=UTC))


@pytest.mark.parametrize(("text", "month"), [("2021", 1), ("2021-05", 5), ("2021-05-01", 5)])
def test_days_months_and_years_are_read(text: str, month: int) -> None:
    assert day(text) == datetime(2021, month, 1, tzinfo=UTC)
    assert day(None) is None


def test_a_memory_is_known_by_what_it_carries() -> None:
    node, edge, instruction = UUID(int=3), UUID(int=4), UUID(int=5)
    found = Written(ids={node: ("ada", "n3"), edge: ("ada", "f1"), instruction: ("ada", "i1")})
    fact = RecalledFact(
        version_id=UUID(int=9), edge_id=edge, type="LIVES_IN", from_node=node, from_label="", to_node=node, to_label="",
        valid_from=None, valid_to=None, confidence=1.0,
    )  # fmt: skip
    said = memory(1)
    other = SimpleNamespace(fact=None, memory_id=UUID(int=8), conversation="ada", message_id=None)
    assert found.key(said) == (said.conversation, said.message_id)
    assert found.key(memory(1, kind="fact", fact=fact)) == ("ada", "f1"), "not as its message or the node at its end"
    for name, one in (("node_id", node), ("instruction_id", instruction), ("block_id", instruction)):
        carrying: Any = SimpleNamespace(**{**vars(other), name: one})
        assert found.key(carrying) == found.ids[one]
    unknown: Any = other
    assert found.key(unknown) == ("", str(UUID(int=8)))


def test_an_answer_of_two_kinds_counts_for_each_alone(ada: Person, capsys: pytest.CaptureFixture[str]) -> None:
    data = as_set([ada])
    outcome = Outcome("recall")
    rankings = {"ada q1": [("ada", "m1"), ("ada", "m3")], "ada q2": [("bo", "t1")]}
    judge("default", data, by_kind(data, [ada]), rankings, outcome)
    shown = {group: outcome.figures[f"default.{group}.recall@5"] for group in ("all", "ada", "no_shared_words")}
    assert shown == {"all": 0.25, "ada": 0.25, "no_shared_words": 0.5}
    assert outcome.figures["default.message.recall@5"] == 1.0
    assert outcome.figures["default.message.mrr"] == 0.5
    assert outcome.figures["default.node.recall@5"] == outcome.figures["default.note.recall@5"] == 0.0
    assert "default.fact.recall@5" not in outcome.figures, "nobody asks for a fact"
    assert "by kind of answer" in capsys.readouterr().out
