"""Answers of the application, as examples for its documentation: what is accidental in them becomes fixed."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from memsvc.api.examples import JSON, METHODS

UUIDS = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SHORT_IDS = re.compile(r"\b([a-z]):([0-9a-hjkmnp-tv-z]{11,12})\b")
TIMES = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
FENCES = re.compile(r"(memsvc (?:context|rules) )[a-z]{10}( [a-z]{12})?")
DATES = re.compile(r"(?:(?P<weekday>[A-Z][a-z]+day), )?(?P<date>\d{1,2} [A-Z][a-z]+ 20\d\d)")
SECRETS = {
    "secret": "mk_0123456789abcdef.0123456789abcdef0123456789abcdef",
    "token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIwMWEy….…",
    "ticket": "0123456789abcdef….…",
    "key_id": "mk_0123456789abcdef",
    "next_cursor": "WyIwMWEyMDA3Yy03ZWQwIl0",
    "cursor": "WyIwMWEyMDA3Yy03ZWQwIl0",
}
NOW = datetime(2026, 3, 14, 17, 30, tzinfo=UTC)
MOST_ITEMS = 3
MOST_EXAMPLES = 2


class Recorder:
    """Notes good JSON answers by the operation that gave them, the first of each form."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.answers: dict[str, dict[str, list[Any]]] = {}
        self.answered: set[str] = set()
        """Operations that answered well, in JSON or not."""
        self._routes = [
            (method.upper(), re.compile(re.sub(r"{\w+}", "[^/]+", path)), operation["operationId"])
            for path, item in document["paths"].items()
            for method in METHODS
            if (operation := item.get(method))
        ]
        self._ids: dict[str, str] = {}

    async def __call__(self, answer: httpx.Response) -> None:
        """Note an answer: a hook for responses of httpx."""
        await answer.aread()
        assert answer.is_success, (answer.request.method, str(answer.request.url), answer.text)
        operation = self._operation(answer.request)
        self.answered.add(operation)
        if not answer.headers.get("Content-Type", "").startswith(JSON):
            return
        noted = self.answers.setdefault(operation, {}).setdefault(str(answer.status_code), [])
        value = self._fixed(answer.json())
        if len(noted) < MOST_EXAMPLES and all(set(value) != set(other) for other in noted):
            noted.append(value)

    def _operation(self, request: httpx.Request) -> str:
        # What has no parameter stands before what has one.
        path = request.url.path
        fitting = [(route.pattern, name) for method, route, name in self._routes if method == request.method
                   and route.fullmatch(path)]  # fmt: skip
        return str(min(fitting, key=lambda found: found[0].count("[^/]+"))[1])

    def _fixed(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: self._fixed(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._fixed(inner) for inner in value[:MOST_ITEMS]]
        if isinstance(value, float):
            return round(value, 4)
        if not isinstance(value, str):
            return value
        if key in SECRETS and not UUIDS.fullmatch(value):
            return SECRETS[key]
        value = DATES.sub(_date, TIMES.sub(_time, UUIDS.sub(self._uuid, value)))
        return FENCES.sub(_fence, SHORT_IDS.sub(self._short, value))

    def _uuid(self, found: re.Match[str]) -> str:
        return self._ids.setdefault(found[0], f"01a2007c-7ed0-7000-8000-{len(self._ids) + 1:012x}")

    def _short(self, found: re.Match[str]) -> str:
        return f"{found[1]}:{self._ids.setdefault(found[2], f'1m203sfqm{len(self._ids) + 1:03x}')}"


def _time(found: re.Match[str]) -> str:
    """A time of the very run becomes a fixed one."""
    moment = datetime.fromisoformat(found[0])
    return NOW.isoformat().replace("+00:00", "Z") if abs(datetime.now(UTC) - moment) < timedelta(days=2) else found[0]


def _date(found: re.Match[str]) -> str:
    """So does its date in words."""
    moment = datetime.strptime(found["date"], "%d %B %Y").replace(tzinfo=UTC)
    if abs(datetime.now(UTC) - moment) > timedelta(days=2):
        return found[0]
    return f"{NOW:%A, %-d %B %Y}" if found["weekday"] else f"{NOW:%-d %B %Y}"


def _fence(found: re.Match[str]) -> str:
    """What is drawn anew for each block of context becomes fixed."""
    return f"{found[1]}abcdefghij{' klmnopqrstuv' if found[2] else ''}"
