"""Late interaction in SQL is what numpy computes, for own passages alone."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID, uuid4

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from memsvc.db.identity import Signer
from memsvc.settings import Settings
from tests.sql.conftest import Scratch
from tests.sql.histories import make_user
from tests.sql.test_plans import Plans
from tests.sql.world import APP, append_rows, login_url, message, value

pytestmark = pytest.mark.server
SIZES = (0, 1, 7, 32, 5, 32)
SCORES = "SELECT * FROM memsvc.late_scores(%s, 1::smallint, %s::bit(128)[], %s)"


def bits(count: int, seed: int) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 2, (count, 128)).astype(np.uint8)


def written(tokens: NDArray[np.uint8]) -> str:
    return "{" + ",".join("".join(map(str, row)) for row in tokens) + "}"


def exact(query: NDArray[np.uint8], tokens: NDArray[np.uint8]) -> float:
    """The mean over the query of the largest share of equal bits, less that of differing ones."""
    alike = (1 - 2.0 * query) @ (1 - 2.0 * tokens).T / 128
    return float(alike.max(axis=1).mean())


@pytest.fixture(scope="module")
def place(scratch: Scratch, settings: Settings) -> Iterator[tuple[Plans, list[UUID]]]:
    """A login that acts for the first of two users, whose first passages have tokens of these sizes."""
    url = scratch("late")
    signer = Signer(settings.secret("identity_secret").encode(), 3600)
    with psycopg.connect(login_url(url, APP, settings), autocommit=True) as app:
        users = [make_user(app, f"late {number}") for number in range(2)]
        plans = Plans(app, users, signer)
        passages = []
        for user in users:
            plans.act_for(user)
            rows = append_rows(app, user, [message(f"heron {n}", n) for n in range(len(SIZES) + 1)])
            passages.append([row[3] for row in rows])
        model = value(app, "SELECT model_id FROM memsvc.ensure_model('late', 3)")
        assert model == 1
        for user, own in zip(users, passages, strict=True):
            plans.act_for(user)
            texts = [written(bits(size, seed)) for seed, size in enumerate(SIZES)]
            stored = "SELECT memsvc.store_embeddings(%s, 1::smallint, %s, %s::public.halfvec[], %s)"
            assert value(app, stored, [user, own[:-1], ["[1,0,0]"] * len(texts), texts]) == len(texts)
        plans.act_for(users[0])
        yield plans, passages[0]


@pytest.mark.parametrize("length", [1, 8, 9, 32, 70])
def test_scores_are_what_numpy_computes(place: tuple[Plans, list[UUID]], length: int) -> None:
    plans, passages = place
    query = bits(length, 100)
    asked = [*passages, uuid4()]
    rows = plans.connection.execute(SCORES, [plans.users[0], written(query), asked]).fetchall()
    found = {passage: score for passage, score in rows}  # noqa: C416 - rows are of any length to the types
    wanted = {
        passage: exact(query, bits(size, seed))
        for seed, (passage, size) in enumerate(zip(passages, SIZES, strict=False))
        if size
    }
    assert found == pytest.approx(wanted)


def test_the_same_tokens_are_one_and_their_opposites_minus_one(place: tuple[Plans, list[UUID]]) -> None:
    plans, passages = place
    own = bits(SIZES[1], 1)
    for query, score in ((own, 1), (1 - own, -1)):
        [row] = plans.connection.execute(SCORES, [plans.users[0], written(query), passages[1:2]]).fetchall()
        assert row == (passages[1], score)


def test_nothing_is_asked_or_nobody_else_is_seen(place: tuple[Plans, list[UUID]]) -> None:
    plans, passages = place
    app, (mine, other) = plans.connection, plans.users
    assert app.execute(SCORES, [mine, "{}", passages]).fetchall() == []
    assert app.execute(SCORES, [mine, written(bits(2, 0)), []]).fetchall() == []
    for user, token in ((mine, other), (other, mine), (other, other)):
        plans.act_for(token)
        assert app.execute(SCORES, [user, written(bits(2, 0)), passages]).fetchall() == []
    plans.act_for(mine)
    assert len(app.execute(SCORES, [mine, written(bits(2, 0)), passages]).fetchall()) == len(SIZES) - 1


def test_who_forgets_a_message_forgets_its_tokens(place: tuple[Plans, list[UUID]]) -> None:
    plans, passages = place
    app, user = plans.connection, plans.users[0]
    gone = passages[-2]
    left = "SELECT array_agg(passage_id ORDER BY passage_id) FROM memsvc.token_vectors"
    erased = app.execute("SELECT state, leftovers FROM memsvc.erase(%s, 'message', %s, 'user', 10)", [user, gone])
    assert [row[0] for row in erased.fetchall()] == ["done"]
    assert value(app, left) == sorted(passages[:-2])
    assert app.execute(SCORES, [user, written(bits(2, 0)), [gone]]).fetchall() == []
