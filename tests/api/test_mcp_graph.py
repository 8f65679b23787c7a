"""MCP over HTTP: facts by filter, changes of the graph and their undo, search of notes, and feedback."""

from __future__ import annotations

import httpx
import pytest
from litestar import Litestar

from memsvc.access.users import Owner
from memsvc.api.mcp.changing import TAKEN
from tests.api.conftest import Connect
from tests.api.mcp_clients import RECALL_ID, is_fenced, mcp_client, refused, use

IDS = ("n:0", "f:0")


async def test_the_graph_is_changed_listed_and_restored(
    api: Litestar, ada: httpx.AsyncClient, bob: httpx.AsyncClient
) -> None:
    async with mcp_client(api, ada) as client, mcp_client(api, bob) as stranger:
        _, told = await use(client, "remember", text="Ines has lived in Porto since May 2024.")
        _, ines = await use(client, "change_graph", action="add_node", type="Person", name="Ines", text="A carpenter.")
        _, porto = await use(client, "change_graph", action="add_node", type="Place", name="Porto")
        assert ines["id"].startswith("n:")
        live = {"action": "assert", "type": "LIVES_IN", "text": "Ines lives in Porto.", "valid_from": "2024-05-01"}
        text, home = await use(
            client, "change_graph", **live, node="Ines", other=porto["id"], sources=[told["id"]], name=None
        )
        assert home["outcome"] == "written"
        assert home["change_id"] in text

        shown, facts = await use(client, "list_facts", about=[ines["id"]], types=["LIVES_IN"])
        assert is_fenced(shown)
        [fact] = facts["facts"]
        assert (fact["id"], fact["from_node"], fact["sources"]) == (home["id"], ines["id"], [told["id"]])
        assert (await use(client, "list_facts", about=["Porto"], as_of="2020-01-01"))[1]["facts"] == []
        assert await refused(stranger, "list_facts", about=["Ines"]) == "node_unknown"
        assert await refused(stranger, "change_graph", action="undo", id=home["change_id"]) == "change_unknown"
        late = {"action": "end", "id": home["id"], "valid_to": "2026-01-01"}
        assert await refused(stranger, "change_graph", **late) == "memory_unknown"

        _, right = await use(client, "change_graph", action="correct", id=home["id"], text="Ines lives in Porto now.")
        assert (
            await refused(client, "change_graph", action="correct", id=home["id"], text="No.") == "version_superseded"
        )
        _, ended = await use(client, "change_graph", action="end", id=right["id"], valid_to="2025-01-01")
        assert ended["outcome"] == "closed"
        assert (await use(client, "list_facts", about=["Ines"]))[1]["facts"] == []
        always = (await use(client, "list_facts", about=["Ines"], as_of="always"))[1]["facts"]
        assert [one["fact"] for one in always] == ["Ines lives in Porto now."]
        _, undone = await use(client, "change_graph", action="undo", id=ended["change_id"])
        assert undone["outcome"] == "undone"
        [again] = (await use(client, "list_facts", about=["Ines"]))[1]["facts"]
        assert (again["fact"], again["valid_to"]) == ("Ines lives in Porto now.", None)
        await use(client, "change_graph", action="retract", id=again["id"])
        assert (await use(client, "list_facts", about=["Ines"], as_of="always"))[1]["facts"] == []

        await use(client, "change_graph", action="alias", node="Ines", name="Nessa")
        assert "A carpenter." in (await use(client, "open_source", id=ines["id"]))[0]
        await use(client, "change_graph", action="correct", id=ines["id"], text="A boat builder.", name="Ines A.")
        assert "boat builder" in (await use(client, "open_source", id=ines["id"]))[0]
        await use(client, "list_facts", about=["Nessa"])
        await use(client, "change_graph", action="retract", node=ines["id"], name="Nessa")
        assert await refused(client, "list_facts", about=["Nessa"]) == "node_unknown"


async def test_a_begin_that_nobody_told_is_shown_as_known_since(api: Litestar, ada: httpx.AsyncClient) -> None:
    async with mcp_client(api, ada) as client:
        for kind, name in (("Person", "Ines"), ("Place", "Porto")):
            await use(client, "change_graph", action="add_node", type=kind, name=name)
        live = {"action": "assert", "type": "LIVES_IN", "text": "Ines lives in Porto.", "valid_from": "2024-05-01"}
        await use(client, "change_graph", **live, node="Ines", other="Porto")
        [fact] = (await ada.get("/v1/facts", params={"about": "Ines"})).json()["items"]
        mark = {"times": {"since": "by " + fact["valid_from"][:10]}}
        (await ada.patch(f"/v1/facts/{fact['edge_id']}", json={"data": mark})).raise_for_status()
        for tool, given in (
            ("explore", {"node": "Ines"}),
            ("list_facts", {"about": ["Ines"]}),
            ("verify", {"claim": "Ines lives in Porto."}),
        ):
            text, _ = await use(client, tool, **given)
            assert "Ines lives in Porto. (known since " in text, tool


async def test_facts_come_in_pages(api: Litestar, ada: httpx.AsyncClient) -> None:
    async with mcp_client(api, ada) as client:
        await use(client, "change_graph", action="add_node", type="Person", name="Rui")
        for tool in ("plane", "saw", "chisel"):
            await use(client, "change_graph", action="add_node", type="Object", name=tool)
            await use(
                client, "change_graph", action="assert", node="Rui", type="OWNS", other=tool, text=f"Has a {tool}."
            )
        seen: list[str] = []
        more: dict[str, str] = {}
        for _ in range(2):
            text, page = await use(client, "list_facts", about=["Rui"], limit="2", **more)
            seen += [one["fact"] for one in page["facts"]]
            more = {"cursor": page["next_cursor"]}
        assert sorted(seen) == ["Has a chisel.", "Has a plane.", "Has a saw."]
        assert more == {"cursor": None}
        assert "There is more" not in text


