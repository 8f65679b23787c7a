"""The embedded server's log does not grow for ever."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from memsvc.server import embedded
from tests.acceptance.test_embedded import FAST, ask, folder_for_all

pytestmark = pytest.mark.acceptance


@pytest.fixture
def data() -> Iterator[Path]:
    """A data folder that the server's user can reach."""
    with folder_for_all() as base:
        yield base / "data"


def test_a_long_log_is_cut_when_somebody_comes_and_the_server_goes_on_writing(data: Path) -> None:
    log = data / "server.log"
    with embedded.running(data, options=FAST) as server:
        before = log.stat()
        with log.open("ab") as file:
            file.writelines(b"%07d an old line of the log\n" % number for number in range(500_000))
        assert log.stat().st_size > embedded.LOG_BYTES
        with embedded.running(data), pytest.raises(psycopg.errors.DivisionByZero):
            ask(server, "SELECT 1 / 0")
        lines = log.read_bytes().splitlines()
        assert log.stat().st_size < embedded.LOG_BYTES
        assert (log.stat().st_uid, log.stat().st_mode) == (before.st_uid, before.st_mode)
        assert b"division by zero" in b"\n".join(lines[-3:])
        kept = [line for line in lines if line.endswith(b" an old line of the log")]
        assert kept[-1] == b"0499999 an old line of the log"
        assert 100_000 < len(kept) < 500_000
        assert len(kept[0]) == len(kept[-1])
        assert b"\0" not in log.read_bytes()
    size = log.stat().st_size
    with embedded.running(data, options=FAST):
        assert log.stat().st_size > size
