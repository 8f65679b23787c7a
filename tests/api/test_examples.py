"""Examples of answers in the documentation: each operation has one, of the form that it answers in today."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import httpx
import jsonschema_rs
import msgspec
import pytest

from memsvc.api import examples
from memsvc.api.problems import Problem
from tests.api.recorded import Recorder
from tests.api.story import Stage, played
from tests.api.test_documentation import operations

pytestmark = pytest.mark.server
NOT_HERE = {"askCypher"}
"""Operations that the embedded server cannot answer; their examples are written by hand."""
WRITE = os.environ.get("MEMSVC_TEST_ANSWERS") == "write"


@pytest.fixture
async def document(anybody: httpx.AsyncClient) -> dict[str, Any]:
    """The OpenAPI document."""
    found: dict[str, Any] = (await anybody.get("/schema/openapi.json")).json()
    return found


def closed(schema: Any) -> Any:
    """The same, with objects that have no other fields than those named: what is gone from them is noticed."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: closed(inner) for name, inner in schema.items() if name not in {"examples", "example"}}
    if isinstance(found.get("properties"), dict):
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
    assert recorder.answered == set(every) - NOT_HERE
    told = msgspec.json.decode(examples.FILE.read_bytes())
    if WRITE:
        told = {name: answers for name, answers in told.items() if name in NOT_HERE} | recorder.answers
        examples.FILE.write_bytes(msgspec.json.format(msgspec.json.encode(told, order="sorted")) + b"\n")
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
