"""Gemini: prompts and answers of My Activity."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from memsvc.errors import BadFileError
from memsvc.sources.files import read_messages
from memsvc.sources.kinds.bundles import opened
from memsvc.sources.kinds.gemini import Gemini
from memsvc.sources.kinds.kind import Placed, Reading
from tests.chats import gemini_record, write

ASKED = gemini_record


def read(tmp_path: Path, records: object, odd: Counter[str] | None = None) -> list[Placed]:
    """The messages of an export."""
    reading = Reading(zone=ZoneInfo("Europe/Berlin"), odd=Counter() if odd is None else odd)
    with opened(write(tmp_path / "MyActivity.json", records), None) as bundle:  # type: ignore[arg-type]
        assert Gemini().detect(bundle).sure > 0.9
        return list(Gemini().read(bundle, reading))


def said(placed: list[Placed]) -> list[tuple[str, str]]:
    return [(one.message.role, one.message.text) for one in placed]


def test_a_prompt_and_its_answer_have_the_day_the_time_and_the_address(tmp_path: Path) -> None:
    url = "https://gemini.google.com/app/x"
    first, second = read(tmp_path, [ASKED(1, "Prompted Where?", "<p>In <b>holts</b>.</p>", titleUrl=url)])
    assert said([first, second]) == [("user", "Where?"), ("assistant", "In holts.")]
    assert (first.message.conversation, first.title) == ("gemini:2026-02-01", "Gemini, 2026-02-01")
    assert (first.message.said_at, second.message.speaker) == ("2026-02-01T10:00:01.500000+01:00", "Gemini")
    assert first.origin == {"day": "2026-02-01", "url": url}


def test_the_newest_stands_first_and_is_read_last(tmp_path: Path) -> None:
    placed = read(tmp_path, [ASKED(2, "Prompted b", "<p>B</p>"), ASKED(1, "Prompted a\nc", "<p>A</p>", "<p>C</p>")])
    assert [one.message.text for one in placed] == ["a\nc", "A\n\nC", "b", "B"]


def test_a_later_export_keeps_the_ids_also_of_the_same_words(tmp_path: Path) -> None:
    old = [ASKED(1, "Prompted a"), ASKED(1, "Prompted a")]
    ids = [one.message.id for one in read(tmp_path, old)]
    assert len(set(ids)) == 2
    assert [one.message.id for one in read(tmp_path, [ASKED(2, "Prompted a"), *old])][:2] == ids


@pytest.mark.parametrize("title", ["Prompted\u00a0Wo?", "Eingegebener Prompt: Wo?", "Wo?"])
def test_prompts_in_the_language_of_the_account(tmp_path: Path, title: str) -> None:
    placed = read(tmp_path, [ASKED(1, title, "<p>Da.</p>", header="Gemini-Apps")])
    assert said(placed) == [("user", "Wo?"), ("assistant", "Da.")]


def test_what_is_no_prompt_is_counted(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    other = {"header": "YouTube", "title": "Watched x", "time": "2026-02-01T09:00:00Z"}
    records = [ASKED(3, "Prompted"), ASKED(2, "Used Gemini Apps"), ASKED(1, "Prompted a"), other]
    assert said(read(tmp_path, records, odd)) == [("user", "a")]
    assert odd == {"records without a prompt": 2, "records of other programs": 1}


def test_of_an_answer_only_what_a_reader_sees_is_read(tmp_path: Path) -> None:
    html = "<p>Yes.</p><script>x()</script><div hidden>Obey.</div><ul><li>one</li><li>שתיים</li></ul>"
    assert said(read(tmp_path, [ASKED(1, "Prompted a", html)]))[1] == ("assistant", "Yes.\n\n- one\n- שתיים")


def test_an_answer_alone_files_and_unknown_fields(tmp_path: Path) -> None:
    records = [
        ASKED(2, "Prompted ", "<p>So.</p>"),
        ASKED(1, "Prompted a", attachedFiles=["otter.png", {"name": "b.pdf"}], future=[1], subtitles=[{"name": "x"}]),
    ]
    placed = read(tmp_path, records)
    assert said(placed) == [("user", "a"), ("assistant", "So.")]
    assert placed[0].origin["files"] == ["otter.png", "b.pdf"]


def test_bard_was_its_name(tmp_path: Path) -> None:
    assert said(read(tmp_path, [ASKED(1, "Prompted a", header="Bard")])) == [("user", "a")]


@pytest.mark.parametrize(
    ("records", "says"),
    [
        ([ASKED(1, "Prompted a", time="soon")], "record 0: 'soon' is not a time"),
        ([ASKED(1, "Prompted a"), 7], "looks like|Expected `object`"),
        ([ASKED(1, "Prompted a", safeHtmlItem="x")], "record 0: Expected `array`"),
        ([{"header": "YouTube", "title": "Watched x", "time": "2026-02-01T09:00:00Z"}], "no messages"),
        ([{"header": "Gemini Apps", "title": "Prompted x"}], "another form than those that are known"),
    ],
)
def test_other_forms_are_refused(tmp_path: Path, records: object, says: str) -> None:
    with pytest.raises(BadFileError, match=says):
        list(read_messages(write(tmp_path / "MyActivity.json", records)))


def card(prompt: str, time: str, answer: str = "", header: str = "Gemini Apps", more: str = "") -> str:
    """A card of the page."""
    return (
        '<div class="outer-cell mdl-cell mdl-cell--12-col mdl-shadow--2dp"><div class="mdl-grid">'
        f'<div class="header-cell mdl-cell"><p class="mdl-typography--title">{header}<br></p></div>'
        f'<div class="content-cell mdl-cell mdl-typography--body-1">{prompt}<br>{time}<br>{answer}</div>'
        f'<div class="content-cell mdl-cell mdl-typography--caption"><b>Products:</b><br>&emsp;{header}{more}</div>'
        "</div></div>"
    )


def page(*cards: str) -> str:
    """The page, with as long a style sheet as Google's."""
    style = ".mdl-cell { margin: 8px }\n" * 6_000
    title = "<title>My Activity History</title>"
    return f"<html><head>{title}<style>{style}</style></head><body><div>{''.join(cards)}</div></body></html>"


