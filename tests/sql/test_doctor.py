"""What the doctor says of a server."""

from __future__ import annotations

import psycopg
import pytest

from memsvc.server import capabilities, projection
from memsvc.settings import Settings


def test_zones_that_the_server_lacks_are_told(admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capabilities, "available_timezones", lambda: {"Europe/Berlin", "localtime"})
    assert capabilities._check_zones(admin).state == "ok"
    monkeypatch.setattr(capabilities, "available_timezones", lambda: {"Europe/Berlin", "Mars/Olympus_Mons"})
    told = capabilities._check_zones(admin)
    assert (told.name, told.state) == ("time zones", "warning")
    assert told.says.startswith("1 unknown to the server (Mars/Olympus_Mons …)")
    assert "tzdata-legacy" in told.says


def test_why_there_is_no_cypher_is_told_in_one_line(
    admin: psycopg.Connection, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(lacks: str, mode: str) -> tuple[str, str]:
        found = projection.State(lacks, there=False, mark="", kept=False, version="1.8.0")
        monkeypatch.setattr(projection, "state", lambda _connection: found)
        check = capabilities._check_cypher(admin, settings.model_copy(update={"cypher": mode}))
        return check.state, check.says

    instead = "; SQL and the REST API show the same graph"
    assert told("age 1.5.0 is too old: 1.8 or newer is needed", "auto") == (
        "warning", f"no: age 1.5.0 is too old: 1.8 or newer is needed{instead}"
    )  # fmt: skip
    assert told("", "off") == ("ok", f"off, by MEMSVC_CYPHER{instead}")
    assert told("", "auto") == ("warning", "no: its graph is not made yet, or old; 'memsvc db upgrade' makes it")
