"""Whatever a client sends: a clear error with a stable code and the way out, or a sensible answer. Never a 5xx."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import httpx
import pytest

GOOD = {"conversation": "a", "text": "oak"}
JSON = {"Content-Type": "application/json"}


def message(raw: str) -> bytes:
    """A message whose text is this raw JSON."""
    return b'{"conversation": "a", "text": %s}' % raw.encode()


BROKEN_BODIES: dict[str, tuple[bytes, int, str]] = {
    "nothing": (b"", 400, "invalid_request"),
    "half an object": (b'{"conversation": "a"', 400, "invalid_request"),
    "not JSON": (b"oak", 400, "invalid_request"),
    "a byte order mark": (b'\xef\xbb\xbf{"conversation": "a", "text": "oak"}', 400, "invalid_request"),
    "null": (b"null", 400, "invalid_request"),
    "a list": (b"[]", 400, "invalid_request"),
    "a number": (b"7", 400, "invalid_request"),
    "two objects": (b"{}{}", 400, "invalid_request"),
    "NUL in the text": (message(r'"a\u0000b"'), 400, "invalid_text"),
    "NUL in the metadata": (rb'{"conversation": "a", "text": "b", "metadata": {"k": ["\u0000"]}}', 400, "invalid_text"),
    "NUL in a metadata key": (rb'{"conversation": "a", "text": "b", "metadata": {"\u0000": 1}}', 400, "invalid_text"),
    "a lone high surrogate": (message(r'"\ud800"'), 400, "invalid_text"),
    "a lone low surrogate": (message(r'"\udc00 x"'), 400, "invalid_text"),
    "surrogates in the wrong order": (message(r'"\udc00\ud800"'), 400, "invalid_text"),
    "broken UTF-8": (b'{"conversation": "a", "text": "\xff\xfe"}', 400, "invalid_text"),
    "a surrogate as UTF-8": (b'{"conversation": "a", "text": "\xed\xa0\x80"}', 400, "invalid_text"),
    "NaN": (b'{"conversation": "a", "text": "b", "ordinal": NaN}', 400, "invalid_request"),
    "NaN in the metadata": (b'{"conversation": "a", "text": "b", "metadata": {"x": NaN}}', 400, "invalid_request"),
    "an infinite number": (b'{"conversation": "a", "text": "b", "metadata": {"x": 1e999}}', 400, "invalid_request"),
    "a huge ordinal": (b'{"conversation": "a", "text": "b", "ordinal": 1%s}' % (b"0" * 30), 400, "invalid_request"),
    "an endless ordinal": (
        b'{"conversation": "a", "text": "b", "ordinal": 1%s}' % (b"0" * 9000),
        400,
        "invalid_request",
    ),
    "a negative ordinal": (b'{"conversation": "a", "text": "b", "ordinal": -1}', 400, "invalid_request"),
    "an ordinal as text": (b'{"conversation": "a", "text": "b", "ordinal": "1"}', 400, "invalid_request"),
    "an ordinal with a fraction": (b'{"conversation": "a", "text": "b", "ordinal": 1.5}', 400, "invalid_request"),
    "a bomb of lists": (b'{"conversation": "a", "text": ' + b"[" * 200_000, 400, "invalid_request"),
    "a bomb of objects": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, 400, "invalid_request"),
    "a text that is a number": (message("7"), 400, "invalid_request"),
    "a text that is null": (message("null"), 400, "invalid_request"),
    "an unknown field": (b'{"conversation": "a", "text": "b", "txet": "c"}', 400, "invalid_request"),
    "no conversation": (b'{"text": "b"}', 400, "invalid_request"),
    "an empty conversation": (b'{"conversation": " ", "text": "b"}', 400, "invalid_request"),
    "an unknown role": (b'{"conversation": "a", "text": "b", "role": "god"}', 400, "invalid_request"),
    "an empty id": (b'{"conversation": "a", "text": "b", "id": ""}', 400, "invalid_request"),
    "an empty text": (message('""'), 400, "empty_text"),
    "only spaces": (message(r'" \n\t "'), 400, "empty_text"),
    "only invisible characters": (message(r'"\u200b\u2060\u202e\ufe0f"'), 400, "empty_text"),
    "a text that is too long": (message(f'"{"a" * 2_000_001}"'), 413, "text_too_long"),
    "a wrong date": (b'{"conversation": "a", "text": "b", "said_at": "2026-02-30"}', 400, "invalid_time"),
    "a date in words": (b'{"conversation": "a", "text": "b", "said_at": "tomorrow"}', 400, "invalid_time"),
    "a date before all": (b'{"conversation": "a", "text": "b", "said_at": "0001-01-01T00:00:00"}', 400, "invalid_time"),
    "a date after all": (
        b'{"conversation": "a", "text": "b", "said_at": "9999-12-31T23:59-12:00"}',
        400,
        "invalid_time",
    ),
    "an empty batch": (b'{"messages": []}', 400, "invalid_request"),
    "a batch that is no list": (b'{"messages": {}}', 400, "invalid_request"),
    "a batch with more beside it": (b'{"messages": [], "text": "a"}', 400, "invalid_request"),
    "too many messages": (json.dumps({"messages": [GOOD] * 1_001}).encode(), 413, "batch_too_large"),
    "metadata that is no object": (b'{"conversation": "a", "text": "b", "metadata": []}', 400, "invalid_request"),
    "metadata that is too large": (json.dumps(GOOD | {"metadata": {"k": "v" * 70_000}}).encode(), 413, "text_too_long"),
}


@pytest.mark.parametrize("case", BROKEN_BODIES)
async def test_a_broken_message_is_refused_and_nothing_is_stored(ada: httpx.AsyncClient, case: str) -> None:
    body, status, code = BROKEN_BODIES[case]
    answer = await ada.post("/v1/messages", content=body, headers=JSON)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (status, code), problem
    assert problem["detail"]
    assert problem["hint"]
    assert (await ada.get("/v1/conversations")).json()["items"] == []


ROWS: dict[str, tuple[dict[str, Any], str, str | None]] = {
    "a wrong type": ({"text": 7}, "invalid_request", "text"),
    "an unknown field": ({"txet": "b"}, "invalid_request", "txet"),
    "an empty text": ({"text": " "}, "empty_text", "text"),
    "NUL": ({"text": "\0"}, "invalid_text", "text"),
    "a wrong time": ({"said_at": "yesterday"}, "invalid_time", None),
    "a wrong ordinal": ({"ordinal": -2}, "invalid_request", "ordinal"),
    "a metadata value": ({"metadata": 3}, "invalid_request", "metadata"),
}


@pytest.mark.parametrize("case", ROWS)
async def test_one_bad_row_refuses_the_batch_and_is_named(ada: httpx.AsyncClient, case: str) -> None:
    wrong, code, field = ROWS[case]
    batch = [GOOD, GOOD, GOOD | wrong, GOOD]
    problem = (await ada.post("/v1/messages", json={"messages": batch})).json()
    assert (problem["code"], problem["row"]) == (code, 2), problem
    if field is not None:
        assert problem["field"] == field
    assert (await ada.get("/v1/conversations")).json()["items"] == []


async def test_metadata_may_be_nested_but_not_endlessly(ada: httpx.AsyncClient) -> None:
    for levels in (1, 60, *range(150, 1_000, 25), *range(940, 1_000)):
        nested = b'{"a":' * levels + b"1" + b"}" * levels
        body = b'{"conversation": "a", "text": "b", "metadata": %s}' % nested
        answer = await ada.post("/v1/messages", content=body, headers=JSON)
        assert answer.status_code == (202 if levels < 100 else 400), (levels, answer.text)


async def test_large_numbers_in_metadata_come_back_as_they_were(ada: httpx.AsyncClient) -> None:
    answer = await ada.post("/v1/messages", json=GOOD | {"metadata": {"n": 10**30, "x": 0.1}})
    assert answer.status_code == 202
    [stored] = (await ada.get("/v1/conversations/a/messages")).json()["items"]
    assert stored["metadata"] == {"n": 10**30, "x": 0.1}


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "application/json; charset=latin-1",
        "application/msgpack",
        "nonsense",
        "",
    ],
)
async def test_only_json_is_read(ada: httpx.AsyncClient, kind: str) -> None:
    answer = await ada.post("/v1/messages", content=json.dumps(GOOD), headers={"Content-Type": kind} if kind else {})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


async def test_json_may_name_its_charset(ada: httpx.AsyncClient) -> None:
    kind = {"Content-Type": "Application/JSON; charset=UTF-8"}
    assert (await ada.post("/v1/messages", content=json.dumps(GOOD), headers=kind)).status_code == 202


async def test_a_body_beyond_the_limit_is_not_read(ada: httpx.AsyncClient) -> None:
    for path in ("/v1/messages", "/v1/notes", "/mcp"):
        answer = await ada.post(path, content=b" " * 32_000_001, headers=JSON)
        assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
        assert answer.json()["detail"] == "The body has more than 32,000,000 bytes."


@pytest.mark.parametrize(
    ("method", "path", "body", "words"),
    [
        ("POST", "/v1/messages", GOOD | {"role": "boss"}, "assistant, "),
        ("POST", "/v1/messages", {"messages": [GOOD, GOOD | {"role": "boss"}]}, "assistant, "),
        ("POST", "/v1/notes", {"title": "a", "kind": "boss"}, "concept, decision, fact, "),
        (
            "POST",
            "/v1/links",
            {"from_node": str(UUID(int=1)), "to_node": str(UUID(int=2)), "relation": "boss"},
            "answers, ",
        ),
        ("POST", "/v1/changes", {"operations": [{"op": "boss"}]}, "node, edge, alias, "),
        ("POST", "/v1/recall", {"query": "a", "mode": "boss"}, "balanced, deliberate, eager"),
        ("GET", "/v1/notes?kind=boss", None, "concept, decision, fact, "),
        ("GET", "/v1/jobs?state=boss", None, "cancelled, done, failed, pending."),
        (
            "GET",
            "/v1/notes/01a2007c-7ed4-7af6-abd2-0a5dd06857e7/linked?relations=supports&relations=boss",
            None,
            "answers, ",
        ),
    ],
)
async def test_a_word_that_may_not_stand_there_brings_those_that_may(
    ada: httpx.AsyncClient, method: str, path: str, body: Any, words: str
) -> None:
    problem = (await ada.request(method, path, json=body)).json()
    assert problem["status"] == 400
    assert f"Allowed: {words}" in problem["detail"], problem


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/v1/jobs/abc"), ("DELETE", "/v1/facts/f:6h2mptph977"), ("POST", "/v1/duplicates/x/y/accept"),
     ("GET", "/v1/erasures/abc"), ("PATCH", "/v1/notes/n:6h2mptph977")],
)  # fmt: skip
async def test_what_is_no_whole_id_is_named(ada: httpx.AsyncClient, method: str, path: str) -> None:
    problem = (await ada.request(method, path)).json()
    assert (problem["status"], problem["code"]) == (404, "not_found")
    assert problem["detail"].endswith(" is not a whole id."), problem


async def test_an_unknown_address_is_no_id(ada: httpx.AsyncClient) -> None:
    for path in ("/v1/nothing/abc", "/v1/jobs/abc/nothing/more", "/nothing"):
        assert (await ada.get(path)).json()["title"] == "No route has this address."


QUESTIONS = {
    "one sign": "?",
    "nothing": "",
    "only stop words": "what is the of and to",
    "tsquery syntax": "oak & !(beech | 'x':*AB) <-> \\ :*",
    "quotes": """ "oak' ''; DROP TABLE memsvc.passages; -- $1 %s {} :name """,
    "ten thousand words": " ".join(f"word{i}" for i in range(9_999)) + " oak",
    "one long word": "a" * 100_000,
    "Chinese": "橡木台面",
    "Arabic": "سطح عمل من خشب البلوط",
    "emoji": "🌳🪵👩🏽‍🍳",
    "Devanagari": "ओक की लकड़ी",
    "combining signs": "o\u0301a\u0308k",
    "right to left marks": "\u202eoak\u202c",
    "control signs": "".join(chr(code) for code in range(1, 32)) + "oak",
    "noncharacters": "\uffff\ufdd0 oak \U0010ffff",
    "a URL": "https://oak.example/a?b=c&d=%00#e",
}