def test_the_page_is_read_like_the_json(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    found = page(
        card("Prompted\u00a0Was &lt;b&gt; bold?<br>In HTML.", "Jul 25, 2026, 11:07:57\u202fPM PDT",
             "<p>It <b>is</b>.</p><br>Yes."),
        card("Searched for otters", "Jul 25, 2026, 11:07:57 PM PDT", header="Search"),
        card("Prompted Look<br>Attached 1 file.<br>- otter.png", "18 Sept 2025, 12:02:52 CST",
             "<script>x</script>Nice.", more="<br>From: https://gemini.google.com/app/c_7"),
        card("Created a canvas", "18 Sept 2025, 12:02:51 CET"),
    )  # fmt: skip
    placed = read(tmp_path, found, odd)
    assert said(placed) == [
        ("user", "Look"), ("assistant", "Nice."), ("user", "Was <b> bold?\nIn HTML."), ("assistant", "It is.\n\nYes."),
    ]  # fmt: skip
    assert placed[0].origin == {
        "day": "2025-09-18", "url": "https://gemini.google.com/app/c_7", "files": ["otter.png"],
    }  # fmt: skip
    assert [one.message.said_at for one in placed[1:3]] == ["2025-09-18T12:02:52+02:00", "2026-07-26T08:07:57+02:00"]
    assert odd == {
        "records of other programs": 1, "records without a prompt": 1,
        "times in a zone that is not known, read on your clock": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("time", "utc"),
    [
        ("Jul 5, 2026, 12:07:57 AM UTC", "2026-07-05T00:07:57"), ("05.07.2026, 13:07:57 MESZ", "2026-07-05T11:07:57"),
        ("5 May 2026, 13:07:57 GMT+5:30", "2026-05-05T07:37:57"), ("2026-09-02T12:00:00Z", "2026-09-02T12:00:00"),
    ],
)  # fmt: skip
def test_times_of_the_page(tmp_path: Path, time: str, utc: str) -> None:
    [one] = read(tmp_path, page(card("Prompted Where?", time)))
    assert one.message.said_at is not None
    assert datetime.fromisoformat(one.message.said_at).astimezone(UTC).isoformat() == f"{utc}+00:00"


@pytest.mark.parametrize(
    "time", ["10 de mai. de 2026, 03:46:09 BRT", "Foo 5, 2026, 10:00:00 AM UTC", "31.02.2026, 10:00:00 UTC"]
)
def test_a_time_in_another_language_refuses_the_page(tmp_path: Path, time: str) -> None:
    with pytest.raises(BadFileError, match=r"card 0.*time") as raised:
        read(tmp_path, page(card("Prompted Where?", time)))
    assert "choose JSON" in raised.value.advice
