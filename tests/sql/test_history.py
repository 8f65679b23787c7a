"""The graph's history in SQL against the plain model, and one by one what random histories seldom meet."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from itertools import count

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from memsvc.db.identity import Signer
from memsvc.settings import Settings
from tests.examples import some_of
from tests.sql.erasing import ERASED_WORDS, Eraser
from tests.sql.histories import EDGE_TYPES, MAKE_TYPE, NODES, Player, Raw, dump, make_user
from tests.sql.traces import traces, words_in_tables
from tests.sql.world import APP, Logins, login_url

pytestmark = pytest.mark.slow
HISTORIES = int(os.environ.get("MEMSVC_TEST_HISTORIES") or some_of(60))
"""2,000 is the whole proof: MEMSVC_TEST_HISTORIES=2000 make test ARGS=tests/sql/test_history.py."""
STEPS = 40
OUTCOMES: Counter[str] = Counter()
_numbers = count()

RAW = st.tuples(*(st.integers(0, 59) for _ in range(7)))
STEP = st.lists(RAW, min_size=1, max_size=4)
HISTORY = st.lists(STEP, min_size=STEPS, max_size=STEPS + 8)
PICKS = st.lists(st.tuples(*(st.integers(0, 99) for _ in range(3))), min_size=8, max_size=8)


@pytest.fixture(scope="session")
def writers(logins: Logins, settings: Settings) -> Iterator[tuple[psycopg.Connection, psycopg.Connection]]:
    """Two connections of the application's login."""
    with psycopg.connect(logins.admin_url, autocommit=True) as admin:
        admin.execute(MAKE_TYPE.encode())
    url = login_url(logins.admin_url, APP, settings)
    with psycopg.connect(url, autocommit=True) as first, psycopg.connect(url, autocommit=True) as second:
        yield first, second


@pytest.fixture(scope="module", autouse=True)
def _nothing_is_left_of_what_was_erased(logins: Logins) -> Iterator[None]:
    """After all histories of this process: no word that they erased is left in any table or in a dump."""
    yield
    if ERASED_WORDS:
        with psycopg.connect(logins.admin_url, autocommit=True) as admin:
            admin.execute("ANALYZE")
            assert words_in_tables(admin)["memsvc.passages"], "there are words of what was not erased"
            assert traces(admin, logins.admin_url, ERASED_WORDS) == {}


def play(
    writers: tuple[psycopg.Connection, psycopg.Connection],
    settings: Settings,
    worker: str,
    kind: type[Player] = Player,
) -> Player:
    """A player for a fresh user, with nodes and passages."""
    user_id = make_user(writers[0], f"history {worker} {next(_numbers)}")
    token = Signer(settings.secret("identity_secret").encode(), 36_000).token(user_id)
    for connection in writers:
        connection.execute("SELECT set_config('memsvc.identity', %s, false)", [token])
    player = kind(*writers, user_id)
    player.begin()
    return player


@hypothesis(
    max_examples=HISTORIES,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # shortening a history takes longer than reading it
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(history=HISTORY, picks=PICKS)
def test_every_history_is_the_models(
    history: list[list[Raw]],
    picks: list[Raw],
    writers: tuple[psycopg.Connection, psycopg.Connection],
    settings: Settings,
    worker_id: str,
) -> None:
    player = play(writers, settings, worker_id)
    for step in history:
        player.step(step)
    player.compare(picks)
    OUTCOMES.update(player.outcomes)


@hypothesis(
    max_examples=HISTORIES,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(history=HISTORY, picks=PICKS)
def test_every_history_with_erasures_is_the_models(
    history: list[list[Raw]],
    picks: list[Raw],
    writers: tuple[psycopg.Connection, psycopg.Connection],
    settings: Settings,
    worker_id: str,
) -> None:
    player = play(writers, settings, worker_id, Eraser)
    for step in history:
        player.step(step)
    player.compare(picks)
    OUTCOMES.update(player.outcomes)


def test_the_histories_met_everything() -> None:
    """Else they would prove less than they seem to."""
    if OUTCOMES.total() > 1000:
        assert set(OUTCOMES) >= {"written", "known", "superseded", "closed", "unchanged", "undone", "change_built_upon"}


@hypothesis(max_examples=some_of(10), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(STEP, min_size=12, max_size=12), first=st.integers(0, 19))
def test_merging_and_unmerging_changes_nothing_whatever_was_written_meanwhile(
    batches: list[list[Raw]],
    first: int,
    writers: tuple[psycopg.Connection, psycopg.Connection],
    settings: Settings,
    worker_id: str,
) -> None:
    node, canonical = NODES[first % 5], NODES[(first + 1 + first // 5) % 5]
    found: list[str] = []
    for merging in (False, True):
        player = play(writers, settings, worker_id)
        for place, batch in enumerate(batches):
            if merging and place == 4:
                player.step([(7, NODES.index(node), NODES.index(canonical))])
            if merging and place == 8:
                player.step([(9, NODES.index(node))])
            player.batch(batch, EDGE_TYPES[:2])  # others ask for types, which follow the merge
        found.append(dump(writers[0], player.user_id, list(player.nodes.values())))
    assert found[0] == found[1]
