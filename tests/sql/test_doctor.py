"""What the doctor says of a server."""

from __future__ import annotations

import psycopg
import pytest

from memsvc.db import capabilities


def test_zones_that_the_server_lacks_are_told(admin: psycopg.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capabilities, "available_timezones", lambda: {"Europe/Berlin", "localtime"})
    assert capabilities._check_zones(admin).state == "ok"
    monkeypatch.setattr(capabilities, "available_timezones", lambda: {"Europe/Berlin", "Mars/Olympus_Mons"})
    told = capabilities._check_zones(admin)
    assert (told.name, told.state) == ("time zones", "warning")
    assert told.says.startswith("1 unknown to the server (Mars/Olympus_Mons …)")
    assert "tzdata-legacy" in told.says
