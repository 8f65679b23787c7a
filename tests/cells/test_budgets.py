"""Budgets of users of other cells: the home has all limits, and each cell counts what its own users use."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from typer.testing import CliRunner

from memsvc.access.budgets import Limits, write_budget
from memsvc.cells import budgets, crossing
from memsvc.cells.budgets import set_budget_everywhere
from memsvc.cells.directory import Cells
from memsvc.cells.managing import examine
from memsvc.cells.moving import abort_move, move_user
from memsvc.cli.app import app
from memsvc.cli.common import on_database
from memsvc.db.epochs import at_epoch
from memsvc.errors import LlmBudgetError, MoveRefusedError, UserMovingError
from memsvc.llm.calls import Account
from tests.cells.pair import QUICK
from tests.cells.served import EAST, HOME, Served, gone, tell

pytestmark = pytest.mark.slow

LIMITS = "SELECT whose, messages_per_day, tokens_per_day FROM memsvc.budgets WHERE of_user IS NULL ORDER BY whose"
OWN = "SELECT messages_per_day, messages FROM memsvc.budgets WHERE of_user = %s"
COPY = """
INSERT INTO memsvc.users (app_id, user_id, external_id, name, epoch, moving)
VALUES (%s, %s, 'copy', 'Copy', 1, 'frozen')
"""
COUNTED = "INSERT INTO memsvc.budgets (app_id, whose, of_user, day, messages) VALUES (%s, 'user', %s, now(), 9)"
APP = "SELECT app_id FROM memsvc.apps WHERE name = 'cells'"
CALL = (
    "INSERT INTO memsvc.model_calls (user_id, task, model, prompt_version, outcome, tokens_in, tokens_out, ms, cost, "
    "tries) VALUES (%s, 'extract', 'm', '1', 'answered', 30, 10, 5, 0.25, 1)"
)


@pytest.fixture(autouse=True)
def no_budgets(urls: tuple[str, str]) -> Iterator[None]:
    """No test leaves budgets to the next one."""
    yield
    for url in urls:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DELETE FROM memsvc.budgets")
            connection.execute("DELETE FROM memsvc.model_calls")


async def give(chief: httpx.AsyncClient, **budget: Any) -> None:
    answer = await chief.put("/v1/budgets", json=budget)
    assert answer.status_code == 204, answer.text


async def listed(chief: httpx.AsyncClient, **asked: Any) -> list[tuple[str, int | None, int, int]]:
    """Whose budget it is, the limit of messages, and the messages and tokens that were used."""
    answer = await chief.get("/v1/budgets", params=asked)
    assert answer.status_code == 200, answer.text
    return [
        (
            one["user_name"] or one["whose"],
            one["limits"]["messages_per_day"],
            one["used"]["messages"],
            one["used"]["tokens"],
        )
        for one in answer.json()["items"]
    ]


async def stored(client: httpx.AsyncClient, most: int = 9) -> int:
    """How many messages are stored until a budget is used up."""
    for number in range(most):
        answer = await tell(client, f"Message {number}.")
        if answer.status_code == 429:
            assert answer.json()["code"] == "budget_exceeded", answer.text
            return number
        assert answer.status_code == 202, answer.text
    return most


async def move(cells: Served, user: str, to: str) -> None:
    await asyncio.to_thread(move_user, cells.urls[HOME], cells.settings, "cells", user, to, limits=QUICK)


async def test_limits_of_an_app_of_each_user_and_of_one_hold_in_a_cell(cells: Served) -> None:
    zoe, as_zoe = await cells.person("Zilla", EAST)
    _, as_yves = await cells.person("Yves", EAST)
    _, as_ada = await cells.person("Adana", HOME)
    chief = await cells.client()
    for _ in range(2):  # repeating it changes nothing
        await give(chief, whose="each", messages_per_day=2)
        await give(chief, whose="user", user="Zilla", messages_per_day=3)
    assert [await stored(who) for who in (as_zoe, as_yves, as_ada)] == [3, 2, 2]
    await give(chief, whose="user", user="Zilla", messages_per_day=4)
    assert await stored(as_zoe) == 1, "the count began again"
    await give(chief, whose="user", user="Zilla")
    await give(chief, whose="each")
    assert cells.run(EAST, OWN, zoe) == cells.run(HOME, OWN, zoe) == []
    await give(chief, whose="app", messages_per_day=2)
    assert [await stored(who) for who in (as_zoe, as_yves, as_ada)] == [2, 0, 2], "each cell counts for itself"


async def test_the_list_has_what_all_cells_counted(cells: Served) -> None:
    zoe, as_zoe = await cells.person("Zenzi", EAST)
    yvo, as_yvo = await cells.person("Yvo", EAST)
    ada, as_ada = await cells.person("Adda", HOME)
    chief = await cells.client()
    await give(chief, whose="app", messages_per_day=100)
    await give(chief, whose="each", messages_per_day=50)
    await give(chief, whose="user", user="Zenzi", messages_per_day=7)
    for client, messages in ((as_zoe, 3), (as_yvo, 2), (as_ada, 1)):
        assert await stored(client, messages) == messages
    for cell, user in ((EAST, zoe), (EAST, yvo), (HOME, ada)):
        cells.run(cell, CALL, user)
    [(of_app,)] = cells.run(HOME, APP)
    for copied in (COPY, COUNTED):
        cells.run(EAST, copied, of_app, ada)  # by a move that is under way
    cells.run(EAST, CALL, ada)
    whole = await listed(chief)
    assert sorted(whole, key=str) == sorted(
        [("app", 100, 6, 120), ("each", 50, 0, 0), ("Zenzi", 7, 3, 40), ("Yvo", None, 2, 40), ("Adda", None, 1, 40)],
        key=str,
    )
    assert [await listed(chief, user=name) for name in ("Zenzi", "Yvo", "Adda")] == [
        [("Zenzi", 7, 3, 40)], [("Yvo", None, 2, 40)], [("Adda", None, 1, 40)]
    ]  # fmt: skip
    pages: list[str] = []
    cursor: dict[str, str] = {}
    while len(pages) < 9:
        page = (await chief.get("/v1/budgets", params={"limit": 1, **cursor})).json()
        pages += [one["user_name"] or one["whose"] for one in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert pages == [name for name, *_ in whole]
    cells.run(EAST, "DELETE FROM memsvc.model_calls")
    cells.run(EAST, "DELETE FROM memsvc.users WHERE user_id = %s", ada)


async def test_the_command_line_sets_and_shows_budgets_of_all_cells(
    cells: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    zoe, as_zoe = await cells.person("Zofia", EAST)
    monkeypatch.setattr(
        "memsvc.cli.budgets.with_database", lambda work: on_database(cells.urls[HOME], cells.settings, work)
    )

    async def run(*words: str) -> str:
        done = await asyncio.to_thread(CliRunner().invoke, app, ["budget", *words, "--app", "cells"])
        assert done.exit_code == 0, done.output
        return done.output

    await run("set", "--user", "Zofia", "--messages", "2")
    assert cells.run(EAST, OWN, zoe) == cells.run(HOME, OWN, zoe) == [(2, 0)]
    assert await stored(as_zoe) == 2
    [shown] = json.loads(await run("show", "--user", "Zofia", "--json"))
    assert (shown["limits"]["messages_per_day"], shown["used"]["messages"]) == (2, 2)


async def test_a_move_that_is_given_up_leaves_the_budget_where_the_user_is(
    cells: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, client = await cells.person("Abel", HOME)
    chief = await cells.client()
    await give(chief, whose="user", user="Abel", messages_per_day=3)
    assert await stored(client, 2) == 2

    def fail(*_given: object) -> None:
        raise MoveRefusedError

    with monkeypatch.context() as patched:
        patched.setattr(crossing, "_switch", fail)
        with pytest.raises(MoveRefusedError):
            await move(cells, user, "east")
    assert cells.run(EAST, OWN, user) == [(3, 2)]
    await give(chief, whose="user", user="Abel", messages_per_day=4)
    assert await listed(chief, user="Abel") == [("Abel", 4, 2, 0)]
    await move(cells, user, "east")  # goes on, with what counts now
    assert cells.run(EAST, OWN, user) == [(4, 2)]
    with monkeypatch.context() as patched:
        patched.setattr(crossing, "_switch", fail)
        with pytest.raises(MoveRefusedError):
            await move(cells, user, "home")
    await asyncio.to_thread(abort_move, cells.urls[HOME], cells.settings, "cells", user)
    assert (cells.run(HOME, OWN, user), cells.run(EAST, OWN, user)) == ([(4, 0)], [(4, 2)])
    assert await stored(client) == 2


async def test_who_comes_to_a_cell_brings_the_apps_limits_and_leaves_its_counts(cells: Served) -> None:
    _, as_zoe = await cells.person("Zuri", EAST)
    chief = await cells.client()
    await give(chief, whose="app", messages_per_day=10)
    assert await stored(as_zoe, 2) == 2
    cells.run(HOME, "UPDATE memsvc.budgets SET messages_per_day = 3")
    await give(chief, whose="each", messages_per_day=1, tokens_per_day=8)
    cells.run(EAST, "UPDATE memsvc.budgets SET messages_per_day = 9, tokens_per_day = NULL WHERE whose = 'each'")
    _, as_new = await cells.person("Zarah", EAST)
    assert cells.run(EAST, LIMITS) == cells.run(HOME, LIMITS) == [("app", 3, None), ("each", 1, 8)]
    assert await stored(as_new) == 1
    assert await stored(as_zoe) == 0, "the app's count began again"
    cells.run(HOME, "DELETE FROM memsvc.budgets")
    ada, _ = await cells.person("Alba", HOME)
    await move(cells, ada, "east")
    assert cells.run(EAST, LIMITS) == [], "limits that the home does not have stayed"


async def test_what_a_moved_user_has_used_counts_in_the_new_cell_and_back_home(cells: Served) -> None:
    ada, as_ada = await cells.person("Adina", HOME)
    ben, as_ben = await cells.person("Benno", HOME)
    chief = await cells.client()
    await give(chief, whose="each", messages_per_day=4)
    await give(chief, whose="user", user="Adina", messages_per_day=5)
    assert [await stored(as_ada, 2), await stored(as_ben, 1)] == [2, 1]
    for user in (ada, ben):
        await move(cells, user, "east")
    assert cells.run(HOME, OWN, ada) == [(5, 0)], "the directory keeps the limit, and no count"
    assert cells.run(HOME, OWN, ben) == []
    assert (cells.run(EAST, OWN, ada), cells.run(EAST, OWN, ben)) == ([(5, 2)], [(None, 1)])
    assert [await stored(as_ada), await stored(as_ben)] == [3, 3]
    await give(chief, whose="user", user="Adina", messages_per_day=6)
    assert sorted(await listed(chief), key=str) == sorted(
        [("each", 4, 0, 0), ("Adina", 6, 5, 0), ("Benno", None, 4, 0)], key=str
    )
    for user in (ada, ben):
        await move(cells, user, "home")
        assert cells.run(EAST, OWN, user) == []
    assert (cells.run(HOME, OWN, ada), cells.run(HOME, OWN, ben)) == ([(6, 5)], [(None, 4)])
    assert [await stored(as_ada), await stored(as_ben)] == [1, 0]
    for user in (ada, ben):
        await move(cells, user, "east")
    assert (await chief.delete("/v1/users/Adina")).json()["state"] == "done"
    assert cells.run(EAST, OWN, ada) == cells.run(HOME, OWN, ada) == []


async def test_the_language_model_keeps_to_the_budgets_in_a_cell(cells: Served) -> None:
    ada, _ = await cells.person("Ajda", HOME)
    chief = await cells.client()
    await give(chief, whose="each", tokens_per_day=40)
    cells.run(HOME, CALL, ada)
    await move(cells, ada, "east")
    place = cells.run(HOME, "SELECT epoch FROM memsvc.users WHERE user_id = %s", ada)
    east = await cells.api.state["service"].cells.find(UUID(ada))
    assert east is not cells.db
    at_epoch(UUID(ada), place[0][0])
    account = Account(east, UUID(ada), cells.settings)
    with pytest.raises(LlmBudgetError, match="used up"):
        await account.open()
    await give(chief, whose="user", user="Ajda", tokens_per_day=41)
    await account.open()


async def test_a_cell_that_is_down_is_named_and_the_budget_is_set_again(cells: Served) -> None:
    zoe, as_zoe = await cells.person("Zoila", EAST)
    _, as_ada = await cells.person("Ariane", HOME)
    chief = await cells.client()
    await give(chief, whose="app", messages_per_day=50)
    await give(chief, whose="user", user="Zoila", messages_per_day=50)
    with gone(cells.urls[EAST]):
        for asked in ({"whose": "app"}, {"whose": "each"}, {"whose": "user", "user": "Zoila"}):
            lost = await chief.put("/v1/budgets", json={**asked, "messages_per_day": 1})
            assert (lost.status_code, lost.json()["code"]) == (503, "database_unavailable"), lost.text
            assert "cell east does not answer" in lost.json()["detail"]
            assert "again" in lost.json()["hint"]
        unknown = await chief.get("/v1/budgets")
        assert unknown.status_code == 503, "a sum without a cell"
        assert "cell east does not answer" in unknown.json()["detail"]
        await give(chief, whose="user", user="Ariane", messages_per_day=1)  # who is not there does not care
        assert await listed(chief, user="Ariane") == [("Ariane", 1, 0, 0)]
        assert await stored(as_ada) == 1
        assert cells.run(HOME, LIMITS) == [("app", 50, None)], "the home is last"
    assert cells.run(HOME, OWN, zoe)[0][0] == 50
    await give(chief, whose="app", messages_per_day=1)
    await give(chief, whose="user", user="Zoila", messages_per_day=1)
    for cell in (HOME, EAST):
        assert cells.run(cell, LIMITS) == [("app", 1, None)]
        assert cells.run(cell, OWN, zoe)[0][0] == 1
    assert await stored(as_zoe) == 1


async def test_the_doctor_names_limits_that_are_not_the_homes_and_setting_them_mends_it(cells: Served) -> None:
    zoe, _ = await cells.person("Zdenka", EAST)
    chief = await cells.client()

    def wrong() -> str:
        return " ".join(one.what for one in examine(cells.urls[HOME], cells.settings) if one.state == "wrong")

    wanted = [{"whose": "app"}, {"whose": "each"}, {"whose": "user", "user": "Zdenka"}]
    for budget in wanted:
        await give(chief, **budget, messages_per_day=10)
    assert wrong() == ""
    cells.run(EAST, "UPDATE memsvc.budgets SET messages_per_day = 11 WHERE whose = 'app'")
    cells.run(EAST, "DELETE FROM memsvc.budgets WHERE of_user = %s", zoe)
    cells.run(HOME, "DELETE FROM memsvc.budgets WHERE whose = 'each'")
    assert wrong() == f"budgets that are not those of the home: app of cells, {zoe}, each of cells"
    await give(chief, whose="each")
    for budget in (wanted[0], wanted[2]):
        await give(chief, **budget, messages_per_day=10)
    assert wrong() == ""


async def test_a_user_who_moves_while_a_limit_is_set_has_it_in_the_new_cell(
    cells: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, _ = await cells.person("Moritz", HOME)
    directory: Cells = cells.api.state["service"].cells
    [(of_app,)] = cells.run(HOME, APP)
    cells.run(EAST, COPY, of_app, user)
    ways = ["1"]

    async def move_and_write(*given: Any) -> bool:
        """The user goes when it is decided where to write."""
        if ways:
            cells.run(
                HOME, "UPDATE memsvc.users SET cell_id = %s, epoch = epoch + 1 WHERE user_id = %s", ways.pop(), user
            )
        return await write_budget(*given)

    monkeypatch.setattr(budgets, "write_budget", move_and_write)
    await set_budget_everywhere(directory, of_app, "user", Limits(messages_per_day=4), user="Moritz")
    assert [cells.run(cell, OWN, user) for cell in (HOME, EAST)] == [[(4, 0)], [(4, 0)]]
    ways += ["0", "1"] * 4
    with pytest.raises(UserMovingError):
        await set_budget_everywhere(directory, of_app, "user", Limits(messages_per_day=5), user="Moritz")
    cells.run(HOME, "UPDATE memsvc.users SET cell_id = 0 WHERE user_id = %s", user)
    cells.run(EAST, "DELETE FROM memsvc.users WHERE user_id = %s", user)


async def test_a_user_is_not_added_with_limits_that_are_just_being_changed(cells: Served) -> None:
    await cells.person("Zobel", EAST)
    chief = await cells.client()
    await give(chief, whose="each", messages_per_day=5)
    [(of_app,)] = cells.run(HOME, APP)
    with psycopg.connect(cells.urls[HOME]) as setting:
        setting.execute("SELECT memsvc.hold_limits(%s)", [of_app])
        adding = asyncio.create_task(chief.post("/v1/users", json={"name": "Zander"}))
        await asyncio.sleep(0.5)
        assert not adding.done()
        setting.execute("UPDATE memsvc.budgets SET messages_per_day = 6 WHERE whose = 'each'")
    assert (await adding).status_code == 201
    assert cells.run(EAST, LIMITS) == [("each", 6, None)]
