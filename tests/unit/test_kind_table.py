"""CSV files as chats, with the columns that the caller names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsvc.errors import BadFileError, InvalidRequestError
from memsvc.sources.kinds.bundles import opened
from memsvc.sources.kinds.kind import Placed, Reading
from memsvc.sources.kinds.table import FIELDS, Table, columns_of
from memsvc.sources.previewing import Choices
from tests.chats import write

COLUMNS = "text=body,said_at=date,speaker=from"
CHAT = 'date,from,body,x\n2026-02-01T10:00,Mila,The key,1\n,Jo,"Thanks,\nMila!",2\n2026-02-01T10:02,Mila, ,3\n'


def read(
    tmp_path: Path, text: str, columns: str | Sequence[str] = COLUMNS, odd: Counter[str] | None = None
) -> list[Placed]:
    reading = Reading(frozenset({"jo"}), ZoneInfo("Europe/Berlin"), Counter() if odd is None else odd)
    with opened(write(tmp_path / "chat.csv", text), None) as bundle:  # type: ignore[arg-type]
        return list(Table(columns_of(columns)).read(bundle, reading))


def test_rows_become_messages_by_the_named_columns(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    first, second = read(tmp_path, CHAT, odd=odd)
    assert (first.message.text, first.message.speaker, first.message.role) == ("The key", "Mila", "other")
    assert (first.message.said_at, first.where, first.origin) == ("2026-02-01T10:00", "chat.csv, line 2", {"line": 2})
    assert (second.message.text, second.message.role, second.where) == ("Thanks,\nMila!", "user", "chat.csv, line 3")
    assert odd == {"rows without a time: that of the file counts": 1, "rows without words": 1}


@pytest.mark.parametrize("delimiter", [";", "\t", ",", "|"])
def test_every_field_has_its_column_whatever_parts_them(tmp_path: Path, delimiter: str) -> None:
    names = [f"the {field}" for field in FIELDS]
    row = ["Hi", "1769936400", "Mila", "assistant", "pond", "s1", "7", "an otter"]
    text = f"\ufeff{delimiter.join(names)}\r\n{delimiter.join(row)}\r\n"
    [one] = read(tmp_path, text, [f"{field}=the {field}" for field in FIELDS])
    assert [getattr(one.message, field) for field in FIELDS] == [
        "Hi", "2026-02-01T09:00:00+00:00", "Mila", "assistant", "pond", "s1", "7", "an otter",
    ]  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(["x", "y"])), max_size=6), st.data())
def test_a_later_table_keeps_the_ids_of_the_rows_before(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(rows)))
    folder = tmp_path_factory.mktemp("table")

    def ids(some: list[tuple[str, str]]) -> list[str | None]:
        lines = "".join(f"2026-02-01,{who},{what}\n" for who, what in some)
        return [one.message.id for one in read(folder, f"date,from,body\n{lines}")]

    assert ids(rows)[:place] == ids(rows[:place])
    assert len(set(ids(rows))) == len(rows)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ("", "is no field"), ("text", "is no field"), ("text=", "is no field"), ("words=a", "'words=a' is no field"),
        ("text=a,text=b", "two columns"), ("said_at=date", "No column is named for text"), ("text=a\0", "NUL"),
    ],
)  # fmt: skip
def test_columns_that_say_too_little_are_refused(columns: str, says: str) -> None:
    with pytest.raises(InvalidRequestError, match=says) as raised:
        columns_of(columns)
    assert raised.value.details.get("field") == "map" or says == "NUL"


def test_columns_go_with_no_other_kind() -> None:
    with pytest.raises(InvalidRequestError, match="telegram has no columns"):
        _ = Choices(kind="telegram", columns={"text": "body"}).forced


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("date,body\n2026,x\n", "has no column 'from'"), ("", "has no column 'body'"),
        ("date,from,body\n2026,a,b,c\n", "line 2 has more columns"), ("date,from,body\n2026,\udcff,b\n", "not UTF-8"),
    ],
)  # fmt: skip
def test_a_table_of_another_form_is_named(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "chat.csv"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadFileError, match=says), opened(path, None) as bundle:  # type: ignore[arg-type]
        list(Table(columns_of(COLUMNS)).read(bundle, Reading()))


def test_only_a_table_with_all_columns_is_one(tmp_path: Path) -> None:
    table = Table(columns_of(COLUMNS))
    for text, is_one in (
        (CHAT, True),
        (CHAT.replace(",", ";"), True),
        ("date,body\n", False),
        ("{}", False),
        ("", False),
    ):
        with opened(write(tmp_path / "a.csv", text), None) as bundle:  # type: ignore[arg-type]
            assert (table.detect(bundle).sure > 0.5) == is_one, text
