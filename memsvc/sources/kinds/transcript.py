"""Transcripts of speech: subtitles (SRT, WebVTT) and the JSON of Whisper and WhisperX.

When a file was recorded stands in its name; if not, the time at which it was last written stands for it. Pieces that
one person says one after another are joined to messages; a long silence begins a session, so that one file may have a
whole day. A label such as SPEAKER_00 means a person of this file alone, so it gets the file's name.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

import msgspec

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.json_files import BYTE_ORDER_MARK, decoded
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Digests, Placed, Reading
from memsvc.sources.messages import MessageIn
from memsvc.text.characters import is_visible

MOMENT = r"(?:(?P<{0}h>\d{{1,4}}):)?(?P<{0}m>\d{{2}}):(?P<{0}s>\d{{2}})[.,](?P<{0}f>\d{{1,3}})"
TIMES = re.compile(rf"\s*{MOMENT.format('a')}\s*-->\s*{MOMENT.format('b')}(?:\s.*)?")
SUBTITLES = re.compile(rf"(?:WEBVTT(?:[ \t\n]|$)|(?:\d+[ \t]*\n)?{TIMES.pattern}$)", re.MULTILINE)
VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+(?P<name>[^>]+)>")
TAG = re.compile(r"</?[A-Za-z0-9:.][^<>]*>|\{\\[^{}]*\}")
WORD_TIME = re.compile(rb"<\d\d:\d\d:\d\d\.\d{3}>")
"""Within a line: YouTube's captions, which repeat each line in the next piece."""
NAMED = re.compile(
    r"(?:>> ?|- ?)?[\[(]?(?P<name>[^\W\d_][\w .'’-]{0,39}?|SPEAKER_\d+)[\])]?:\s+(?P<text>\S.*)", re.DOTALL
)
MOST_WORDS = 4
"""Words of a name before a colon."""
LABEL = re.compile(r"(?:speaker|sprecher|locuteur|hablante|spk|unknown)[ _-]?\w{0,3}", re.IGNORECASE)
DATE = re.compile(
    r"(?<!\d)(?P<y>(?:19|20)\d\d)[-_.]?(?P<mo>[01]\d)[-_.]?(?P<d>[0-3]\d)"
    r"(?:[T_ .-]{0,3}(?:at )?(?P<h>[0-2]\d)[-_.:h]?(?P<mi>[0-5]\d)(?:[-_.:m]?(?P<s>[0-5]\d))?s?"
    r"(?P<zone>Z|[+-][01]\d:?[0-5]\d)?)?(?!\d)"
)
PAUSE_S = 20
"""A longer silence ends a message."""
SILENCE_S = 600
"""A longer silence begins a session."""
LONG_CHARS, LONGEST_CHARS = 600, 2_000
"""A message ends with the sentence after so many characters, or with the piece."""
SENTENCE_END = re.compile(r"[.!?…。！？؟।]['\"”’»)\]]*$")
JSON = frozenset({b"{", b"["})
LATEST_S = 10_000 * 3600


class Cue(NamedTuple):
    """A piece of speech."""

    where: str
    start: float
    """Seconds from the beginning of the recording."""
    end: float
    speaker: str
    """Empty: not known."""
    text: str
    opening: str = ""
    """Of joined pieces, the text of the first: what comes later changes it no more."""


class Word(msgspec.Struct):
    """A word of WhisperX."""

    speaker: str | None = None


class Segment(msgspec.Struct):
    """A piece of Whisper's; other fields are not read."""

    start: float
    end: float
    text: str
    speaker: str | None = None
    words: list[Word] = []


