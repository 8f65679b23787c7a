"""A large erasure that is killed, again and again, is finished by whoever comes next. fsync is on here."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import psycopg
import pytest

from tests.acceptance.killpoints import Part, Rig, assert_books_right, delays, wait_until
from tests.acceptance.test_kill import ingest_of

pytestmark = pytest.mark.acceptance
TOP = Path(__file__).resolve().parents[2]
CONVERSATION = "eraser-ids"


def erasing(rig: Rig, user_id: object, source_id: object) -> Part:
    """A process that erases a conversation."""
    script = (sys.executable, "-m", "tests.fakes.slow_eraser", str(user_id), str(source_id))
    return rig._spawn(script, {"database_url": rig.admin_url()})


def counted(admin: psycopg.Connection, table: str, source_id: object) -> int:
    row = admin.execute(f"SELECT count(*) FROM memsvc.{table} WHERE source_id = %s".encode(), [source_id]).fetchone()
    assert row
    return int(row[0])


def test_a_large_erasure_killed_again_and_again_is_finished_by_its_job(rig: Rig) -> None:
    rig.environment["PYTHONPATH"] = str(TOP)
    command, expected = ingest_of(rig, "eraser")
    rig.ok(*command)
    kept = {name: texts for name, texts in expected.items() if name != CONVERSATION}
    with rig.admin() as admin:
        found = admin.execute(
            "SELECT user_id, source_id FROM memsvc.sources WHERE identifier = %s", [CONVERSATION]
        ).fetchone()
        assert found
        user_id, source_id = found
        whole = left = counted(admin, "passages", source_id)
        assert whole > 900
        with rig.held("passages") as in_the_middle:  # links and words are gone, the rest of the batch is not
            eraser = erasing(rig, user_id, source_id)
            wait_until(lambda: in_the_middle() or not eraser.running)
            assert eraser.running, eraser.finish()[2][-1500:]
            rig.kill(eraser)
        rig.wait_for_backends(admin)
        assert counted(admin, "passages", source_id) == whole
        assert_books_right(admin)
        for more in delays(4, 4, 0, 0.05):
            eraser = erasing(rig, user_id, source_id)
            wait_until(lambda: counted(admin, "passages", source_id) < left, pause=0.001)  # noqa: B023
            time.sleep(more)
            rig.kill(eraser)
            rig.wait_for_backends(admin)
            left = counted(admin, "passages", source_id)
            assert 0 < left < whole
            assert (whole - left) % 40 == 0
            assert_books_right(admin)
        receipt = (
            "SELECT state, (counts ->> 'passages')::integer, verified_at IS NOT NULL, leftovers FROM memsvc.erasures"
        )
        assert admin.execute(receipt).fetchall() == [("pending", whole - left, False, {})]
        rig.ok("jobs", "run")
        assert admin.execute(receipt).fetchall() == [("done", whole, True, {})]
        assert counted(admin, "passages", source_id) == counted(admin, "sources", source_id) == 0
        for conversation, texts in kept.items():
            assert rig.texts(admin, conversation) == texts
        assert_books_right(admin)
        words = admin.execute("SELECT count(*) FROM memsvc.terms WHERE passages <= 0").fetchone()
        assert words == (0,)
    again = rig.ok(*command)
    assert f'"erased": {len(expected[CONVERSATION])}' in again
