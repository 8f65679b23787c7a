"""A directory that was restored to an earlier time: no move begins, goes on or is given up by what it says."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memsvc.cells.moving import preview_move
from memsvc.errors import MoveRefusedError
from tests.cells.pair import Content, Deployment
from tests.sql.world import World

pytestmark = pytest.mark.slow
OLDER = "directory is older than the cell"
PLACE = "UPDATE memsvc.users SET cell_id = %s, epoch = %s, moving = NULL WHERE user_id = %s"
MOVE = (
    "INSERT INTO memsvc.moves (user_id, from_cell, to_cell, state, frozen_at, switched_at) "
    "VALUES (%s, %s, %s, %s, now(), now())"
)
Refused = Callable[[Callable[[], object], str], None]


@pytest.fixture
def before(deployment: Deployment, world: World) -> Content:
    """What Ada has."""
    return deployment.content("home", world.ada.user_id)


@pytest.fixture
def refused(deployment: Deployment, world: World, before: Content) -> Refused:
    """Check that something is refused, and that all that Ada has stays where it is."""

    def check(work: Callable[[], object], cell: str) -> None:
        with pytest.raises(MoveRefusedError, match=OLDER) as error:
            work()
        assert "restored" in error.value.advice
        assert deployment.content(cell, world.ada.user_id) == before

    return check


def restore(deployment: Deployment, world: World, cell: int, epoch: int, move: tuple[int, int, str] | None) -> None:
    """Let the directory say of Ada what it said earlier."""
    deployment.run("home", PLACE, cell, epoch, world.ada.user_id)
    deployment.run("home", "DELETE FROM memsvc.moves")
    if move:
        deployment.run("home", MOVE, world.ada.user_id, *move)


@pytest.mark.parametrize("state", ["copying", "frozen", "aborting"])
def test_a_move_that_was_finished_since_is_not_continued_or_given_up(
    deployment: Deployment, world: World, app_name: str, refused: Refused, state: str
) -> None:
    ada = world.ada.user_id
    deployment.move(ada, "north", app_name)
    restore(deployment, world, 0, 0, (0, 1, state))
    refused(lambda: deployment.move(ada, None, app_name), "north")
    refused(lambda: deployment.abort(ada, app_name), "north")
    assert deployment.rows("north", "SELECT moving FROM memsvc.users WHERE user_id = %s", ada) == [(None,)]
    restore(deployment, world, 1, 1, None)


def test_the_place_of_a_user_who_has_moved_since_is_not_believed(
    deployment: Deployment, world: World, app_name: str, refused: Refused
) -> None:
    ada = world.ada.user_id
    deployment.move(ada, "north", app_name)
    restore(deployment, world, 0, 0, None)
    refused(lambda: deployment.move(ada, "north", app_name), "north")
    refused(lambda: preview_move(deployment.home, deployment.settings, app_name, ada, "north"), "north")
    restore(deployment, world, 1, 0, None)
    refused(lambda: deployment.move(ada, "home", app_name), "north")
    assert deployment.rows("home", "SELECT FROM memsvc.moves") == []
    restore(deployment, world, 1, 1, None)


def test_a_user_who_has_come_back_since_is_not_erased(
    deployment: Deployment, world: World, app_name: str, refused: Refused
) -> None:
    ada = world.ada.user_id
    deployment.move(ada, "north", app_name)
    deployment.move(ada, "home", app_name)
    restore(deployment, world, 1, 1, (0, 1, "switched"))
    kept = deployment.content("home", ada)
    refused(lambda: deployment.move(ada, None, app_name), "home")
    assert deployment.content("home", ada) == kept
    assert kept["passages"]
    restore(deployment, world, 0, 2, None)


def test_a_user_of_a_cell_who_has_come_back_there_since_is_not_erased(
    deployment: Deployment, world: World, app_name: str, refused: Refused
) -> None:
    ada = world.ada.user_id
    for to in ("north", "home", "north"):
        deployment.move(ada, to, app_name)
    restore(deployment, world, 0, 2, (1, 0, "switched"))
    kept = deployment.content("north", ada)
    refused(lambda: deployment.move(ada, None, app_name), "north")
    assert deployment.content("north", ada) == kept
    assert kept["passages"]
    restore(deployment, world, 1, 3, None)


def test_a_cell_that_lacks_the_user_says_so(deployment: Deployment, world: World, app_name: str) -> None:
    ada = world.ada.user_id
    restore(deployment, world, 1, 1, None)
    with pytest.raises(MoveRefusedError, match="north does not have this user"):
        deployment.move(ada, "home", app_name)
    restore(deployment, world, 0, 0, None)