@pytest.mark.parametrize("case", QUESTIONS)
@pytest.mark.parametrize("form", ["stemmed", "simple"])
async def test_any_question_gets_an_answer(ada: httpx.AsyncClient, case: str, form: str) -> None:
    await ada.post("/v1/messages", json=GOOD)
    for path, body in (("/v1/recall", {"form": form}), ("/v1/context", {})):
        answer = await ada.post(path, json={"query": QUESTIONS[case], **body})
        assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("case", [name for name in QUESTIONS if name != "nothing"])
async def test_any_text_is_stored_and_read_back_to_the_letter(ada: httpx.AsyncClient, case: str) -> None:
    assert (await ada.post("/v1/messages", json={"conversation": "a", "text": QUESTIONS[case]})).status_code == 202
    [stored] = (await ada.get("/v1/conversations/a/messages")).json()["items"]
    assert stored["text"] == QUESTIONS[case]


@pytest.mark.parametrize("text", ["我们把晚餐改到星期五", "نقلنا العشاء إلى الجمعة", "Ужин перенесли на пятницу"])
async def test_other_scripts_are_found_by_their_words(ada: httpx.AsyncClient, text: str) -> None:
    await ada.post("/v1/messages", json={"conversation": "a", "text": text})
    word = text.rsplit(maxsplit=1)[-1]
    found = (await ada.post("/v1/recall", json={"query": word})).json()["memories"]
    assert [memory["text"] for memory in found] == [text]


