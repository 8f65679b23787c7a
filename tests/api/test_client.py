"""The Python client on the real application; what a network does to it is played by its transport."""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from litestar import Litestar

import memsvc.client
from jobs.steps import all_steps
from memsvc.access.users import Owner, add_user, app_id
from memsvc.client import AsyncMemory, ClientError, Memory, RefusedError, Retries, UnavailableError, options, twin
from memsvc.client.local import AsyncLocalTransport, LocalTransport
from memsvc.db.engine import Database
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from tests.api.conftest import Connect

QUICK = Retries(tries=3, first_s=0.001, longest_s=0.01)
Fault = Exception | httpx.Response


class Line(httpx.AsyncBaseTransport):
    """A way to the application on which faults happen, one a request, before or after the application has it."""

    def __init__(self, app: Litestar) -> None:
        self._way = httpx.ASGITransport(app=app)  # type: ignore[arg-type]
        self.before: list[Fault] = []
        self.after: list[Fault] = []
        self.sent: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        if self.before:
            return faulty(self.before.pop(0))
        answer = await self._way.handle_async_request(request)
        return faulty(self.after.pop(0)) if self.after else answer


def faulty(fault: Fault) -> httpx.Response:
    if isinstance(fault, Exception):
        raise fault
    return fault


@pytest.fixture
def line(api: Litestar) -> Line:
    return Line(api)


Client = Callable[[httpx.AsyncClient], AsyncMemory]


@pytest.fixture
async def client(line: Line) -> AsyncIterator[Client]:
    """A memory with the key of a client of REST."""
    async with AsyncExitStack() as stack:

        def made(rest: httpx.AsyncClient, **more: Any) -> AsyncMemory:
            key = rest.headers["Authorization"].removeprefix("Bearer ")
            memory = AsyncMemory("http://memsvc.test", key, retries=QUICK, transport=line, **more)
            stack.push_async_callback(memory.close)
            return memory

        yield made


@pytest.fixture
async def memory(client: Client, connect: Connect, owner: Owner) -> AsyncMemory:
    return client(await connect("read", "write", "forget", user=owner))


async def test_what_was_said_comes_back_with_its_source(memory: AsyncMemory) -> None:
    stored = await memory.add("The bike is called Rosalinde.", "bikes", speaker="Ada", said_at="2026-03-01")
    found = await memory.recall("What is the bike called?", conversations=["bikes"], explain=True)
    assert [found.memories[0].text, found.memories[0].passage_id] == [
        "The bike is called Rosalinde.",
        stored.passage_id,
    ]
    assert found.explanation is not None
    block = await memory.context("What is the bike called?", budget_tokens=300, chance=False)
    [item] = next(section.items for section in block.sections if section.name == "memories")
    opened = await memory.open_memory(item.id)
    assert opened.message is not None
    assert opened.message.speaker == "Ada"
    assert (await memory.preview_forgetting("conversation", "bikes")).counts["passages"] == 1
    assert (await memory.forget("message", opened.memory_id)).state == "done"
    assert (await memory.recall("bike")).memories == []


async def test_a_turn_of_a_chat(memory: AsyncMemory, line: Line) -> None:
    line.after = [httpx.ReadError("reset")]
    first = await memory.enrich("The bike is called Rosalinde.", "petals", speaker="Ada")
    assert first.stored is not None
    assert first.stored.outcome == "existing"  # it was sent twice
    await memory.responded("What a name!", "petals", forget="conversation")
    assert "Rosalinde" in (await memory.enrich("What is the bike called?", "elsewhere", store=False)).text
    told = await memory.answer("What is the bike called?")
    assert told.claims[0].sources
    await memory.enrich("And mine is called Gerda.", "roses", forget="conversation")
    assert (await memory.end_session("roses", forget="keep")).forgotten is None
    assert (await memory.end_session("roses")).forgotten is None
    assert (await memory.end_session("roses", forget="conversation")).forgotten is not None
    assert (await memory.end_session("petals")).forgotten is not None
    assert [c.identifier async for c in memory.conversations()] == []