class Transcript:
    """Transcripts of speech."""

    name = "transcript"
    title = "subtitles or a transcript"
    has_people = True
    is_export = True

    def detect(self, bundle: Bundle) -> Detection:
        """Look for the first times, or for Whisper's segments."""
        if (file := bundle.only) is None:
            return NOT_MINE
        head = bundle.head(file).removeprefix(BYTE_ORDER_MARK)
        if head.lstrip()[:1] in JSON:
            return _detect_segments(bundle, file)
        text = head.decode("utf-8", "replace").replace("\r\n", "\n").lstrip("\n")
        return Detection(0.95, "times of subtitles", (file,)) if SUBTITLES.match(text) else NOT_MINE

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield the messages in the order of time."""
        file = bundle.files[0]
        began, ids = _began(bundle, file, reading), Digests()
        stem = re.sub(r"\.(?:srt|vtt|json)$", "", bundle.stem, flags=re.IGNORECASE)
        is_json = bundle.head(file).removeprefix(BYTE_ORDER_MARK).lstrip()[:1] in JSON
        cues = _segments(bundle, file) if is_json else _cues(bundle, file)
        session, last_end = "", None
        for cue in _joined(_counted(cues, reading.odd)):
            if last_end is None or cue.start - last_end > SILENCE_S:
                session = (began + timedelta(seconds=cue.start)).isoformat(timespec="seconds")
            last_end = cue.end
            is_own = bool(cue.speaker) and reading.is_me(cue.speaker)
            speaker = f"{cue.speaker} ({stem})" if LABEL.fullmatch(cue.speaker) else cue.speaker
            message = MessageIn(
                conversation=f"transcript:{stem}"[:400],
                session=session,
                text=cue.text,
                speaker=speaker[:200],
                role="user" if is_own or reading.is_me(speaker) else "other",
                id=ids.of(f"{cue.start:.3f}", cue.speaker, cue.opening),
                said_at=(began + timedelta(seconds=cue.start)).isoformat(),
            )
            yield Placed(cue.where, message, {"second": round(cue.start)}, may_grow=True)


def _detect_segments(bundle: Bundle, file: str) -> Detection:
    found = bundle.document(file).outline(5)
    segments = found.get("segments") if isinstance(found, dict) else found
    if not isinstance(segments, list) or not segments:
        return NOT_MINE
    if all(isinstance(one, dict) and {"start", "end", "text"} <= one.keys() for one in segments):
        return Detection(0.95, "segments with start, end and text", (file,))
    return NOT_MINE


def _began(bundle: Bundle, file: str, reading: Reading) -> datetime:
    """Return when a recording began: by its name, on the owner's clock; else when the file was last written."""
    for name in (file.rpartition("/")[2], file, bundle.name):
        for found in DATE.finditer(name):
            clock = [int(found[part] or 0) for part in ("y", "mo", "d", "h", "mi", "s")]
            try:
                moment = datetime(*clock)  # type: ignore[arg-type]  # noqa: DTZ001 - the zone comes next
            except ValueError:
                continue
            return moment.replace(tzinfo=_zone(found["zone"], name[: found.start()]) or reading.zone)
    reading.odd["files without a date in their name: the time of the file counts"] = 1
    return bundle.modified(file, reading.zone)


def _zone(offset: str | None, before: str) -> timezone | None:
    if offset == "Z" or before.upper().endswith(("GMT", "UTC")):
        return UTC
    if offset is None:
        return None
    sign = -1 if offset[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(offset[1:3]), minutes=int(offset[-2:])))


def _seconds(found: re.Match[str], which: str) -> float:
    fraction = float(f"0.{found[f'{which}f']}")
    return int(found[f"{which}h"] or 0) * 3600 + int(found[f"{which}m"]) * 60 + int(found[f"{which}s"]) + fraction


def _segments(bundle: Bundle, file: str) -> Iterator[Cue]:
    """Yield the pieces of Whisper's JSON."""
    shown, document = bundle.shown(file), bundle.document(file)
    document.check()
    raws = document.entries
    if document.fields:
        raws = decoded(document.fields.get("segments", msgspec.Raw(b"null")), list[msgspec.Raw], f"{shown}, segments")
    for index, raw in enumerate(raws):
        where = f"{shown}, segment {index}"
        one: Segment = decoded(raw, Segment, where)
        if not 0 <= one.start <= LATEST_S:
            raise BadFileError(f"{where}: {one.start} is no time of a recording.")
        spoken = Counter(word.speaker for word in one.words if word.speaker)
        speaker = one.speaker or next((name for name, _ in spoken.most_common(1)), "")
        yield Cue(where, one.start, max(one.start, one.end), " ".join(speaker.split()), one.text.strip())


