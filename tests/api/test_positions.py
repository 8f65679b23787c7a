"""The header by which a caller of several processes sees its own writes on replicas."""

from __future__ import annotations

import httpx
import pytest

from memsvc.db.position import parse_position, shown_position

pytestmark = pytest.mark.server
HEADER = "X-Memsvc-Position"
MESSAGE = {"conversation": "c", "text": "The heron is back."}


async def test_an_answer_tells_the_position_after_what_it_stored(ada: httpx.AsyncClient) -> None:
    plain = await ada.post("/v1/messages", json=MESSAGE)
    assert HEADER not in plain.headers
    first = await ada.post("/v1/messages", json=MESSAGE, headers={HEADER: "0/0"})
    position = first.headers[HEADER]
    assert parse_position(position) > 0
    second = await ada.post("/v1/messages", json=MESSAGE, headers={HEADER: position})
    assert parse_position(second.headers[HEADER]) > parse_position(position)


async def test_a_position_ahead_of_the_database_is_kept(ada: httpx.AsyncClient) -> None:
    ahead = "FFFFFFFF/FFFFFFF0"
    found = await ada.post("/v1/recall", json={"query": "heron"}, headers={HEADER: ahead})
    assert (found.status_code, found.headers[HEADER]) == (200, ahead)


@pytest.mark.parametrize("told", ["", "x", "1", "1/", "123456789/0", "1/1; DROP TABLE", "-1/0"])
async def test_another_form_is_refused(ada: httpx.AsyncClient, told: str) -> None:
    refused = await ada.post("/v1/messages", json=MESSAGE, headers={HEADER: told})
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_request")
    assert HEADER in refused.json()["detail"]


@pytest.mark.parametrize("told", ["0/0", "0/1", "16/B374D848", "FFFFFFFF/FFFFFFFF"])
def test_a_position_is_written_as_postgresql_does(told: str) -> None:
    assert shown_position(parse_position(told)) == told
