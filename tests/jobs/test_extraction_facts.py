"""What new facts do to known ones: they confirm, close, correct or leave them, in whatever order they are read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import permutations
from zoneinfo import ZoneInfo

import pytest

from memsvc.erasing.memories import erase
from memsvc.errors import EndpointForbiddenError, ReviewDecidedError, ReviewUnknownError
from memsvc.extract.asking import ask_all
from memsvc.extract.preview import Said, preview
from memsvc.extract.review import Edit, accept, get_review, list_reviews, reject
from memsvc.graph.history import retract, undo
from memsvc.graph.operations import Thread, new_id
from memsvc.recall.options import Filters
from memsvc.recall.search import recall
from memsvc.recall.times_in_words import validity
from tests.jobs.reading import Desk, Fact

Saying = tuple[str, str]
"""A year, and what is said at its beginning."""
HISTORIES: dict[str, tuple[Sequence[Saying], list[Fact]]] = {
    "a new value closes the old one": (
        [("2022", "I LIVES_IN Faro."), ("2024", "I LIVES_IN Porto.")],
        [("I LIVES_IN Faro.", "2022", "2024"), ("I LIVES_IN Porto.", "2024", None)],
    ),
    "since when, if the text says so": (
        [("2022", "I LIVES_IN Faro."), ("2025", "I LIVES_IN Porto since 2024.")],
        [("I LIVES_IN Faro.", "2022", "2024"), ("I LIVES_IN Porto since 2024.", "2024", None)],
    ),
    "said again: more evidence, nothing else": (
        [("2022", "I LIVES_IN Faro."), ("2023", "I LIVES_IN Faro."), ("2024", "I LIVES_IN Porto.")],
        [("I LIVES_IN Faro.", "2022", "2024"), ("I LIVES_IN Porto.", "2024", None)],
    ),
    "there and back": (
        [("2022", "I LIVES_IN Faro."), ("2023", "I LIVES_IN Porto."), ("2024", "I LIVES_IN Faro.")],
        [
            ("I LIVES_IN Faro.", "2022", "2023"), ("I LIVES_IN Porto.", "2023", "2024"),
            ("I LIVES_IN Faro.", "2024", None),
        ],
    ),
    "over": (
        [("2022", "I OWNS Rex."), ("2024", "no longer I OWNS Rex.")],
        [("I OWNS Rex.", None, "2024")],
    ),
    "over since a time that is told": (
        [("2022", "I WORKS_AT Lidl."), ("2025", "no longer I WORKS_AT Lidl until 2024.")],
        [("I WORKS_AT Lidl.", "2022", "2024")],
    ),
    "over, and then again": (
        [("2022", "I OWNS Rex."), ("2023", "no longer I OWNS Rex."), ("2024", "I OWNS Rex.")],
        [("I OWNS Rex.", None, "2023"), ("I OWNS Rex.", "2024", None)],
    ),
    "several at a time": (
        [("2022", "I OWNS Rex."), ("2023", "I OWNS Tom.")],
        [("I OWNS Rex.", None, None), ("I OWNS Tom.", None, None)],
    ),
    "one beside another": (
        [("2022", "I WORKS_AT Lidl."), ("2023", "also I WORKS_AT Boots."), ("2024", "I WORKS_AT Tesco.")],
        [
            ("I WORKS_AT Lidl.", "2022", "2024"), ("I WORKS_AT Boots.", "2023", None),
            ("I WORKS_AT Tesco.", "2024", None),
        ],
    ),
    "one beside another, and over": (
        [("2022", "I LIVES_IN Faro."), ("2023", "also I LIVES_IN Porto."), ("2024", "no longer I LIVES_IN Porto.")],
        [("I LIVES_IN Faro.", "2022", None), ("I LIVES_IN Porto.", "2023", "2024")],
    ),
    "the first one over, the second not": (
        [("2022", "I WORKS_AT Lidl."), ("2023", "also I WORKS_AT Boots."), ("2024", "no longer I WORKS_AT Lidl.")],
        [("I WORKS_AT Lidl.", "2022", "2024"), ("I WORKS_AT Boots.", "2023", None)],
    ),
    "a plan that is off, and the home that stays": (
        [("2022", "I LIVES_IN Faro."), ("2024", "I LIVES_IN Porto since 2026."), ("2025", "off I LIVES_IN Porto.")],
        [("I LIVES_IN Faro.", "2022", None)],
    ),
    "a plan without a date that is off": (
        [("2022", "I WORKS_AT Lidl."), ("2024", "I WORKS_AT Boots."), ("2025", "off I WORKS_AT Boots.")],
        [("I WORKS_AT Lidl.", "2022", None)],
    ),
    "a plan of which nothing is known": ([("2024", "off I LIVES_IN Porto.")], []),
    "a plan that had begun": (
        [("2024", "I LOCATED_AT Rome since 2023."), ("2025", "off I LOCATED_AT Rome.")],
        [("I LOCATED_AT Rome since 2023.", "2023", "2025")],
    ),
    "a plan that was off and is on again": (
        [
            ("2022", "I LIVES_IN Porto since 2026."), ("2023", "off I LIVES_IN Porto."),
            ("2024", "I LIVES_IN Porto since 2026."),
        ],
        [("I LIVES_IN Porto since 2026.", "2026", None)],
    ),
    "a changed mind": (
        [("2022", "I LIKES Tea."), ("2024", "I DISLIKES Tea.")],
        [("I LIKES Tea.", None, "2024"), ("I DISLIKES Tea.", "2024", None)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HISTORIES)
async def test_facts_over_time(desk: Desk, name: str) -> None:
    said, expected = HISTORIES[name]
    for year, text in said:
        await desk.say(text, said=f"{year}-01-01T00:00:00Z")
    await desk.read()
    assert desk.history() == expected
    over = sum(text.startswith("off") for _, text in said)
    assert desk.links() >= len([text for _, text in said if not text.startswith(("no longer", "off"))]) - over


@pytest.mark.parametrize(
    "name", ["a new value closes the old one", "there and back", "several at a time", "one beside another"]
)
async def test_what_is_read_late_undoes_nothing_newer(desk: Desk, name: str) -> None:
    """Each order of the same conversations, read one by one, ends in a history with the same present."""
    said, expected = HISTORIES[name]
    present = [fact for fact in expected if fact[2] is None]
    for order in permutations(said):
        for year, text in order:
            await desk.say(text, conversation=str(new_id()), said=f"{year}-01-01T00:00:00Z")
            await desk.read()
        assert [fact for fact in desk.history() if fact[2] is None] == present, order
        for (source,) in desk.rows("SELECT source_id FROM memsvc.sources WHERE user_id = %s AND kind = 'conversation'"):
            await erase(desk.db, desk.owner, "source", source, requested_by="user")
        assert desk.history() == []


@pytest.mark.parametrize("name", HISTORIES)
async def test_messages_of_one_window_come_in_any_order(desk: Desk, name: str) -> None:
    """What counts is when something was said, not where it stands in a request or file."""
    said, expected = HISTORIES[name]
    for order in permutations(said):
        conversation = str(new_id())
        for year, text in order:
            await desk.say(text, conversation=conversation, said=f"{year}-01-01T00:00:00Z")
        await desk.read()
        assert desk.history() == expected, order
        [(source,)] = desk.rows("SELECT source_id FROM memsvc.sources WHERE user_id = %s AND kind = 'conversation'")
        await erase(desk.db, desk.owner, "source", source, requested_by="user")


async def test_what_arrives_late_in_a_window_does_not_move_where_the_next_one_begins(desk: Desk) -> None:
    await desk.say("I LIVES_IN Porto.", said="2024-01-01T00:00:00Z")
    await desk.say("I LIVES_IN Faro.", said="2022-01-01T00:00:00Z")
    await desk.read()
    await desk.say("I LIVES_IN Braga.", said="2025-01-01T00:00:00Z")
    await desk.read()
    assert [[turn.text for turn in window.turns] for window in desk.extractor.windows] == [
        ["I LIVES_IN Faro.", "I LIVES_IN Porto."], ["I LIVES_IN Braga."],
    ]  # fmt: skip


async def test_an_end_that_nobody_told_is_shown_without_a_date(desk: Desk) -> None:
    await desk.say("no longer I WORKS_AT Lidl.", said="2025-01-01T00:00:00Z")
    await desk.read()
    assert desk.history() == [("I WORKS_AT Lidl.", None, "2025")]
    then = Filters(as_of=datetime(2024, 6, 1, tzinfo=UTC))
    found = await recall(desk.db, desk.owner, "Lidl", desk.settings, filters=then)
    (fact,) = [memory.fact for memory in found.memories if memory.fact is not None]
    assert validity(fact, datetime.now(UTC), ZoneInfo("UTC")) == "no longer true"


CALLED = """
SELECT fact, to_char(nullif(valid_from, '-infinity'), 'YYYY'), to_char(nullif(valid_to, 'infinity'), 'YYYY'),
  data -> 'times'
