"""A user who goes on writing while being moved loses nothing, and has nothing twice."""

from __future__ import annotations

import itertools
from dataclasses import replace
from uuid import UUID

import pytest

from memsvc.access.users import Owner, add_user, app_id
from memsvc.db.engine import Database
from tests.acceptance.killpoints import DOUBLED, WRONG_SIZES, WRONG_TERMS
from tests.cells.pair import QUICK, Deployment
from tests.cells.writers import Writer, run_with

pytestmark = pytest.mark.slow
APP = "writing"
SAID = "SELECT client_id, passage_id FROM memsvc.passages WHERE user_id = %s AND client_id IS NOT NULL"
STANDS = "SELECT version_id, recorded_to = 'infinity' FROM memsvc.edge_versions WHERE user_id = %s AND type = 'KNOWS'"
TRACES = "SELECT count(*) FROM memsvc.source_links WHERE user_id = %s AND passage_id = ANY (%s)"
ORPHANS = """
SELECT count(*) FROM memsvc.passages AS p LEFT JOIN memsvc.sources AS s USING (user_id, source_id)
WHERE p.user_id = %s AND s.source_id IS NULL
"""
_numbers = itertools.count()


@pytest.fixture
def owner(deployment: Deployment) -> Owner:
    """A user of the home."""

    async def make(db: Database) -> Owner:
        return (await add_user(db, await app_id(db, APP), name="Ada", external_id=f"ada-{next(_numbers)}")).owner

    made: Owner = run_with(deployment, "home", make)
    return made


def check(deployment: Deployment, cell: str, user: UUID, writer: Writer) -> None:
    """What was acknowledged is in the cell, once; what was erased is not."""
    rows = deployment.rows(cell, SAID, user)
    assert dict(rows) == writer.said
    assert len(rows) == len(writer.said)
    assert dict(deployment.rows(cell, STANDS, user)) == writer.facts
    assert deployment.rows(cell, TRACES, user, list(writer.erased.values())) == [(0,)]
    assert deployment.rows(cell, ORPHANS, user) == [(0,)]
    for wrong in (DOUBLED, WRONG_SIZES, WRONG_TERMS):
        assert [row for row in deployment.rows(cell, wrong) if user in row] == []


def test_there_and_back_under_load_nothing_is_lost_or_doubled(deployment: Deployment, owner: Owner) -> None:
    with Writer(deployment, owner) as writer:
        for to in ("north", "home", "north"):
            begun = len(writer.said) + len(writer.erased)
            while len(writer.said) + len(writer.erased) < begun + 15:
                assert not writer.errors
            moved = deployment.move(owner.user_id, to, APP)
            assert moved.pause is not None
            assert moved.pause.total < 5
    check(deployment, "north", owner.user_id, writer)
    assert set(deployment.left("home", owner.user_id)) == {"users"}
    assert len(writer.erased) > 5
    assert writer.longest_s < 5


def test_what_is_erased_while_rows_are_copied_stays_erased(
    deployment: Deployment, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memsvc.cells import journey  # noqa: PLC0415 - its rounds are what this test waits for

    with Writer(deployment, owner) as writer:
        rounds, plain = [0], journey.Journey.round

        def slow(self: journey.Journey, copier: object, *, compare: bool = False) -> int:
            done = plain(self, copier, compare=compare)  # type: ignore[arg-type]
            rounds[0] += 1
            begun = len(writer.erased)
            while len(writer.erased) < begun + 2:  # of what the round has copied
                assert not writer.errors
            return done

        monkeypatch.setattr(journey.Journey, "round", slow)
        deployment.move(owner.user_id, "north", APP, limits=replace(QUICK, rounds=3))
    assert rounds[0] > 2
    check(deployment, "north", owner.user_id, writer)
