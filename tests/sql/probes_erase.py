"""Probes of erasing: nobody erases another's memories, not even the role that may delete."""

from __future__ import annotations

from psycopg import sql

from tests.sql.probes import probe, refused, rows
from tests.sql.world import APP, ERASER, READER, Doors, World, value

BEGIN = "SELECT state, counts FROM memsvc.begin_erasure(%(user)s, %(kind)s, %(subject)s, 'probe', 10)"
RETIRE = "SELECT memsvc.retire_passages(%(user)s, ARRAY[%(subject)s])"
CLOSE = "SELECT memsvc.close_known(%(user)s, ARRAY[%(subject)s], ARRAY[now()])"
CLOSE_CHUNKS = "SELECT memsvc.close_chunks(%(user)s, %(subject)s, ARRAY[%(subject)s], 1, now())"
MAKE_ROOM = "SELECT memsvc.make_room(%(user)s, %(subject)s, 0, 1)"
PLACE_CHUNKS = "SELECT memsvc.place_chunks(%(user)s, %(subject)s, ARRAY[%(subject)s], ARRAY[jsonb '{}'])"
MOVE = "SELECT memsvc.move_document(%(user)s, %(subject)s, 'probe')"
CHUNKS = (CLOSE_CHUNKS, MAKE_ROOM, PLACE_CHUNKS, MOVE)
PRUNE = "SELECT memsvc.prune_versions(%(user)s, 1, ARRAY[%(subject)s], ARRAY[1])"
GO_ON = "SELECT state FROM memsvc.erase_batch(%(user)s, %(subject)s, 10)"


@probe
def one_erases_what_is_ones_own(doors: Doors, world: World) -> None:
    ada, bob = world.ada, world.bob
    with doors.enter(APP, world.token(ada)) as connection:
        held = "SELECT count(*) FROM memsvc.passages WHERE passage_id = %s"
        before = value(connection, held, [ada.passage_id])
        assert before == 1
        seen = rows(
            connection, "SELECT state FROM memsvc.erase(%s, 'message', %s, 'probe', 10)", ada.user_id, ada.passage_id
        )
        assert seen == [("done",)]
        assert value(connection, held, [ada.passage_id]) == 0
        assert (
            rows(connection, "SELECT * FROM memsvc.erase(%s, 'message', %s, 'probe', 10)", ada.user_id, bob.passage_id)
            == []
        ), "Ada erases by the id of a passage of Bob's"
        receipts = rows(
            connection,
            "SELECT v.leftovers FROM memsvc.erasures AS e CROSS JOIN LATERAL "
            "memsvc.verify_erasure(e.user_id, e.erasure_id) AS v WHERE v.state = 'done'",
        )
        assert len(receipts) == 2
    for tenant in (ada, bob):
        with doors.enter(APP, world.token(tenant)) as connection:
            assert value(connection, held, [tenant.passage_id]) == 1  # the visit was rolled back


@probe
def nobody_erases_what_is_anothers(doors: Doors, world: World) -> None:
    for user, token in ((world.bob, world.token(world.ada)), (world.ada, "")):
        for kind, subject in (
            ("message", user.passage_id),
            ("source", user.source_id),
            ("fact", user.edge_id),
            ("node", user.node_id),
        ):
            refused(doors, APP, token, BEGIN, {"user": user.user_id, "kind": kind, "subject": subject})
        refused(doors, APP, token, GO_ON, {"user": user.user_id, "subject": user.node_id})
        for call in (RETIRE, CLOSE, PRUNE, *CHUNKS):
            refused(doors, APP, token, call, {"user": user.user_id, "subject": user.passage_id})
    for call in (
        BEGIN,
        GO_ON,
        RETIRE,
        CLOSE,
        *CHUNKS,
        "SELECT memsvc.erase(%(user)s, %(kind)s, %(subject)s, 'probe', 10)",
    ):
        mine = {"user": world.ada.user_id, "kind": "source", "subject": world.ada.source_id}
        refused(doors, READER, world.token(world.ada), call, mine)


@probe
def who_erases_reaches_rows_of_the_proved_user_alone(doors: Doors, world: World) -> None:
    for table in ("passages", "embeddings", "source_links", "edge_versions", "erasures", "tombstones", "terms"):
        count = sql.SQL("SELECT user_id, count(*) FROM memsvc.{} GROUP BY user_id").format(sql.Identifier(table))
        with doors.enter(ERASER, world.token(world.ada)) as connection:
            seen = connection.execute(count).fetchall()
            assert seen == [(world.ada.user_id, world.counts[table][world.ada.user_id])], f"{table}: {seen}"
        with doors.enter(ERASER) as connection:
            assert connection.execute(count).fetchall() == [], f"{table} without identity"
    receipt = "(user_id, kind, subject_id, requested_by) VALUES (%(user)s, 'node', %(user)s, 'probe')"
    for values in (f"erasures {receipt}", "tombstones (user_id, digest) VALUES (%(user)s, sha256('probe'))"):
        insert = f"INSERT INTO memsvc.{values}"
        with doors.enter(ERASER, world.token(world.ada)) as connection:
            assert connection.execute(insert.encode(), {"user": world.ada.user_id}).rowcount == 1
        refused(doors, ERASER, world.token(world.ada), insert, {"user": world.bob.user_id})
