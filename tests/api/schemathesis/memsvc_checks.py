"""What Schemathesis checks beside its own: how memsvc refuses; and a note of what each operation answered.

Loaded by the profile beside this file, in Schemathesis's own process. That every operation was tried says
``tests/api/test_schemathesis.py``, by the note.
"""

from __future__ import annotations

import os
import re
import zlib
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import strategies as st
from schemathesis import Case, CheckContext, HookContext, Response

PROBLEM = "application/problem+json"
FORM = re.compile(r"(?:Expected (?!.*got `float`)|Object (?:contains unknown|missing required) |Invalid enum value)")
"""How a body is refused whose form is wrong, whatever it means. To JSON Schema 2.0 is an integer, here it is none."""
SHARES = {
    "incorrect_type": 16,
    "object_unexpected_properties": 16,
    "malformed_content_type": 16,
    "valid_object": 6,
    "object_required_and_optional": 6,
}
"""Of the many cases that Schemathesis derives from each field, one of so many is sent; in the longer form all."""
LONG = "MEMSVC_TEST_SCHEMATHESIS" in os.environ
OWN_KEY = os.environ["MEMSVC_ADMIN_KEY"].partition(".")[0]
NOTE = Path("answered.txt")
"""In the folder that Schemathesis runs in; a line is an operation and one of the statuses that it answered with."""
OFFSETS = st.integers(-12, 12).map(lambda hours: timezone(timedelta(hours=hours)))

schemathesis.openapi.format(
    "moment",
    st.dates().map(str).filter(lambda day: "1000" < day < "2026")
    | st.datetimes(timezones=st.none() | OFFSETS)
    .map(lambda time: time.isoformat())
    .filter(lambda t: "1001" < t < "2026"),
)


@schemathesis.check
def refusals_are_problems(_ctx: CheckContext, response: Response, case: Case[Any]) -> None:
    """Whatever is refused says why, with a stable code and the way out. Anthropic's clients expect another type."""
    if response.status_code < 400:
        return
    assert response.headers["content-type"][0] == PROBLEM, response.headers
    problem = response.json()
    assert problem["status"] == response.status_code
    assert problem["code"] not in {"internal", "error"}
    is_anthropic = case.operation.path.startswith("/anthropic/") and response.status_code != 405
    assert problem["type"] == ("error" if is_anthropic else f"urn:memsvc:error:{problem['code']}")
    assert problem["detail"]
    assert problem["hint"]
    assert problem["request_id"] == response.headers["x-request-id"][0]


@schemathesis.check
def what_the_document_allows_has_the_right_form(_ctx: CheckContext, response: Response, case: Case[Any]) -> None:
    """It may mean nothing here (no such node, no such time), but its form is not wrong."""
    if case.meta is not None and case.meta.generation.mode.is_positive and response.status_code == 400:
        problem = response.json()
        assert not FORM.match(problem["detail"]), problem["detail"]


_noted: set[str] = set()


@schemathesis.hook
def after_call(_ctx: HookContext, case: Case[Any], response: Response) -> None:
    """Note what the operation answered; calls by another method than its own are none of it."""
    line = f"{case.operation.label} {response.status_code}"
    if case.method.upper() == case.operation.method.upper() and line not in _noted:
        _noted.add(line)
        with NOTE.open("a") as note:
            note.write(f"{line}\n")


@schemathesis.hook
def filter_case(_ctx: HookContext, case: Case[Any]) -> bool:
    """Keep the key that calls alive, and thin out; which cases stay depends on nothing but themselves."""
    if str((case.path_parameters or {}).get("key_id", "")).startswith(OWN_KEY):
        return False
    data: Any = case.meta.phase.data if case.meta is not None else None
    share = 1 if LONG else SHARES.get(getattr(getattr(data, "scenario", None), "value", ""), 1)
    told = f"{case.operation.label} {case.query} {case.body!r} {case.headers} {case.path_parameters}"
    return zlib.crc32(told.encode("utf-8", "surrogatepass")) % share == 0
