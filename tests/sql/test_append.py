"""Messages in: nothing lost, nothing doubled, all or nothing."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import psycopg
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st
from sqlalchemy import text

from memsvc.access.users import Owner, add_user
from memsvc.db.engine import Database
from memsvc.errors import MemsvcError, MessageConflictError
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, StoredMessage, append, append_prepared, prepare
from memsvc.text.split import split_text
from memsvc.text.tokens import estimate_tokens
from tests.conftest import remembered as recall
from tests.examples import some_of
from tests.jobs.working import until
from tests.sql.world import value


def said(words: str, conversation: str = "talk", **more: object) -> MessageIn:
    return MessageIn(conversation=conversation, text=words, speaker="Ada", **more)  # type: ignore[arg-type]


async def test_a_written_message_is_found_at_once(db: Database, owner: Owner, settings: Settings) -> None:
    [stored] = await append(db, owner, [said("The heron stood in the shallow water.", id="m1")], settings)
    [found] = await recall(db, owner, "Where did the herons stand?", settings)
    assert (stored.outcome, found.passage_id, found.message_id) == ("created", stored.passage_id, "m1")
    assert found.matched == ["herons"] or set(found.matched) == {"herons", "stand"}


async def test_sending_it_again_changes_nothing(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    batch = [said("one", id="a"), said("two", session="S", ordinal=3), said("three", id="c")]
    first = await append(db, owner, batch, settings)
    again = await append(db, owner, batch, settings)
    assert [m.outcome for m in first] == ["created"] * 3
    assert [m.outcome for m in again] == ["existing"] * 3
    assert [m.passage_id for m in first] == [m.passage_id for m in again]
    counts = admin.execute(
        "SELECT (SELECT count(*) FROM memsvc.passages WHERE user_id = %(u)s), "
        "(SELECT sum(passages) FROM memsvc.term_deltas WHERE user_id = %(u)s AND form = 'simple')",
        {"u": owner.user_id},
    ).fetchone()
    assert counts == (3, 3)


async def test_other_words_under_the_same_identity_are_refused_and_nothing_is_stored(
    db: Database, owner: Owner, settings: Settings
) -> None:
    await append(db, owner, [said("one", id="a")], settings)
    with pytest.raises(MessageConflictError) as caught:
        await append(db, owner, [said("fresh words", id="b"), said("not one", id="a")], settings)
    assert caught.value.details["row"] == 1
    assert await recall(db, owner, "fresh words", settings) == []


def places(stored: list[StoredMessage]) -> list[tuple[str, int | None]]:
    return [(message.outcome, message.ordinal) for message in stored]


def count_of(admin: psycopg.Connection, table: str, owner: Owner) -> int:
    counted: int = value(admin, f"SELECT count(*) FROM memsvc.{table} WHERE user_id = %s", [owner.user_id])
    return counted


# Places in a session ------------------------------------------------------------------------------------------------


async def test_messages_without_a_place_follow_one_another(db: Database, owner: Owner, settings: Settings) -> None:
    assert places(await append(db, owner, [said("a"), said("b")], settings)) == [("created", 0), ("created", 1)]
    assert places(await append(db, owner, [said("a"), said("c", id="c")], settings)) == [("created", 2), ("created", 3)]
    assert places(await append(db, owner, [said("a", session="other")], settings)) == [("created", 0)]


async def test_messages_without_a_place_go_behind_those_with_one(
    db: Database, owner: Owner, settings: Settings
) -> None:
    batch = [said("first"), said("tenth", ordinal=10), said("second"), said("third", ordinal=3, id="x"), said("last")]
    assert [place for _, place in places(await append(db, owner, batch, settings))] == [11, 10, 12, 3, 13]
    assert places(await append(db, owner, [said("next")], settings)) == [("created", 14)]
    assert places(await append(db, owner, [said("between", ordinal=5)], settings)) == [("created", 5)]
    assert places(await append(db, owner, [said("next")], settings)) == [("created", 15)]


async def test_a_place_is_an_identity(db: Database, owner: Owner, settings: Settings) -> None:
    await append(db, owner, [said("one", ordinal=0)], settings)
    assert places(await append(db, owner, [said("one", ordinal=0), said("one", ordinal=1)], settings)) == [
        ("existing", 0), ("created", 1),
    ]  # fmt: skip
    with pytest.raises(MessageConflictError):
        await append(db, owner, [said("two", ordinal=0)], settings)
    assert places(await append(db, owner, [said("two", ordinal=0, session="S")], settings)) == [("created", 0)]


async def test_the_clients_id_outweighs_the_place(db: Database, owner: Owner, settings: Settings) -> None:
    await append(db, owner, [said("one", id="a", ordinal=4, session="S")], settings)
    assert places(await append(db, owner, [said("one", id="a")], settings)) == [("existing", 4)]
    assert places(await append(db, owner, [said("one", ordinal=4, session="S")], settings)) == [("existing", 4)]


async def test_a_place_that_another_message_has_is_a_conflict(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await append(db, owner, [said("one", id="a", ordinal=0)], settings)
    with pytest.raises(MessageConflictError) as caught:
        await append(db, owner, [said("fresh"), said("one", id="b", ordinal=0)], settings)
    assert caught.value.details["row"] == 1
    with pytest.raises(MessageConflictError):
        await append(db, owner, [said("one", id="c", ordinal=7), said("two", id="d", ordinal=7)], settings)
    with pytest.raises(MessageConflictError):
        await append(db, owner, [said("one", ordinal=8), said("two", id="e", ordinal=8)], settings)
    assert count_of(admin, "passages", owner) == 1


async def test_an_identity_twice_in_a_batch_is_stored_once(db: Database, owner: Owner, settings: Settings) -> None:
    stored = await append(db, owner, [said("one", id="a"), said("one", id="a"), said("one", id="b")], settings)
    assert [message.outcome for message in stored] == ["created", "existing", "created"]
    assert stored[0].passage_id == stored[1].passage_id != stored[2].passage_id
    with pytest.raises(MessageConflictError):
        await append(db, owner, [said("one", id="z"), said("two", id="z")], settings)


async def test_the_same_words_are_another_message(db: Database, owner: Owner, settings: Settings) -> None:
    stored = await append(db, owner, [said("Yes."), said("Yes.")], settings)
    assert places(stored) == [("created", 0), ("created", 1)]


async def test_an_idempotency_key_is_an_identity_for_messages_without_one(
    db: Database, owner: Owner, settings: Settings
) -> None:
    batch = [said("one"), said("two", ordinal=9), said("three", id="c")]
    first = await append(db, owner, batch, settings, idempotency_key="k")
    again = await append(db, owner, batch, settings, idempotency_key="k")
    assert [message.outcome for message in again] == ["existing"] * 3
    assert [message.passage_id for message in again] == [message.passage_id for message in first]


async def test_writers_to_one_conversation_get_places_of_their_own(
    db: Database, owner: Owner, settings: Settings
) -> None:
    """Also where each batch names the same conversations in another order."""

    async def write(writer: int) -> list[StoredMessage]:
        names = ["red", "green", "blue"]
        order = names[writer % 3 :] + names[: writer % 3]
        batch = [MessageIn(conversation=name, text=f"{writer} {turn}") for turn in range(4) for name in order]
        return await append(db, owner, batch, settings)

    stored = [message for batch in await asyncio.gather(*map(write, range(12))) for message in batch]
    taken = [(message.conversation_id, message.ordinal) for message in stored]
    assert len(set(taken)) == len(taken) == 12 * 12
    assert {place for _, place in taken} == set(range(48))


async def test_the_same_batch_sent_by_many_at_once_is_stored_once(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    batch = [said(f"message {n}", id=f"m{n}") for n in range(20)]
    answers = await asyncio.gather(*(append(db, owner, batch, settings) for _ in range(6)))
    assert sorted(answer[0].outcome for answer in answers) == ["created"] + ["existing"] * 5
    assert len({tuple(message.passage_id for message in answer) for answer in answers}) == 1
    assert count_of(admin, "passages", owner) == 20


# Long messages ------------------------------------------------------------------------------------------------------

anything = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=2000)
prose = st.lists(
    st.sampled_from(
        [
            "word",
            "Sentence ends. ",
            "Really?! ",
            "\n",
            "\n\n",
            "  ",
            "3.14 ",
            "“Yes.” ",
            "水。",
            "a" * 300,
            "1" * 90,
            "…",
        ]
    ),
    max_size=120,
).map("".join)


@hypothesis(max_examples=some_of(300), deadline=None)
@given(whole=anything | prose, window=st.integers(1, 60))
@example(whole="", window=1)
@example(whole="\n", window=1)
@example(whole=" " * 50 + "a." * 50, window=2)
def test_parts_joined_are_the_text_and_each_fits_the_window(whole: str, window: int) -> None:
    parts = split_text(whole, window)
    assert "".join(parts) == whole
    assert all(estimate_tokens(part) <= window for part in parts)
    assert all(parts) or parts == [""]


@hypothesis(max_examples=some_of(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(whole=prose.filter(str.strip))
async def test_a_long_message_comes_back_to_the_letter(
    whole: str, db: Database, owner: Owner, settings: Settings
) -> None:
    small = settings.model_copy(update={"passage_tokens": 32})
    [stored] = await append(db, owner, [said(whole, caption="a picture")], small)
    async with db.transaction(owner.user_id) as connection:
        message = text("SELECT text, caption, parts, passage_id FROM memsvc.messages WHERE ordinal = :place")
        row = (await connection.execute(message, {"place": stored.ordinal})).one()
    assert (row.text, row.caption, row.parts) == (whole, "a picture", len(split_text(whole, 32)))
    assert row.passage_id == stored.passage_id


async def test_each_part_of_a_long_message_is_found(db: Database, owner: Owner, settings: Settings) -> None:
    long = "An otter swims here. " + "Nothing happens for a while. " * 200 + "A heron lands at last."
    [stored] = await append(db, owner, [said(long, id="long")], settings)
    [first] = await recall(db, owner, "otter", settings)
    [last] = await recall(db, owner, "heron", settings)
    assert first.passage_id == stored.passage_id
    assert (first.part, last.part > 3, last.message_id) == (0, True, "long")
    assert [message.outcome for message in await append(db, owner, [said(long, id="long")], settings)] == ["existing"]


# What belongs to a message ------------------------------------------------------------------------------------------


async def test_a_caption_alone_is_a_message_and_another_caption_other_words(
    db: Database, owner: Owner, settings: Settings
) -> None:
    await append(db, owner, [said("", caption="a red kayak", id="a")], settings)
    assert (await recall(db, owner, "kayak", settings))[0].caption == "a red kayak"
    assert (await append(db, owner, [said("", caption="a red kayak", id="a")], settings))[0].outcome == "existing"
    for changed in (
        said("", caption="a blue kayak", id="a"),
        said("x", caption="a red kayak", id="a"),
        said("x", id="a"),
    ):
        with pytest.raises(MessageConflictError):
            await append(db, owner, [changed], settings)


async def test_times_without_an_offset_are_read_on_the_users_clock(
    db: Database, app: object, settings: Settings
) -> None:
    owner = (await add_user(db, app, name="Zoe", external_id="zoe in Berlin", time_zone="Europe/Berlin")).owner  # type: ignore[arg-type]
    naive, exact, now = await append(
        db,
        owner,
        [
            said("summer heron", said_at="2026-07-01T12:00"),
            said("exact heron", said_at="2026-07-01T12:00-03:00"),
            said("now"),
        ],
        settings,
    )
    assert (naive.said_at, naive.zone_assumed) == (datetime(2026, 7, 1, 10, tzinfo=UTC), "Europe/Berlin")
    assert (exact.said_at, exact.zone_assumed) == (datetime(2026, 7, 1, 15, tzinfo=UTC), None)
    assert abs((now.said_at - datetime.now(UTC)).total_seconds()) < 60
    clocks = {memory.text: memory.said_at.isoformat() for memory in await recall(db, owner, "heron", settings)}
    assert clocks == {"summer heron": "2026-07-01T12:00:00+02:00", "exact heron": "2026-07-01T12:00:00-03:00"}


async def test_what_was_erased_does_not_come_back(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    digests = "SELECT %(user)s, memsvc.message_digest('talk', %(session)s, %(ordinal)s::integer, %(id)s)"
    for session, ordinal, client_id in (("", None, "gone"), ("S", 3, None)):
        admin.execute(
            f"INSERT INTO memsvc.tombstones (user_id, digest) {digests}".encode(),
            {"user": owner.user_id, "session": session, "ordinal": ordinal, "id": client_id},
        )
    batch = [said("secret", id="gone"), said("secret", session="S", ordinal=3), said("kept", session="S", ordinal=4)]
    stored = await append(db, owner, batch, settings)
    assert [message.outcome for message in stored] == ["erased", "erased", "created"]
    assert [message.passage_id is None for message in stored] == [True, True, False]
    assert await recall(db, owner, "secret", settings) == []
    assert count_of(admin, "passages", owner) == 1
    assert places(await append(db, owner, [said("next", session="S")], settings)) == [("created", 5)]


# One transaction ----------------------------------------------------------------------------------------------------


async def test_a_batch_with_one_bad_row_stores_nothing_and_names_the_row(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    for bad in (said(""), said("a\0b"), said("x", said_at="yesterday"), said("x", id=""), said("x", ordinal=-1)):
        with pytest.raises(MemsvcError) as caught:
            await append(db, owner, [said("good"), said("good"), bad], settings)
        assert caught.value.details["row"] == 2
    for table in ("sources", "passages", "term_deltas", "jobs", "outbox"):
        assert count_of(admin, table, owner) == 0


async def test_a_conflict_rolls_everything_back(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    await append(db, owner, [said("one", id="a")], settings)
    before = [count_of(admin, table, owner) for table in ("sources", "passages", "term_deltas", "jobs", "outbox")]
    with pytest.raises(MessageConflictError):
        await append(db, owner, [said("new", conversation="new"), said("two", id="a")], settings)
    assert before == [
        count_of(admin, table, owner) for table in ("sources", "passages", "term_deltas", "jobs", "outbox")
    ]


async def test_a_message_its_job_and_its_event_commit_together(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    tables = ("sources", "passages", "term_deltas", "jobs", "outbox")
    async with db.transaction(owner.user_id) as connection:
        stored = await append_prepared(connection, owner, prepare([said("one", id="a")], owner, settings))
        assert stored[0].job_id is not None
        assert [count_of(admin, table, owner) for table in tables] == [0] * 5  # nobody else sees half of it
        await connection.rollback()
    assert [count_of(admin, table, owner) for table in tables] == [0] * 5
    await append(db, owner, [said("one", id="a")], settings)
    assert [count_of(admin, table, owner) for table in tables] == [1, 1, 2, 1, 1]


async def test_more_messages_join_the_pending_job_of_their_conversation(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    [first] = await append(db, owner, [said("one")], settings)
    [second] = await append(db, owner, [said("two")], settings)
    assert first.job_id == second.job_id
    assert value(admin, "SELECT requests FROM memsvc.jobs WHERE job_id = %s", [first.job_id]) == 2
    async with db.transaction(owner.user_id) as connection:
        run = text("SELECT memsvc.finish_job(:user, :job, :seen, false, NULL)")
        values = {"user": owner.user_id, "job": first.job_id, "seen": 2}
        assert (await connection.execute(run, values)).scalar_one() == "done"
        assert (await connection.execute(run, values)).scalar_one() == "gone"
    [third] = await append(db, owner, [said("three")], settings)
    assert third.job_id != first.job_id


async def test_a_job_without_steps_that_ends_beside_a_writer_runs_again_for_the_writers_words(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    run = text("SELECT memsvc.finish_job(:user, :job, NULL, false, NULL)")
    [first] = await append(db, owner, [said("one")], settings)
    assert first.job_id is not None
    values = {"user": owner.user_id, "job": first.job_id}

    async def finish() -> str:
        async with db.transaction(owner.user_id) as connection:
            return str((await connection.execute(run, values)).scalar_one())

    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')"
    async with db.transaction(owner.user_id) as writing:
        await append_prepared(writing, owner, prepare([said("two")], owner, settings))
        ending = asyncio.create_task(finish())
        await until(lambda: value(admin, waiting))
    assert await ending == "again"
    assert await finish() == "done"
    assert count_of(admin, "term_deltas", owner) == 0


async def test_an_existing_message_answers_with_the_time_that_is_stored(
    db: Database, owner: Owner, settings: Settings
) -> None:
    when = "2026-03-14T09:30:00+05:30"
    [first] = await append(db, owner, [said("once", id="t", said_at=when)], settings)
    [again] = await append(db, owner, [said("once", id="t", said_at="2026-08-01T00:00")], settings)
    assert again.outcome == "existing"
    assert again.said_at.isoformat() == first.said_at.isoformat() == when
    assert again.zone_assumed is None