async def test_a_proposed_merge_waits_for_a_person(api: Litestar, ada: httpx.AsyncClient) -> None:
    async with mcp_client(api, ada) as client:
        for name in ("Ines Albrecht", "Ines Albrech"):
            await use(client, "change_graph", action="add_node", type="Person", name=name)
        pair = {"node": "Ines Albrecht", "other": "Ines Albrech"}
        for _ in range(2):
            _, proposed = await use(client, "change_graph", action="propose_merge", **pair)
            assert (proposed["outcome"], proposed["change_id"]) == ("proposed", None)
        [open_pair] = (await ada.get("/v1/duplicates")).json()["items"]
        assert open_pair["score"] > 0.5
        a, b = open_pair["a"]["node_id"], open_pair["b"]["node_id"]
        assert (await ada.post(f"/v1/duplicates/{a}/{b}/reject")).status_code == 200
        assert await refused(client, "change_graph", action="propose_merge", **pair) == "pair_decided"
        same = {"node": "Ines Albrecht", "other": "Ines Albrecht"}
        assert await refused(client, "change_graph", action="propose_merge", **same) == "pair_decided"


@pytest.mark.parametrize("action", TAKEN)
async def test_an_action_refuses_what_it_lacks_and_what_it_does_not_take(
    api: Litestar, ada: httpx.AsyncClient, action: str
) -> None:
    needed, more = TAKEN[action]  # type: ignore[index]
    values = {"id": "f:0", "node": "Ada", "type": "Person", "other": "Ada", "text": "x", "name": "x"} | {
        "valid_from": "2024-01-01", "valid_to": "2025-01-01", "sources": ["m:0"],
    }  # fmt: skip
    async with mcp_client(api, ada) as client:
        for name in needed:
            given = {one: values[one] for one in needed - {name}}
            answer = await client.call_tool("change_graph", {"action": action, **given})
            assert answer.is_error
            assert (answer.structured_content["code"], answer.structured_content["field"]) == ("invalid_request", name)
        for name in set(values) - needed - more:
            given = {one: values[one] for one in needed | {name}}
            answer = await client.call_tool("change_graph", {"action": action, **given})
            assert answer.is_error
            assert (answer.structured_content["code"], answer.structured_content["field"]) == ("invalid_request", name)


async def test_who_may_only_read_gives_feedback_and_changes_nothing(
    api: Litestar, connect: Connect, owner: Owner
) -> None:
    async with mcp_client(api, await connect("read", user=owner)) as reader:
        assert await refused(reader, "change_graph", action="add_node", type="Person", name="Ines") == "forbidden"
        nobody = "01900000-0000-7000-8000-000000000000"
        assert await refused(reader, "give_feedback", recall_id=nobody, used=[]) == "recall_unknown"


async def test_notes_are_searched(api: Litestar, ada: httpx.AsyncClient, bob: httpx.AsyncClient) -> None:
    async with mcp_client(api, ada) as client, mcp_client(api, bob) as stranger:
        _, oak = await use(client, "create_note", title="Oak lasts", kind="decision", tags=["wood"])
        _, beech = await use(client, "create_note", title="Beech swells", text="Next to the sink.")
        text, found = await use(client, "search_notes", query="sink")
        assert is_fenced(text)
        assert found["notes"][0]["id"] == beech["id"]
        for chosen in ({"kind": "decision"}, {"tag": "wood"}, {"query": "OAK"}):
            assert (await use(client, "search_notes", **chosen))[1]["notes"][0]["id"] == oak["id"], chosen
        _, first = await use(client, "search_notes", limit=1)
        _, second = await use(client, "search_notes", limit=1, cursor=first["next_cursor"])
        assert {one["notes"][0]["id"] for one in (first, second)} == {oak["id"], beech["id"]}
        assert (await use(stranger, "search_notes", query="oak"))[1]["notes"] == []


async def test_feedback_takes_ids_as_an_answer_shows_them(
    api: Litestar, ada: httpx.AsyncClient, bob: httpx.AsyncClient
) -> None:
    async with mcp_client(api, ada) as client, mcp_client(api, bob) as stranger:
        await use(client, "remember", text="Oak is hard.", conversation="wood")
        await use(client, "create_note", title="Oak lasts", text="Oak lasts longer than beech.")
        text, found = await use(client, "recall", query="What about oak?")
        ids = {memory["kind"]: memory["id"] for memory in found["memories"]}
        assert set(ids) >= {"message", "note"}
        [shown] = RECALL_ID.findall(text)
        assert shown.endswith(found["recall_id"])
        _, other = await use(client, "remember", text="It rained.", conversation="weather")
        asked = {"recall_id": found["recall_id"], "used": [ids["message"]], "irrelevant": [ids["note"]]}
        _, judged = await use(client, "give_feedback", **asked)
        assert judged == {"used": 1, "irrelevant": 1, "changed": 2, "erased": 0}
        _, again = await use(client, "give_feedback", **asked)
        assert again["changed"] == 0
        whole = {"recall_id": found["recall_id"], "used": [other["id"]]}
        assert await refused(client, "give_feedback", **whole) == "not_recalled"
        assert await refused(client, "give_feedback", **{**asked, "irrelevant": [ids["message"]]}) == "invalid_request"
        assert await refused(stranger, "give_feedback", **asked) == "memory_unknown"
        assert await refused(stranger, "give_feedback", recall_id=found["recall_id"]) == "recall_unknown"
