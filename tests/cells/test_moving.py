"""Moving a user to another cell: everything arrives, nothing stays, and nobody else notices."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from functools import partial

import psycopg
import pytest

from memsvc.db.engine import Database
from memsvc.db.epochs import at_epoch
from memsvc.db.identity import Signer
from memsvc.errors import CursorExpiredError
from memsvc.graph.events import Position, page_after, position_of
from tests.cells.pair import COPIED, Deployment
from tests.cells.writers import run_with
from tests.sql.world import APP, MODEL, Row, World, login_url, recall_rows

pytestmark = pytest.mark.slow
QUEUED = "SELECT message_id FROM memsvc.dramatiq_queue WHERE user_id = %s ORDER BY 1"
PENDING = "SELECT job_id FROM memsvc.jobs WHERE user_id = %s AND state = 'pending' ORDER BY 1"
ACTS = "SELECT action, details FROM memsvc.audit_log WHERE user_id = %s AND action LIKE 'user.%%' ORDER BY audit_id"


def recalled(deployment: Deployment, cell: str, world: World) -> list[Row]:
    """What Ada recalls in a cell: texts, scores and ids."""
    signer = Signer(deployment.settings.secret("identity_secret").encode(), 60)
    with psycopg.connect(login_url(deployment.url(cell), APP, deployment.settings)) as app:
        app.execute("SELECT memsvc.act_for(%s, %s, false, false)", [world.ada.user_id, signer.token(world.ada.user_id)])
        return recall_rows(app, world.ada.user_id)


def test_everything_of_a_user_arrives_and_nothing_stays(deployment: Deployment, world: World, app_name: str) -> None:
    ada, bob = world.ada.user_id, world.bob.user_id
    before, others = deployment.content("home", ada), deployment.content("home", bob)
    assert [table for table in COPIED if not before[table]] == [], "a table without a row proves nothing"
    found = recalled(deployment, "home", world)
    moved = deployment.move(ada, "north", app_name)
    assert deployment.place(ada) == (1, 1, None)
    assert deployment.content("north", ada) == before
    assert recalled(deployment, "north", world) == found
    assert set(deployment.left("home", ada)) == {"users", "api_keys"}
    assert deployment.content("home", bob) == others
    gone = {"outbox", "dramatiq_queue"}
    assert {table: rows for table, rows in moved.rows.items() if table not in gone} == {
        table: len(rows) for table, rows in before.items()
    }
    assert moved.pause is not None
    assert moved.copied == sum(map(len, before.values())), "nothing was copied twice"


def test_back_home_everything_is_as_before(deployment: Deployment, world: World, app_name: str) -> None:
    ada = world.ada.user_id
    before, found = deployment.content("home", ada), recalled(deployment, "home", world)
    deployment.run(
        "home", "UPDATE memsvc.users SET paused_at = '2026-01-02Z', forgetting = true WHERE user_id = %s", ada
    )
    row = "SELECT to_jsonb(u) - 'cell_id' - 'epoch' FROM memsvc.users AS u WHERE user_id = %s"
    mine = deployment.rows("home", row, ada)
    deployment.move(ada, "north", app_name)
    assert deployment.rows("north", row, ada) == mine
    deployment.run("north", "UPDATE memsvc.users SET paused_at = '2026-01-03Z' WHERE user_id = %s", ada)
    deployment.move(ada, "home", app_name)
    assert deployment.place(ada) == (0, 2, None)
    assert deployment.content("home", ada) == before
    assert recalled(deployment, "home", world) == found
    assert deployment.left("north", ada) == {}
    [(paused,)] = deployment.rows("home", "SELECT paused_at::date::text FROM memsvc.users WHERE user_id = %s", ada)
    assert paused == "2026-01-03"


def test_a_user_who_is_in_the_new_cell_already_is_not_touched(
    deployment: Deployment, world: World, app_name: str
) -> None:
    ada, bob = world.ada.user_id, world.bob.user_id
    deployment.move(bob, "north", app_name)
    others, queued = deployment.content("north", bob), deployment.rows("north", QUEUED, bob)
    deployment.move(ada, "north", app_name)
    deployment.move(ada, "home", app_name)
    assert deployment.content("north", bob) == others
    assert deployment.rows("north", QUEUED, bob) == queued


def test_jobs_are_sent_anew_and_live_clients_are_told(deployment: Deployment, world: World, app_name: str) -> None:
    ada = world.ada.user_id
    jobs = deployment.rows("home", PENDING, ada)
    assert jobs
    deployment.move(ada, "north", app_name)
    assert deployment.rows("north", PENDING, ada) == deployment.rows("north", QUEUED, ada) == jobs
    assert deployment.rows("home", QUEUED, ada) == []
    assert deployment.rows("north", "SELECT kind FROM memsvc.outbox WHERE user_id = %s", ada) == [("memory.erased",)]


def test_a_cursor_of_the_old_cell_is_not_believed_in_the_new_one(
    deployment: Deployment, world: World, app_name: str
) -> None:
    ada = world.ada.user_id

    async def cursor(db: Database) -> str:
        found = await page_after(db, ada, await position_of(db, None, 30), 1)
        return found.items[0].cursor

    async def asked(db: Database, given: str) -> int:
        at_epoch(ada, deployment.place(ada)[1])
        return len((await page_after(db, ada, await position_of(db, given, 30, ada), 10)).items)

    old = run_with(deployment, "home", cursor)
    assert run_with(deployment, "home", lambda db: asked(db, old)) > 1
    time.sleep(1.1)  # cursors count seconds
    deployment.move(ada, "north", app_name)
    # By its transaction's number alone, the new cell would believe it.
    known = Position.read(old)
    early = replace(known, end=1, running=(), transaction=1).cursor
    for given in (old, early):
        with pytest.raises(CursorExpiredError):
            run_with(deployment, "north", partial(asked, given=given))
    new = run_with(deployment, "north", cursor)
    assert run_with(deployment, "north", lambda db: asked(db, new)) == 0


def test_the_directory_and_both_cells_have_receipts(deployment: Deployment, world: World, app_name: str) -> None:
    ada = world.ada.user_id
    moved = deployment.move(ada, "north", app_name)
    home = dict(deployment.rows("home", ACTS, ada))
    assert [*home][-4:] == ["user.move", "user.switch", "user.left", "user.moved"]
    assert home["user.left"] == {"rows": moved.rows}
    assert home["user.moved"] == {
        "from": "home", "to": "north", "rows": moved.rows, "copied": moved.copied, "stopped_s": moved.stopped_s
    }  # fmt: skip
    assert "Ada" not in json.dumps(home["user.moved"])
    assert [action for action, _details in deployment.rows("north", ACTS, ada)] == ["user.arrived"]
    deployment.move(ada, "home", app_name)
    assert [action for action, _details in deployment.rows("north", ACTS, ada)] == ["user.arrived", "user.left"]


def test_a_cell_without_models_gets_the_active_one_and_no_half_built_one(
    deployment: Deployment, world: World, app_name: str
) -> None:
    ada = world.ada.user_id
    kept = deployment.rows("north", "SELECT * FROM memsvc.embedding_models")
    assert len(kept) == 2
    deployment.run("north", "UPDATE memsvc.embedding_models SET state = 'retired', name = 'old ' || name")
    deployment.run("home", "UPDATE memsvc.embedding_models SET projection = decode(repeat('ab', 256), 'hex')")
    try:
        deployment.move(ada, "north", app_name)
        models = "SELECT name, state, projection FROM memsvc.embedding_models WHERE state <> 'retired'"
        assert deployment.rows("north", models) == [
            row for row in deployment.rows("home", models) if row[1] == "active"
        ]
        assert deployment.rows("north", "SELECT FROM memsvc.embeddings WHERE user_id = %s", ada) == []
        assert deployment.content("north", ada)["passages"]
    finally:
        deployment.move(ada, "home", app_name)
        deployment.run("home", "UPDATE memsvc.embedding_models SET projection = NULL")
        deployment.run("north", "DELETE FROM memsvc.embedding_models WHERE name NOT LIKE 'old %'")
        deployment.run(
            "north",
            "UPDATE memsvc.embedding_models SET name = substr(name, 5), "
            f"state = CASE substr(name, 5) WHEN '{MODEL}' THEN 'building' ELSE 'active' END",
        )


def test_token_vectors_of_another_projection_stay_and_are_made_anew(
    deployment: Deployment, world: World, app_name: str
) -> None:
    ada = world.ada.user_id
    deployment.run("home", "UPDATE memsvc.embedding_models SET projection = decode(repeat('ab', 256), 'hex')")
    deployment.run("north", "UPDATE memsvc.embedding_models SET projection = decode(repeat('cd', 256), 'hex')")
    try:
        deployment.move(ada, "north", app_name)
        content = deployment.content("north", ada)
        assert content["embeddings"]
        assert content["token_vectors"] == []
        wanted = "SELECT state FROM memsvc.jobs WHERE user_id = %s AND kind = 'embed' AND state = 'pending'"
        assert deployment.rows("north", wanted, ada) == [("pending",)]
    finally:
        for cell in ("home", "north"):
            deployment.run(cell, "UPDATE memsvc.embedding_models SET projection = NULL")


def test_a_preview_counts_and_changes_nothing(deployment: Deployment, world: World, app_name: str) -> None:
    from memsvc.cells.moving import preview_move  # noqa: PLC0415 - the only one

    ada = world.ada.user_id
    before = deployment.content("home", ada)
    shown = preview_move(deployment.home, deployment.settings, app_name, str(ada), "north")
    assert shown.rows == {table: len(rows) for table, rows in before.items()}
    assert all(size > 0 for size in shown.bytes.values())
    assert deployment.left("north", ada) == {}
    assert deployment.place(ada) == (0, 0, None)
    assert deployment.rows("home", "SELECT FROM memsvc.moves") == []
