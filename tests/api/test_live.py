"""Live updates over a real server: what is told, to whom, in which order; what becomes of late and slow ones."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from memsvc.access.keys import create_key
from memsvc.access.tickets import issue_ticket
from memsvc.access.users import Owner, app_id
from memsvc.api import live, sockets
from memsvc.api.app import create_app, hang_up
from memsvc.api.serving import server as serving_on
from memsvc.db.engine import Database
from memsvc.db.paging import write_cursor
from memsvc.graph import history
from memsvc.graph.events import Position
from memsvc.graph.operations import Edge, Node, Thread
from memsvc.profiles.write import forget_block, move, write_block
from memsvc.settings import Settings
from tests.acceptance.killpoints import free_port
from tests.cluster import Cluster
from tests.sql.world import READER, login_url

WAIT_S = 60
QUICKLY_S = 10
"""For an event of which nobody may keep us waiting: it takes less than a second, also where others test meanwhile."""
Said = dict[str, Any]


@asynccontextmanager
async def serving(db: Database, settings: Settings) -> AsyncIterator[str]:
    """The application on Granian, as 'memsvc api' runs it; where it listens."""
    port = free_port()
    app = create_app(settings, db)
    server = serving_on(app, "127.0.0.1", port, live=settings.live_connections)
    task = asyncio.create_task(server.serve())
    async with httpx.AsyncClient() as client:
        for _ in range(100):
            with suppress(httpx.HTTPError):
                if (await client.get(f"http://127.0.0.1:{port}/health")).is_success:
                    break
            await asyncio.sleep(0.05)
    yield f"127.0.0.1:{port}"
    await hang_up(app)
    server.stop()  # type: ignore[no-untyped-call]
    await asyncio.wait_for(task, WAIT_S)


@pytest.fixture(scope="module")
async def address(db: Database, settings: Settings) -> AsyncIterator[str]:
    """A server for all tests here."""
    async with serving(db, settings.model_copy(update={"live_per_user": 3})) as where:
        yield where


class Client:
    """Somebody who listens."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.cursor = ""

    async def hear(self, kind: str = "") -> Said:
        """The next message, or the next of a kind."""
        while True:
            said: Said = json.loads(await asyncio.wait_for(self.connection.recv(), WAIT_S))
            self.cursor = said.get("cursor", self.cursor)
            if said["type"] == (kind or said["type"]) and (kind or said["type"] != "PING"):
                return said

    async def all_until(self, event: UUID | str) -> list[Said]:
        """Messages up to that about a change."""
        heard = [await self.hear()]
        while heard[-1].get("change_id") != str(event):
            heard.append(await self.hear())
        return heard

    async def quiet(self, seconds: float = 1.0) -> bool:
        """Nothing comes for so long."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.connection.recv(), seconds)
            return False
        return True

    async def closed(self) -> int:
        """The code with which the server closes."""
        with suppress(ConnectionClosed):
            while True:
                await asyncio.wait_for(self.connection.recv(), WAIT_S)
        code = self.connection.close_code
        assert code is not None
        return code


@asynccontextmanager
async def listening(address: str, db: Database, owner: Owner, cursor: str = "") -> AsyncIterator[Client]:
    """A client of a user that came by ticket, after READY."""
    query = f"ticket={issue_ticket(db, owner).ticket}" + (f"&cursor={cursor}" if cursor else "")
    async with connect(f"ws://{address}/ws?{query}") as connection:
        client = Client(connection)
        assert (await client.hear())["type"] == "READY"
        yield client


async def person(db: Database, owner: Owner, name: str) -> history.Change:
    """Ada knows somebody."""
    return await history.write(
        db,
        owner,
        [
            Node(type="Person", label="Ada"),
            Node(type="Person", label=name),
            Edge(from_node=0, type="KNOWS", to_node=1, fact=f"Ada knows {name}."),
        ],
        asserted_by="user",
    )


async def test_a_change_is_told_to_its_user_alone_with_nodes_and_edges(
    address: str, db: Database, owner: Owner, other: Owner
) -> None:
    async with listening(address, db, owner) as ada, listening(address, db, other) as bob:
        change = await person(db, owner, "Ines")
        update = await ada.hear()
        assert (update["type"], update["change_id"]) == ("GRAPH_UPDATE", str(change.change_id))
        assert {node["label"] for node in update["nodes"]} == {"Ada", "Ines"}
        (edge,) = update["edges"]
        assert edge["fact"] == "Ada knows Ines."
        assert {edge["from_node"], edge["to_node"]} == {node["node_id"] for node in update["nodes"]}
        assert (update["gone_nodes"], update["gone_edges"], update["complete"]) == ([], [], True)
        await history.retract(db, owner, [Thread(edge=UUID(edge["edge_id"]))], asserted_by="user")
        assert (await ada.hear())["gone_edges"] == [edge["edge_id"]]
        first, second = (UUID(node["node_id"]) for node in update["nodes"])
        await history.merge(db, owner, second, first, asserted_by="user")
        merged = await ada.hear()
        assert merged["gone_nodes"] == [str(second)]
        assert [node["node_id"] for node in merged["nodes"]] == [str(first)]
        assert await bob.quiet()


async def test_what_was_missed_is_told_once_and_in_order_after_coming_back(
    address: str, db: Database, owner: Owner
) -> None:
    changes = []
    async with listening(address, db, owner) as ada:
        changes.append((await person(db, owner, "Ines")).change_id)
        await ada.all_until(changes[0])
    for number in range(60):  # more than a page
        changes.append((await person(db, owner, f"Person {number}")).change_id)  # noqa: PERF401 - one after the other
    async with listening(address, db, owner, ada.cursor) as ada:
        missed = await ada.all_until(changes[-1])
        assert [said["change_id"] for said in missed] == [str(change) for change in changes[1:]]
        last = await person(db, owner, "Ines again")
        assert [said["change_id"] for said in await ada.all_until(last.change_id)] == [str(last.change_id)]
        assert await ada.quiet(0.5)


async def test_a_late_commit_is_neither_waited_for_nor_passed_by(
    address: str, db: Database, owner: Owner, other: Owner
) -> None:
    async with listening(address, db, owner) as ada, listening(address, db, other) as bob:
        async with db.transaction(owner.user_id) as late:
            early = await history.write_in(late, owner, [Node(type="Person", label="Late")], asserted_by="user")
            # Another of the same user commits before it does, and is told at once.
            quick = await person(db, owner, "Quick")
            assert [said["change_id"] for said in await ada.all_until(quick.change_id)] == [str(quick.change_id)]
        told = await ada.all_until(early.change_id)
        assert [said["change_id"] for said in told] == [str(early.change_id)]
        assert await ada.quiet(0.5)
        assert await bob.quiet(0.1)
    async with listening(address, db, owner, ada.cursor) as ada:
        assert await ada.quiet(0.5), "nothing comes twice"


@pytest.mark.parametrize("elsewhere", [False, True], ids=["a reader's", "of another database"])
async def test_transactions_of_others_delay_nobody(
    address: str,
    db: Database,
    owner: Owner,
    *,
    cluster: Cluster,
    database_name: str,
    settings: Settings,
    elsewhere: bool,
) -> None:
    url = cluster.admin_url("postgres" if elsewhere else database_name)
    if not elsewhere:
        url = login_url(url, READER, settings)
    with psycopg.connect(url) as waiting:
        waiting.execute("SELECT pg_current_xact_id()")
        async with listening(address, db, owner) as ada:
            for name in ("Ines", "Bea"):
                change = await person(db, owner, name)
                async with asyncio.timeout(QUICKLY_S):
                    told = await ada.all_until(change.change_id)
                assert len(told) == 1


async def test_the_top_node_of_a_search_is_shown_to_the_searcher_alone(
    address: str, db: Database, owner: Owner, other: Owner, connect_http: httpx.AsyncClient
) -> None:
    change = await person(db, owner, "Ines")
    async with listening(address, db, owner) as ada, listening(address, db, other) as bob:
        answer = await connect_http.post("/v1/recall", json={"query": "Whom does Ada know?"})
        focus = await ada.hear("NODE_FOCUS")
        assert focus["recall_id"] == answer.json()["recall_id"]
        assert focus["node"]["node_id"] == str(change.results[0].node_id)
        assert await bob.quiet(0.5)


@pytest.fixture
async def connect_http(address: str, db: Database, app: UUID, owner: Owner) -> AsyncIterator[httpx.AsyncClient]:
    """Ada with a key, over the network."""
    key = await create_key(db, app, user_id=owner.user_id)
    async with httpx.AsyncClient(
        base_url=f"http://{address}", headers={"Authorization": f"Bearer {key}"}, timeout=WAIT_S
    ) as client:
        yield client


async def refusal(url: str, **headers: str) -> tuple[str, int]:
    """The code of the error that a client gets, and that with which it is closed."""
    async with connect(url, additional_headers=headers) as connection:
        client = Client(connection)
        said = await client.hear()
        assert (said["type"], set(said)) == ("ERROR", {"type", "code", "message", "hint"})
        return said["code"], await client.closed()


async def test_a_change_of_the_profile_is_told_to_its_user_alone(
    address: str, db: Database, owner: Owner, other: Owner
) -> None:
    async with listening(address, db, owner) as hers, listening(address, db, other) as his:
        wrote = await write_block(db, owner, "preferences", "Green tea.")
        await write_block(db, owner, "preferences", "Green tea.")  # nothing new
        told = await hers.hear("PROFILE_UPDATE")
        assert [told[name] for name in ("block_id", "name", "kind", "version", "text", "live")] == [
            str(wrote.block_id), "preferences", "core", 1, "Green tea.", True
        ]  # fmt: skip
        await move(db, owner, "preferences", "archival")
        assert [(told := await hers.hear())["type"], told["kind"], told["version"]] == ["PROFILE_UPDATE", "archival", 2]
        assert await his.quiet()
        await forget_block(db, owner, "preferences", requested_by="a test")
        assert [(told := await hers.hear())["type"], told["complete"]] == ["GRAPH_UPDATE", False]
    async with listening(address, db, owner, cursor=hers.cursor) as again:
        assert await again.quiet(0.6)


async def test_nobody_listens_without_the_right_to(
    address: str, db: Database, owner: Owner, other: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = await app_id(db, "tests")
    ws = f"ws://{address}/ws"
    used = issue_ticket(db, owner).ticket
    async with connect(f"{ws}?ticket={used}") as connection:
        assert (await Client(connection).hear())["type"] == "READY"
    forged = used[:-1] + ("A" if used[-1] != "A" else "B")
    for ticket in (used, forged, issue_ticket(db, owner, life_s=-1).ticket, "", "mt_", "mt_é", "x" * 5_000):
        assert await refusal(f"{ws}?ticket={ticket}") == ("ticket_invalid", 4401)
    assert await refusal(ws) == ("unauthenticated", 4401)
    bound = await create_key(db, app, user_id=owner.user_id)
    assert await refusal(ws, **{"Authorization": f"Bearer {bound}", "X-Memsvc-User": str(other.user_id)}) == (
        "user_unknown", 4404,
    )  # fmt: skip
    writer = await create_key(db, app, scopes=["write"], user_id=owner.user_id)
    assert await refusal(ws, Authorization=f"Bearer {writer}") == ("forbidden", 4403)
    ticket = issue_ticket(db, owner).ticket
    assert await refusal(f"{ws}?ticket={ticket}&cursor=nonsense") == ("bad_cursor", 4400)
    ahead = Position(2**62, (), 2**62, uuid4(), 2**31).cursor
    assert await refusal(f"{ws}?ticket={issue_ticket(db, owner).ticket}&cursor={ahead}") == ("cursor_expired", 4410)
    # A key that is revoked while somebody listens by it.
    monkeypatch.setattr(sockets, "CHECK_S", 0.1)
    async with connect(ws, additional_headers={"Authorization": f"Bearer {bound}"}) as connection:
        client = Client(connection)
        await client.hear("READY")
        async with db.transaction() as plain:
            await plain.exec_driver_sql("SELECT memsvc.revoke_key(%s, %s)", (app, bound.split(".")[0]))
        assert (await client.hear("ERROR"))["code"] == "unauthenticated"
        assert await client.closed() == 4401


async def test_a_user_has_so_many_connections_and_says_so_much(address: str, db: Database, owner: Owner) -> None:
    async with listening(address, db, owner), listening(address, db, owner), listening(address, db, owner) as third:
        ticket = issue_ticket(db, owner).ticket
        assert await refusal(f"ws://{address}/ws?ticket={ticket}") == ("too_many_connections", 4429)
        await third.connection.send("x" * 20_000)
        assert (await third.hear("ERROR"))["code"] == "invalid_request"
        assert await third.closed() == 4400


@pytest.mark.parametrize("limits", [(4, 60.0), (256, 0.5)], ids=["too-many-wait", "not-in-time"])
async def test_a_client_that_takes_nothing_is_dropped_and_loses_nothing(
    address: str, db: Database, owner: Owner, monkeypatch: pytest.MonkeyPatch, limits: tuple[int, float]
) -> None:
    monkeypatch.setattr(live, "MOST_WAITING", limits[0])
    monkeypatch.setattr(sockets, "SEND_S", limits[1])
    changes, before, taken = [], await dropped(address), []
    large = [Node(type="Person", label=f"P{number}", description="oak " * 1_900) for number in range(40)]
    async with (
        listening(address, db, owner) as quick,
        connect(
            f"ws://{address}/ws?ticket={issue_ticket(db, owner).ticket}",
            max_queue=1,
            compression=None,
            sock=socket_of_few_bytes(address),
        ) as slow,
    ):
        cursor = json.loads(await slow.recv())["cursor"]
        slow.transport.pause_reading()
        for _ in range(40):  # 12 MB: more than the buffers of a connection hold
            changes.append((await history.write(db, owner, large, asserted_by="user")).change_id)
            await quick.hear()
        async with asyncio.timeout(WAIT_S):
            while await dropped(address) == before:
                await quick.quiet(0.1)
        slow.transport.resume_reading()
        with suppress(ConnectionClosed):
            while True:
                said = json.loads(await asyncio.wait_for(slow.recv(), WAIT_S))
                taken.append(said["change_id"])
                cursor = said["cursor"]
    async with listening(address, db, owner, cursor) as back:
        missed = [said["change_id"] for said in await back.all_until(changes[-1])]
        assert missed  # how much it took before, if anything, is up to the system's buffers
        assert taken + missed == [str(change) for change in changes]


def socket_of_few_bytes(address: str) -> socket.socket:
    """A connection whose receiving side holds little, however much this machine's kernel would give it."""
    host, port = address.split(":")
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
    connection.connect((host, int(port)))
    connection.setblocking(False)
    return connection