def _cues(bundle: Bundle, file: str) -> Iterator[Cue]:
    """Yield the pieces of subtitles, with the speakers that they name."""
    is_rolling = WORD_TIME.search(bundle.head(file)) is not None
    names_speakers: bool | None = None
    speaker, last = "", ""
    for where, start, end, lines in _blocks(bundle, file):
        payload = lines
        if is_rolling:
            plain = [TAG.sub("", line).strip() for line in lines]
            payload = [line for line, text in zip(lines, plain, strict=True) if text and text != last]
            last = next((text for text in reversed(plain) if text), last)
        content = "\n".join(payload)
        voices = list(VOICE.finditer(content))
        if voices:
            for number, voice in enumerate(voices):
                until = voices[number + 1].start() if number + 1 < len(voices) else len(content)
                yield Cue(where, start, end, _plain(voice["name"]), _plain(content[voice.end() : until]))
            continue
        text = _plain(content)
        found = _named(text)
        if names_speakers is None and text:
            names_speakers = found is not None
        if names_speakers and found is not None:
            speaker, text = found
        yield Cue(where, start, end, speaker, text)


def _named(text: str) -> tuple[str, str] | None:
    """Return the speaker before a colon and what he says; None if it names none."""
    found = NAMED.fullmatch(text)
    if found is None:
        return None
    words = found["name"].split()
    if len(words) > MOST_WORDS or any(word[0].islower() for word in words if len(word) > 3):  # noqa: PLR2004 - "von der"
        return None
    return " ".join(words), found["text"]


def _plain(text: str) -> str:
    return " ".join(html.unescape(TAG.sub("", text)).split())


def _blocks(bundle: Bundle, file: str) -> Iterator[tuple[str, float, float, list[str]]]:
    """Yield the start, the end and the lines of each piece of subtitles."""
    shown = bundle.shown(file)
    times: tuple[str, float, float] | None = None
    lines: list[str] = []
    with bundle.path(file).open("rb") as content:
        for number, raw in enumerate(content, 1):
            try:
                line = raw.removeprefix(BYTE_ORDER_MARK).decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise BadFileError(f"{shown}, line {number}: It is not UTF-8.", row=number) from error
            found = TIMES.fullmatch(line)
            if found is not None:
                if times is not None:  # no empty line before it: the last line was this piece's number
                    yield *times, lines[:-1] if lines and lines[-1].strip().isdigit() else lines
                times = (f"{shown}, line {number}", _seconds(found, "a"), _seconds(found, "b"))
                lines = []
            elif not line.strip():
                if times is not None and lines:
                    yield *times, lines
                    times, lines = None, []
            elif times is not None:
                lines.append(line)
    if times is not None:
        yield *times, lines


def _counted(cues: Iterable[Cue], odd: Counter[str]) -> Iterator[Cue]:
    """Yield the pieces with words; sounds such as "[Music]" are counted."""
    for cue in cues:
        if not is_visible(cue.text) or re.fullmatch(r"[\[(♪*].*[\])♪*]|♪+", cue.text):
            odd["pieces without words"] += 1
        else:
            yield cue


def _joined(cues: Iterable[Cue]) -> Iterator[Cue]:
    """Yield pieces that one person says one after another as one, up to a length."""
    current: Cue | None = None
    for cue in cues:
        if current is not None:
            is_long = len(current.text) >= LONG_CHARS and SENTENCE_END.search(current.text) is not None
            fits = len(current.text) + len(cue.text) < LONGEST_CHARS and not is_long
            if fits and cue.speaker == current.speaker and -1 <= cue.start - current.end <= PAUSE_S:
                current = current._replace(end=max(current.end, cue.end), text=f"{current.text} {cue.text}")
                continue
            yield current
        current = cue._replace(opening=cue.text)
    if current is not None:
        yield current
