"""Whether what people are to somebody tells them apart."""

from __future__ import annotations

import pytest

from memsvc.graph.operations import new_id
from memsvc.identity.cards import Card
from memsvc.identity.known import Holder, Link, choose
from memsvc.identity.mentions import Mention
from memsvc.identity.relations import apart


@pytest.mark.parametrize(
    ("one", "other", "two"),
    [
        ("colleague", "neighbour", True),
        ("brother", "cousin", True),
        ("boss", "aunt", True),
        ("mum", "mother", False),
        ("friend", "flatmate", False),
        ("boss", "coworker", False),
        ("girlfriend", "wife", False),
        ("father", "stepfather", False),
        ("", "cousin", False),
    ],
)
def test_roles_tell_people_apart_where_one_person_is_hardly_both(one: str, other: str, two: bool) -> None:
    assert apart(one, other) is apart(other, one) is two


@pytest.mark.parametrize(("relation", "same"), [("neighbour", False), ("coworker", True), ("", True)])
def test_a_namesake_in_another_role_is_somebody_else(relation: str, same: bool) -> None:
    card = Card(node_id=new_id(), type="Person", names=("Tom",))
    tom = Holder(card=card, here=True, links=(Link("colleague", "KNOWS", outgoing=True),))
    asked = Mention(key=1, name="Tom", type="Person", of=0, relation=relation)
    assert (choose(asked, [tom]).node_id == card.node_id) is same
