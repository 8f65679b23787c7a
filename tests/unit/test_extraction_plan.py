"""What a window does to nodes that are known."""

from __future__ import annotations

from memsvc.extract.extraction import Entity
from memsvc.extract.plan import KnownNode, Made, Planner, roles_of
from memsvc.extract.validation import Checked
from memsvc.graph.operations import Correct, Evidence, Node, new_id


def test_a_name_for_a_known_node_refines_what_is_known_of_it() -> None:
    """So what it was called before is current again when who told its name is erased."""
    known = KnownNode(
        node_id=new_id(), stored_id=new_id(), version_id=new_id(), type="Object", label="blue van", description="old",
        data={"named": False, "colour": "blue"}, importance=5, valid_from=None, valid_to=None, names=[], supported=True,
    )  # fmt: skip
    said = Evidence(passage_id=new_id())
    named = Entity(key=0, name="Rocinante", type="Object", named=True)
    [operation] = Planner._node(Made(known.node_id, "Object", known), [named], [said])
    assert operation == Correct(
        version=known.version_id, content={"label": "Rocinante", "data": {"colour": "blue"}}, refines=True,
        evidence=[said],
    )  # fmt: skip


def test_what_it_is_called_already_is_no_name_for_a_known_node() -> None:
    known = KnownNode(
        node_id=new_id(), stored_id=new_id(), version_id=new_id(), type="Event", label="wedding", description="",
        data={"named": False}, importance=5, valid_from=None, valid_to=None, names=[], supported=True,
    )  # fmt: skip
    again = Entity(key=0, name="Wedding", type="Event", named=True)
    [operation] = Planner._node(Made(known.node_id, "Event", known), [again], [Evidence(passage_id=new_id())])
    assert isinstance(operation, Node)
    assert operation.data == {"named": False}


def test_people_of_one_name_are_several_where_their_roles_say_so() -> None:
    def roles(*given: tuple[int, str]) -> set[int]:
        entities = [
            Entity(key=key, name="Tom", type="Person", of=of, relation=relation)
            for key, (of, relation) in enumerate(given, start=10)
        ]
        return set(roles_of(Checked(entities={entity.key: entity for entity in entities})))

    assert roles((0, "colleague"), (0, "neighbour")) == {10, 11}
    assert roles((0, "brother"), (1, "brother")) == {10, 11}
    assert roles((0, "mom"), (0, "mother")) == set()
    assert roles((0, "friend"), (0, "colleague")) == set()