REFUSED_QUESTIONS: list[tuple[bytes, int, str, str | None]] = [
    (b"{}", 400, "invalid_request", "query"),
    (b'{"query": 7}', 400, "invalid_request", "query"),
    (b'{"query": "a", "limit": 0}', 400, "invalid_request", "limit"),
    (b'{"query": "a", "limit": 1001}', 400, "invalid_request", "limit"),
    (b'{"query": "a", "limit": "10"}', 400, "invalid_request", "limit"),
    (b'{"query": "a", "limit": 1e99}', 400, "invalid_request", "limit"),
    (b'{"query": "a", "said_from": "soon"}', 400, "invalid_time", "said_from"),
    (b'{"query": "a", "said_to": "2026-13-01"}', 400, "invalid_time", "said_to"),
    (b'{"query": "a", "said_to": 7}', 400, "invalid_request", "said_to"),
    (rb'{"query": "\u0000"}', 400, "invalid_text", "query"),
    (rb'{"query": "\ud83d"}', 400, "invalid_text", None),
    (b'{"query": "a", "conversations": ["nowhere"]}', 404, "conversation_unknown", None),
    (rb'{"query": "a", "not_conversations": ["\u0000"]}', 400, "invalid_text", None),
    (b'{"query": "a", "conversations": "b"}', 400, "invalid_request", "conversations"),
    (b'{"query": "a", "unknown": 1}', 400, "invalid_request", "unknown"),
    (b'{"query": "%s"}' % (b"a" * 100_001), 413, "text_too_long", None),
]