FROM memsvc.edge_versions WHERE user_id = %s AND recorded_to = 'infinity' ORDER BY valid_from
"""


async def test_a_begin_told_later_is_the_begin_of_the_one_version(desk: Desk) -> None:
    await desk.say("I LIVES_IN Faro.", said="2020-01-01T00:00:00Z")
    await desk.say("I LIVES_IN Porto.", said="2024-01-01T00:00:00Z")
    await desk.read()
    await desk.say("I LIVES_IN Porto since 2022.", said="2025-01-01T00:00:00Z")
    await desk.read()
    assert desk.rows(CALLED) == [
        ("I LIVES_IN Faro.", "2020", "2022", {"since": "by 2020-01-01"}), ("I LIVES_IN Porto.", "2022", None, None),
    ]  # fmt: skip


async def test_where_another_was_said_in_between_nobody_told_when_the_rest_begins(desk: Desk) -> None:
    for year, text in (("2022", "I LIVES_IN Faro."), ("2024", "I LIVES_IN Faro."), ("2023", "I LIVES_IN Porto.")):
        await desk.say(text, said=f"{year}-01-01T00:00:00Z", conversation=year)
        await desk.read()
    assert desk.rows(CALLED) == [
        ("I LIVES_IN Faro.", "2022", "2023", {"since": "by 2022-01-01"}),
        ("I LIVES_IN Porto.", "2023", "2024", {"since": "by 2023-01-01", "until": "by 2024-01-01"}),
        ("I LIVES_IN Faro.", "2024", None, {"since": "by 2024-01-01"}),
    ]  # fmt: skip


async def test_what_is_said_to_be_over_ends_at_a_time_that_nobody_told(desk: Desk) -> None:
    await desk.say("I OWNS Rex.", said="2022-01-01T00:00:00Z", conversation="one")
    await desk.read()
    over = await desk.say("no longer I OWNS Rex.", said="2024-01-01T00:00:00Z", conversation="two")
    await desk.read()
    assert desk.rows(CALLED) == [("I OWNS Rex.", None, "2024", {"until": "by 2024-01-01"})]
    await erase(desk.db, desk.owner, "source", over, requested_by="user")
    assert [row[:1] for row in desk.rows(CALLED)] == [("I OWNS Rex.",)]


async def test_a_correction_takes_back_what_was_said_before(desk: Desk) -> None:
    await desk.say("I LIVES_IN Faro.", said="2024-01-01T00:00:00Z")
    await desk.read()
    await desk.say("I LIVES_IN Lagos.", conversation="other", said="2023-01-01T00:00:00Z")
    await desk.say("no, I LIVES_IN Porto.", said="2024-01-01T00:05:00Z")
    await desk.read()
    assert [fact for fact in desk.history() if fact[2] is None] == [("I LIVES_IN Porto.", "2024", None)]
    assert "I LIVES_IN Faro." not in [fact[0] for fact in desk.history()]
    # Also within one window.
    await desk.say("I KNOWS Ana.", "no, I KNOWS Eva.", conversation="third")
    await desk.read()
    assert [fact for fact in desk.facts() if "KNOWS" in fact] == ["I KNOWS Eva."]


async def test_a_correction_to_the_opposite_ends_what_was_said_before(desk: Desk) -> None:
    await desk.say("I LIKES Tea.", said="2022-01-01T00:00:00Z")
    await desk.read()
    await desk.say("no, I DISLIKES Tea.", said="2024-01-01T00:00:00Z")
    await desk.read()
    assert desk.history() == [("I LIKES Tea.", None, "2024"), ("I DISLIKES Tea.", "2024", None)]


async def test_a_contradiction_is_marked(desk: Desk) -> None:
    await desk.say("I LIVES_IN Faro since 2020.", said="2024-01-01T00:00:00Z")
    await desk.read()
    await desk.say("I LIVES_IN Porto since 2020.", said="2024-02-01T00:00:00Z")
    await desk.read()
    [denied] = desk.rows(
        "SELECT data ->> 'contradicts' IS NOT NULL FROM memsvc.edge_versions "
        "WHERE user_id = %s AND recorded_to = 'infinity'"
    )
    assert denied == (True,)


async def test_what_was_entered_by_hand_does_not_go_with_a_message(desk: Desk) -> None:
    """The owner's own node was made with the user: a message that speaks of Ada is no reason to erase it with that."""
    source = await desk.say("Ada KNOWS Rui. I KNOWS Ana.")
    await desk.read()
    receipt = await erase(desk.db, desk.owner, "source", source, requested_by="user")
    assert receipt.counts["edges"] == 2
    assert desk.labels() == ["Ada"]
    assert desk.rows("SELECT count(*) FROM memsvc.extractions WHERE user_id = %s") == [(0,)]


