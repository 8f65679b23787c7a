"""Answers with a form: from servers that know schemas and those that do not, from models that keep to it or not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from memsvc.errors import LlmAnswerError, LlmError, LlmRefusedError
from memsvc.llm import answers
from memsvc.llm.answers import FORMS, Answer, NoBook, Task, UnfitError, ask, objects_in
from memsvc.llm.chat import ChatClient, Message, Reply
from memsvc.settings import Settings
from tests.fakes.chat_server import ChatServer, Hangs, Say, Status, serving

SCHEMA = {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False,
}  # fmt: skip
GOOD = '{"city": "Porto"}'
_models = (f"asked-{number}" for number in count())


class Ledger(NoBook):
    """Remembers what was entered."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, int, int]] = []

    async def enter(self, task: Task[Any], outcome: str, reply: Reply) -> None:
        self.entries.append((outcome, reply.tokens_in + reply.tokens_out, reply.tries))


def city_of(found: dict[str, Any]) -> str:
    if not isinstance(found.get("city"), str):
        raise UnfitError("the property city is missing")
    return str(found["city"])


def task() -> Task[str]:
    talk = [Message("system", "You know cities."), Message("user", "Where is the port?")]
    return Task(name="cities", version="3", messages=talk, schema=SCHEMA, read=city_of)


@pytest.fixture(autouse=True)
def _pauses_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memsvc.llm.chat.PAUSE_S", (0.0, 0.01))


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with serving(ChatServer(otherwise=Say(GOOD))) as served:
        yield served


@pytest.fixture
def client(server: ChatServer) -> ChatClient:
    return ChatClient(Settings.model_validate({"llm_url": server.url, "llm_model": next(_models), "llm_timeout_s": 5}))


@pytest.mark.parametrize("code", [400, 422, 500])
@pytest.mark.parametrize("steps", range(4))
async def test_the_ladder_is_climbed_down_once_and_remembered(
    server: ChatServer, client: ChatClient, steps: int, code: int
) -> None:
    server.refuses = dict.fromkeys(FORMS[:steps], code)
    book = Ledger()
    for asked in (list(FORMS[: steps + 1]), [FORMS[steps]]):
        server.requests.clear()
        found = await ask(client, task(), book)
        assert (found.value, found.form, found.repaired) == ("Porto", FORMS[steps], False)
        assert server.forms == asked
    assert book.entries == [("answered", 100, steps + 1), ("answered", 100, 1)]
    strict = {"type": "json_schema", "json_schema": {"name": "cities", "strict": True, "schema": SCHEMA}}
    wanted = [strict, {"type": "json_object", "schema": SCHEMA}, {"type": "json_object"}, None][steps]
    last = server.requests[-1]
    assert last.get("response_format") == wanted
    in_the_prompt = json.dumps(SCHEMA, separators=(",", ":")) in last["messages"][0]["content"]
    assert in_the_prompt == (steps > 0), "the schema stands in the prompt where the server does not hold to it"


async def test_a_better_form_is_tried_again_after_a_while(
    server: ChatServer, client: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "LOOK_UP_S", 0.0)
    server.script(Status(500))
    assert (await ask(client, task(), NoBook())).form == FORMS[1]
    assert (await ask(client, task(), NoBook())).form == FORMS[0]


async def test_trouble_is_not_taken_for_a_form_that_is_not_known(server: ChatServer, client: ChatClient) -> None:
    assert (await ask(client, task(), NoBook())).form == FORMS[0]
    book = Ledger()
    server.script(Status(500), Status(500))
    with pytest.raises(LlmError, match="answers 500"):
        await ask(client, task(), book)
    server.script(Status(429), Status(503))
    with pytest.raises(LlmError, match="answers 503"):
        await ask(client, task(), book)
    assert set(server.forms) == {FORMS[0]}
    assert book.entries == [("failed", 0, 2), ("failed", 0, 2)]


async def test_who_refuses_every_form_refuses_the_question(server: ChatServer, client: ChatClient) -> None:
    server.refuses = dict.fromkeys(FORMS, 400)
    book = Ledger()
    with pytest.raises(LlmRefusedError):
        await ask(client, task(), book)
    assert server.forms == list(FORMS)
    assert book.entries == [("refused", 0, 4)]
    server.refuses = dict.fromkeys(FORMS, 500)
    with pytest.raises(LlmError) as caught:
        await ask(client, task(), book)
    assert caught.value.passing, "a server that answers nothing but 500 may come back"


