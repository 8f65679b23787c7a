"""The days of daily notes and journal pages, by the names that Obsidian, Logseq and people give them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from datetime import date
from pathlib import Path, PurePosixPath

import msgspec

from memsvc.documents.vaults.folder import read_once
from memsvc.documents.vaults.form import Flavour

ISO_NAME = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
LOGSEQ_NAME = re.compile(r"(\d{4})[_-](\d\d)[_-](\d\d)")
JOURNALS = "journals/"
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MOST_FORMAT_CHARS = 100

# Tokens of moment.js, which Obsidian's formats consist of.
TOKENS: Mapping[str, str] = {
    "YYYY": r"(?P<year>\d{4})",
    "YY": r"(?P<short>\d\d)",
    "MMMM": f"(?P<name>{'|'.join(MONTHS)})",
    "MMM": f"(?P<name>{'|'.join(month[:3] for month in MONTHS)})",
    "MM": r"(?P<month>\d\d)",
    "M": r"(?P<month>\d\d?)",
    "DD": r"(?P<day>\d\d)",
    "Do": r"(?P<day>\d\d?)(?:st|nd|rd|th)",
    "D": r"(?P<day>\d\d?)",
    "dddd": f"(?:{'|'.join(WEEKDAYS)})",
    "ddd": f"(?:{'|'.join(day[:3] for day in WEEKDAYS)})",
}
FORMAT = re.compile(r"\[([^\]]*)\]|YYYY|YY|MMMM|MMM|MM|M|DD|Do|D|dddd|ddd|[A-Za-z]+|.", re.DOTALL)
TITLE = re.compile(r"yyyy|yy|MMMM|MMM|MM|M|dd|do|d|EEEE|EEE|EE|E|.", re.DOTALL)
# A semicolon before it makes it a comment.
PAGE_TITLE = re.compile(r'^[^;\n]*?:journal/page-title-format\s+"([^"\n]{1,100})"', re.MULTILINE)
DEFAULT_PAGE_TITLE = "MMM do, yyyy"
ORDINALS = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}


class _DailyNotes(msgspec.Struct, frozen=True):
    """``.obsidian/daily-notes.json``, as far as it is read."""

    format: str = ""
    folder: str = ""


class Days:
    """Knows the day of a note by its path."""

    def __init__(self, folder: Path, flavours: tuple[Flavour, ...]) -> None:
        """Read the programs' own settings; without them, only the usual names count."""
        self._is_logseq = "logseq" in flavours
        self._daily_folder, self._pattern = _daily_notes(folder) if "obsidian" in flavours else ("", None)
        self._title = _page_title(folder) if self._is_logseq else DEFAULT_PAGE_TITLE

    def of(self, path: str) -> str | None:
        """Return the day of a daily note as YYYY-MM-DD; None: it is another note."""
        stem = str(PurePosixPath(path).with_suffix(""))
        if self._pattern is not None and stem.startswith(self._daily_folder):
            found = self._pattern.fullmatch(stem.removeprefix(self._daily_folder))
            if found is not None and (day := _day(found)) is not None:
                return day
        is_journal = self._is_logseq and path.startswith(JOURNALS)
        named = (LOGSEQ_NAME if is_journal else ISO_NAME).fullmatch(PurePosixPath(stem).name)
        return valid(*named.groups()) if named is not None else None

    def page_title(self, day: str) -> str | None:
        """Return how Logseq calls a journal page in links: "Nov 29th, 2026". None in folders of others."""
        if not self._is_logseq:
            return None
        at = date.fromisoformat(day)
        return TITLE.sub(lambda token: _titled(token[0], at), self._title)


def valid(year: str, month: str, day: str) -> str | None:
    """Return a date as YYYY-MM-DD; None if the calendar does not have it."""
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None


def _daily_notes(folder: Path) -> tuple[str, re.Pattern[str] | None]:
    path = folder / ".obsidian" / "daily-notes.json"
    data = read_once(path, Counter()) if path.is_file() else None
    if data is None:
        return "", None
    try:
        written = msgspec.json.decode(data, type=_DailyNotes)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return "", None
    within = written.folder.strip("/")
    return f"{within}/" if within else "", pattern_of(written.format or "YYYY-MM-DD")


def pattern_of(moment_format: str) -> re.Pattern[str] | None:
    """Return the pattern of names in a format of moment.js; None if it is no whole date, or has unknown tokens."""
    if len(moment_format) > MOST_FORMAT_CHARS:
        return None
    parts: list[str] = []
    named: set[str] = set()
    for found in FORMAT.finditer(moment_format):
        token = found[0]
        if found[1] is not None:
            parts.append(re.escape(found[1]))
        elif token in TOKENS:
            pattern = TOKENS[token]
            group = re.match(r"\(\?P<(\w+)>", pattern)
            if group is not None and group[1] in named:
                # The same part of the date again, as in "YYYY/MM/YYYY-MM-DD".
                pattern = f"(?P={group[1]})" if pattern in parts else pattern.replace(f"?P<{group[1]}>", "?:", 1)
            elif group is not None:
                named.add(group[1])
            parts.append(pattern)
        elif token.isalpha():
            return None
        else:
            parts.append(re.escape(token))
    if not named & {"year", "short"} or not named & {"month", "name"} or "day" not in named:
        return None
    return re.compile("".join(parts))


def _day(found: re.Match[str]) -> str | None:
    parts = found.groupdict()
    year = parts.get("year") or f"20{parts['short']}"
    month = parts.get("month") or str(1 + next(n for n, name in enumerate(MONTHS) if name.startswith(parts["name"])))
    return valid(year, month, parts["day"])


def _page_title(folder: Path) -> str:
    path = folder / "logseq" / "config.edn"
    data = read_once(path, Counter()) if path.is_file() else None
    found = PAGE_TITLE.search((data or b"").decode(errors="replace"))
    return found[1] if found is not None else DEFAULT_PAGE_TITLE


def _titled(token: str, at: date) -> str:
    month, weekday = MONTHS[at.month - 1], WEEKDAYS[at.weekday()]
    return {
        "yyyy": f"{at.year:04}", "yy": f"{at.year % 100:02}",
        "MMMM": month, "MMM": month[:3], "MM": f"{at.month:02}", "M": str(at.month),
        "dd": f"{at.day:02}", "do": f"{at.day}{ORDINALS.get(at.day, 'th')}", "d": str(at.day),
        "EEEE": weekday, "EEE": weekday[:3], "EE": weekday[:3], "E": weekday[:3],
    }.get(token, token)  # fmt: skip