@pytest.mark.parametrize(("erased", "left"), [(0, "Ana KNOWS Rui as colleague."), (1, "Ana KNOWS Rui since 2020.")])
async def test_who_says_more_of_a_fact_says_it_in_own_words(desk: Desk, erased: int, left: str) -> None:
    """Each of the two can be erased without the other: nothing of the one is left, all of the other is."""
    sources = [
        await desk.say("Ana KNOWS Rui since 2020.", conversation="one"),
        await desk.say("Ana KNOWS Rui as colleague.", conversation="two"),
    ]
    await desk.read()
    assert desk.history() == [("Ana KNOWS Rui as colleague.", "2020", None)]
    await erase(desk.db, desk.owner, "source", sources[erased], requested_by="user")
    assert desk.history() == [(left, "2020", None)]
    rows = desk.rows("SELECT DISTINCT data FROM memsvc.edge_versions WHERE user_id = %s AND recorded_to = 'infinity'")
    assert rows == [({"relation": "colleague"} if erased == 0 else {},)]


@pytest.mark.parametrize(
    ("more", "known", "data"),
    [
        ("as colleague", ("Ana KNOWS Rui as colleague.", None, None), {"relation": "colleague"}),
        ("since 2020", ("Ana KNOWS Rui.", "2020", None), {}),
    ],
)
async def test_who_says_less_later_in_the_same_window_takes_nothing_back(
    desk: Desk, more: str, known: Fact, data: dict[str, str]
) -> None:
    await desk.say("Ana KNOWS Rui.", conversation="one")
    await desk.read()
    await desk.say(f"Ana KNOWS Rui {more}.", "Ana KNOWS Rui.", conversation="two")
    await desk.read()
    assert desk.history() == [known]
    rows = desk.rows("SELECT data FROM memsvc.edge_versions WHERE user_id = %s AND recorded_to = 'infinity'")
    assert rows == [(data,)]