async def test_lists_are_read_to_their_end(memory: AsyncMemory) -> None:
    said = [{"conversation": f"c/{n % 3}", "text": f"Number {n} is a heron.", "ordinal": n} for n in range(7)]
    assert [receipt.index for receipt in await memory.add_messages(said)] == list(range(7))
    names = {c.identifier: c.conversation_id async for c in memory.conversations(page=1)}
    assert sorted(names) == ["c/0", "c/1", "c/2"]
    assert [m.text async for m in memory.messages(names["c/0"], page=2)] == [
        f"Number {n} is a heron." for n in (0, 3, 6)
    ]
    await memory.add("Dentist on 25 November 2096.", said_at="2096-11-20T10:00:00Z")
    due = await memory.agenda_page("2096-11-25", "2096-11-26", asked_at="2096-11-21T10:00:00Z")
    assert [item.what for item in due.items] == ["Dentist on 25 November 2096."]
    assert (due.next_cursor, due.truncated) == (None, False)
    days = [entry async for entry in memory.timeline(kinds=["message"], ends="2096-11-22", page=1)]
    assert [entry.count for entry in days][:1] == [1]
    assert {entry.title for entry in days} == {"default", "c/0", "c/1", "c/2"}
    counted = await memory.timeline_counts("year", kinds=["message"])
    assert sum(period.counts["message"] for period in counted.items) == 8
    assert (await memory.news("2020-01-01")).counts["message"] == 8
    recalled = [m.text async for m in memory.recall_all("herons", limit=2)]
    assert sorted(recalled) == [f"Number {n} is a heron." for n in range(7)]


async def test_notes_facts_and_the_profile(memory: AsyncMemory) -> None:
    oak, price = await memory.note("Oak", "It lasts.", tags=["wood"]), await memory.note("Is 80 too much?")
    link = await memory.link(oak.note_id, price.note_id, "answers", strength=0.5)
    assert [near.title for near in await memory.linked_notes(oak.note_id)] == ["Is 80 too much?"]
    assert (await memory.update_note(oak.note_id, importance=9)).importance == 9
    assert [note.title async for note in memory.notes(page=1, tag="wood")] == ["Oak"]
    assert {node.label for node in (await memory.explore(oak.note_id, hops=1)).nodes} == {"Oak", "Is 80 too much?"}
    assert len((await memory.paths("Oak", "Is 80 too much?")).paths) == 1
    await memory.add_fact(oak.note_id, "RELATED_TO", price.note_id, "Oak has a price.", valid_from="2026-01-01")
    facts = [fact async for fact in memory.facts("Oak", type=["RELATED_TO"], page=1)]
    assert [fact.fact for fact in facts] == ["Oak has a price."]
    assert len((await memory.fact(facts[0].edge_id)).versions) == 1
    await memory.annotate_fact(facts[0].edge_id, "disputed", "It is cheap.")
    [version] = (await memory.fact(facts[0].edge_id)).versions
    assert (version.contested, [source.stance for source in version.sources]) == (True, ["disputed"])
    assert (await memory.unlink(link.link_id)).ended
    assert [node.node_id async for node in memory.search_nodes("oak", type="Note")] == [oak.note_id]
    assert (await memory.node(oak.note_id)).label == "Oak"
    await memory.write_block("preferences", "Tea at ten.", expected_version=0)
    await memory.append_to_block("preferences", "No sugar.")
    changed = await memory.replace_in_block("preferences", "ten", "eleven", expected_version=2)
    assert (await memory.read_block("preferences")).text == changed.text == "Tea at eleven.\nNo sugar."
    assert [block.name for block in (await memory.profile()).core] == ["preferences"]


async def test_blocks_move_between_tiers_and_keep_their_history(memory: AsyncMemory) -> None:
    for number in range(1, 4):
        await memory.write_block("plan", f"Step {number}.")
    archived = await memory.demote_block("plan", expected_version=3)
    assert (archived.kind, archived.text) == ("archival", "Step 3.")
    await memory.add("We plan.", "boats")
    assert (await memory.demote_block("plan", kind="working", conversation="boats", hours=2)).kind == "working"
    assert (await memory.promote_block("plan", conversation="boats")).kind == "core"
    said = [version.text async for version in memory.block_history("plan", page=2)]
    assert list(dict.fromkeys(said)) == ["Step 3.", "Step 2.", "Step 1."]
    assert len(said) > 3, "a move is a version"
    with pytest.raises(RefusedError, match="profile_conflict"):
        await memory.promote_block("plan", expected_version=1)


