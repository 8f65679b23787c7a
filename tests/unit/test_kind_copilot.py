"""Copilot: the table of its activity."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from memsvc.errors import BadFileError
from memsvc.sources.files import read_messages
from memsvc.sources.kinds.bundles import opened
from memsvc.sources.kinds.copilot import Copilot
from memsvc.sources.kinds.kind import Placed, Reading
from tests.chats import write

HEADER = "Conversation,Time,Author,Message\r\n"
TIME = "2026-02-01T10:00:01"


def read(tmp_path: Path, content: str, odd: Counter[str] | None = None) -> list[Placed]:
    """The messages of a table."""
    with opened(write(tmp_path / "a.csv", content.encode()), None) as bundle:  # type: ignore[arg-type]
        assert Copilot().detect(bundle).sure > 0.9
        return list(Copilot().read(bundle, Reading(odd=Counter() if odd is None else odd)))


def said(placed: list[Placed]) -> list[tuple[str, str, str]]:
    return [(one.message.role, one.message.speaker, one.message.text) for one in placed]


def test_a_question_comes_before_its_answer(tmp_path: Path) -> None:
    content = f'{HEADER}"Otters, mine",{TIME},AI,"In **holts**.\n\n- ""yes"""\r\n"Otters, mine",{TIME},Human,Where?\r\n'
    first, second = read(tmp_path, f"\ufeff{content}")
    assert said([first, second]) == [("user", "", "Where?"), ("assistant", "Copilot", 'In **holts**.\n\n- "yes"')]
    assert (first.message.conversation, first.title) == ("copilot:Otters, mine", "Otters, mine")
    assert (first.message.said_at, first.origin, second.where) == (TIME, {"line": 5}, "a.csv, line 4")


def test_a_later_export_keeps_the_ids_also_of_the_same_words(tmp_path: Path) -> None:
    old = f"T,{TIME},AI,ok\r\nT,{TIME},AI,ok\r\n"
    ids = [one.message.id for one in read(tmp_path, HEADER + old)]
    assert len(set(ids)) == 2
    assert [one.message.id for one in read(tmp_path, f"{HEADER}T,{TIME},AI,ok\r\n{old}")][:2] == ids


def test_empty_messages_titles_other_scripts_and_long_texts(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    long = "x" * 200_000
    placed = read(tmp_path, f"{HEADER}T,{TIME},AI,\r\n,{TIME},Human,{long}\r\n\r\nחתול,{TIME},Human,שלום\r\n", odd)
    assert [(one.message.conversation, len(one.message.text)) for one in placed] == [
        ("copilot:חתול", 4), ("copilot:untitled", 200_000),
    ]  # fmt: skip
    assert odd == {"messages without words": 1}


def test_a_table_without_rows_and_one_with_quoted_names(tmp_path: Path) -> None:
    assert read(tmp_path, HEADER) == []
    assert read(tmp_path, '"Conversation","Time","Author","Message"\n') == []


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (f"{HEADER}T,{TIME},System,x\r\n", "line 2: the author 'System' is not one of"),
        (f"{HEADER}T,{TIME},AI\r\n", "line 2 has 3 columns, not 4"),
        (HEADER.encode() + b"T,2026,AI,caf\xe9\r\n", "utf-8"),
        ("Conversation,Time,Author,Words\r\n", "another form than those that are known"),
        ("Time,Author,Message\nx,y,z\n", "a table in plain text"),
    ],
)
def test_other_tables_are_refused(tmp_path: Path, content: str | bytes, says: str) -> None:
    with pytest.raises(BadFileError, match=says):
        list(read_messages(write(tmp_path / "a.csv", content)))
