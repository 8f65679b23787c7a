"""Probes of late interaction: who lacks token vectors gets a job for them, and nobody else."""

from __future__ import annotations

from tests.sql.probes import probe
from tests.sql.world import APP, MODEL, UNUSED_MODEL, Doors, World, value

NAMED = "(SELECT model_id FROM memsvc.embedding_models WHERE name = %s)"
KEEP = f"SELECT memsvc.keep_projection({NAMED}, %s)"
ASKED = "SELECT coalesce(sum(requests), 0) FROM memsvc.jobs WHERE kind = 'embed' AND state = 'pending'"


@probe
def a_projection_asks_for_work_only_where_token_vectors_lack(doors: Doors, world: World) -> None:
    for projection in (b"1" * 256, b"2" * 256):  # each visit is rolled back
        with doors.enter(APP, world.token(world.ada)) as connection:
            before = value(connection, ASKED)
            assert value(connection, "SELECT count(*) FROM memsvc.token_vectors") > 0
            assert bytes(value(connection, KEEP, [MODEL, projection])) == projection
            assert value(connection, ASKED) == before, "who has token vectors is asked for them"
            store = f"SELECT memsvc.store_embeddings(%s, {NAMED}, %s, %s::public.halfvec[])"
            passage = world.ada.passage_id
            assert value(connection, store, [world.ada.user_id, UNUSED_MODEL, [passage], ["[1,0,0]"]]) == 1
            assert bytes(value(connection, KEEP, [UNUSED_MODEL, projection])) == projection
            assert value(connection, ASKED) == before + 1, "who lacks token vectors is not asked for them"
