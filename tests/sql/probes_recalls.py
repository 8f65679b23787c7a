"""Probes of what is known about recalls: one's own is salient and takes feedback, nobody else's."""

from __future__ import annotations

from tests.sql.probes import probe, refused, rows
from tests.sql.world import APP, CYPHER, READER, Doors, World, value

TOP = "SELECT memory_id FROM memsvc.top_of_mind(%s, 100)"
SHOWN = "SELECT text FROM memsvc.memories_shown(%s, ARRAY[%s])"
FEEDBACK = "SELECT outcome FROM memsvc.give_feedback(%s, %s, ARRAY[%s], '{}')"
CHANCE = "SELECT memsvc.random_memory(%s, 1)"


@probe
def what_is_salient_is_ones_own(doors: Doors, world: World) -> None:
    ada, bob = world.ada, world.bob
    for role in (APP, READER):
        with doors.enter(role, world.token(ada)) as connection:
            assert (ada.passage_id,) in rows(connection, TOP, ada.user_id), f"{role} has nothing on the mind"
            assert rows(connection, SHOWN, ada.user_id, ada.passage_id) != []
            assert value(connection, CHANCE, [ada.user_id]) is not None
            assert rows(connection, TOP, bob.user_id) == [], f"{role} reads Bob's mind"
            assert rows(connection, SHOWN, bob.user_id, bob.passage_id) == []
            assert value(connection, CHANCE, [bob.user_id]) is None
    refused(doors, CYPHER, world.token(ada), "SELECT * FROM memsvc.top_of_mind(NULL, 1)")


@probe
def feedback_reaches_ones_own_recalls_alone(doors: Doors, world: World) -> None:
    ada, bob = world.ada, world.bob
    recalls = "SELECT recall_id FROM memsvc.recall_events WHERE user_id = %s AND %s = ANY (memories)"
    known = {}
    for tenant in (ada, bob):
        with doors.enter(APP, world.token(tenant)) as connection:
            known[tenant.user_id] = value(connection, recalls, [tenant.user_id, tenant.passage_id])
    with doors.enter(APP, world.token(ada)) as connection:
        given = rows(connection, FEEDBACK, ada.user_id, known[ada.user_id], ada.passage_id)
        assert given == [("used",)]
        for user in (ada, bob):
            given = rows(connection, FEEDBACK, user.user_id, known[bob.user_id], bob.passage_id)
            assert given == [("unknown_recall",)], f"Ada judges a recall of Bob's: {given}"
        assert value(connection, "SELECT memsvc.fold_recalls(%s, 10)", [bob.user_id]) == 0
        assert value(connection, "SELECT memsvc.fold_recalls(%s, 10)", [ada.user_id]) == 1
    append = "SELECT memsvc.append_recall(%(user)s, uuidv7(), 'probe', 'eager', '{}')"
    refused(doors, APP, world.token(ada), append, {"user": bob.user_id})
    refused(doors, READER, world.token(ada), append, {"user": ada.user_id})