@pytest.mark.parametrize("path", ["/v1/recall", "/v1/context"])
@pytest.mark.parametrize("case", REFUSED_QUESTIONS)
async def test_a_question_that_cannot_be_answered_is_refused(
    ada: httpx.AsyncClient, path: str, case: tuple[bytes, int, str, str | None]
) -> None:
    body, status, code, field = case
    answer = await ada.post(path, content=body, headers=JSON)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (status, code), problem
    if field is not None:
        assert problem["field"] == field


async def test_recall_and_context_refuse_what_is_their_own(ada: httpx.AsyncClient) -> None:
    for path, body in (
        ("/v1/recall", {"form": "fuzzy"}),
        ("/v1/recall", {"budget_tokens": 100}),
        ("/v1/context", {"budget_tokens": 49}),
        ("/v1/context", {"budget_tokens": 100_001}),
        ("/v1/context", {"form": "simple"}),
    ):
        answer = await ada.post(path, json={"query": "a", **body})
        assert (answer.status_code, answer.json()["field"]) == (400, next(iter(body))), answer.text


PARAMETERS = [
    ("/v1/conversations", "limit=0", "limit"),
    ("/v1/conversations", "limit=1001", "limit"),
    ("/v1/conversations", "limit=oak", "limit"),
    ("/v1/conversations", "limit=" + "9" * 6_000, "limit"),
    ("/v1/conversations", "limit=NaN", "limit"),
    ("/v1/conversations", "after=oak", "after"),
    ("/v1/conversations", "identifier=%00", "identifier"),
    ("/v1/conversations/a/messages", "cursor=oak", None),
    ("/v1/conversations/a/messages", "cursor=%00", None),
    ("/v1/conversations/a/messages", "cursor=%C3%A9", None),
    ("/v1/conversations/a/messages", "cursor=WyIyMDI2Il0", None),
    ("/v1/conversations/a/messages", "limit=-1", "limit"),
    ("/v1/sources/00000000-0000-0000-0000-000000000000", "around=oak", "around"),
    ("/v1/sources/00000000-0000-0000-0000-000000000000", "before=101", "before"),
    ("/v1/sources/00000000-0000-0000-0000-000000000000", "after=-1", "after"),
    ("/v1/jobs", "state=asleep", "state"),
    ("/v1/jobs", "after=oak", "after"),
]


