"""Times of facts, and of what is kept about them, are shown on the user's clock, as they were given."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig

pytestmark = pytest.mark.acceptance
EARLY, LATE = "Pacific/Kiritimati", "America/Los_Angeles"
"""A day begins here 14 hours before UTC's, and there 7 or 8 hours after."""


@pytest.fixture(scope="module")
def rig(prepared: Path) -> Iterator[Rig]:
    """A memsvc without a model, which nothing here needs."""
    with private_folder(prepared) as data, Rig(data, embedding_model="") as made:
        yield made


@pytest.fixture(scope="module", autouse=True)
def users(rig: Rig) -> Iterator[None]:
    """Users far from UTC, east and west, each with a fact and a place that have ended and one that holds."""
    with rig.admin():
        for name, zone in (("Eve", EARLY), ("Lee", LATE)):
            rig.ok("user", "add", "--name", name, "--zone", zone)
            made = ("--from-type", "Person", "--to-type", "Place", "--user", name)
            told = ("--from", "2025-11-20", "--to", "2025-12-01")
            rig.ok("assert", "Eva", "LIVES_IN", "Hamburg", "Eva lives in Hamburg.", *told, *made)
            rig.ok("assert", "Eva", "LIVES_IN", "Bremen", "Eva lives in Bremen.", "--from", "2025-12-01", *made)
            where = ("Hamburg", "53.5", "10", "--user", name)
            rig.ok("places", "add", *where, "--since", "2025-11-20", "--until", "2025-12-01T08:30")
        yield


@pytest.fixture(params=["Eve", "Lee"])
def user(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_fact_has_the_same_days_in_a_list_and_by_itself(rig: Rig, user: str) -> None:
    listed = rig.ok("facts", "--about", "Hamburg", "--all", "--user", user)
    assert "2025-11-20 – 2025-12-01" in listed
    [fact] = json.loads(rig.ok("facts", "--about", "Hamburg", "--all", "--json", "--user", user))["items"]
    assert "2025-11-20 to 2025-12-01: Eva" in rig.ok("show", f"f:{fact['version_id']}", "--user", user)


def test_a_verdict_names_the_days_as_they_were_told(rig: Rig, user: str) -> None:
    past = rig.ok("verify", "Eva lives in Hamburg", "--user", user)
    assert re.search(r"2025-12-01\.\n", past), past
    then = rig.ok("verify", "Eva lives in Hamburg", "--as-of", "2025-11-25", "--user", user)
    assert "2025-11-20 to 2025-12-01: Eva lives in Hamburg." in then
    now = rig.ok("verify", "Eva lives in Bremen", "--user", user)
    assert "since 2025-12-01: Eva lives in Bremen." in now


def test_a_place_has_the_days_that_were_told(rig: Rig, user: str) -> None:
    shown = rig.ok("places", "show", "Hamburg", "--user", user)
    assert re.search(r"2025-11-20 +2025-12-01 08:30\n", shown), shown
    near = rig.ok("places", "nearby", "53.5", "10", "--as-of", "2025-11-25", "--user", user)
    assert re.search(r"2025-11-20 +2025-12-01 08:30 ", near), near


def test_messages_that_are_left_out_are_counted_by_the_day_that_was_given(rig: Rig, user: str, tmp_path: Path) -> None:
    chat = tmp_path / "chat.jsonl"
    chat.write_text('{"text": "a heron", "said_at": "2025-11-01T12:00:00Z"}')
    seen = rig.ok("ingest", "--dry-run", str(chat), "--since", "2025-11-20", "--user", user)
    assert "before 2025-11-20\n" in seen


def test_what_was_written_just_now_has_the_users_time(rig: Rig, user: str) -> None:
    zone = ZoneInfo(EARLY if user == "Eve" else LATE)
    said = [
        rig.ok("note", "add", "A note", "--user", user),
        rig.ok("profile", "append", "notes", "A line.", "--user", user),
    ]
    for text in said:
        found = re.search(r"since (\d{4}-\d\d-\d\d \d\d:\d\d) ", text)
        assert found, text
        written = datetime.fromisoformat(found[1]).replace(tzinfo=zone)
        assert abs(datetime.now(UTC) - written) < timedelta(minutes=10)