async def test_what_a_window_says_twice_of_a_known_fact_is_made_of_that(desk: Desk) -> None:
    await desk.say("Ana KNOWS Rui.", conversation="one")
    await desk.read()
    second = await desk.say("Ana KNOWS Rui as colleague.", "Ana KNOWS Rui.", conversation="two")
    await desk.read()
    await erase(desk.db, desk.owner, "source", second, requested_by="user")
    assert desk.history() == [("Ana KNOWS Rui.", None, None)]


async def test_a_begin_told_before_more_is_said_in_the_same_window_stays(desk: Desk) -> None:
    await desk.say("Ana KNOWS Rui.", conversation="one")
    await desk.read()
    await desk.say("Ana KNOWS Rui since 2020.", "Ana KNOWS Rui as colleague.", conversation="two")
    await desk.read()
    assert desk.history() == [("Ana KNOWS Rui as colleague.", "2020", None)]


async def test_an_erased_fact_is_not_learnt_the_other_way_round(desk: Desk) -> None:
    await desk.say("Ana KNOWS Rui.", conversation="one")
    await desk.say("Rui KNOWS Ana.", conversation="two")
    await desk.read()
    [(edge,)] = desk.rows("SELECT edge_id FROM memsvc.edges WHERE user_id = %s")
    await erase(desk.db, desk.owner, "fact", edge, requested_by="user")
    await ask_all(desk.db, desk.owner, desk.better, "better")
    await desk.read()
    assert desk.facts() == []
    await desk.say("Rui KNOWS Ana.", conversation="three")
    await desk.read()
    assert desk.facts() == ["Rui KNOWS Ana."]