async def test_feedback_says_what_was_of_use(memory: AsyncMemory, line: Line) -> None:
    await memory.add("The bike is called Rosalinde.")
    found = await memory.recall("What is the bike called?")
    assert found.recall_id is not None
    line.after = [httpx.ReadError("reset")]
    given = await memory.feedback(found.recall_id, used=[found.memories[0].memory_id])
    assert (given.used, given.irrelevant) == ([found.memories[0].memory_id], [])
    with pytest.raises(RefusedError, match="not_recalled"):
        await memory.feedback(found.recall_id, irrelevant=[found.recall_id])


async def test_a_message_is_stored_once_however_often_its_answer_is_lost(memory: AsyncMemory, line: Line) -> None:
    line.before = [httpx.ConnectError("refused")]
    line.after = [httpx.ReadError("reset")]
    assert (await memory.add("Once.")).outcome == "existing"
    assert len(line.sent) == 3
    assert [m.text async for m in memory.messages("default")] == ["Once."]
    line.after = [httpx.ReadError("reset")]
    nothing: Any = None
    assert (await memory.responded("Noted.", "default", message_id=nothing)).outcome == "existing"


async def test_what_cannot_be_repeated_is_not(memory: AsyncMemory, line: Line) -> None:
    note = await memory.note("Oak")
    line.after = [httpx.ReadError("reset")]
    with pytest.raises(UnavailableError, match="may have been done") as lost:
        await memory.update_note(note.note_id, title="Beech")
    assert lost.value.code == "unreachable"
    assert [note.title async for note in memory.notes()] == ["Beech"]


async def test_what_is_made_is_made_once_however_often_its_answer_is_lost(
    memory: AsyncMemory, line: Line, client: Client, connect: Connect
) -> None:
    chief = client(await connect("admin", "read", "write", app_name="lost answers"))
    makes: list[Callable[[], Awaitable[Any]]] = [
        lambda: memory.note("Oak", "It lasts."),
        lambda: memory.add_node("Person", "Ines", aliases=["Nessa"]),
        lambda: memory.change_graph([{"op": "node", "type": "Place", "label": "Porto"}]),
        lambda: chief.add_user("Nora", aliases=["No"]),
        lambda: chief.make_key(user="Nora", label="phone", messages_per_day=2),
    ]
    for make in makes:
        line.sent.clear()
        line.after = [httpx.ReadError("reset"), httpx.RemoteProtocolError("closed")]
        made = await make()
        assert len(line.sent) == 3
        assert len({request.headers["Idempotency-Key"] for request in line.sent}) == 1
    assert {node.label async for node in memory.search_nodes() if node.type != "Person"} == {"Oak", "Porto"}
    for name in ("Oak", "Ines", "Porto"):
        assert len([node async for node in memory.search_nodes(name)]) == 1
    nora = client(httpx.AsyncClient(headers={"Authorization": f"Bearer {made.secret}"}))
    await nora.add("I am Nora.")
    assert made.key.messages_per_day == 2


async def test_a_busy_service_is_asked_again_but_not_for_ever(memory: AsyncMemory, line: Line) -> None:
    busy = {"code": "overloaded", "detail": "Too much.", "hint": "Later.", "request_id": "r1"}
    line.before = [httpx.Response(503, json=busy, headers={"Retry-After": "0"}), httpx.Response(429, json=busy)]
    await memory.note("Oak")
    line.before = [httpx.Response(503, json=busy) for _ in range(3)]
    with pytest.raises(UnavailableError) as over:
        await memory.note("Beech")
    assert (over.value.code, over.value.status, over.value.details) == ("overloaded", 503, {"request_id": "r1"})
    line.before = [httpx.Response(429, json=busy, headers={"Retry-After": "3600"})]  # longer than one waits
    with pytest.raises(UnavailableError):
        await memory.note("Ash")
    assert [note.title async for note in memory.notes()] == ["Oak"]


async def test_what_may_be_done_already_is_asked_again_only_where_that_does_no_harm(
    memory: AsyncMemory, line: Line
) -> None:
    unknown = {"code": "outcome_unknown", "detail": "Lost.", "hint": "Look."}
    await memory.write_block("preferences", "Tea at ten.")
    for fault, code in (
        (httpx.Response(503, json=unknown), "outcome_unknown"),
        (httpx.Response(503, text="upstream reset"), "http_503"),  # as some proxies say it
    ):
        line.after, line.sent = [fault], []
        with pytest.raises(UnavailableError) as lost:
            await memory.append_to_block("preferences", "No sugar.")
        assert (lost.value.code, len(line.sent)) == (code, 1)
        line.after, line.sent = [fault], []
        await memory.note(f"Noted before {code}")
        assert len(line.sent) == 2
    assert (await memory.read_block("preferences")).version == 3
    assert len([note async for note in memory.notes()]) == 2


