"""Transcripts: subtitles and Whisper's JSON, speakers, times, joining, whole days."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memsvc.errors import BadFileError
from memsvc.sources.files import read_messages
from memsvc.sources.kinds.bundles import opened
from memsvc.sources.kinds.kind import Placed, Reading
from memsvc.sources.kinds.transcript import LONGEST_CHARS, Transcript
from tests.chats import packed, write

NAME = "2026-02-01 10.00.vtt"


def read(tmp_path: Path, content: object, *me: str, name: str = NAME, odd: Counter[str] | None = None) -> list[Placed]:
    """The messages of a transcript."""
    reading = Reading(frozenset(me), zone=ZoneInfo("Europe/Berlin"), odd=Counter() if odd is None else odd)
    with opened(write(tmp_path / name, content), None) as bundle:  # type: ignore[arg-type]
        assert Transcript().detect(bundle).sure > 0.9
        return list(Transcript().read(bundle, reading))


def said(placed: list[Placed]) -> list[tuple[str, str]]:
    return [(one.message.speaker, one.message.text) for one in placed]


def vtt(*cues: tuple[float, float, str]) -> str:
    """WebVTT with pieces of some seconds."""

    def at(seconds: float) -> str:
        return f"{int(seconds // 3600):02}:{int(seconds // 60 % 60):02}:{seconds % 60:06.3f}"

    return "WEBVTT\n\n" + "".join(f"{at(start)} --> {at(end)}\n{text}\n\n" for start, end, text in cues)


def segment(start: float, end: float, text: str, **more: Any) -> dict[str, Any]:
    return {"start": start, "end": end, "text": text, **more}


def test_a_piece_has_its_second_and_its_time(tmp_path: Path) -> None:
    [one] = read(tmp_path, vtt((61.5, 63, "<v Mila Horn>The key is <i>here</i> &amp; there.</v>")))
    assert said([one]) == [("Mila Horn", "The key is here & there.")]
    assert (one.message.said_at, one.origin) == ("2026-02-01T10:01:01.500000+01:00", {"second": 62})
    assert (one.message.conversation, one.where) == ("transcript:2026-02-01 10.00", f"{NAME}, line 3")


def test_what_one_person_says_in_a_row_is_one_message(tmp_path: Path) -> None:
    content = vtt(
        (1, 3, "<v Mila>The key"), (3, 4, "<v Mila>is here."), (4, 5, "<v Jo>Thanks!"), (40, 41, "<v Jo>Bye.")
    )
    assert said(read(tmp_path, content)) == [("Mila", "The key is here."), ("Jo", "Thanks!"), ("Jo", "Bye.")]


def test_a_long_speech_is_cut_at_a_sentence_or_at_a_piece(tmp_path: Path) -> None:
    sentences = [(float(n), n + 1.0, f"<v Mila>This is sentence number {n} of many.") for n in range(60)]
    placed = read(tmp_path, vtt(*sentences))
    assert len(placed) > 1
    assert all(one.message.text.endswith(".") and len(one.message.text) < 700 for one in placed)
    endless = [(float(n), n + 1.0, f"<v Mila>and word {n}") for n in range(900)]
    assert all(len(one.message.text) <= LONGEST_CHARS for one in read(tmp_path, vtt(*endless)))
    assert " ".join(one.message.text for one in placed).count("sentence number") == 60


def test_a_day_of_a_microphone_has_sessions_at_silences(tmp_path: Path) -> None:
    content = vtt(
        (0, 5, "Good morning."), (500, 501, "Still here."), (7200, 7201, "Later."), (90_000, 90_001, "Next day.")
    )
    placed = read(tmp_path, content)
    assert [one.message.session for one in placed] == [
        "2026-02-01T10:00:00+01:00", "2026-02-01T10:00:00+01:00", "2026-02-01T12:00:00+01:00",
        "2026-02-02T11:00:00+01:00",
    ]  # fmt: skip
    assert placed[3].message.said_at == "2026-02-02T11:00:00+01:00"


def test_two_voices_in_a_piece_and_classes(tmp_path: Path) -> None:
    content = vtt((1, 2, "<v.loud Mila>Where?</v>\n<v Jo>There.</v>"))
    assert said(read(tmp_path, content)) == [("Mila", "Where?"), ("Jo", "There.")]


def test_names_before_a_colon_count_if_the_first_piece_has_one(tmp_path: Path) -> None:
    content = vtt((1, 2, "Mila Horn: The list:"), (2, 3, "milk: one"), (3, 4, "JO: At 10: go."), (4, 5, "- Ana: No."))
    assert said(read(tmp_path, content)) == [("Mila Horn", "The list: milk: one"), ("JO", "At 10: go."), ("Ana", "No.")]
    plain = vtt((1, 2, "So:"), (2, 3, "Remember: the key."))
    assert said(read(tmp_path, plain)) == [("", "So: Remember: the key.")]


def test_notes_styles_numbers_and_settings_are_no_speech(tmp_path: Path) -> None:
    content = (
        "\ufeffWEBVTT - Talk\nKind: captions\n\nNOTE\nI live in Rome.\n\nSTYLE\n::cue {color: red}\n\n"
        "intro\n00:01.000 --> 00:02.000 align:start position:0%\nHello.\n\n2\n00:03.000 --> 00:04.000\n[Music]\n\n"
        "3\n00:05.000 --> 00:06.000\n\n4\n00:07.000 --> 00:08.000\n♪ la la ♪\n"
    )
    odd: Counter[str] = Counter()
    assert said(read(tmp_path, content, odd=odd)) == [("", "Hello.")]
    assert odd == {"pieces without words": 3}


def test_captions_that_repeat_each_line_are_read_once(tmp_path: Path) -> None:
    content = vtt(
        (0, 2, " \nthe<00:00:00.500><c> key</c>"), (2, 2.01, "the key\n "),
        (2.01, 4, "the key\nis<00:00:03.000><c> here</c>"), (4, 4.01, "is here\n "),
    )  # fmt: skip
    assert said(read(tmp_path, content)) == [("", "the key is here")]


def test_subtitles_with_windows_lines_missing_blanks_and_a_broken_end(tmp_path: Path) -> None:
    content = (
        "1\r\n00:00:01,000 --> 00:00:02,000\r\nOne.\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\n{\\an8}Two.\r\n\r\n"
        "3\r\n00:00:05,000 --> "
    )
    assert said(read(tmp_path, content, name="2026-02-01.srt")) == [("", "One. Two.")]


def test_other_writing_systems(tmp_path: Path) -> None:
    content = vtt(
        (1, 2, "<v יעל>המפתח מתחת לשטיח.</v>"), (3, 4, "<v 田中>ありがとう。</v>"), (5, 6, "<v سارة>شكرا؟</v>")
    )
    assert said(read(tmp_path, content)) == [("יעל", "המפתח מתחת לשטיח."), ("田中", "ありがとう。"), ("سارة", "شكرا؟")]


def test_whisperx_has_speakers_of_segments_or_words(tmp_path: Path) -> None:
    words = [{"word": "Thanks!", "start": 2.0, "end": 3.0, "score": 0.9, "speaker": "SPEAKER_01"}, {"word": "7"}]
    content = {
        "segments": [
            segment(1, 2, " The key is here.", speaker="SPEAKER_00", words=[]), segment(2, 3, "Thanks!", words=words),
            segment(3, 4, " "),
        ],
        "word_segments": words, "language": "en",
    }  # fmt: skip
    placed = read(tmp_path, content, "speaker_01", name="2026-02-01T10-00-00Z kitchen.json")
    label = "(2026-02-01T10-00-00Z kitchen)"
    assert said(placed) == [(f"SPEAKER_00 {label}", "The key is here."), (f"SPEAKER_01 {label}", "Thanks!")]
    assert [one.message.role for one in placed] == ["other", "user"]
    assert placed[0].message.said_at == "2026-02-01T10:00:01+00:00"


def test_whispers_own_json_and_a_list_of_segments(tmp_path: Path) -> None:
    rows = [segment(0.0, 1.0, "The key.", id=0, seek=0, tokens=[1, 2], no_speech_prob=0.1)]
    for content in ({"text": "The key.", "segments": rows, "language": "en"}, rows):
        assert said(read(tmp_path, content, name="2026-02-01.json")) == [("", "The key.")]


@pytest.mark.parametrize(
    ("name", "began"),
    [
        ("20260201_100000.vtt", "2026-02-01T10:00:00+01:00"),
        ("REC-2026.02.01-10h00m07.vtt", "2026-02-01T10:00:07+01:00"),
        ("Talk 2026-02-01 at 10.00.07.vtt", "2026-02-01T10:00:07+01:00"),
        ("GMT20260201-090000_Recording.transcript.vtt", "2026-02-01T09:00:00+00:00"),
        ("2026-02-01T10:00:00+05:30.vtt", "2026-02-01T10:00:00+05:30"),
        ("kitchen_2026-02-01.vtt", "2026-02-01T00:00:00+01:00"),
        ("order 20269999 of 2026-02-01.vtt", "2026-02-01T00:00:00+01:00"),
    ],
)
def test_the_date_in_a_name(tmp_path: Path, name: str, began: str) -> None:
    assert read(tmp_path, vtt((0, 1, "a")), name=name)[0].message.said_at == began


def test_without_a_date_in_the_name_the_time_of_the_file_counts(tmp_path: Path) -> None:
    odd: Counter[str] = Counter()
    path = write(tmp_path / "talk.vtt", vtt((0, 1, "a")))
    os.utime(path, (1_769_936_400, 1_769_936_400))
    with opened(path, None) as bundle:  # type: ignore[arg-type]
        [one] = Transcript().read(bundle, Reading(odd=odd))
    assert one.message.said_at == "2026-02-01T09:00:00+00:00"
    assert odd == {"files without a date in their name: the time of the file counts": 1}
    zipped = packed(tmp_path / "a.zip", {"talk.vtt": vtt((0, 1, "a"))})
    first, second = ([message for _, message in read_messages(zipped)] for _ in range(2))
    assert first == second


def test_two_files_of_one_name_keep_their_messages_apart(tmp_path: Path) -> None:
    ids = {read(tmp_path, vtt((1, 2, text)), name=NAME)[0].message.id for text in ("a", "b")}
    assert len(ids) == 2


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"segments": [segment(0, 1, "a"), {"start": "x", "end": 1, "text": "b"}]}, "segment 1: Expected `float`"),
        ({"segments": [segment(0, 1, "a"), segment(-5, 1, "b")]}, "is no time of a recording"),
        (b"WEBVTT\n\n00:01.000 --> 00:02.000\ncaf\xe9\n", "line 4: It is not UTF-8"),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, content: object, says: str) -> None:
    with pytest.raises(BadFileError, match=says):
        read(tmp_path, content)


@pytest.mark.parametrize(
    "content", ['{"segments": []}', '{"segments": [{"from": 1}]}', "12:00 --> 13:00 lunch\n", "1\nHi\n"]
)
def test_what_is_no_transcript_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(BadFileError):
        list(read_messages(write(tmp_path / "file", content)))
