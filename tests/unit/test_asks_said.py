"""Which questions ask for what was said at a time, and for nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from memsvc.recall.asks_said import SaidThen, said_then
from memsvc.recall.options import Filters, Near, Weights
from memsvc.times.reading import read_times

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)


def asked(question: str, filters: Filters | None = None, weights: Weights | None = None) -> SaidThen | None:
    times = read_times(question, NOW, ZoneInfo("UTC"))
    return said_then(question, times, NOW, filters or Filters(), weights or {})


@pytest.mark.parametrize(
    ("question", "days", "role"),
    [
        ("What did I say last week?", "23 to 29 November 2026", "user"),
        ("what did i say last week", "23 to 29 November 2026", "user"),
        ("What did we talk about last week?", "23 to 29 November 2026", None),
        ("Last week, what did we talk about?", "23 to 29 November 2026", None),
        ("What did I say on 26 November 2026?", "26 November 2026", "user"),
        ("What did I tell you yesterday?", "29 November 2026", "user"),
        ("What did you tell me yesterday?", "29 November 2026", "assistant"),
        ("What did you and I discuss on Friday?", "27 November 2026", None),
        ("Can you tell me what I said on Thursday last week?", "26 November 2026", "user"),
        ("Do you still remember what I said two days ago?", "28 November 2026", "user"),
        ("Please tell me what we’ve talked about this month.", "November 2026", None),
        ("What have I mentioned between 24 and 27 November?", "24 to 27 November 2026", "user"),
        ("Give me an overview of November 2026", "November 2026", None),
        ("Summarize last week", "23 to 29 November 2026", None),
        ("Show me our conversations from last week", "23 to 29 November 2026", None),
        ("What did I say before May 2024?", "before 1 May 2024", "user"),
        ("Was habe ich letzte Woche gesagt?", "23 to 29 November 2026", "user"),
        ("Was habe ich dir gestern erzählt?", "29 November 2026", "user"),
        ("Was hast du mir gestern gesagt?", "29 November 2026", "assistant"),
        ("Worüber haben wir im November gesprochen?", "November 2026", None),
        ("Worüber haben wir uns letzte Woche unterhalten?", "23 to 29 November 2026", None),
        ("Kannst du mir sagen, was wir am 26. November 2026 besprochen haben?", "26 November 2026", None),
        ("Weißt du noch, was ich vorgestern gesagt habe?", "28 November 2026", "user"),
        ("Gib mir einen Überblick über November 2026", "November 2026", None),
        ("Was war gestern unser Thema?", "29 November 2026", None),
        ("Über was wurde letzte Woche geredet?", "23 to 29 November 2026", None),
        ("Was habe ich dich gestern gefragt?", "29 November 2026", "user"),
        ("What did I ask you yesterday?", "29 November 2026", "user"),
        ("Write me a summary of last week", "23 to 29 November 2026", None),
        ("Fasse bitte die letzte Woche zusammen", "23 to 29 November 2026", None),
    ],
)
def test_a_time_and_words_of_saying_ask_for_what_was_said_then(question: str, days: str, role: str | None) -> None:
    told = asked(question)
    assert told is not None
    assert told.role == role
    assert f"({days})" in told.nothing


@pytest.mark.parametrize(
    "question",
    [
        "What did I say about the garden last week?", "What did I say about last week?", "What did Ines say last week?",
        "What did I tell my mother last week?", "When did I say that last week?", "Who did I talk to last week?",
        "How often did we talk last week?", "What did I do last week?", "What did I say I did last week?",
        "What did I say to do yesterday?", "What was the first thing I said yesterday?", "Where did I go last week?",
        "What is the price that we discussed last week?", "Summarize the wedding plans of last week",
        "What did we talk about in Porto last week?", "What did I tell May last week?", "Tell me about last week",
        "What do we have to discuss today?", "What should I tell you today?", "What happened last week?",
        "What will we talk about next week?", "What did I say about next week?", "What did I say?", "last week",
        "Was habe ich letzte Woche über den Garten gesagt?", "Was habe ich über letzte Woche gesagt?",
        "Was hat Ines gestern gesagt?", "Mit wem habe ich gestern gesprochen?", "Wann habe ich gestern gesprochen?",
        "Was habe ich Anna gestern erzählt?", "Was habe ich gestern gemacht?", "Was muss ich dir heute sagen?",
        "What am I to say today?", "Message me on Friday", "Ask me on Monday",
        "What did I say yesterday? " + "Well? " * 40,
    ],
)  # fmt: skip
def test_other_questions_keep_their_order(question: str) -> None:
    assert asked(question) is None


@pytest.mark.parametrize(
    ("filters", "weights"),
    [
        (Filters(), {"words": 1.0}),
        (Filters(least_score=1.0), {}),
        (Filters(near=Near(latitude=1, longitude=1, radius_m=1)), {}),
        (Filters(kinds=["summary"]), {}),
    ],
)
def test_whoever_asks_for_an_order_or_for_other_kinds_gets_it(filters: Filters, weights: Weights) -> None:
    assert asked("What did I say last week?") is not None
    assert asked("What did I say last week?", filters, weights) is None