async def test_a_message_that_is_erased_leaves_no_gap_in_reading(desk: Desk) -> None:
    await desk.say("Ana KNOWS Rui.", "maybe Ana LIKES tea.")
    await desk.read()
    [last] = desk.rows("SELECT upto FROM memsvc.extractions WHERE user_id = %s")
    receipt = await erase(desk.db, desk.owner, "message", last[0], requested_by="user")
    assert receipt.counts["fact_reviews"] == 1
    assert receipt.leftovers == {}
    await desk.say("Ana KNOWS Eva.")
    await desk.read()
    assert desk.facts() == ["Ana KNOWS Eva.", "Ana KNOWS Rui."]
    assert [len(window.turns) for window in desk.extractor.windows] == [2, 1]


# Review ---------------------------------------------------------------------------------------------------------------


async def test_doubtful_facts_wait_for_a_person(desk: Desk) -> None:
    await desk.say("Ana KNOWS Rui.", "maybe Ana LIKES tea.", "maybe Eva LIVES_IN Faro.")
    await desk.read()
    assert desk.facts() == ["Ana KNOWS Rui."]
    where, likes = await list_reviews(desk.db, desk.owner)
    assert (likes.reason, likes.proposal.sentence, likes.text) == ("doubtful", "Ana LIKES tea.", "maybe Ana LIKES tea.")
    done = await accept(desk.db, desk.owner, likes.review_id, by="user")
    assert (done.review.state, done.review.decided_by) == ("accepted", "user")
    edited = await accept(
        desk.db, desk.owner, where.review_id, by="user",
        edit=Edit(object="Porto", sentence="Eva lives in Porto."),
    )  # fmt: skip
    assert edited.review.state == "edited"
    assert desk.facts() == ["Ana KNOWS Rui.", "Ana LIKES tea.", "Eva lives in Porto."]
    by = desk.rows("SELECT DISTINCT asserted_by FROM memsvc.edge_versions WHERE user_id = %s ORDER BY 1")
    assert by == [("saying/1",), ("user",)]
    with pytest.raises(ReviewDecidedError):
        await reject(desk.db, desk.owner, likes.review_id, by="user")
    with pytest.raises(ReviewUnknownError):
        await get_review(desk.db, desk.owner, new_id())


async def test_what_a_person_rejected_is_never_asked_again(desk: Desk) -> None:
    await desk.say("maybe Ana LIKES tea.")
    await desk.read()
    [review] = await list_reviews(desk.db, desk.owner)
    await reject(desk.db, desk.owner, review.review_id, by="user")
    await ask_all(desk.db, desk.owner, desk.better, "better")
    await desk.read()
    assert await list_reviews(desk.db, desk.owner) == []
    [rejected] = await list_reviews(desk.db, desk.owner, state="rejected")
    assert rejected.extractor == "saying/1"
    assert desk.facts() == []


