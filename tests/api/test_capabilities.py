"""What this server's database cannot do is said, and is nobody's failure."""

from __future__ import annotations

import httpx
import pytest

pytestmark = pytest.mark.server


async def test_cypher_where_there_is_none(ada: httpx.AsyncClient, capsys: pytest.CaptureFixture[str]) -> None:
    answer = await ada.post("/v1/graph/cypher", json={"query": "RETURN 1"})
    assert (answer.status_code, answer.json()["code"]) == (501, "capability_missing")
    assert answer.json()["capability"] == "age"
    logged = [line for line in capsys.readouterr().out.splitlines() if "capability_missing" in line]
    assert len(logged) == 1
    assert "[info" in logged[0]