@pytest.mark.parametrize(("path", "query", "field"), PARAMETERS)
async def test_a_parameter_that_cannot_be_used_is_refused_by_name(
    ada: httpx.AsyncClient, path: str, query: str, field: str | None
) -> None:
    await ada.post("/v1/messages", json=GOOD)
    answer = await ada.get(f"{path}?{query}")
    assert answer.status_code == 400, answer.text
    if field is not None:
        assert answer.json()["field"] == field


@pytest.mark.parametrize(
    "name", ["%00", "%ED%A0%80", "%FF", "a%2Fb", "..%2F..", "%F0%9F%8C%B3", "'%20OR%201=1--", "%25"]
)
async def test_a_strange_conversation_in_the_path_is_refused_or_unknown(ada: httpx.AsyncClient, name: str) -> None:
    answer = await ada.get(f"/v1/conversations/{name}/messages")
    assert answer.status_code in {400, 404}, answer.text


@pytest.mark.parametrize(
    "query", ["identifier=%ED%A0%80", "identifier=%FF", "identifier=a&identifier=b", "&&=;", "%00=%00"]
)
async def test_strange_query_strings_do_not_break(ada: httpx.AsyncClient, query: str) -> None:
    assert (await ada.get(f"/v1/conversations?{query}")).status_code in {200, 400}


@pytest.mark.parametrize("key", ["", " ", "with space", "ä", "k" * 201])
async def test_an_idempotency_key_is_a_short_word(ada: httpx.AsyncClient, key: str) -> None:
    headers = httpx.Headers([(b"Idempotency-Key", key.encode())])
    answer = await ada.post("/v1/messages", json=GOOD, headers=headers)
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["field"]) == (400, "invalid_request", "Idempotency-Key"), (
        problem
    )


async def test_a_method_that_a_route_does_not_know_names_those_it_knows(ada: httpx.AsyncClient) -> None:
    answer = await ada.put("/v1/recall", json={})
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    assert "POST" in answer.headers["Allow"]
    assert (await ada.request("BREW", "/v1/recall")).status_code == 405
