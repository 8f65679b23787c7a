"""BM25 statistics: always what a count over the passages gives, whoever writes and folds; scores as in the book."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from uuid import UUID, uuid4

import psycopg
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from memsvc.db.identity import Signer
from tests.examples import some_of
from tests.sql.bulk import FREQUENCIES, SIZES
from tests.sql.world import APP, Logins, Row, append_rows, login_url, message, value

K1, B, MOST_TF = 1.2, 0.75, 12
WORDS = ("heron", "otter", "mill", "water", "wade", "wading", "the", "of", "Zürich", "水", "o'clock", "mill-pond")


def examples(number: int) -> hypothesis:
    """Try so many; each makes a user of its own, so fixtures may serve them all."""
    return hypothesis(
        max_examples=some_of(number), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )


Sent = tuple[list[str], str, str | None]
"""Parts, role and caption of a message."""

COUNTED = {
    # What is counted from the passages, what the tables hold, and how many columns are the key.
    "sizes": (
        SIZES,
        """
        SELECT kind, form, passages, length FROM memsvc.corpora WHERE user_id = %(user)s
        UNION ALL
        SELECT kind, form, passages, length FROM memsvc.term_deltas WHERE user_id = %(user)s
        """,
        2,
    ),
    "terms": (
        FREQUENCIES,
        """
        SELECT kind, form, term, passages FROM memsvc.terms WHERE user_id = %(user)s
        UNION ALL
        SELECT d.kind, d.form, u.term, u.change
        FROM memsvc.term_deltas AS d CROSS JOIN LATERAL unnest(d.terms, d.changes) AS u (term, change)
        WHERE d.user_id = %(user)s
        """,
        3,
    ),
}


@dataclass(frozen=True, slots=True)
class Desk:
    """One user, and connections to act for the user."""

    user_id: UUID
    url: str
    signer: Signer
    connection: psycopg.Connection

    def connect(self) -> psycopg.Connection:
        """A connection of its own that acts for the user."""
        connection = psycopg.connect(self.url, autocommit=True)
        connection.execute("SELECT set_config('memsvc.identity', %s, false)", [self.signer.token(self.user_id)])
        return connection

    def fold(self, connection: psycopg.Connection | None = None) -> int:
        folded: int = value(connection or self.connection, "SELECT memsvc.fold_statistics(%s)", [self.user_id])
        return folded

    def append(self, rows: list[dict[str, object]], connection: psycopg.Connection | None = None) -> list[Row]:
        return append_rows(connection or self.connection, self.user_id, rows)


@pytest.fixture(scope="module")
def new_desk(logins: Logins) -> Iterator[Callable[[], Desk]]:
    """Makes a fresh user each time."""
    url = login_url(logins.admin_url, APP, logins.settings)
    signer = Signer(logins.settings.secret("identity_secret").encode(), 3600)
    with psycopg.connect(url, autocommit=True) as connection:
        app_id = value(connection, "SELECT memsvc.ensure_app('statistics')")

        def make() -> Desk:
            user_id = value(
                connection, "SELECT memsvc.create_user(%s, %s, 'Ada', 'UTC', 'english')", [app_id, uuid4().hex]
            )
            connection.execute("SELECT set_config('memsvc.identity', %s, false)", [signer.token(user_id)])
            return Desk(user_id, url, signer, connection)

        yield make


@pytest.fixture
def desk(new_desk: Callable[[], Desk]) -> Desk:
    return new_desk()


def assert_counts_are_right(admin: psycopg.Connection, desk: Desk) -> None:
    for truth, kept, keys in COUNTED.values():
        sums: dict[Row, Row] = {}
        for row in admin.execute(kept.encode(), {"user": desk.user_id}):
            before = sums.get(row[:keys], (0,) * (len(row) - keys))
            sums[row[:keys]] = tuple(a + b for a, b in zip(before, row[keys:], strict=True))
        counted = {row[:keys]: row[keys:] for row in admin.execute(truth.encode(), {"user": desk.user_id})}
        assert {key: figures for key, figures in sums.items() if any(figures)} == {
            key: figures for key, figures in counted.items() if any(figures)
        }


texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=25).map(" ".join)
parts = st.lists(texts, min_size=1, max_size=3)
messages = st.lists(st.tuples(parts, st.sampled_from(["user", "tool", "assistant"]), texts | st.none()), max_size=4)


def rows_of(batch: list[Sent], first: int) -> list[dict[str, object]]:
    """Rows of ``append_messages``: one a part, the caption with the first."""
    return [
        message(text, nth, part=part, role=role, caption=caption if part == 0 else None, client_id=f"c{first + nth}")
        for nth, (texts_of_parts, role, caption) in enumerate(batch)
        for part, text in enumerate(texts_of_parts)
    ]


@examples(40)
@given(steps=st.lists(messages | st.just("fold") | st.just("again"), max_size=7))
@example(steps=[[(["heron heron", "the heron"], "user", None)], "fold", "fold", "again", [(["otter"], "tool", "mill")]])
def test_counters_and_deltas_equal_a_count_of_the_passages(
    steps: list[list[Sent] | str], new_desk: Callable[[], Desk], admin: psycopg.Connection
) -> None:
    desk, sent = new_desk(), 0
    last: list[dict[str, object]] = []
    for step in steps:
        if step == "fold":
            desk.fold()
            assert desk.fold() == 0  # the second time has nothing to do
        elif step == "again":
            assert {row[1] for row in desk.append(last)} <= {"existing"}
        elif isinstance(step, list) and step:
            last = rows_of(step, sent)
            sent += len(step)
            assert {row[1] for row in desk.append(last)} == {"created"}
        assert_counts_are_right(admin, desk)


def test_a_fold_that_is_rolled_back_loses_nothing(desk: Desk, admin: psycopg.Connection) -> None:
    desk.append([message("The heron stood in the mill's water.", 0)])
    with desk.connection.transaction(force_rollback=True):
        assert desk.fold() == 2
    assert_counts_are_right(admin, desk)
    assert desk.fold() == 2
    assert_counts_are_right(admin, desk)


def test_writers_and_folders_at_once_lose_nothing(desk: Desk, admin: psycopg.Connection) -> None:
    writers, folders, turns = 4, 3, 12
    over = threading.Event()

    def write(writer: int) -> None:
        with desk.connect() as connection:
            for turn in range(turns):
                text = f"heron {WORDS[turn % len(WORDS)]} number{turn} writer{writer}"
                where = f"talk {turn % 2}"  # writers share conversations
                desk.append([message(text, 0, client_id=f"{writer}-{turn}", conversation=where)], connection)

    def fold() -> int:
        folded = 0
        with desk.connect() as connection:
            while not over.is_set():
                folded += desk.fold(connection)
        return folded

    with ThreadPoolExecutor(writers + folders) as pool:
        folding = [pool.submit(fold) for _ in range(folders)]
        try:
            list(pool.map(write, range(writers)))
        finally:
            over.set()
        folded = sum(each.result() for each in folding)
    assert_counts_are_right(admin, desk)
    assert folded + desk.fold() == writers * turns * 2
    assert_counts_are_right(admin, desk)
    heron = "SELECT passages FROM memsvc.terms WHERE user_id = %s AND form = 'simple' AND term = 'heron'"
    assert value(admin, heron, [desk.user_id]) == writers * turns


MANY = 64
"""Writes whose deltas the last of them folds, where no job did."""


def write_many(desk: Desk, number: int, name: str) -> None:
    for turn in range(number):
        desk.append([message(f"heron {turn}", 0, client_id=f"{name} {turn}", conversation=f"{name} {turn % 3}")])


def unfolded(admin: psycopg.Connection, desk: Desk) -> int:
    deltas: int = value(admin, "SELECT count(*) FROM memsvc.term_deltas WHERE user_id = %s", [desk.user_id])
    return deltas


def test_a_writer_folds_what_no_job_folded(desk: Desk, admin: psycopg.Connection) -> None:
    write_many(desk, MANY - 1, "early")
    assert unfolded(admin, desk) == 2 * (MANY - 1)
    write_many(desk, 3, "late")
    assert unfolded(admin, desk) == 4
    assert_counts_are_right(admin, desk)


def test_a_writer_waits_for_no_folder(desk: Desk, admin: psycopg.Connection) -> None:
    with desk.connect() as folder, folder.transaction():
        desk.fold(folder)
        write_many(desk, MANY + 1, "meanwhile")
        assert unfolded(admin, desk) == 2 * (MANY + 1)
    write_many(desk, 1, "then")
    assert unfolded(admin, desk) == 0
    assert_counts_are_right(admin, desk)


def test_words_of_large_batches_are_left_to_jobs(desk: Desk, admin: psycopg.Connection) -> None:
    admin.execute(
        "INSERT INTO memsvc.term_deltas (user_id, kind, form, passages, length, terms, changes) "
        "SELECT %s, 'message', 'simple', 0, 0, array_agg(md5(n::text)), array_agg(0) "
        "FROM generate_series(1, 10000) AS n",
        [desk.user_id],
    )
    write_many(desk, MANY, "after")
    assert unfolded(admin, desk) == 2 * MANY + 1
    assert desk.fold() == 2 * MANY + 1


# Scores -------------------------------------------------------------------------------------------------------------


def bm25(admin: psycopg.Connection, desk: Desk, query: str, kinds: list[str], form: str) -> dict[UUID, float]:
    """BM25 by the book (Lucene's idf, no factor k1 + 1), over the lexemes that PostgreSQL made."""
    column = "tsv_simple" if form == "simple" else "tsv"
    passages: dict[UUID, Counter[str]] = {}
    for passage_id, term, tf in admin.execute(
        f"SELECT p.passage_id, w.lexeme, cardinality(w.positions) FROM memsvc.passages AS p "
        f"LEFT JOIN LATERAL unnest(p.{column}) AS w ON true WHERE p.user_id = %s AND p.kind = ANY (%s)".encode(),
        [desk.user_id, kinds],
    ):
        passages.setdefault(passage_id, Counter())
        if term is not None:
            passages[passage_id][term] = tf
    terms = value(admin, "SELECT tsvector_to_array(memsvc.to_words(%s, 'english', %s))", [form, query])
    mean = sum(words.total() for words in passages.values()) / max(1, len(passages))
    scores: dict[UUID, float] = {}
    for term in terms:
        holders = [passage for passage, words in passages.items() if words[term]]
        weight = math.log(1 + (len(passages) - len(holders) + 0.5) / (len(holders) + 0.5))
        for passage in holders:
            tf = passages[passage][term]
            norm = K1 * (1 - B + B * passages[passage].total() / mean)
            scores[passage] = scores.get(passage, 0.0) + weight * tf / (tf + norm)
    return scores


def found_by(desk: Desk, query: str, kinds: list[str], form: str, limit: int = 1000) -> list[Row]:
    call = "SELECT matched_id, score, matched_form FROM memsvc.match_words(%s, %s, %s, %s, 'english', memsvc.scope(%s))"
    return desk.connection.execute(call, [desk.user_id, query, limit, form, kinds]).fetchall()


@examples(60)
@given(
    first=messages,
    second=messages,
    query=texts,
    kinds=st.sampled_from([["message"], ["trace"], ["message", "trace"]]),
    form=st.sampled_from(["stemmed", "simple"]),
)
def test_scores_are_bm25(
    *,
    first: list[Sent],
    second: list[Sent],
    query: str,
    kinds: list[str],
    form: str,
    new_desk: Callable[[], Desk],
    admin: psycopg.Connection,
) -> None:
    desk = new_desk()
    desk.append(rows_of(first, 0))
    desk.fold()
    desk.append(rows_of(second, 100))
    found = found_by(desk, query, kinds, form)
    used = found[0][2] if found else form
    expected = bm25(admin, desk, query, kinds, used)
    repeated = value(
        admin,
        "SELECT coalesce(max(cardinality(w.positions)), 0) FROM memsvc.passages AS p, unnest(p.tsv_simple) AS w "
        "WHERE p.user_id = %s",
        [desk.user_id],
    )
    if form == "stemmed" and not found:
        assert expected == {}
    assert {row[0] for row in found} == set(expected)
    tolerance = 1e-5 if repeated <= MOST_TF else 0.2
    for passage_id, score, _form in found:
        assert score == pytest.approx(expected[passage_id], rel=tolerance)
    assert [row[0] for row in found] == [row[0] for row in sorted(found, key=lambda row: (-row[1], row[0]))]


def test_two_common_words_together_are_found_beside_a_rarer_one(desk: Desk) -> None:
    """The rarer one has enough passages for a look, the two have too many; together they are the best."""
    texts = [*["a heron"] * 450, *["an otter"] * 590, *["the water"] * 630, *["otter, water"] * 10]
    for start in range(0, len(texts), 1000):
        part = texts[start : start + 1000]
        desk.append([message(text, start + n, said_at="2026-03-01T09:00:00Z") for n, text in enumerate(part)])
    ids = [row[0] for row in found_by(desk, "Heron, otter or water?", ["message"], "stemmed", limit=10)]
    best = desk.connection.execute("SELECT passage_id FROM memsvc.passages WHERE text = 'otter, water'").fetchall()
    assert {(one,) for one in ids} == set(best)


def test_words_that_go_together_do_not_hide_a_rare_one(desk: Desk, admin: psycopg.Connection) -> None:
    """Two words are expected in few passages together, stand in many, and what has the rare one too comes last."""
    texts = [*["mary miller"] * 2_200, *["mary miller saw a heron"] * 300]
    for start in range(0, len(texts), 1000):
        part = texts[start : start + 1000]
        desk.append([message(text, start + n, said_at="2026-03-01T09:00:00Z") for n, text in enumerate(part)])
    desk.fold()
    grow = "UPDATE memsvc.corpora SET passages = passages * 20, length = length * 20 WHERE user_id = %s"
    admin.execute(grow, [desk.user_id])
    found = found_by(desk, "What did Mary Miller say about herons?", ["message"], "stemmed", limit=64)
    with_heron = "SELECT count(*) FROM memsvc.passages WHERE passage_id = ANY (%s) AND text LIKE '%%heron'"
    assert value(admin, with_heron, [[row[0] for row in found]]) == 64


@pytest.mark.parametrize("times", [*range(1, 13)])
def test_term_frequencies_up_to_twelve_count_exactly(times: int, desk: Desk, admin: psycopg.Connection) -> None:
    desk.append([message("heron " * times + "water " * 30, 0), message("An otter and the water.", 1)])
    [(passage_id, score, _)] = found_by(desk, "heron", ["message"], "stemmed")
    assert score == pytest.approx(bm25(admin, desk, "heron", ["message"], "stemmed")[passage_id], rel=1e-6)


@pytest.mark.parametrize("times", [13, 20, 100, 300])
def test_more_than_twelve_count_as_twelve_or_little_more(times: int, desk: Desk, admin: psycopg.Connection) -> None:
    desk.append([message("heron " * times, 0), message("water " * times, 1)])
    [(passage_id, score, _)] = found_by(desk, "heron", ["message"], "stemmed")
    assert score == pytest.approx(bm25(admin, desk, "heron", ["message"], "stemmed")[passage_id], rel=0.1)
