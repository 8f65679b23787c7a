"""A real server and a real model: the protocol holds. What so small a model says is not worth a look."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionMessageParam

from memsvc.access.keys import create_key
from memsvc.access.users import Owner, app_id
from memsvc.api.app import create_app
from memsvc.db.engine import Database
from memsvc.errors import LlmError, LlmRefusedError
from memsvc.llm.answers import FORMS, NoBook, Task, ask
from memsvc.llm.chat import ChatClient, Message, Patience
from memsvc.settings import Settings
from memsvc.sources.read import list_messages
from tests.acceptance.llama import Llama, environment
from tests.api.served import served

pytestmark = pytest.mark.acceptance
STORY = [Message("user", "Tell me a long story about a heron and an otter.")]
SCHEMA = {
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string", "enum": ["yes", "no"]}, "maxItems": 3}},
    "required": ["facts"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def say(pytestconfig: pytest.Config) -> Callable[[str], None]:
    """Tell the person who waits, past pytest's capture."""
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")

    def tell(line: str) -> None:
        with capture.global_and_fixture_disabled():
            sys.stderr.write(f"\n{line}\n")
            sys.stderr.flush()

    return tell


@pytest.fixture(scope="module")
def server(say: Callable[[str], None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Llama]:
    made = Llama(environment(say), tmp_path_factory.mktemp("llama") / "output.log")
    yield made
    made.kill()


@pytest.fixture
def llama(server: Llama) -> Llama:
    """The server, running, whatever the test before did to it."""
    server.start()
    return server


def client(llama: Llama, model: str = "smollm2", whole_s: float = 60.0) -> ChatClient:
    return ChatClient(Settings.model_validate({"llm_url": llama.url, "llm_model": model}), Patience(whole=whole_s))


async def test_a_stream_comes_in_pieces(llama: Llama) -> None:
    reply = await client(llama).chat(STORY, stream=True, max_tokens=16)
    assert reply.text
    assert reply.finish == "length"
    assert 0 < reply.first_ms < reply.ms
    assert 8 <= reply.tokens_out <= 32, "this server counts nothing in a stream: they are estimated"
    whole = await client(llama).chat(STORY, max_tokens=8)
    assert (whole.finish, whole.tokens_out) == ("length", 8)


async def test_the_ladder_finds_the_form_that_the_server_knows(llama: Llama) -> None:
    task = Task(name="llama", version="1", messages=STORY, schema=SCHEMA, read=lambda found: list(found["facts"]))
    for tries in (2, 1):
        answer = await ask(client(llama, "ladder"), task, NoBook())
        assert answer.form == FORMS[1]
        assert answer.reply.tries == tries
        assert set(answer.value) <= {"yes", "no"}, "the schema held the model, not the model itself"


def test_the_command_line_shows_what_the_model_can_do(llama: Llama, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memsvc.cli", "llm", "check", "--json"], check=True, capture_output=True, timeout=60,
        cwd=tmp_path, env={**os.environ, "MEMSVC_LLM_URL": llama.url, "MEMSVC_LLM_MODEL": "smollm2"},
    )  # fmt: skip
    tried = json.loads(done.stdout)
    assert (tried["model"], tried["form"], tried["strict"], tried["requests"]) == ("smollm2", FORMS[1], False, 2)
    assert 0 < tried["first_ms"] <= tried["ms"]


async def test_a_server_that_is_too_slow_or_dies_in_the_middle_is_asked_later(llama: Llama) -> None:
    with pytest.raises(LlmError, match=r"took longer than 0\.5 s"):
        await client(llama, whole_s=0.5).chat(STORY, max_tokens=400)
    llama.kill()
    llama.start()
    telling = asyncio.create_task(client(llama).chat(STORY, stream=True, max_tokens=900))
    await asyncio.sleep(1.5)
    assert not telling.done()
    llama.kill()
    with pytest.raises(LlmError, match="cannot be reached") as caught:
        await telling
    assert caught.value.passing
    assert caught.value.details["tries"] == 2
    llama.start()
    assert (await client(llama).chat(STORY, max_tokens=2)).tries == 1


async def test_a_question_that_does_not_fit_is_refused_for_good(llama: Llama) -> None:
    long = [Message("user", "The heron stood in the shallow water of the mill. " * 400)]
    with pytest.raises(LlmRefusedError, match="context_length_exceeded"):
        await client(llama).chat(long)
    llama.kill()  # it answers nobody any more: this version keeps its lock


async def test_openais_client_chats_with_memory(llama: Llama, db: Database, settings: Settings, owner: Owner) -> None:
    chosen = settings.model_copy(update={"chat_url": llama.url, "chat_model": "smollm2", "chat_context_tokens": 200})
    key = await create_key(db, await app_id(db, "tests"), scopes=("read", "write"), user_id=owner.user_id)
    hello: list[ChatCompletionMessageParam] = [{"role": "user", "content": "My heron is called Pixel. Say hello."}]
    async with served(create_app(chosen, db)) as address, AsyncOpenAI(base_url=f"{address}/v1", api_key=key) as asking:
        whole = await asking.chat.completions.create(model="memsvc", messages=hello, max_tokens=12)
        assert whole.choices[0].message.content
        coming = await asking.chat.completions.with_raw_response.create(
            model="memsvc", messages=[{"role": "user", "content": "What is it called?"}], max_tokens=12, stream=True
        )
        assert coming.headers["X-Memsvc-Memory"] == "ok"
        pieces = [piece async for piece in coming.parse()]
        assert len(pieces) > 3
        assert pieces[-1].choices[0].finish_reason
        assert [model.id async for model in asking.models.list()]
    said = (await list_messages(db, owner, "chat")).items
    assert [message.role for message in said] == ["user", "assistant"] * 2
