"""The TypeScript client: written from the OpenAPI document, run by Node against the application."""

from __future__ import annotations

import asyncio
import re
from asyncio.subprocess import PIPE
from typing import Any
from uuid import uuid4

import pytest

from memsvc.access.keys import create_key
from memsvc.access.users import add_user, app_id
from memsvc.api.app import create_app
from memsvc.api.typescript import FOLDER, RUNTIME, document, files, operations
from memsvc.client import graph_calls, memory_calls
from memsvc.client.calls import Call
from memsvc.db.engine import Database
from memsvc.settings import Settings
from tests.acceptance.killpoints import free_port
from tests.api.served import served
from tests.servers import program

pytestmark = pytest.mark.slow
PROGRAM = """
import assert from "node:assert";
import { Memsvc, MemsvcError } from "%(client)s";

const memory = new Memsvc("%(url)s/", { key: "%(key)s", user: "Zoë 李" });
const message = { conversation: "bikes/1", speaker: "Zoë", text: "The bike is called Rosalinde." };
const { messages: [stored] } = await memory.addMessages({ body: message });
const found = await memory.recall({ body: { query: "What is the bike called?" } });
assert.equal(found.memories[0].text, message.text);
const opened = await memory.openMemory({ path: { memory_id: stored.passage_id }, query: { before: 0 } });
assert.equal(opened.source.identifier, "bikes/1");
const { items } = await memory.listFacts({ query: { about: ["Zoë", "Zoë"], side: "from" } });
assert.deepEqual(items, []);
assert.match(await memory.pageGraph({ query: { format: "mermaid" } }), /graph|flowchart/);
const refused = memory.addMessages({ body: { ...message, text: "" } });
await assert.rejects(refused, (error) => error instanceof MemsvcError && error.code === "empty_text" && !!error.hint);
await assert.rejects(new Memsvc("http://127.0.0.1:9", { tries: 2 }).listConversations(), { code: "unreachable" });

const real = globalThis.fetch;
let asked = 0;
globalThis.fetch = async (...given) => {  // the answer to the first request is lost, the second is refused
  asked += 1;
  if (asked === 2) return new Response('{"code": "overloaded"}', { status: 503, headers: { "Retry-After": "0" } });
  const answer = await real(...given);
  if (asked === 1) throw new TypeError("reset");
  return answer;
};
const again = await memory.addMessages({ body: { ...message, text: "Once." } });
assert.equal(again.messages[0].outcome, "existing");
assert.equal(asked, 3);

async function meets(faults, call) {  // how often it is asked where these come first, and what comes of it
  asked = 0;
  globalThis.fetch = async (...given) => {
    const fault = faults[asked++];
    if (!fault) return real(...given);
    if (fault.lost) await real(...given);
    if (fault.refused) return real("%(closed)s");
    if (!fault.status) throw new TypeError("reset");
    return new Response(fault.text, { status: fault.status, headers: fault.headers });
  };
  const came = await call().then(() => "fine", (error) => error.code);
  return [asked, came];
}
const lost = { lost: true };
const unknown = { lost: true, status: 503, text: '{"code": "outcome_unknown", "detail": "Lost."}' };
const late = { status: 429, text: '{"code": "quota_exceeded"}', headers: { "Retry-After": "86400" } };
const change = { op: "append", text: "Oil it." };
const append = () => memory.changeBlock({ path: { name: "plan" }, body: { change } });
const ask = () => memory.recall({ body: { query: "bike" } });
const said = { conversation: "c", text: "Hello.", message_id: "m-1" };
await memory.writeBlock({ path: { name: "plan" }, body: { text: "Wash it." } });
assert.deepEqual(await meets([lost], ask), [2, "fine"]);
assert.deepEqual(await meets([unknown], ask), [2, "fine"]);
assert.deepEqual(await meets([late], ask), [1, "quota_exceeded"]);
assert.deepEqual(await meets([lost], () => memory.hookMessage({ body: said })), [2, "fine"]);
assert.deepEqual(await meets([unknown], append), [1, "outcome_unknown"]);
assert.deepEqual(await meets([{ status: 503, text: "reset" }], append), [1, "http_503"]);
assert.deepEqual(await meets([lost], append), [1, "unreachable"]);
assert.deepEqual(await meets([{ status: 503, text: '{"code": "overloaded"}' }], append), [2, "fine"]);
assert.deepEqual(await meets([{ refused: true }, { refused: true }], append), [3, "fine"]);
const odd = { status: 200, text: "<h1>Welcome</h1>", headers: { "Content-Type": "application/json" } };
assert.deepEqual(await meets([odd], ask), [1, "answer_invalid"]);
globalThis.fetch = real;
assert.equal((await memory.readBlock({ path: { name: "plan" } })).version, 5);
console.log("fine");
"""


def test_it_is_written_from_the_document() -> None:
    for name, text in files().items():
        assert (FOLDER / name).read_text() == text, "make client"


def test_it_repeats_what_the_service_does_once() -> None:
    named = re.search(r"const ONCE = new Set\(\[(.*?)\]\)", RUNTIME.read_text(), re.DOTALL)
    assert named is not None
    taking = {
        name
        for name, _, _, operation in operations(document())
        if any(parameter["name"] == "Idempotency-Key" for parameter in operation.get("parameters", ()))
    }
    # An answer of a chat cannot be given twice; 'addMemory' is 'addMessages' by another address.
    assert set(re.findall(r"\w+", named[1])) == taking - {
        "createChatCompletion",
        "createResponse",
        "createAnthropicMessage",
        "addMemory",
    }


def test_it_repeats_what_the_python_client_repeats() -> None:
    named = re.search(r"const AGAIN = new Set\(\[(.*?)\]\)", RUNTIME.read_text(), re.DOTALL)
    assert named is not None
    some, api = uuid4(), {(method, path): name for name, method, path, _ in operations(document())}
    mine: list[Call[Any]] = [
        memory_calls.recall("", {}),
        memory_calls.context("", {}),
        memory_calls.answer("", {}),
        graph_calls.link(some, some, "answers", {}),
        graph_calls.add_fact(some, "KNOWS", some, "", {}),
        memory_calls.feedback(some, [], []),
    ]
    assert all(call.repeatable for call in mine)
    paths = [re.sub(str(some), "{recall_id}", call.path) for call in mine]
    again = {api[call.method, path] for call, path in zip(mine, paths, strict=True)}
    assert set(re.findall(r"\w+", named[1])) == again | {"askCypher"}  # which reads; Python has no method for it


async def test_node_speaks_with_the_service(db: Database, settings: Settings) -> None:
    node = program("node", "nodejs")
    app = await app_id(db, "typescript")
    await add_user(db, app, name="Zoë", external_id="Zoë 李")
    key = await create_key(db, app)
    async with served(create_app(settings, db)) as url:
        client, closed = (FOLDER / "memsvc.mjs").as_uri(), f"http://127.0.0.1:{free_port()}"
        script = PROGRAM % {"client": client, "url": url, "key": key, "closed": closed}
        process = await asyncio.create_subprocess_exec(
            node, "--input-type=module", "-e", script, stdout=PIPE, stderr=PIPE
        )
        output, errors = await process.communicate()
    assert (process.returncode, output) == (0, b"fine\n"), errors.decode()
