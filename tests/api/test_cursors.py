"""Cursors that memsvc did not write: every list of the document refuses them in the same way."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64encode
from typing import Any
from uuid import uuid4

import httpx
import pytest
from litestar import Litestar
from mcp.shared.exceptions import MCPError

from memsvc.access.users import Owner
from tests.api.conftest import Connect
from tests.api.mcp_clients import OLD, mcp_client, refused
from tests.api.test_documentation import operations

ID = "0199f3a2-5c1e-7b3d-9f00-1a2b3c4d5e6f"
MOMENT = "2026-03-14T17:30:00.250000Z"
FORMS: dict[str, list[tuple[str, Any]]] = {
    "listMessages": [("moment", MOMENT), ("text", "2026-03-14"), ("number", 3)],
    "searchNodes": [("number", 1), ("text", "ines"), ("id", ID), ("moment or nothing", MOMENT)],
    "listAliases": [("moment", MOMENT), ("id", ID)],
    "listBudgets": [("id", ID)],
    "listFacts": [
        ("moment or nothing", MOMENT), ("moment", MOMENT), ("moment or nothing", MOMENT), ("moment", MOMENT), ("id", ID)
    ],
    "readAgenda": [("moment", MOMENT), ("text", f"m:{ID}")],
    "describeChange": [("kind", "node"), ("id", ID)],
    "diffGraph": [("moment", MOMENT), ("kind", "edge"), ("id", ID), ("text", ""), ("moment", MOMENT)],
    "listDuplicates": [("score", 0.5), ("id", ID), ("id", ID)],
    "listProposals": [("score", 0.5), ("id", ID)],
    "listExtractions": [("id", ID), ("text", "offline")],
    "listRereadFacts": [("moment", MOMENT), ("id", ID)],
    "previewRereading": [("moment", MOMENT), ("strength", 0.5), ("id or nothing", ID), ("id", ID)],
    "listSummaries": [("moment", MOMENT), ("id", ID)],
    "readTimeline": [("moment", MOMENT), ("timeline", "message"), ("id", ID)],
    "listAnalyses": [("id", ID)],
    "listReflections": [("moment", MOMENT), ("id", ID)],
    "getDocument": [("number", 3)],
    "documentVersions": [("number", 3)],
    "listAnalysisResults": [("number", 3)],
    "listEvents": [("long", 12), ("id", ID), ("long", 4_000_000_000)],
    "listKeys": [("moment", MOMENT), ("text", "mk_0123456789abcdef")],
}  # fmt: skip
"""Lists whose cursors hold several values, or one in the same form: what each value is, and one that fits."""
PLAIN: dict[str, str] = {
    "blockHistory": "3",
    "nodeHistory": "2026-03-14T17:30:00.250000+00:00",
    "listChanges": "2026-03-14T17:30:00+00:00",
    "pageGraph": f"edges.{ID}.{ID}",
    "readGraph": f"nodes.{ID}",
} | dict.fromkeys(
    (
        "listConversations",
        "listNotes",
        "listErasures",
        "listArchived",
        "listLessons",
        "listPlans",
        "documentStaleness",
        "listReviews",
        "listJobs",
        "listSleepRuns",
        "listRereadings",
        "listIngests",
        "listDocuments",
        "listFeeds",
        "listFeedRuns",
        "listUsers",
        "listActs",
        "listAllJobs",
    ),
    ID,
)
"""Lists whose cursors are plain text, and one that fits."""
GRAPH = {"pageGraph", "readGraph"}
"""Lists that have the cursor ``edges``, for their begin."""
NEEDED = {"listFacts": {"about": "I"}, "listAliases": {"name": "Ines"}, "diffGraph": {"from": "2026-01-01"},
    "readAgenda": {"from": "2026-01-01", "to": "2026-02-01"},
}  # fmt: skip
VALUES: list[Any] = [None, True, -2, 1.5, 3.0, 1e308, 2**31, 2**63, "x", "a\0b", "2026-03-14T17:30:00", []]
FITTING: dict[str, set[Any]] = {"text": {"x", "2026-03-14T17:30:00"}, "moment or nothing": {None}, "long": {2**31},
    "strength": {None, 1.5, 3.0}, "id or nothing": {None},
}  # fmt: skip
TEXTS = [
    "", "abc", "-1", "1.5", "9" * 2_000, "a\0b", "Größe", "edges", "edges.a.b", f"nodes.{ID.upper()}", ID.upper(),
    f" {ID}", "2026-03", "yesterday", "0001-01-01T00:00:00+14:00", "!W10",
]  # fmt: skip
DOCUMENTS = ["[]", "{}", "null", "5", "[NaN]", "[1e999]", "[-1]", "[true]", "[0.5]", '["x"]', "[" * 5_000, "\xff"]


def packed(document: str) -> str:
    """A document as a cursor."""
    return urlsafe_b64encode(document.encode("latin-1")).decode().rstrip("=")


def written(values: list[Any]) -> str:
    """Values as memsvc writes them into a cursor."""
    return packed(json.dumps(values, separators=(",", ":")))


def forged(name: str) -> list[str]:
    """Cursors that a list never gave."""
    form = FORMS.get(name, [])
    good = [value for _, value in form]
    one_wrong = [
        written([*good[:place], wrong, *good[place + 1 :]])
        for place, (kind, _) in enumerate(form)
        for wrong in VALUES
        if not any(type(wrong) is type(fit) and wrong == fit for fit in FITTING.get(kind, ()))
    ]
    lengths = [written(good[:-1]), written([*good, 1]), written(good * 2)] if form else []
    whole = {packed(json.dumps(good)), f"{written(good)}=", f"{written(good)}.", written(good)[:-1]} if form else set()
    whole.discard(written(good))
    texts = [text for text in TEXTS if text != "edges" or name not in GRAPH]
    return [*texts, *map(packed, DOCUMENTS), *one_wrong, *lengths, *whole]


@pytest.fixture
async def anything(connect: Connect, owner: Owner) -> httpx.AsyncClient:
    """Somebody who may do everything for everybody of the app."""
    return await connect("read", "write", "forget", "admin", **{"X-Memsvc-User": str(owner.user_id)})


@pytest.mark.usefixtures("reading")
async def test_every_list_refuses_cursors_that_it_never_gave(anything: httpx.AsyncClient) -> None:
    document = (await anything.get("/schema/openapi.json")).json()
    asked = set()
    for method, path, operation in operations(document):
        parameters = {one["name"] for one in operation.get("parameters", []) if one["in"] == "query"}
        name = operation["operationId"]
        if "cursor" not in parameters:
            continue
        assert method == "get"
        asked.add(name)
        address = re.sub(r"{name}", "preferences", re.sub(r"{\w+_id}", str(uuid4()), path))
        needed = NEEDED.get(name, {})
        fitting = written([value for _, value in FORMS[name]]) if name in FORMS else PLAIN[name]
        for parameter in sorted(parameters & {"cursor", "after"}):
            good = await anything.get(address, params={**needed, parameter: fitting})
            assert good.status_code in {200, 404}, (name, parameter, good.text)
            for cursor in forged(name):
                answer = await anything.get(address, params={**needed, parameter: cursor})
                told = (answer.status_code, answer.json().get("code"), answer.json().get("field"))
                assert told == (400, "bad_cursor", parameter), (name, cursor[:200], answer.text)
    assert asked == FORMS.keys() | PLAIN.keys(), "a new list has a line above"


async def test_an_event_that_is_yet_to_come_is_none_of_ours(anything: httpx.AsyncClient) -> None:
    for cursor in (written([1, ID, 2**62]), written([1, ID, 2**32])):
        answer = await anything.get("/v1/events", params={"cursor": cursor})
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_cursor")


async def test_recall_refuses_cursors_that_it_never_gave(ada: httpx.AsyncClient) -> None:
    wrong: list[Any] = [5, 1.5, True, [], {}, "a" * 50_000, *TEXTS, *map(packed, DOCUMENTS)]
    wrong += [written([2, 5, "AAAA", "AAAA", value, True, "AAAA"]) for value in VALUES]
    for mode in ("deliberate", "balanced", "eager"):
        for cursor in wrong:
            answer = await ada.post("/v1/recall", json={"query": "Oak", "mode": mode, "cursor": cursor})
            told = (answer.status_code, answer.json()["code"], answer.json()["field"])
            assert told == (400, "bad_cursor", "cursor"), (cursor, answer.text)


async def test_lists_of_mcp_refuse_cursors_that_they_never_gave(api: Litestar, ada: httpx.AsyncClient) -> None:
    wrong: list[Any] = [5, 1.5, True, [], "a" * 300, *TEXTS, written([1.5, MOMENT]), written([0, MOMENT])]
    async with mcp_client(api, ada) as client, mcp_client(api, ada, OLD) as older:
        for one in (client, older):
            for cursor in wrong:
                assert await refused(one, "explore", node="Ada", cursor=cursor) == "bad_cursor", cursor
            for page in (one.list_tools, one.list_resources, one.list_resource_templates, one.list_prompts):
                for cursor in ("", "abc"):
                    with pytest.raises(MCPError, match="bad_cursor"):
                        await page(cursor=cursor)
