"""Answers that hold summaries: what they quote ranks below them, and other questions get none."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.recall.results import Memory
from memsvc.recall.with_summaries import Quotes, asks_summaries, with_summaries
from tests.recalled import memory


def numbered(first: int, count: int, kind: str = "message") -> list[Memory]:
    return [memory(first + n, kind=kind) for n in range(count)]


def quotes(summaries: Sequence[Memory], quoted: Sequence[set[int]]) -> dict[UUID, Quotes]:
    return {
        one.memory_id: Quotes("conversation", frozenset(UUID(int=n) for n in some))
        for one, some in zip(summaries, quoted, strict=True)
    }


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Can you list in order how I brought up the move?", "overview"),
        ("Summarise what we said about the wedding so far.", "overview"),
        ("Which cities has Jon visited?", "several"),
        ("What hobbies do Ana and Rui have in common?", "several"),
        ("Wie oft war Rui in Porto?", "several"),
        ("When is the wedding?", None),
        ("Which books would you recommend for the train?", None),
        ("What materials should I use for the shelf?", None),
        ("Welche Bücher empfiehlst du mir?", None),
        ("What is the rent for the flat we talked about?", None),
        ("What are the main points we discussed about the flat?", "overview"),
        ("What's the summary of what we said about the flat?", "overview"),
        ("What is this dress made of?", None),
        ("What does Ana's brother do?", None),
    ],
)
def test_some_questions_want_summaries(question: str, asks: str | None) -> None:
    assert asks_summaries(question) == asks


@given(st.lists(st.sets(st.integers(0, 29), max_size=8), max_size=12), st.integers(1, 12))
def test_an_overview_tells_nothing_twice_while_there_is_other_news(quoted: list[set[int]], limit: int) -> None:
    summaries, memories = numbered(100, len(quoted), "summary"), numbered(0, 30)
    held = quotes(summaries, quoted)
    found = with_summaries("overview", summaries, memories, held, limit)
    told = [one for one in found if one.kind == "summary"]
    assert len(found) == limit == len({one.memory_id for one in found})
    assert found[: len(told)] == told, "summaries come first"
    known = {passage for one in told for passage in held[one.memory_id].passages}
    news = [one for one in found[len(told) :] if one.memory_id not in known]
    assert len(news) == min(limit - len(told), 30 - len(known))
    assert all(held[one.memory_id].passages for one in told)
    if not told:
        assert found == memories[:limit]


def test_the_last_ranks_go_to_summaries_of_what_ranks_behind() -> None:
    summaries, memories = numbered(100, 4, "summary"), numbered(0, 30)
    held = quotes(summaries, [{0, 1, 2}, {9, 12}, {8, 10, 11}, {25}])
    found = with_summaries("several", summaries, memories, held, 10)
    assert found[:8] == memories[:8]
    assert [one.memory_id.int for one in found[8:]] == [102, 101]
    assert with_summaries("several", summaries[:1], memories, held, 10) == memories[:10], "its messages are there"
    assert with_summaries("several", [], memories, {}, 3) == memories[:3]