async def test_what_was_asked_of_a_memory_that_is_closed_meanwhile_is_an_error_of_the_client() -> None:
    class Ending:
        """As ``Local``, whose loop ends before it has answered."""

        def ask(self, _request: httpx.Request) -> Future[httpx.Response]:
            given: Future[httpx.Response] = Future()
            given.cancel()
            return given

    ending: Any = Ending()
    later = AsyncMemory("http://memsvc.local", transport=AsyncLocalTransport(ending), retries=Retries(tries=1))
    now = Memory("http://memsvc.local", transport=LocalTransport(ending), retries=Retries(tries=1))
    with pytest.raises(UnavailableError, match="closed meanwhile"):
        await later.recall("x")
    with pytest.raises(UnavailableError, match="closed meanwhile"):
        await asyncio.to_thread(now.recall, "x")


async def test_refusals_say_what_was_wrong(memory: AsyncMemory, line: Line, client: Client) -> None:
    with pytest.raises(RefusedError) as refused:
        await memory.add_messages([{"conversation": "c", "text": "x"}, {"conversation": "c", "text": ""}])
    assert (refused.value.code, refused.value.details["row"]) == ("empty_text", 1)
    assert refused.value.status == 400
    with pytest.raises(RefusedError, match="unauthenticated"):
        await client(httpx.AsyncClient(headers={"Authorization": "Bearer mk_0.no"})).recall("x")
    sent = len(line.sent)
    line.before = [httpx.Response(502, text="<h1>Bad gateway</h1>"), httpx.Response(200, text="<h1>Welcome</h1>")]
    with pytest.raises(UnavailableError, match="http_502: <h1>Bad gateway"):
        await memory.recall("x")
    with pytest.raises(ClientError, match="answer_invalid"):
        await memory.recall("x")
    assert len(line.sent) == sent + 2


