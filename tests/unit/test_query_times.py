"""Times that a query names. It is Wednesday 18 March 2026, 15:30 in Berlin."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from types import ModuleType
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.times import dates, hints, phrases, phrases_cjk, words
from memsvc.times.reading import MAX_SIGNS, MAX_WINDOWS, read_times

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 18, 15, 30, tzinfo=BERLIN)
TODAY = "2026-03-18"


def windows(query: str) -> list[tuple[str, str]]:
    """First and last day of each window."""
    found = read_times(query, NOW, BERLIN).windows
    return [(f"{w.begin:%Y-%m-%d}", f"{w.end - timedelta(microseconds=1):%Y-%m-%d}") for w in found]


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("What did we cook on 7 May 2023?", "2023-05-07", "2023-05-07"),
        ("What did we cook on May 7th, 2023?", "2023-05-07", "2023-05-07"),
        ("the 7th of May 2023", "2023-05-07", "2023-05-07"),
        ("Was it foggy on 2023-05-07T10:00?", "2023-05-07", "2023-05-07"),
        ("tickets of 2023/05/07", "2023-05-07", "2023-05-07"),
        ("Rechnung vom 7.5.2023", "2023-05-07", "2023-05-07"),
        ("25/7/2023", "2023-07-25", "2023-07-25"),
        ("the letter from 29 February", "2024-02-29", "2024-02-29"),
        ("Who called on March 18?", TODAY, TODAY),
        ("Who called on 19 april?", "2025-04-19", "2025-04-19"),
        ("before 19 march", "1000-01-02", "2025-03-18"),
        ("the May 7 concert", "2025-05-07", "2025-05-07"),
        ("our flat in May", "2025-05-01", "2025-05-31"),
        ("our flat in March", "2026-03-01", "2026-03-31"),
        ("May, 2023", "2023-05-01", "2023-05-31"),
        ("backups of 2023-05", "2023-05-01", "2023-05-31"),
        ("Where did I live in 2019?", "2019-01-01", "2019-12-31"),
        ("the garden in the summer of 2022", "2022-06-01", "2022-08-31"),
        ("winter 2022/23", "2022-12-01", "2023-02-28"),
        ("sales in Q2 2024", "2024-04-01", "2024-06-30"),
        ("sales in 2024 Q2", "2024-04-01", "2024-06-30"),
        ("sales in q4", "2025-10-01", "2025-12-31"),
        ("between 3 and 9 May 2023", "2023-05-03", "2023-05-09"),
        ("May 3-9, 2023", "2023-05-03", "2023-05-09"),
        ("from 28 April to 3 May 2023", "2023-04-28", "2023-05-03"),
        ("from November to January 2023", "2022-11-01", "2023-01-31"),
        ("between 2019 and 2021", "2019-01-01", "2021-12-31"),
        ("the week of 3 June 2023", "2023-05-29", "2023-06-04"),
        ("the weekend before 20 May 2023", "2023-05-13", "2023-05-14"),
        ("the Sunday before 20 May 2023", "2023-05-14", "2023-05-14"),
        ("the Friday after May 20, 2023", "2023-05-26", "2023-05-26"),
        ("the week before 16 November 2023", "2023-11-06", "2023-11-15"),
        ("two days after 30 April 2023", "2023-05-02", "2023-05-02"),
        ("the second week of May 2023", "2023-05-08", "2023-05-14"),
        ("the last two weeks of May 2023", "2023-05-18", "2023-05-31"),
        ("the first Sunday of May 2023", "2023-05-07", "2023-05-07"),
        ("the last Friday of May 2023", "2023-05-26", "2023-05-26"),
        ("the first weekend of May 2023", "2023-05-06", "2023-05-07"),
        ("the last weekend of May 2023", "2023-05-27", "2023-05-28"),
        ("the first half of 2023", "2023-01-01", "2023-06-30"),
        ("at the end of June 2023", "2023-06-21", "2023-06-30"),
        ("in May last year", "2025-05-01", "2025-05-31"),
        ("since 3 May 2023", "2023-05-03", TODAY),
        ("after May 2023", "2023-06-01", TODAY),
        ("before 20 May 2023", "1000-01-02", "2023-05-19"),
        ("as of May 2023", "1000-01-02", "2023-05-31"),
        ("today", TODAY, TODAY),
        ("What did Ana say yesterday evening?", "2026-03-17", "2026-03-17"),
        ("the day before yesterday", "2026-03-16", "2026-03-16"),
        ("last night", "2026-03-17", TODAY),
        ("last week", "2026-03-09", "2026-03-15"),
        ("in the last week", "2026-03-11", TODAY),
        ("this week", "2026-03-16", "2026-03-22"),
        ("next month", "2026-04-01", "2026-04-30"),
        ("last year's budget", "2025-01-01", "2025-12-31"),
        ("last weekend", "2026-03-14", "2026-03-15"),
        ("last Friday", "2026-03-13", "2026-03-13"),
        ("last Wednesday", "2026-03-11", "2026-03-11"),
        ("on Wednesday", TODAY, TODAY),
        ("on Monday morning", "2026-03-16", "2026-03-16"),
        ("next Friday", "2026-03-20", "2026-03-20"),
        ("on Friday, 8 May 2020", "2020-05-08", "2020-05-08"),
        ("last summer", "2025-06-01", "2025-08-31"),
        ("last winter", "2025-12-01", "2026-02-28"),
        ("last May", "2025-05-01", "2025-05-31"),
        ("3 days ago", "2026-03-15", "2026-03-15"),
        ("two weeks ago", "2026-03-01", "2026-03-07"),
        ("a few weeks ago", "2026-02-08", "2026-03-07"),
        ("a year ago", "2024-09-16", "2025-09-17"),
        ("in the last 3 weeks", "2026-02-25", TODAY),
        ("over the past few days", "2026-03-13", TODAY),
        ("Have I been ill recently?", "2026-02-16", TODAY),
        ("gestern Abend", "2026-03-17", "2026-03-17"),
        ("letzte Woche", "2026-03-09", "2026-03-15"),
        ("Was war vor 3 Tagen?", "2026-03-15", "2026-03-15"),
        ("am 7. Mai 2023", "2023-05-07", "2023-05-07"),
        ("im Mai", "2025-05-01", "2025-05-31"),
        ("nächsten Freitag", "2026-03-20", "2026-03-20"),
        ("seit letztem Montag", "2026-03-16", TODAY),
        ("the week before last", "2026-03-02", "2026-03-08"),
        ("since Monday", "2026-03-16", TODAY),
        ("the third quarter of last year", "2025-07-01", "2025-09-30"),
        ("from mid-March to August 2024", "2024-03-11", "2024-08-31"),
        ("May 7 was warm", "2025-05-07", "2025-05-07"),
        ("photos of May 7,2023", "2023-05-07", "2023-05-07"),
        ("2023-05-07に", "2023-05-07", "2023-05-07"),
        ("2023年5月7日我在哪里?", "2023-05-07", "2023-05-07"),
        ("2023年夏天", "2023-06-01", "2023-08-31"),
        ("去年5月", "2025-05-01", "2025-05-31"),
        ("我昨天吃了什么?", "2026-03-17", "2026-03-17"),
        ("上周三的会议", "2026-03-11", "2026-03-11"),
        ("三个月前", "2025-12-03", "2026-01-02"),
        ("先週の金曜日", "2026-03-13", "2026-03-13"),
        ("3日前に", "2026-03-15", "2026-03-15"),
    ],
)
def test_a_time_is_read(query: str, first: str, last: str) -> None:
    assert windows(query) == [(first, last)]


@pytest.mark.parametrize(
    "query",
    [
        "It may rain, may it not?", "May I ask you something?", "The top 10 may change", "March 10 miles",
        "They march 20 miles",
        "She sat on the sun deck", "room 1234", "Python 3.14 and 3.11.2", "call +49 170 2023", "it cost $2023",
        "in 2000 steps", "at 20:15", "1/2 cup of flour", "24/7", "30 February 2023", "2023-13-45", "99999 years ago",
        "9999 years ago", "between 2000 and 3000 people", "How long did it last?", "it lasted 3 days",
        "the last season",
        "the last week of school", "April is my sister", "the day after the wedding", "10.0.20.23",
        "id 2023-05-07-1234",
        "on Sunday mornings", "in three weeks", "一起去", "半年",
    ],
)  # fmt: skip
def test_what_is_no_time_gives_nothing(query: str) -> None:
    assert windows(query) == []


def test_windows_stand_in_the_order_of_the_query_with_their_words() -> None:
    found = read_times("Compare  last week,\nMay 2023 and since  the 3rd of June, then May 2023", NOW, BERLIN).windows
    assert [(window.phrase, window.kind) for window in found] == [
        ("last week", "relative"), ("May 2023", "explicit"), ("since the 3rd of June", "explicit"),
    ]  # fmt: skip
    assert all(window.begin.tzinfo is BERLIN and window.end.tzinfo is BERLIN for window in found)


def test_a_date_that_can_be_read_in_two_ways_is_both_days() -> None:
    assert windows("5/7/2023") == [("2023-05-07", "2023-05-07"), ("2023-07-05", "2023-07-05")]
    assert windows("5/5/2023") == [("2023-05-05", "2023-05-05")]
    assert windows("the week of 5/7/2023") == [("2023-05-01", "2023-05-07")]


def test_a_day_that_comes_within_a_month_may_be_meant_too() -> None:
    assert windows("Who comes on 19 march?") == [("2025-03-19", "2025-03-19"), ("2026-03-19", "2026-03-19")]
    assert windows("the trip on April 6-7") == [("2025-04-06", "2025-04-07"), ("2026-04-06", "2026-04-07")]


def test_recently_says_nothing_beside_a_date() -> None:
    assert windows("What did I recently buy, in May 2023?") == [("2023-05-01", "2023-05-31")]


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("When did I first meet Ana?", "first"), ("the earliest photo", "first"), ("Where was I originally?", "first"),
        ("When did I last call Ana?", "last"), ("my latest job", "last"), ("the most recent one", "last"),
        ("Where do I live now?", "last"), ("Do I still smoke?", "last"), ("What am I currently reading?", "last"),
        ("Is her first job still her current one?", "first"), ("wann zuletzt?", "last"), ("第一次见面", "first"),
        ("last week", None), ("her first name", None), ("How long did it last?", None), ("at last", None),
        ("the most beautiful", None), ("a still life", None), ("Now, tell me more", None), ("at the latest", None),
    ],
)  # fmt: skip
def test_the_first_or_the_last(query: str, order: str | None) -> None:
    assert read_times(query, NOW, BERLIN).order == order


@pytest.mark.parametrize(
    ("query", "now", "hours"),
    [
        ("yesterday", "2026-03-30T09:00:00", 23),  # the clock went forward
        ("yesterday", "2026-10-26T09:00:00", 25),  # the clock went back
        ("last week", "2026-03-30T00:05:00", 7 * 24 - 1),
        ("an hour ago", "2026-03-29T03:30:00", 2),  # from 01:30, through the gap
    ],
)
def test_days_are_as_long_as_the_clock_says(query: str, now: str, hours: int) -> None:
    moment = datetime.fromisoformat(now).replace(tzinfo=BERLIN)
    (window,) = read_times(query, moment, BERLIN).windows
    assert window.end.astimezone(UTC) - window.begin.astimezone(UTC) == timedelta(hours=hours)


def test_yesterday_is_the_users_not_the_servers() -> None:
    now = datetime(2026, 3, 18, 23, 30, tzinfo=UTC)
    days = [read_times("yesterday", now, ZoneInfo(z)).windows[0].begin.day for z in ("Asia/Tokyo", "UTC", "Etc/GMT+12")]
    assert days == [18, 17, 17]


WORDS = st.sampled_from(
    [
        *phrases.RULES, *hints.HINTS, "of", "the", "and", "to", "ago", "-", ",", ".", "/", "7", "3rd", "2023",
        "2023-05", "5/7/2023", "31", "年", "月", "日", "上周", "三个月前", "去年", "İ", "9999", "’s", "$", "\n", "\0",
    ]
)  # fmt: skip


@pytest.mark.parametrize("query", ["APRIL 31", "30 February", "31. November", "4月31日", "February 30, 2023"])
def test_a_day_that_no_year_has_is_no_day(query: str) -> None:
    assert read_times(query, NOW, BERLIN).windows == ()


@given(st.one_of(st.text(), st.lists(WORDS, max_size=60).map(" ".join), st.lists(WORDS, max_size=60).map("".join)))
def test_any_text_gives_sound_windows(query: str) -> None:
    found = read_times(query, NOW, BERLIN)
    assert len(found.windows) <= MAX_WINDOWS
    for window in found.windows:
        assert window.begin.astimezone(UTC) < window.end.astimezone(UTC)
        assert window.phrase in " ".join(query.split())


@pytest.mark.parametrize(
    "again", ["7 May 2023 to ", "first week of last week of ", "the day before ", "1 ", "十", "in "]
)
def test_the_work_is_bounded(again: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules tried and phrases within phrases, not milliseconds."""
    tried = []
    for word, rule in phrases.RULES.items():

        def counted(reader, at, before, rule=rule):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
            tried.append(at)
            return rule(reader, at, before)

        monkeypatch.setitem(phrases.RULES, word, counted)
    read_times(again * 100_000, NOW, BERLIN)
    assert len(tried) <= 4 * 300
    assert max(tried, default=0) <= MAX_SIGNS


@pytest.mark.parametrize("module", [dates, hints, phrases, phrases_cjk, words])
def test_no_pattern_can_run_away(module: ModuleType) -> None:
    """No repetition without a bound, but for the one of words, and none inside another."""
    patterns = [value for value in vars(module).values() if isinstance(value, re.Pattern)]
    patterns += [
        v for t in vars(module).values() if isinstance(t, dict) for v in t.values() if isinstance(v, re.Pattern)
    ]
    for pattern in patterns:
        plain = re.sub(r"\\.|\[(?:\\.|[^\]\\])*\]", "x", pattern.pattern)
        if plain != "x+":
            assert not re.search(r"[*+]|\{\d+,\}", plain), pattern.pattern
        assert not re.search(r"\{\d*,\d+\}[^()]*\)(?:\{|[*+])", plain), pattern.pattern