async def dropped(address: str) -> float:
    """How many clients this process has dropped until now; another test may have had one dropped."""
    async with httpx.AsyncClient() as client:
        text = (await client.get(f"http://{address}/metrics")).text
    return float(re.findall(r"^memsvc_live_dropped_total (\S+)$", text, re.MULTILINE)[0])


async def test_events_are_read_page_by_page_and_waited_for(
    connect_http: httpx.AsyncClient,
    db: Database,
    owner: Owner,
) -> None:
    stored = await connect_http.post("/v1/messages", json={"conversation": "a", "text": "I like oak."})
    change = await person(db, owner, "Ines")
    first = (await connect_http.get("/v1/events", params={"limit": 1, "wait": 30})).json()
    assert [(event["kind"], event["subject_id"]) for event in first["items"]] == [
        ("passages.added", stored.json()["messages"][0]["conversation_id"])
    ]
    rest = (await connect_http.get("/v1/events", params={"cursor": first["next_cursor"], "wait": 30})).json()
    assert [(event["kind"], event["subject_id"]) for event in rest["items"]] == [
        ("graph.changed", str(change.change_id))
    ]
    waiting = asyncio.create_task(connect_http.get("/v1/events", params={"cursor": rest["next_cursor"], "wait": 30}))
    await asyncio.sleep(0.3)
    assert not waiting.done()
    later = await person(db, owner, "Bea")
    assert [event["subject_id"] for event in (await waiting).json()["items"]] == [str(later.change_id)]
    now = (await connect_http.get("/v1/events", params={"cursor": "now"})).json()
    assert now["items"] == []
    for place in ("x", "", (1, 2, 3), (2**70, str(uuid4()), 0), (-1, str(uuid4()), 2**31), (1, str(uuid4()), "\0")):
        cursor = place if isinstance(place, str) else write_cursor(place)
        refused = await connect_http.get("/v1/events", params={"cursor": cursor})
        assert (refused.status_code, refused.json()["code"]) == (400, "bad_cursor"), place
    old = Position(1, (), 1, uuid4(), 0).cursor
    refused = await connect_http.get("/v1/events", params={"cursor": old})
    assert (refused.status_code, refused.json()["code"]) == (410, "cursor_expired")


async def test_a_server_that_ends_sends_its_clients_away(db: Database, settings: Settings, owner: Owner) -> None:
    async with AsyncExitStack() as stack:
        async with serving(db, settings) as address:
            client = await stack.enter_async_context(listening(address, db, owner))
        assert (await client.hear("ERROR"))["code"] == "restarting"
        assert await client.closed() == 1012
