"""The TypeScript client: written from the OpenAPI document, run by Node against the application."""

from __future__ import annotations

import asyncio
import re
from asyncio.subprocess import PIPE

from memsvc.access.keys import create_key
from memsvc.access.users import add_user, app_id
from memsvc.api.app import create_app
from memsvc.api.typescript import FOLDER, RUNTIME, document, files, operations
from memsvc.db.engine import Database
from memsvc.settings import Settings
from tests.api.served import served
from tests.servers import program

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
  if (asked === 2) return new Response("{}", { status: 503, headers: { "Retry-After": "0" } });
  const answer = await real(...given);
  if (asked === 1) throw new TypeError("reset");
  return answer;
};
const again = await memory.addMessages({ body: { ...message, text: "Once." } });
assert.equal(again.messages[0].outcome, "existing");
assert.equal(asked, 3);
console.log("fine");
"""


def test_it_is_written_from_the_document() -> None:
    for name, text in files().items():
        assert (FOLDER / name).read_text() == text, "make client"


def test_it_repeats_what_the_service_does_once() -> None:
    named = re.search(r"const ONCE = new Set\(\[(.*?)\]\)", RUNTIME.read_text())
    assert named is not None
    taking = {
        name
        for name, _, _, operation in operations(document())
        if any(parameter["name"] == "Idempotency-Key" for parameter in operation.get("parameters", ()))
    }
    # An answer of a chat cannot be given twice; 'addMemory' is 'addMessages' by another address.
    assert set(re.findall(r"\w+", named[1])) == taking - {"createChatCompletion", "addMemory"}


async def test_node_speaks_with_the_service(db: Database, settings: Settings) -> None:
    node = program("node", "nodejs")
    app = await app_id(db, "typescript")
    await add_user(db, app, name="Zoë", external_id="Zoë 李")
    key = await create_key(db, app)
    async with served(create_app(settings, db)) as url:
        script = PROGRAM % {"client": (FOLDER / "memsvc.mjs").as_uri(), "url": url, "key": key}
        process = await asyncio.create_subprocess_exec(
            node, "--input-type=module", "-e", script, stdout=PIPE, stderr=PIPE
        )
        output, errors = await process.communicate()
    assert (process.returncode, output) == (0, b"fine\n"), errors.decode()
