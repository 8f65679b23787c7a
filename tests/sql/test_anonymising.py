"""Anonymising: no word and no id of the user is left, and what stays are sums that name nobody, counted once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from uuid import UUID

import psycopg
import pytest

from memsvc.access.users import add_user, app_id, find_user
from memsvc.db.engine import Database, role_url
from memsvc.erasing.anonymising import Figure, anonymise_user, figures_of_app, preview_anonymising
from memsvc.erasing.users import erase_user, preview_user
from memsvc.errors import UserUnknownError
from memsvc.graph.history import write
from memsvc.graph.ontology import NodeTypeIn, propose
from memsvc.graph.operations import Node
from memsvc.settings import Settings
from tests.sql.conftest import Scratch
from tests.sql.test_erase_users import remember
from tests.sql.traces import traces, words_in_dump

pytestmark = [pytest.mark.server, pytest.mark.slow]
GONE, KEPT = "quarkgone", "quarkkept"


@pytest.fixture
async def place(scratch: Scratch, settings: Settings) -> AsyncIterator[tuple[Database, str, UUID]]:
    """A database of its own, its administrator's URL, and an app."""
    url = scratch("anonymising")
    database = Database(role_url(url, "memsvc_app", settings.secret("app_password")), settings)
    yield database, url, await app_id(database, "figures")
    await database.close()


def this_month() -> str:
    return f"{datetime.now(UTC):%Y-%m-01}"


async def test_no_word_and_no_id_is_left_and_sums_stay(place: tuple[Database, str, UUID]) -> None:
    db, url, app = place
    kept = await add_user(db, app, name=f"{KEPT} name")
    await remember(db, kept, KEPT)
    before = words_in_dump(url)
    gone = await add_user(db, app, name=f"{GONE} name", external_id=f"{GONE}@example.org", aliases=[f"{GONE} alias"])
    await remember(db, gone, GONE)
    words = {word for word in words_in_dump(url) if GONE in word}
    assert words
    previewed = await preview_anonymising(db, app, f"{GONE}@example.org")
    assert await figures_of_app(db, app) == []
    made = await anonymise_user(db, app, f"{GONE}@example.org", requested_by="tests")
    assert (made.receipt.state, made.receipt.verified, made.added) == ("done", True, len(previewed))
    stayed = await figures_of_app(db, app)
    assert stayed == previewed
    assert {f.month.isoformat() for f in stayed} == {this_month()}
    numbers = {(f.what, f.kind): f.number for f in stayed}
    assert numbers["users", ""] == 1
    assert numbers["messages", "user"] == 30
    assert numbers["nodes", "Person"] == 3  # the user's own, and two
    assert numbers["facts", "KNOWS"] == 1
    with psycopg.connect(url, autocommit=True) as admin:
        assert traces(admin, url, words) == {}
        rows = admin.execute("SELECT f::text FROM memsvc.anonymous_figures AS f").fetchall()
    assert str(gone.user_id) not in str(rows)
    assert {word for word in words_in_dump(url) if KEPT in word} == {word for word in before if KEPT in word}
    with pytest.raises(UserUnknownError):
        await find_user(db, app, f"{GONE}@example.org")


async def test_users_are_summed_and_each_is_counted_once(place: tuple[Database, str, UUID]) -> None:
    db, _, app = place
    for name in ("Ada", "Bob"):
        await remember(db, await add_user(db, app, name=name), name)
    results = await asyncio.gather(
        *(anonymise_user(db, app, name, requested_by="tests") for name in ("Ada", "Ada", "Ada", "Bob")),
        return_exceptions=True,
    )
    assert sum(one.added > 0 for one in results if not isinstance(one, BaseException)) == 2
    assert all(isinstance(one, UserUnknownError) for one in results if isinstance(one, BaseException))
    numbers = {(f.what, f.kind): f.number for f in await figures_of_app(db, app)}
    assert (numbers["users", ""], numbers["messages", "user"]) == (2, 60)
    with pytest.raises(UserUnknownError):
        await anonymise_user(db, app, "Ada", requested_by="tests")


async def test_who_is_being_erased_leaves_no_figure_and_an_interrupted_anonymising_goes_on(
    place: tuple[Database, str, UUID],
) -> None:
    db, _, app = place
    for name in ("Ada", "Bob"):
        await remember(db, await add_user(db, app, name=name), name)
    await erase_user(db, app, "Ada", requested_by="tests", seconds=0)
    assert (await anonymise_user(db, app, "Ada", requested_by="tests")).added == 0
    assert await figures_of_app(db, app) == []
    first = await anonymise_user(db, app, "Bob", requested_by="tests", seconds=0)
    assert (first.receipt.state, first.added > 0) == ("pending", True)
    again = await anonymise_user(db, app, "Bob", requested_by="tests")
    assert (again.receipt.state, again.added) == ("done", 0)
    assert {f.what: f.number for f in await figures_of_app(db, app)}["users"] == 1


async def test_names_of_the_users_own_types_do_not_stay(place: tuple[Database, str, UUID]) -> None:
    db, _, app = place
    user = await add_user(db, app, name="Ada")
    await propose(
        db, user.owner, NodeTypeIn(name="Quarkgone", description="Mine.", parent="Person"), by="user", approve=True
    )
    await write(db, user.owner, [Node(type="Quarkgone", label="x")], asserted_by="user")
    found = await preview_anonymising(db, app, "Ada")
    assert Figure(month=found[0].month, what="nodes", kind="own", number=1) in found
    assert GONE not in str(found).lower()


async def test_an_app_reads_its_own_figures_and_anonymises_its_own_users(place: tuple[Database, str, UUID]) -> None:
    db, _, app = place
    other = await app_id(db, "others")
    user = await add_user(db, app, name="Ada")
    for refused in (anonymise_user(db, other, str(user.user_id), requested_by="tests"),
                    preview_anonymising(db, other, "Ada")):  # fmt: skip
        with pytest.raises(UserUnknownError):
            await refused
    assert (await preview_user(db, app, "Ada"))["users"] == 1
    await anonymise_user(db, app, "Ada", requested_by="tests")
    assert await figures_of_app(db, other) == []
    assert await figures_of_app(db, app) != []
