"""Examples of answers in the documentation: each operation has one, of the form that it answers in today."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import httpx
import jsonschema_rs
import msgspec
import pytest
from litestar import Litestar

from jobs.steps import all_steps
from memsvc.access.users import Owner, add_user, app_id
from memsvc.api import examples
from memsvc.api.problems import Problem
from memsvc.db.engine import Database
from memsvc.llm.upstream import Upstream
from memsvc.queue.run import run_due
from memsvc.settings import Settings
from tests.api.conftest import Connect
from tests.api.recorded import Recorder
from tests.api.story import Stage, played
from tests.api.test_documentation import operations
from tests.api.test_duplicates import suspected
from tests.fakes.upstream import Asked, FakeUpstream, completion, response, serving

WRITE = os.environ.get("MEMSVC_TEST_EXAMPLES") == "write"
OPEN = {"ChatCompletion", "ModelList"}
"""Forms of which the chat server gives more than memsvc names."""
MODELS = {"object": "list", "data": [{"id": "m-1", "object": "model", "created": 1, "owned_by": "you"}]}


@pytest.fixture
async def document(anybody: httpx.AsyncClient) -> dict[str, Any]:
    """The OpenAPI document."""
    found: dict[str, Any] = (await anybody.get("/schema/openapi.json")).json()
    return found


@pytest.fixture
async def chatting(api: Litestar, reading: Settings) -> AsyncIterator[None]:
    """A chat server behind the drop-in door."""

    async def act(asked: Asked, writer: Any) -> None:
        writer.write(response(MODELS if asked.path.endswith("/models") else completion("At the Lindenhof, on Friday.")))
        await writer.drain()

    before = api.state["service"]
    async with serving() as fake:
        fake.act = act
        upstream = Upstream(before.settings.model_copy(update={"chat_url": fake.url, "chat_model": "m-1"}))
        api.state["service"] = replace(before, upstream=upstream)
        yield
        await upstream.close()
    api.state["service"] = before


@pytest.fixture
async def stage(db: Database, connect: Connect, reading: Settings, chatting: None) -> Stage:
    """An app of its own, with one user."""
    marcel = await add_user(
        db, await app_id(db, "examples"), name="Marcel", external_id="marcel@example.org", aliases=["MW"],
        time_zone="Europe/Berlin",
    )  # fmt: skip

    async def work() -> None:
        await run_due(db, all_steps(reading, None))

    async def suspect(one: str, other: str) -> tuple[str, str]:
        first, second = await suspected(db, marcel.owner, one, other)
        return str(first), str(second)

    user = await connect("read", "write", "forget", user=marcel.owner, app_name="examples")
    return Stage(user, await connect("admin", app_name="examples"), work, suspect)


def closed(schema: Any) -> Any:
    """The same, with objects that have no other fields than those named: what is gone from them is noticed."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: closed(inner) for name, inner in schema.items() if name not in {"examples", "example"}}
    if isinstance(found.get("properties"), dict) and found.get("title") not in OPEN:
        found.setdefault("additionalProperties", False)
    return found


def faults(document: dict[str, Any], schema: dict[str, Any], value: Any) -> list[str]:
    """What is wrong with a value."""
    whole = closed(schema) | {"components": {"schemas": closed(document["components"]["schemas"])}}
    validator = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
    return [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(value)]


def good_answers(operation: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Status and content of each good JSON answer."""
    for status, answer in operation["responses"].items():
        if status < "3" and examples.JSON in answer.get("content", {}):
            yield status, answer["content"][examples.JSON]


async def test_every_operation_answers_as_its_examples_say(document: dict[str, Any], stage: Stage) -> None:
    recorder = Recorder(document)
    for client in (stage.user, stage.chief):
        client.event_hooks["response"] = [recorder]
    await played(stage)
    every = {operation["operationId"]: operation for _, _, operation in operations(document)}
    assert recorder.answered == set(every)
    if WRITE:
        examples.FILE.write_bytes(msgspec.json.format(msgspec.json.encode(recorder.answers, order="sorted")) + b"\n")
    told = msgspec.json.decode(examples.FILE.read_bytes())
    wrong = []
    for name, answers in recorder.answers.items():
        for status, values in answers.items():
            schema = every[name]["responses"][status]["content"][examples.JSON]["schema"]
            wrong += [(name, status, fault) for value in values for fault in faults(document, schema, value)]
            shown = told.get(name, {}).get(status, [])
            if [set(value) for value in shown] != [set(value) for value in values]:
                wrong.append((name, status, "its example is of another form: 'make examples' writes it anew"))
    assert not wrong


async def test_every_json_answer_has_an_example_of_its_form(document: dict[str, Any]) -> None:
    for method, path, operation in operations(document):
        contents = dict(good_answers(operation))
        for status, content in contents.items():
            shown = [example["value"] for example in content.get("examples", {}).values()]
            assert shown or status != min(contents), (method, path, status)
            for value in shown:
                assert not faults(document, content["schema"], value), (method, path, status)


async def test_every_error_has_an_example(document: dict[str, Any]) -> None:
    for method, path, operation in operations(document):
        for status, answer in operation["responses"].items():
            content = answer.get("content", {}).get("application/problem+json")
            for example in (content or {}).get("examples", {}).values():
                problem = msgspec.convert(example["value"], Problem)
                assert problem.status == int(status), (method, path)
            assert content is None or content["examples"], (method, path, status)
