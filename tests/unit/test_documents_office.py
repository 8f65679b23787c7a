"""Documents of PowerPoint and Excel, made by python-pptx and openpyxl."""

# ruff: noqa: E501 - markup and tables of cases are read best in one line

from __future__ import annotations

import datetime as dt
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pptx
import pytest
from pptx.util import Inches

from memsvc.documents.limits import Limits
from memsvc.errors import BadFileError, DocumentTooLargeError, DocumentWithoutTextError
from tests.documents import packed, read, texts


def slides(path: Path, *titles: str) -> Any:
    made = pptx.Presentation()
    for title in titles:
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = title
    made.save(str(path))
    return made


def test_slides_have_titles_items_tables_notes_and_groups(tmp_path: Path) -> None:
    path = tmp_path / "a.pptx"
    made = slides(path, "One", "Two")
    first: Any = made.slides[0]
    frame = first.placeholders[1].text_frame
    frame.text = "apples"
    below = frame.add_paragraph()
    below.text, below.level = "green", 1
    link = frame.add_paragraph().add_run()
    link.text, link.hyperlink.address = "shop", "https://x.org"
    first.notes_slide.notes_text_frame.text = "Say hello."
    second: Any = made.slides[1]
    table = second.shapes.add_table(2, 2, 0, 0, Inches(4), Inches(1)).table
    for number, text in enumerate(("what", "many", "apples", "3")):
        table.cell(number // 2, number % 2).text = text
    group = second.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "grouped"
    made.core_properties.author = "Ada"
    made.save(str(path))
    found = read(path)
    assert (found.format, found.pages, found.metadata["author"]) == ("pptx", 2, "Ada")
    assert texts(found) == (
        "One\n- apples\n  - green\n- shop (https://x.org)\n\nNotes: Say hello.\n\nTwo\nwhat | many\napples | 3\n\ngrouped"
    ).removeprefix("One\n" if found.title == "One" else "")
    assert found.chunks[0].origin == {"slide": 1}


def test_hidden_slides_are_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.pptx"
    made = slides(path, "Seen", "Secret", "Last")
    made.slides[1]._element.set("show", "0")
    made.save(str(path))
    found = read(path)
    assert found.odd == {"hidden slides": 1}
    assert texts(found).split() == ["Seen", "Last"]
    assert found.pages == 3


def test_a_presentation_has_a_limit_of_slides(tmp_path: Path) -> None:
    slides(tmp_path / "a.pptx", "a", "b", "c")
    with pytest.raises(DocumentTooLargeError, match="2 slides"):
        read(tmp_path / "a.pptx", Limits(pages=2))


def test_a_presentation_without_slides_is_refused(tmp_path: Path) -> None:
    slides(tmp_path / "a.pptx")
    with pytest.raises(DocumentWithoutTextError):
        read(tmp_path / "a.pptx")


def test_a_slide_that_is_missing_is_counted(tmp_path: Path) -> None:
    slides(tmp_path / "a.pptx", "a", "b")
    with zipfile.ZipFile(tmp_path / "a.pptx") as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != "ppt/slides/slide1.xml"}
    found = read(packed(tmp_path / "b.pptx", members))
    assert (found.odd["missing slides"], texts(found)) == (1, "b")


def book(path: Path, *rows: list[Any], title: str = "People") -> Any:
    made = openpyxl.Workbook()
    sheet = made.active
    sheet.title = title
    for row in rows:
        sheet.append(row)
    made.save(path)
    return made


def test_a_workbook_is_a_table_for_each_sheet(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    made = book(
        path,
        ["name", "born"],
        ["Ada", dt.date(1815, 12, 10)],
        [None, None],
        ["Bob", dt.datetime.fromisoformat("2000-01-02T03:04")],
    )
    made.create_sheet("More").append([1.0, 2.5, True, 0.1 + 0.2])
    made.save(path)
    found = read(path)
    assert (found.format, found.title, found.pages) == ("xlsx", "a", 2)
    assert (
        texts(found) == "People\nname | born\nAda | 1815-12-10\nBob | 2000-01-02 03:04:00\n\nMore\n1 | 2.5 | TRUE | 0.3"
    )


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (0.25, "0%", "25%"),
        (3, "General", "3"),
        (1e20, "General", "1e+20"),
        ("=1", "General", None),
        (dt.time(8, 5), "h:mm", "08:05:00"),
        ("a\nb", "General", "a b"),
        (" x ", "General", "x"),
        (False, "General", "FALSE"),
        ("#N/A", "General", "#N/A"),
        (-0.5, "0.00", "-0.5"),
    ],
)
def test_cells_show_their_values(tmp_path: Path, value: Any, number_format: str, text: str | None) -> None:
    path = tmp_path / "a.xlsx"
    made = book(path, ["head"], [value])
    made.active["A2"].number_format = number_format
    made.save(path)
    found = read(path)
    assert texts(found) == (f"head\n{text}" if text else "head")
    assert found.odd == ({} if text else {"formulas without a value": 1})


def test_a_row_says_its_cell_and_pieces_repeat_the_header(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    made = book(path)
    sheet = made.active
    for row in range(3, 103):
        sheet.cell(row, 2, f"name {row}" if row > 3 else "head")
    made.save(path)
    found = read(path, Limits(window_tokens=30))
    assert found.chunks[0].origin == {"sheet": 1, "cell": "B3"}
    assert all(chunk.text.lstrip().startswith("| head\n | name") for chunk in found.chunks)
    assert all(chunk.headings == ("People",) for chunk in found.chunks)


def test_hidden_sheets_and_macros_are_left_out_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsm"
    made = book(path, ["seen"])
    hidden = made.create_sheet("Hidden")
    hidden.append(["secret"])
    hidden.sheet_state = "veryHidden"
    made.save(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/vbaProject.bin", b"Sub")
    found = read(path)
    assert (texts(found), found.odd, found.format) == ("seen", {"hidden sheets": 1, "macros": 1}, "xlsx")


def test_a_sheet_that_claims_to_be_huge_is_read_quickly(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    book(path, ["a", "b"])
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sheet = members["xl/worksheets/sheet1.xml"]
    assert b'ref="A1:B1"' in sheet
    members["xl/worksheets/sheet1.xml"] = sheet.replace(b'ref="A1:B1"', b'ref="A1:XFD1048576"')
    assert texts(read(packed(tmp_path / "b.xlsx", members))) == "a | b"


def test_a_damaged_workbook_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    book(path, ["a"])
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for number, (name, content) in enumerate(
        (("xl/workbook.xml", b"<w"), ("xl/worksheets/sheet1.xml", b"<worksheet><sheetData><row"))
    ):
        with pytest.raises(BadFileError):
            read(packed(tmp_path / f"{number}.xlsx", {**members, name: content}))


def test_an_empty_workbook_is_refused_or_only_names_its_sheets(tmp_path: Path) -> None:
    book(tmp_path / "a.xlsx")
    assert texts(read(tmp_path / "a.xlsx")) == "People"
