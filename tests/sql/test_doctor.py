"""What the doctor says of a server."""

from __future__ import annotations

import psycopg
import pytest

from memsvc.server import capabilities, projection
from memsvc.settings import Settings

pytestmark = pytest.mark.server


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
    assert told("age 1.5.0 is too old: 1.7 or newer is needed", "auto") == (
        "warning", f"no: age 1.5.0 is too old: 1.7 or newer is needed{instead}"
    )  # fmt: skip
    assert told("", "off") == ("ok", f"off, by MEMSVC_CYPHER{instead}")
    assert told("", "auto") == ("warning", "no: its graph is not made yet, or old; 'memsvc db upgrade' makes it")


def told_of(admin: psycopg.Connection) -> dict[str, tuple[str, str]]:
    """What is said of logins, by name."""
    found = [*capabilities._check_logins(admin), *capabilities._check_privacy(admin)]
    return {check.name: (check.state, check.says) for check in found}


def test_what_only_a_superuser_may_set_is_told_where_it_is_missing(admin: psycopg.Connection) -> None:
    """Roles belong to the whole server: another worker that alters one at the same moment makes this begin again."""
    for left in reversed(range(5)):
        try:
            _without_what_only_a_superuser_may_set(admin)
        except psycopg.errors.InternalError_ as error:
            if not left or "concurrently updated" not in str(error):
                raise
        else:
            return


def _without_what_only_a_superuser_may_set(admin: psycopg.Connection) -> None:
    names = {"the server's log", "temporary files", "large objects", "statements of others", "locks of others"}
    assert {name: state for name, (state, _) in told_of(admin).items()} == dict.fromkeys(names, "ok")
    with admin.transaction(force_rollback=True):
        admin.execute("ALTER ROLE memsvc_reader RESET log_min_messages")
        admin.execute("ALTER ROLE memsvc_analyst RESET temp_file_limit")
        admin.execute("GRANT EXECUTE ON FUNCTION pg_catalog.lo_from_bytea(oid, bytea) TO PUBLIC")
        told = told_of(admin)
        assert told["the server's log"][0] == "warning"
        assert told["the server's log"][1].startswith("memsvc_reader: errors are logged with the texts")
        assert told["temporary files"][1].startswith("memsvc_analyst: one query may fill the disk")
        assert told["large objects"][0] == "warning"
        name = admin.info.dbname
        admin.execute(f'ALTER DATABASE "{name}" SET log_min_messages = fatal'.encode())
        assert told_of(admin)["the server's log"][0] == "ok", "what the database has counts, too"
        admin.execute(f'ALTER ROLE memsvc_reader IN DATABASE "{name}" SET log_min_messages = warning'.encode())
        assert told_of(admin)["the server's log"][0] == "warning"
