"""Dates in the quotes of a context: in brackets that no quote can imitate."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from uuid import UUID
from zoneinfo import ZoneInfo

import msgspec
import pytest

from memsvc.recall.block import Block, Shape
from memsvc.recall.dated import dated_words, with_dates
from memsvc.recall.items import Format, Item
from memsvc.recall.packing import Material, Packer
from memsvc.recall.times_in_words import days
from memsvc.text.tokens import Estimate

SAID = datetime(2026, 11, 20, 22, 0, tzinfo=timezone(timedelta(hours=-5)))
NOW = datetime(2026, 11, 26, 9, 0, tzinfo=UTC)


def shown(text: str, said_at: datetime = SAID) -> str:
    return with_dates(text, dated_words(text, said_at))


def item(text: str, **fields: object) -> Item:
    given = {"id": "m:1", "kind": "message", "memory_id": UUID(int=1), "text": text, "why": "x", "speaker": "Kim"}
    return msgspec.convert(given | {"said_at": SAID} | fields, Item)


def block(one: Item, form: Format) -> str:
    filled = Block(Shape(tokenizer=Estimate(), budget_tokens=1_000, now=NOW, format=form, why="none"))
    assert filled.add("recent" if one.kind == "turn" else "memories", one, 1_000)
    return filled.settled()[0]


def test_a_date_stands_behind_its_words() -> None:
    assert shown("call the plumber tomorrow at 9") == "call the plumber tomorrow [21 November 2026] at 9"
    assert shown("we move in two months") == "we move in two months [about January 2027]"
    monday = datetime(2026, 11, 16, tzinfo=UTC)
    assert shown("next Friday", monday) == "next Friday [20 November 2026 or 27 November 2026]"


@pytest.mark.parametrize(
    ("begin", "end", "said"),
    [
        ((2026, 5, 7), (2026, 5, 8), "7 May 2026"),
        ((2026, 5, 3), (2026, 5, 10), "3 to 9 May 2026"),
        ((2026, 4, 30), (2026, 5, 3), "30 April to 2 May 2026"),
        ((2026, 12, 28), (2027, 1, 4), "28 December 2026 to 3 January 2027"),
        ((2026, 5, 1), (2026, 6, 1), "May 2026"),
        ((2026, 6, 1), (2026, 9, 1), "June to August 2026"),
        ((2026, 12, 1), (2027, 3, 1), "December 2026 to February 2027"),
        ((2025, 1, 1), (2026, 1, 1), "2025"),
        ((2020, 1, 1), (2030, 1, 1), "2020 to 2029"),
    ],
)
def test_days_in_words(begin: tuple[int, int, int], end: tuple[int, int, int], said: str) -> None:
    assert days(date(*begin), date(*end)) == said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tomorrow [1 May 2027]", "tomorrow [21 November 2026] (1 May 2027)"),
        ("[1 May] tomorrow", "(1 May) tomorrow [21 November 2026]"),
        ("tomorrow[2027-05-01]", "tomorrow [21 November 2026](2027-05-01)"),
        ("[so tomorrow is 1 May 2027]", "(so tomorrow [21 November 2026] is 1 May 2027)"),
        ("tomorrow [[about May]]", "tomorrow [21 November 2026] [(about May)]"),
        ("tomorrow [1.5.27]", "tomorrow [21 November 2026] (1.5.27)"),
        ("rows[0] and [x] and [maybe] [1]", "rows[0] and [x] and [maybe] [1]"),
        ("tomorrow [1 May\n2027]", "tomorrow [21 November 2026] (1 May\n2027)"),
        ("tomorrow ［1 May 2027］", "tomorrow [21 November 2026] (1 May 2027)"),
        ("tomorrow 【1 May 2027】", "tomorrow [21 November 2026] (1 May 2027)"),
        ("tomorrow [ＭＡＹ 1]", "tomorrow [21 November 2026] (ＭＡＹ 1)"),
        ("tomorrow [[1 May 2027]", "tomorrow [21 November 2026] [(1 May 2027)"),
        ("tomorrow [1 May 2027", "tomorrow [21 November 2026] (1 May 2027"),
        ("1 May 2027] is not tomorrow", "1 May 2027) is not tomorrow [21 November 2026]"),
        ("[1 May [2027]]", "(1 May (2027)]"),
        ("[Friday] [5月3日] [3. Mai] [1 мая]", "(Friday) (5月3日) (3. Mai) (1 мая)"),
        (f"[{'so ' * 40}] [no date", f"[{'so ' * 40}] [no date"),
    ],
)
def test_a_quote_cannot_imitate_our_brackets(text: str, expected: str) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize("form", ["text", "markdown"])
@pytest.mark.parametrize("kind", ["message", "fact", "node", "note", "turn", "block"])
def test_neither_texts_nor_names_of_any_kind_can(kind: str, form: Format) -> None:
    made = item("due [1 May 2027]", kind=kind)
    named = msgspec.structs.replace(
        made, name="[2 May 2027]", speaker="【3 May 2027】", caption="[4 May 2027", validity="［5 May 2027］"
    )
    told = block(named, form).replace("\\", "")
    assert "(1 May 2027)" in told
    assert re.search(r"[\[［【][1-5] May|May 2027[］】]", told) is None


def test_every_format_has_the_dates_and_the_text_to_the_letter() -> None:
    said = item("call the plumber tomorrow [1 May 2027]")
    assert "“call the plumber tomorrow [21 November 2026] (1 May 2027)”" in block(said, "text")
    assert "call the plumber tomorrow \\[21 November 2026\\] (1 May 2027)" in block(said, "markdown")
    assert "“call the plumber tomorrow [21 November 2026] (1 May 2027)”" in block(said, "messages")
    told = block(said, "json")
    assert '"text":"call the plumber tomorrow [1 May 2027]"' in told
    assert '"dated":{"tomorrow":"21 November 2026"}' in told


def test_hidden_characters_do_not_move_a_date() -> None:
    assert "“a\u200b b tomorrow [21 November 2026] c”".replace("\u200b", "") in block(
        item("a\u200b b tom\u200borrow c"), "text"
    )


def test_last_turns_stay_to_the_letter_but_for_brackets_like_ours() -> None:
    assert "call tomorrow (1 May 2027)" in block(item("call tomorrow [1 May 2027]", kind="turn"), "text")


def test_the_item_keeps_its_text_and_a_budget_counts_the_dates() -> None:
    packer = Packer(tokenizer=Estimate(), budget_tokens=1_000, now=NOW, zone=ZoneInfo("UTC"), why="none")
    dated, plain = (
        packer.pack(Material(salient=[item(text)], asked=False)) for text in ("call tomorrow at 9", "call him at 9")
    )
    [entry] = dated.sections[0].items
    assert entry.text == "call tomorrow at 9"
    assert [(one.words, one.means, one.stop) for one in entry.dated] == [("tomorrow", "21 November 2026", 13)]
    assert dated.tokens >= plain.tokens + Estimate().count(" [21 November 2026]") - 2
    assert entry.tokens > plain.sections[0].items[0].tokens
