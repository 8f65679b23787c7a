"""Messages in: nothing lost, nothing doubled, all or nothing."""

from __future__ import annotations

import psycopg
import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.errors import MessageConflictError
from memsvc.settings import Settings
from memsvc.recall.search import recall
from memsvc.sources.messages import MessageIn, append


def said(text: str, **more: object) -> MessageIn:
    return MessageIn(conversation="talk", text=text, speaker="Ada", **more)  # type: ignore[arg-type]


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