async def test_two_users_at_once(client: Client, ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    async def talk(memory: AsyncMemory, word: str, foreign: str) -> None:
        for n in range(5):
            stored = await memory.add(f"The bike {n} is called {word}.")
            assert foreign not in (await memory.context("What is the bike called?")).text
            said.append((memory, stored.passage_id))

    said: list[tuple[AsyncMemory, Any]] = []
    first, second = client(ada), client(bob)
    await asyncio.gather(talk(first, "Rosalinde", "Cesare"), talk(second, "Cesare", "Rosalinde"))
    for owner, passage in said:
        with pytest.raises(RefusedError, match=r"memory_unknown|not_found"):
            await (second if owner is first else first).open_memory(passage)


async def test_one_key_for_several_users(client: Client, connect: Connect, db: Database) -> None:
    await add_user(db, await app_id(db, "clients"), name="Zoë", external_id="Zoë 李")
    everybody = client(await connect("read", "write", app_name="clients"))
    await everybody.for_user("Zoë 李").add("Mine.")
    with pytest.raises(RefusedError, match="user_required"):
        await everybody.recall("x")
    with pytest.raises(RefusedError, match="user_unknown"):
        await everybody.for_user("Zoe").recall("x")


OPTIONS = {
    "RecallIn": (options.RecallOptions, {"query", "cursor"}),
    "ContextIn": (options.ContextOptions, {"query"}),
    "QuestionIn": (options.AnswerOptions, {"query"}),
    "HookMessageIn": (options.EnrichOptions, {"text", "conversation"}),
    "HookResponseIn": (options.SaidOptions, {"text", "conversation"}),
    "MessageIn": (options.MessageOptions, {"text", "conversation"}),
    "NoteIn": (options.NoteOptions, {"title", "text"}),
    "NoteChange": (options.NoteChanges, set()),
    "LinkIn": (options.LinkOptions, {"from_node", "to_node", "relation"}),
    "FactIn": (options.FactOptions, {"from_node", "to_node", "type", "fact"}),
    "NodeIn": (options.NodeOptions, {"type", "label"}),
    "UserIn": (options.UserOptions, {"name"}),
    "KeyIn": (options.KeyOptions, set()),
    "BlockIn": (options.BlockOptions, {"text"}),
    "ChangeIn": (options.BlockChange, {"change"}),
    "PromotionIn": (options.BlockMove, set()),
    "DemotionIn": (options.Demotion, set()),
}
PARAMETERS = {
    "listNotes": (options.NoteFilters, {"cursor", "limit"}),
    "getLinkedNotes": (options.LinkedOptions, {"note_id"}),
    "searchNodes": (options.NodeFilters, {"q", "cursor", "limit"}),
    "listFacts": (options.FactFilters, {"about", "cursor", "limit"}),
    "listDocuments": (options.DocumentOptions, {"cursor", "limit"}),
    "walkNeighbourhood": (options.WalkOptions, {"node", "format"}),
    "readBlock": (options.Place, {"name"}),
    "blockHistory": (options.Place, {"name", "before", "cursor", "limit"}),
}


async def test_the_options_are_those_of_the_service(anybody: httpx.AsyncClient) -> None:
    document = (await anybody.get("/schema/openapi.json")).json()
    schemas = document["components"]["schemas"]
    for name, (mine, own) in OPTIONS.items():
        assert {*schemas[name]["properties"]} == {*mine.__annotations__} | own, name
    operations = {o["operationId"]: o for path in document["paths"].values() for o in path.values()}
    for name, (mine, own) in PARAMETERS.items():
        theirs = {p["name"] for p in operations[name]["parameters"] if p["in"] != "header"}
        assert theirs == {*mine.__annotations__} | own, name


async def test_files_are_stored_and_waited_for(
    *, ada: httpx.AsyncClient, client: Client, db: Database, settings: Settings, tmp_path: Path
) -> None:
    memory = client(ada)
    paths = [tmp_path / name for name in ("talk.jsonl", "chat.txt", "study.md")]
    paths[0].write_text('{"id": "1", "text": "I like oak."}\n')
    paths[1].write_text("14/02/2026, 10:01 - Mila: The key is under the mat.\n14/02/2026, 10:02 - Jo: Thanks!\n")
    paths[2].write_text("# Coffee study\n\nRoasting takes eleven minutes.\n")

    async def work() -> None:
        while not over.is_set():
            await run_due(db, all_steps(settings, None))
            await asyncio.sleep(0.05)

    over = asyncio.Event()
    working = asyncio.create_task(work())
    try:
        found = await memory.ingest(paths, since="2020-01-01")
        assert [one.outcome for one in found.items] == ["stored", "owner_required", "stored"]
        going = await memory.continue_ingest(found.ingest_id, me="Jo")
        assert going.state in {"pending", "running", "completed"}
        looked = await memory.ingest(str(paths[0]), dry_run=True, me=["Ada"], kind="jsonl")
        assert [one.outcome for one in looked.items] == ["previewed"]
        assert looked.choices.me == ["Ada"]
    finally:
        over.set()
        await working
    assert (await memory.get_ingest(found.ingest_id)).created == 3
    assert [one.ingest_id async for one in memory.ingests()] == [looked.ingest_id, found.ingest_id]
    [document] = [one async for one in memory.documents(name="coffee", gone=False)]
    whole = await memory.get_document(document.document_id, version=1)
    assert (whole.document, [chunk.text for chunk in whole.chunks]) == (document, ["Roasting takes eleven minutes."])
    assert [one async for one in memory.documents(format="pdf")] == []
    assert (await memory.end_ingest(found.ingest_id)).deleted
    with pytest.raises(RefusedError, match="no ingest"):
        await memory.get_ingest(found.ingest_id)


def test_the_sync_client_is_the_twin_of_the_async_one() -> None:
    for source, made in twin.TWINS.items():
        written = twin.twin(source.read_text())
        assert ast.dump(ast.parse(written)) == ast.dump(ast.parse(made.read_text())), "make client"
        assert not re.search("await|[Aa]sync", written.split('"""', 2)[2]), made.name
    assert {file.name for file in twin.HERE.glob("*_async.py")} <= {source.name for source in twin.TWINS}


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def test_a_client_needs_no_web_framework() -> None:
    for path in Path(memsvc.client.__file__).parent.glob("*.py"):
        assert not any(name.startswith("litestar") for name in imports(path)), path