@pytest.mark.parametrize("how", ["retract", "undo"])
async def test_what_a_person_took_back_is_not_read_from_the_same_passages_again(desk: Desk, how: str) -> None:
    kept = ["Ana LIKES tea.", "Rui LIKES tea."]
    await desk.say(*kept)
    await desk.read()
    await desk.say("Ana KNOWS Rui.")
    await desk.read()
    if how == "retract":
        [(edge,)] = desk.rows("SELECT edge_id FROM memsvc.edges WHERE user_id = %s AND type = 'KNOWS'")
        await retract(desk.db, desk.owner, [Thread(edge=edge)], asserted_by="user")
    else:
        changes = desk.rows("SELECT change_id FROM memsvc.changes WHERE user_id = %s ORDER BY recorded_at")
        await undo(desk.db, desk.owner, changes[-1][0], asserted_by="user")
    assert desk.facts() == kept
    await ask_all(desk.db, desk.owner, desk.better, "better")
    await desk.read()
    assert desk.facts() == kept
    await desk.say("Rui KNOWS Ana.", conversation="another")
    await desk.read()
    assert desk.facts() == sorted([*kept, "Rui KNOWS Ana."]), "said anew it is known again"
    await desk.say("Ana KNOWS Eva.", conversation="third")
    await desk.read()
    [(edge,)] = desk.rows(
        "SELECT e.edge_id FROM memsvc.edge_versions AS e WHERE e.user_id = %s AND e.fact = 'Ana KNOWS Eva.'"
    )
    await retract(desk.db, desk.owner, [Thread(edge=edge)], asserted_by="better/1")
    await ask_all(desk.db, desk.owner, desk.better, "better")
    await desk.read()
    assert "Ana KNOWS Eva." in desk.facts(), "no person took it back"


@pytest.mark.parametrize("known_again", [False, True])
async def test_what_a_person_undid_with_its_nodes_is_not_read_again(desk: Desk, *, known_again: bool) -> None:
    await desk.say("Ana KNOWS Rui.", "Rui LIKES tea.")
    await desk.read()
    [(change,)] = desk.rows("SELECT change_id FROM memsvc.changes WHERE user_id = %s AND 'edge' = ANY (operations)")
    await undo(desk.db, desk.owner, change, asserted_by="user")
    said = ["Ana LIKES tea."] if known_again else []
    await desk.say(*said, "Good morning.", conversation="newer")
    await desk.read()
    assert desk.facts() == said
    await ask_all(desk.db, desk.owner, desk.better, "better")
    await desk.read()
    assert desk.facts() == said


async def test_what_is_refused_is_kept_with_its_reason(desk: Desk) -> None:
    await desk.say("Ana LIVES_IN Faro.", role="assistant")
    await desk.say("```\nAna LIVES_IN Faro.\n```", "Ana FLIES Kites.", "Tim KNOWS Ana. I FEELS Joy until 0800.")
    await desk.read()
    refused = await list_reviews(desk.db, desk.owner, state="refused")
    assert {(one.proposal.sentence, one.reason) for one in refused} == {
        ("Ana LIVES_IN Faro.", "role"),
        ("Ana LIVES_IN Faro.", "boilerplate"),
        ("Ana FLIES Kites.", "type"),
        ("I FEELS Joy until 0800.", "date"),
    }
    assert desk.facts() == ["Tim KNOWS Ana."]
    wrong = next(one for one in refused if one.reason == "type")
    with pytest.raises(EndpointForbiddenError):
        await accept(desk.db, desk.owner, wrong.review_id, by="user", edit=Edit(type="LIVES_IN"))
    assert (await get_review(desk.db, desk.owner, wrong.review_id)).state == "refused"


# Dry run --------------------------------------------------------------------------------------------------------------


async def test_a_dry_run_tells_what_would_be_written_and_stores_nothing(desk: Desk) -> None:
    await desk.say("Ana LIVES_IN Faro.", said="2024-01-01T00:00:00Z")
    await desk.read()
    before = desk.history(), desk.labels(), len(await desk.jobs())
    said = [Said(text="Ana LIVES_IN Porto. maybe Ana LIKES tea."), Said(text="I KNOWS Ana.", speaker="Ada")]
    shown = await preview(desk.db, desk.owner, said, desk.extractor, desk.settings)
    assert {(fact.proposal.sentence, fact.turn, fact.verdict) for fact in shown.facts} == {
        ("Ana LIVES_IN Porto.", 0, "changes"),
        ("Ana LIKES tea.", 0, "doubtful"),
        ("I KNOWS Ana.", 1, "new"),
    }
    known = {node.name: node.node_id is not None for node in shown.nodes}
    assert known == {"Ana": True, "Porto": False, "Ada": True}
    assert (desk.history(), desk.labels(), len(await desk.jobs())) == before
