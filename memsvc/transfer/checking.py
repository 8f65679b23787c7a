"""The check of a line of an export, which may come from anybody.

It checks types, lengths, text and times, so that an error names the line. Constraints of the database check how rows
relate to each other (that ids exist, that versions do not overlap).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn

import msgspec
from msgspec import Raw

from memsvc.access.users import LANGUAGES
from memsvc.errors import InvalidRequestError
from memsvc.text.storable import check_storable
from memsvc.transfer.lines import INFINITY, LINES, Line, PassageLine

EARLIEST, LATEST = 1000, 9000
"""The years in which something can be said, as at the other doors."""
# The form in which PostgreSQL writes a time in UTC. fromisoformat accepts more, some of which the database reads
# differently.
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?\+00:00")
PAST = ("created_at", "recorded_at", "recorded_from", "proposed_at", "decided_at", "last_recalled_at")
OBJECTS = ("metadata", "data", "settings")


class BadLineError(Exception):
    """A line is not valid; the message says why."""


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks the lines of one kind."""

    kind: str
    decoder: msgspec.json.Decoder[Line]
    fields: tuple[str, ...]
    today: datetime
    """The database's current time: nothing was recorded later."""
    max_text_chars: int

    @classmethod
    def of(cls, kind: str, today: datetime, max_text_chars: int) -> Checker:
        """Return the checker for a kind."""
        line = LINES[kind]
        return cls(kind, msgspec.json.Decoder(line), line.__struct_fields__, today, max_text_chars)

    def check(self, raw: bytes) -> None:
        """Check one line.

        Raises:
            BadLineError: the line cannot be a row.
        """
        try:
            line = self.decoder.decode(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise BadLineError(str(error)) from error
        for field in self.fields:
            value = getattr(line, field)
            if isinstance(value, str):
                self._check_text(field, value)
            elif isinstance(value, Raw):
                _check_object(field, bytes(value), text_too=field == "arguments")
            elif isinstance(value, list):
                _check_stored(field, value)
        if isinstance(line, PassageLine):
            self._check_passage(line)

    def _check_text(self, field: str, value: str) -> None:
        if field in PAST:
            self._check_past(field, value)
        elif field == "recorded_to":
            if value != INFINITY:
                self._check_past(field, value)
        elif field in {"valid_from", "valid_to"}:
            if value != ("-infinity" if field == "valid_from" else "infinity"):
                _moment(field, value)
        elif field in {"expires_at", "begun_at", "ended_at"}:
            _moment(field, value)
        elif field == "said_at":
            if not EARLIEST <= _moment(field, value).year < LATEST:
                _refuse(f"{field} is outside the years {EARLIEST} to {LATEST}")
        else:
            _check_stored(field, value)

    def _check_past(self, field: str, value: str) -> None:
        if _moment(field, value) > self.today:
            _refuse(f"{field} is in the future")

    def _check_passage(self, line: PassageLine) -> None:
        if line.recorded_to != INFINITY and line.kind != "chunk":
            _refuse("recorded_to is of chunks alone")
        if line.archived_at is not None and line.kind != "message":
            _refuse("archived_at is of messages alone")
        if line.language not in LANGUAGES:
            _refuse("language is not supported by PostgreSQL's full text search")
        if len(line.text) > self.max_text_chars:
            _refuse(f"text has {len(line.text):,} characters; at most {self.max_text_chars:,} are allowed")


def _refuse(what: str) -> NoReturn:
    raise BadLineError(what)


def _moment(field: str, value: str) -> datetime:
    if not MOMENT.fullmatch(value):
        _refuse(f"{field} is not a time such as 2026-03-14T08:30:00+00:00")
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        _refuse(f"{field} is not a time that exists")


def _check_stored(field: str, value: Any) -> None:
    try:
        check_storable(value, field)
    except InvalidRequestError as error:
        raise BadLineError(error.message.rstrip(".")) from error


def _no_number(found: str) -> NoReturn:
    _refuse(f"{found} is not a number")


def _check_object(field: str, raw: bytes, *, text_too: bool = False) -> None:
    """Check that a value is a JSON object whose texts can be stored; numbers go to the database as written.

    ``text_too``: it may be a text, too.
    """
    if raw == b"{}":
        return
    try:
        value = json.loads(raw, parse_int=str, parse_float=str, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise BadLineError(f"{field} cannot be read ({error})") from error
    if not isinstance(value, dict) and not (text_too and isinstance(value, str)):
        _refuse(f"{field} is not an object")
    _check_stored(field, value)