@pytest.mark.parametrize(
    "said",
    [
        GOOD,
        f"Sure! Here it is:\n```json\n{GOOD}\n```\nAnything else?",
        f"<think>The user wants {{'city'}} … maybe {{\"city\": 1}}, or {GOOD[:-8]}</think>\n\n{GOOD}",
        f'So it is {{"city": "Lisbon"}}, no.</think>{GOOD}',
        f"{json.dumps(SCHEMA)}\n{GOOD}",
        f'{{"answer": {GOOD}}}',
        '{"city": "Porto", "note": "</think>{"}',
        f"{GOOD}{GOOD}",
    ],
)
async def test_the_first_object_that_fits_is_taken(server: ChatServer, client: ChatClient, said: str) -> None:
    server.script(Say(said))
    found = await ask(client, task(), NoBook())
    assert (found.value, found.repaired) == ("Porto", False)


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (Say(""), "it is empty"),
        (Say("Porto, of course."), "it holds no JSON object"),
        (Say("<think>Porto or"), "it holds no JSON object"),
        (Say('{"city": "Por'), "it holds no JSON object"),
        (Say('{"city": "Por', finish="length"), "it was cut off before its end"),
        (Say(json.dumps(SCHEMA)), "it repeats the schema"),
        (Say('{"town": "Porto"}'), "the property city is missing"),
        (Say('["city", "Porto"]'), "it holds no JSON object"),
        (Say("[" * 5_000 + '{"a":' * 5_000), "it holds no JSON object"),
    ],
)
async def test_a_model_is_told_once_what_was_wrong(
    server: ChatServer, client: ChatClient, said: Say, problem: str
) -> None:
    server.script(said)
    book = Ledger()
    found = await ask(client, task(), book)
    assert found == Answer("Porto", found.reply, FORMS[0], repaired=True)
    assert [entry[0] for entry in book.entries] == ["unusable", "answered"]
    first, second = (body["messages"] for body in server.requests)
    assert second[:2] == first
    assert second[2] == {"role": "assistant", "content": str(said.text)[: answers.ECHO_CHARS] or "{}"}
    assert problem in second[3]["content"]
    assert json.dumps(SCHEMA, separators=(",", ":")) in second[3]["content"]

    server.script(said, said)
    with pytest.raises(LlmAnswerError, match=problem) as caught:
        await ask(client, task(), book)
    assert not caught.value.passing
    assert "Por" not in str(caught.value), "what a model wrote stays out of errors"
    assert len(server) == 4


async def test_a_repair_that_gets_no_answer_is_tried_later(server: ChatServer, client: ChatClient) -> None:
    server.script(Say("no"), Status(503), Status(503))
    book = Ledger()
    with pytest.raises(LlmError, match="503") as caught:
        await ask(client, task(), book)
    assert caught.value.passing
    assert book.entries == [("unusable", 100, 1), ("failed", 0, 2)]


async def test_a_stream_answers_as_well(server: ChatServer, client: ChatClient) -> None:
    server.script(Say(f"<think>hm</think>{GOOD}"))
    assert (await ask(client, task(), NoBook(), stream=True)).value == "Porto"


def test_objects_are_looked_for_with_patience_but_not_for_ever() -> None:
    assert list(objects_in('{{{"a": {"b": 1}} {"c": {}}')) == [{"a": {"b": 1}}, {"b": 1}, {"c": {}}, {}]
    assert len(list(objects_in("{}" * 1_000))) == answers.MOST_OBJECTS
    assert list(objects_in("")) == []


async def test_slowness_is_no_question_of_form(server: ChatServer) -> None:
    settings = Settings.model_validate({"llm_url": server.url, "llm_model": next(_models), "llm_timeout_s": 0.2})
    server.script(Hangs())
    with pytest.raises(LlmError, match="took longer"):
        await ask(ChatClient(settings), task(), NoBook())
    assert server.forms == [FORMS[0]]
