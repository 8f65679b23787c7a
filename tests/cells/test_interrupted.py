"""Ctrl-C while a user is stopped: the user goes on at once, in the cell that the directory names."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from memsvc.cells import crossing
from memsvc.cells.journey import Journey
from tests.cells.pair import Content, Deployment
from tests.sql.world import World

pytestmark = pytest.mark.slow
MOVING = "SELECT moving FROM memsvc.users WHERE user_id = %s"
WHERE = {
    "before it": "home",
    "in its transaction": "home",
    "before its commit": "home",
    "after it": "north",
    "before the user is let in": "north",
}
"""Where the user goes on if Ctrl-C comes at a moment of the switch."""


def interrupt(*_unused: object) -> None:
    """Do as Ctrl-C does."""
    raise KeyboardInterrupt


def stop(monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    """Interrupt the next mover at its switch."""
    switch, arrive, waiting = crossing._switch, crossing.arrive, [at]

    def switching(journey: Journey, *given: Any) -> None:
        if at == "in its transaction":
            monkeypatch.setattr(crossing, "note", interrupt)
        elif at == "before its commit":
            journey.home.execute("BEGIN")
            journey.home.execute("UPDATE memsvc.moves SET state = 'switched' WHERE user_id = %s", [journey.user_id])
        if at in {"before it", "before its commit"}:
            interrupt()
        switch(journey, *given)
        if at == "after it":
            interrupt()

    def arriving(journey: Journey) -> None:
        if waiting == ["before the user is let in"]:
            waiting.clear()
            interrupt()
        arrive(journey)

    monkeypatch.setattr(crossing, "_switch", switching)
    monkeypatch.setattr(crossing, "arrive", arriving)


@pytest.mark.parametrize("at", WHERE)
def test_ctrl_c_in_the_switch_lets_the_user_go_on(
    deployment: Deployment, world: World, app_name: str, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    ada = world.ada.user_id
    before: Content = deployment.content("home", ada)
    lines: list[str] = []
    with monkeypatch.context() as patched:
        stop(patched, at)
        with pytest.raises(KeyboardInterrupt):
            deployment.move(ada, "north", app_name, report=lines.append)
    where = WHERE[at]
    switched = where == "north"
    assert deployment.place(ada) == ((1, 1, None) if switched else (0, 0, None))
    assert deployment.rows(where, MOVING, ada) == [(None,)]
    other = "home" if switched else "north"
    if not switched:
        assert deployment.rows(other, MOVING, ada) == [("frozen",)]
    assert bool([line for line in lines if "--resume" in line]) == switched
    deployment.move(ada, None, app_name)
    assert deployment.content("north", ada) == before


def test_at_the_freeze_live_clients_of_the_old_cell_are_woken(
    deployment: Deployment, world: World, app_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = world.ada.user_id
    outlast = crossing._outlast
    heard: list[object] = []
    with psycopg.connect(deployment.home, autocommit=True) as client:

        def listening(journey: Journey, moment: Any) -> None:
            outlast(journey, moment)
            heard.extend(note.channel for note in client.notifies(timeout=5, stop_after=1))
            heard.extend(deployment.rows("home", MOVING, ada))

        client.execute('LISTEN "memsvc.events"')
        monkeypatch.setattr(crossing, "_outlast", listening)
        deployment.move(ada, "north", app_name)
    assert heard == ["memsvc.events", ("frozen",)]
