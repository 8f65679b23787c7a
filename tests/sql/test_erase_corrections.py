"""Erasing what a correction was made of or with: no word of it stays, and what was not erased is current again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.erasing.memories import erase, preview
from memsvc.errors import NodeUnknownError
from memsvc.graph import operations as ops
from memsvc.graph.history import undo
from memsvc.graph.notes import create_note, note, update_note
from memsvc.graph.read import facts
from memsvc.settings import Settings
from tests.sql.forgetting import by, found, knows, learn, say, two_people
from tests.sql.world import value


def sources(admin: psycopg.Connection, version: UUID) -> set[UUID]:
    rows = admin.execute(
        "SELECT passage_id FROM memsvc.source_links "
        "WHERE %s IN (node_version_id, edge_version_id) AND stance = 'supports' AND recorded_to = 'infinity'",
        [version],
    )
    return {row[0] for row in rows}


async def test_a_correction_that_keeps_words_keeps_their_source_and_goes_with_it(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    first, second = await say(db, owner, settings, "the secret", "it matters")
    made = await create_note(db, owner, "quotes the secret", evidence=by(first))
    changed = await update_note(db, owner, made.note_id, importance=9, evidence=by(second))
    assert sources(admin, changed.version_id) == {first, second}
    foreseen = await preview(db, owner, "message", first)
    receipt = await erase(db, owner, "message", first, requested_by="user")
    assert receipt.counts == foreseen
    assert receipt.verified is True
    assert found(admin, owner, "node_versions") == 1, "the user"
    assert "evidence_reduced" not in receipt.counts


async def test_what_was_corrected_is_current_again_without_the_words_of_an_erased_correction(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    first, second = await say(db, owner, settings, "a word", "the secret")
    made = await create_note(db, owner, "quotes a word", evidence=by(first))
    await update_note(db, owner, made.note_id, text="the secret", evidence=by(second))
    await erase(db, owner, "message", second, requested_by="user")
    now = await note(db, owner, made.note_id)
    assert (now.title, now.text) == ("quotes a word", "")
    assert sources(admin, now.version_id) == {first}
    texts = admin.execute("SELECT description FROM memsvc.node_versions WHERE user_id = %s", [owner.user_id])
    assert {row[0] for row in texts} == {""}


async def test_what_was_entered_by_hand_outlives_a_correction_that_quotes_a_message(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    first, second, third = await say(db, owner, settings, "the secret", "a word", "one more")
    made = await create_note(db, owner, "by hand", "all of it", asserted_by="somebody")
    for title, passage in (("quotes the secret", first), ("quotes a word", second), ("quotes one more", third)):
        await update_note(db, owner, made.note_id, title=title, evidence=by(passage))
    await erase(db, owner, "message", third, requested_by="user")
    assert (await note(db, owner, made.note_id)).title == "quotes a word"
    await erase(db, owner, "message", first, requested_by="user")
    now = await note(db, owner, made.note_id)
    assert (now.title, now.text) == ("quotes a word", "all of it"), "no word of what it replaced, whose message is gone"
    assert sources(admin, now.version_id) == {second}
    await erase(db, owner, "message", second, requested_by="user")
    now = await note(db, owner, made.note_id)
    assert (now.title, now.text, now.asserted_by) == ("by hand", "all of it", "somebody")
    assert sources(admin, now.version_id) == set()
    assert found(admin, owner, "node_versions") == 3, "the user, what was entered by hand, and again"


async def test_all_that_a_source_said_of_a_note_goes_at_once(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    first, second = await say(db, owner, settings, "a word", "the secret")
    made = await create_note(db, owner, "by hand")
    lost = await create_note(db, owner, "quotes a word", evidence=by(first))
    for one in (made, lost):
        await update_note(db, owner, one.note_id, text="the secret", evidence=by(second))
    source = value(admin, "SELECT source_id FROM memsvc.passages WHERE passage_id = %s", [first])
    await erase(db, owner, "source", source, requested_by="user")
    assert (await note(db, owner, made.note_id)).title == "by hand"
    with pytest.raises(NodeUnknownError):
        await note(db, owner, lost.note_id)


async def test_a_correction_by_hand_stays_when_who_confirmed_it_is_erased(
    db: Database, owner: Owner, settings: Settings
) -> None:
    first, second = await say(db, owner, settings, "a word", "the same")
    ida, bea = await two_people(db, owner)
    change = await learn(db, owner, knows(ida, bea, "spelt wrong", first))
    version = change.results[0].versions[0]
    await learn(db, owner, ops.Correct(version=version, content={"fact": "spelt right"}))
    await learn(db, owner, knows(ida, bea, "spelt right", second))
    await erase(db, owner, "message", second, requested_by="user")
    assert [fact.fact for fact in await facts(db, owner, [ida])] == ["spelt right"]


async def test_a_correction_that_others_confirmed_stays_in_their_words(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    first, second, third = await say(db, owner, settings, "they met", "they work together", "they do")
    ida, bea = await two_people(db, owner)
    change = await learn(db, owner, knows(ida, bea, "They met.", first))
    correct = ops.Correct(
        version=change.results[0].versions[0], refines=True, evidence=by(second),
        content={"fact": "They work together.", "data": {"relation": "colleague"}},
    )  # fmt: skip
    change = await learn(db, owner, correct)
    version = change.results[0].versions[0]
    assert sources(admin, version) == {first, second}
    await erase(db, owner, "message", first, requested_by="user")
    assert [fact.fact for fact in await facts(db, owner, [ida])] == ["They work together."]
    await learn(
        db, owner,
        ops.Edge(from_node=ida, type="KNOWS", to_node=bea, fact="They work together.", data={"relation": "colleague"},
                 evidence=by(third)),
    )  # fmt: skip
    await erase(db, owner, "message", second, requested_by="user")
    assert sources(admin, version) == {third}


async def test_what_came_back_can_be_taken_away_by_undoing(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection
) -> None:
    [first] = await say(db, owner, settings, "the secret")
    made = await create_note(db, owner, "by hand")
    await update_note(db, owner, made.note_id, text="the secret", evidence=by(first))
    await erase(db, owner, "message", first, requested_by="user")
    change = value(
        admin, "SELECT change_id FROM memsvc.changes WHERE user_id = %s AND operations = '{restore}'", [owner.user_id]
    )
    await undo(db, owner, change, asserted_by="user")
    assert found(admin, owner, "node_versions") == 3


@pytest.mark.parametrize("ended", [False, True])
async def test_words_of_a_correction_go_with_the_last_who_said_them(
    db: Database, owner: Owner, settings: Settings, admin: psycopg.Connection, ended: bool
) -> None:
    first, second, third = await say(db, owner, settings, "they met", "they work together", "they do")
    ida, bea = await two_people(db, owner)
    end, before = (datetime(2024, 1, 1, tzinfo=UTC), datetime(2023, 1, 1, tzinfo=UTC)) if ended else (None, None)
    change = await learn(db, owner, knows(ida, bea, "They met.", first))
    version, content = change.results[0].versions[0], {"fact": "They work together."}
    correct = ops.Correct(version=version, refines=True, evidence=by(second), content=content)
    change = await learn(db, owner, correct)
    edge = change.results[0].edge_id
    assert edge
    if end is not None:
        await learn(db, owner, ops.Close(thread=ops.Thread(edge=edge), at=end))
    said = ops.Edge(
        from_node=ida, type="KNOWS", to_node=bea, fact="They work together.", valid_to=end, evidence=by(third)
    )
    await learn(db, owner, said)
    await erase(db, owner, "message", second, requested_by="user")
    assert [fact.fact for fact in await facts(db, owner, [ida], as_of=before)] == ["They work together."]
    await erase(db, owner, "message", third, requested_by="user")
    assert [fact.fact for fact in await facts(db, owner, [ida], as_of=before)] == ["They met."]
    texts = admin.execute("SELECT DISTINCT fact FROM memsvc.edge_versions WHERE user_id = %s", [owner.user_id])
    assert texts.fetchall() == [("They met.",)]


async def test_what_a_second_reader_makes_of_the_same_message_goes_with_it(
    db: Database, owner: Owner, settings: Settings
) -> None:
    first, second = await say(db, owner, settings, "they met", "they met at work")
    ida, bea = await two_people(db, owner)
    change = await learn(db, owner, knows(ida, bea, "They met.", first, second))
    correct = ops.Correct(
        version=change.results[0].versions[0], refines=True, content={"fact": "They met at work."},
        evidence=[ops.Evidence(passage_id=second, span=(0, 16))],
    )  # fmt: skip
    await learn(db, owner, correct)
    await erase(db, owner, "message", second, requested_by="user")
    assert [fact.fact for fact in await facts(db, owner, [ida])] == ["They met."]


async def test_what_was_entered_by_hand_comes_back_past_a_correction_that_was_erased_before(
    db: Database, owner: Owner, settings: Settings
) -> None:
    first, second = await say(db, owner, settings, "a word", "the secret")
    ida, bea = await two_people(db, owner)
    change = await learn(db, owner, knows(ida, bea, "by hand"))
    for passage, words in ((first, "a word"), (second, "the secret")):
        content = {"fact": words}
        version = change.results[0].versions[0]
        correct = ops.Correct(version=version, refines=True, evidence=by(passage), content=content)
        change = await learn(db, owner, correct)
    await erase(db, owner, "message", first, requested_by="user")
    assert [fact.fact for fact in await facts(db, owner, [ida])] == ["the secret"]
    await erase(db, owner, "message", second, requested_by="user")
    assert [fact.fact for fact in await facts(db, owner, [ida])] == ["by hand"]


async def test_evidence_of_an_erased_correction_does_not_keep_one_that_refined_it(
    db: Database, owner: Owner, settings: Settings
) -> None:
    first, second, third = await say(db, owner, settings, "they met", "they met twice", "they work together")
    ida, bea = await two_people(db, owner)
    change = await learn(
        db, owner,
        ops.Edge(from_node=ida, type="KNOWS", to_node=bea, fact="They met.", data={"how": "met"}, evidence=by(first)),
    )  # fmt: skip
    contents: tuple[dict[str, Any], ...] = (
        {"fact": "They met twice."},
        {"fact": "They work together.", "data": {"relation": "colleague"}},
    )
    for passage, content in zip((second, third), contents, strict=True):
        version = change.results[0].versions[0]
        correct = ops.Correct(version=version, refines=True, evidence=by(passage), content=content)
        change = await learn(db, owner, correct)
    await erase(db, owner, "message", first, requested_by="user")
    assert [fact.fact for fact in await facts(db, owner, [ida])] == ["They work together."]
    await erase(db, owner, "message", third, requested_by="user")
    assert await facts(db, owner, [ida]) == []


async def test_what_was_taken_over_from_an_erased_correction_is_no_evidence_of_what_stays(
    db: Database, owner: Owner, settings: Settings
) -> None:
    said = await say(db, owner, settings, "they met", "they met twice", "they work together", "they run it")
    ida, bea = await two_people(db, owner)
    change = await learn(
        db, owner,
        ops.Edge(from_node=ida, type="KNOWS", to_node=bea, fact="They met.", data={"how": "met"}, evidence=by(said[0])),
    )  # fmt: skip
    contents: tuple[dict[str, Any], ...] = (
        {"fact": "They met twice."},
        {"fact": "They work together.", "data": {"relation": "colleague"}},
        {"fact": "They run it.", "data": {}},
    )
    for passage, content in zip(said[1:], contents, strict=True):
        version = change.results[0].versions[0]
        correct = ops.Correct(version=version, refines=True, evidence=by(passage), content=content)
        change = await learn(db, owner, correct)
    left: list[list[str]] = [["They run it."], ["They work together."], ["They work together."], []]
    for place, known in zip((0, 3, 1, 2), left, strict=True):
        foreseen = await preview(db, owner, "message", said[place])
        assert (await erase(db, owner, "message", said[place], requested_by="user")).counts == foreseen
        assert [fact.fact for fact in await facts(db, owner, [ida])] == known


async def test_who_reads_an_older_message_again_does_not_confirm_a_correction(
    db: Database, owner: Owner, settings: Settings
) -> None:
    first, second = await say(db, owner, settings, "they met", "they work together")
    ida, bea = await two_people(db, owner)
    change = await learn(db, owner, knows(ida, bea, "They met.", first))
    content = {"fact": "They work together."}
    version = change.results[0].versions[0]
    await learn(db, owner, ops.Correct(version=version, refines=True, evidence=by(second), content=content))
    again = ops.Evidence(passage_id=first, span=(0, 4))
    await learn(
        db, owner,
        ops.Edge(from_node=ida, type="KNOWS", to_node=bea, fact="They work together.", evidence=[again]),
    )  # fmt: skip
    await erase(db, owner, "message", second, requested_by="user")
    assert [fact.fact for fact in await facts(db, owner, [ida])] == ["They met."]


async def test_what_was_entered_by_hand_comes_back_though_a_message_ended_it_too(
    db: Database, owner: Owner, settings: Settings
) -> None:
    [first] = await say(db, owner, settings, "the secret")
    ida, bea = await two_people(db, owner)
    made = (await learn(db, owner, knows(ida, bea, "by hand"))).results[0]
    assert made.edge_id
    begin = datetime(2020, 1, 1, tzinfo=UTC)
    await learn(
        db, owner,
        ops.Correct(version=made.versions[0], refines=True, evidence=by(first), content={"fact": "the secret"}),
        ops.Retract(thread=ops.Thread(edge=made.edge_id), valid_to=begin, evidence=by(first)),
    )  # fmt: skip
    await erase(db, owner, "message", first, requested_by="user")
    assert [fact.fact for fact in await facts(db, owner, [ida])] == ["by hand"]


async def test_a_fact_that_was_corrected_many_times_goes_with_the_message_that_all_keep_words_of(
    db: Database, owner: Owner, settings: Settings
) -> None:
    said = await say(db, owner, settings, *(f"word {place}" for place in range(40)))
    ida, bea = await two_people(db, owner)
    asserted = ops.Edge(
        from_node=ida, type="KNOWS", to_node=bea, fact="They met.", data={"how": "met"}, evidence=by(said[0])
    )
    change = await learn(db, owner, asserted)
    for place, passage in enumerate(said[1:]):
        content = {"fact": f"They met {place}."}
        version = change.results[0].versions[0]
        correct = ops.Correct(version=version, refines=True, evidence=by(passage), content=content)
        change = await learn(db, owner, correct)
    for passage in (said[-1], said[20], said[0]):
        foreseen = await preview(db, owner, "message", passage)
        assert (await erase(db, owner, "message", passage, requested_by="user")).counts == foreseen
    assert await facts(db, owner, [ida]) == []
