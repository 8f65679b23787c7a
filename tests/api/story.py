"""Marcel's evening: every operation of the API once, in an order that makes sense.

Each request must be answered well. ``test_examples.py`` lets the answers be noted: they are the documentation's
examples.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx

from memsvc.feeds.pushing import sign
from tests.api.graphs import Homes, homes

WORDS = "Where do we meet Ines?"
PROFILE = "/v1/profile/preferences"


@dataclass(frozen=True, slots=True)
class Stage:
    """Who plays, and what happens behind the scene."""

    user: httpx.AsyncClient
    """May read, write and forget for one user."""
    chief: httpx.AsyncClient
    """The app's administrator."""
    work: Callable[[], Awaitable[object]]
    """Lets all waiting jobs be done."""
    suspect: Callable[[str, str], Awaitable[tuple[str, str]]]
    """Makes two nodes of these labels that may be the same."""
    propose: Callable[[], Awaitable[list[str]]]
    """Lets sleep propose two names; the ids."""
    renew: Callable[[str], Awaitable[None]]
    """Installs a version of the extractor."""
    watch: Callable[[], Awaitable[str]]
    """Lets the operator add a mailbox; its feed's id."""
    reject: Callable[[], Awaitable[str]]
    """Puts a message into the queue that no worker can read; its id."""


async def put(client: httpx.AsyncClient, path: str, **body: Any) -> Any:
    """PUT a body."""
    return (await client.put(path, json=body)).json()


async def post(client: httpx.AsyncClient, path: str, **body: Any) -> Any:
    """POST a body; the answer."""
    return (await client.post(path, json=body)).json()


async def patch(client: httpx.AsyncClient, path: str, **body: Any) -> Any:
    """PATCH with a body."""
    return (await client.patch(path, json=body)).json()


async def get(client: httpx.AsyncClient, path: str, **asked: Any) -> Any:
    """GET with parameters."""
    return (await client.get(path, params=asked)).json()


async def played(stage: Stage) -> None:
    """All of it."""
    world = await conversations(stage)
    await reading(stage)
    await recalling(stage)
    await chatting(stage)
    await graph(stage, world)
    await changing(stage, world)
    await places(stage, world)
    await analysis(stage)
    await notes(stage)
    await lessons(stage)
    await profile(stage)
    await ontology(stage)
    await doubts(stage)
    await work(stage)
    await live(stage)
    await documents(stage)
    await feeds(stage)
    await turns(stage)
    await rereading(stage)
    await forgetting(stage)
    await operated(stage)
    await administration(stage)


async def conversations(stage: Stage) -> Homes:
    """Text comes in, and is read back."""
    user = stage.user
    await get(user, "/v1/me")
    await user.post("/v1/token")
    await put(user, "/v1/me/pause", until="2099-12-01T08:00:00+01:00")
    await get(user, "/v1/me/pause")
    await user.delete("/v1/me/pause")
    await get(user, "/v1/me/policy")
    await put(user, "/v1/me/policy", kinds={"private_key": "mask"})
    message = {"conversation": "kitchen-plans", "session": "2026-03-14", "speaker": "Marcel"}
    text = "We moved the dinner with Ines to Friday, at the Lindenhof."
    stored = await post(user, "/v1/messages", **message, id="msg-0017", text=text, said_at="2026-03-14T18:30:00+01:00")
    await post(user, "/memory", text="Ines prefers oak for the worktop.")
    world = await homes(user)
    await get(user, "/v1/conversations")
    await get(user, "/v1/conversations/kitchen-plans/messages")
    await get(user, f"/v1/sources/{stored['messages'][0]['conversation_id']}")
    return world


async def reading(stage: Stage) -> None:
    """Text becomes facts, and a person decides about the doubtful ones."""
    user = stage.user
    await stage.work()
    told = ("maybe Ines LIVES_IN Porto.", "maybe Rui KNOWS Ines.", "maybe Rui LIKES tea.")
    for text in told:
        await post(user, "/v1/messages", conversation="neighbours", text=text)
    await (await user.post("/v1/extract", json={"text": "Ines LIVES_IN Porto."}, params={"dry_run": True})).aread()
    await stage.work()
    await post(user, "/v1/messages", conversation="neighbours", text="Rui LIKES coffee.")
    await post(user, "/v1/extract")
    await get(user, "/v1/extractions")
    await user.post("/v1/extractions/pause")
    first, second, third = [one["review_id"] for one in (await get(user, "/v1/reviews"))["items"]]
    await get(user, f"/v1/reviews/{first}")
    await user.post(f"/v1/reviews/{second}/accept")
    await patch(user, f"/v1/reviews/{third}", sentence="Ines lives in Porto, by the river.")
    await user.post(f"/v1/reviews/{first}/reject")
    await user.post(f"/v1/reviews/{first}/reopen")


async def recalling(stage: Stage) -> None:
    """Memories come out."""
    user = stage.user
    found = await post(user, "/v1/recall", query=WORDS, limit=3)
    best = found["memories"][0]["memory_id"]
    await post(user, f"/v1/recalls/{found['recall_id']}/feedback", used=[best])
    await get(user, "/v1/usefulness", days=7)
    await get(user, "/v1/top-of-mind", limit=2)
    await get(user, "/v1/agenda", **{"from": "2026-01-01", "to": "2027-01-01"}, limit=2)
    await get(user, "/v1/summaries", level="week", **{"from": "2026-01-01"}, limit=2)
    await get(user, "/v1/summaries", node="Ines", limit=1)
    await get(user, "/v1/timeline", **{"from": "2026-01-01"}, limit=2)
    await get(user, "/v1/timeline/news", since="2026-01-01")
    await get(user, "/v1/timeline/counts", step="year", **{"from": "2026-01-01"})
    await get(user, "/search", q="oak", limit=2, graph=True)
    await post(user, "/v1/context", query=WORDS, budget_tokens=300)
    await get(user, "/context", query=WORDS, budget_tokens=300)
    await get(user, f"/v1/memories/{best}")
    await patch(user, f"/v1/memories/{best}", pinned=True, importance=8)
    await post(user, f"/v1/memories/{best}/promote")
    await post(user, "/v1/archive/restore", memory_ids=[best])
    await post(user, "/v1/answer", query=WORDS)
    await post(user, "/v1/verify", claim="Ines lives in Porto.")


async def chatting(stage: Stage) -> None:
    """Doors for chat apps."""
    user = stage.user
    said = {"conversation": "petals-7", "message_id": "m-18"}
    await post(user, "/v1/hooks/message", **said, text=WORDS, budget_tokens=300, forget="conversation")
    await post(user, "/v1/hooks/response", conversation="petals-7", text="At the Lindenhof, on Friday.")
    await post(user, "/v1/hooks/session-end", conversation="petals-7")
    await post(user, "/v1/chat/completions", messages=[{"role": "user", "content": WORDS}])
    await post(user, "/v1/responses", input=WORDS)
    await post(user, "/anthropic/v1/messages", messages=[{"role": "user", "content": WORDS}])
    await get(user, "/v1/models")


async def graph(stage: Stage, world: Homes) -> None:
    """What is known, and when it was."""
    user = stage.user
    ines = world.ines
    await get(user, "/v1/nodes", q="Ines")
    await get(user, f"/v1/nodes/{ines}")
    await get(user, f"/v1/nodes/{ines}/history", limit=3)
    await get(user, "/v1/aliases", name="Nessa")
    await get(user, "/v1/facts", about=ines)
    await get(user, f"/v1/facts/{world.lyon_edge}")
    await get(user, "/v1/changes", limit=2)
    await get(user, f"/v1/changes/{world.changes[1]}")
    await get(user, "/v1/graph/diff", **{"from": world.times[0], "limit": 2})
    for walk in ("/graph", "/v1/graph"):
        await get(user, walk, limit=2)
    await get(user, "/v1/graph/neighbourhood", node=ines, hops=1)
    await get(user, "/v1/graph/subgraph", node=[ines, world.lyon])
    await get(user, "/v1/graph/paths", **{"from": world.rui, "to": world.lyon})
    await get(user, "/v1/graph/conversation", conversation="moves")
    await get(user, "/v1/graph/stats")


async def changing(stage: Stage, world: Homes) -> None:
    """Facts that somebody writes by hand."""
    user = stage.user
    made = await post(user, "/v1/nodes", type="Person", label="Ines Albrect", aliases=["Nessie"])
    node = made["results"][0]["node_id"]
    await patch(user, f"/v1/nodes/{node}", description="Marcel's sister; a carpenter.")
    await post(user, f"/v1/nodes/{node}/aliases", aliases=["Inchen"])
    await post(user, f"/v1/nodes/{node}/aliases/retract", aliases=["Nessie"])
    await post(user, f"/v1/nodes/{node}/merge", into=world.ines, reason="Spelling")
    await user.post(f"/v1/nodes/{node}/unmerge")
    fact = await post(
        user, "/v1/facts", from_node=world.rui, type="LIVES_IN", to_node=world.porto, fact="Rui lives in Porto."
    )
    edge = fact["results"][0]["edge_id"]
    await patch(user, f"/v1/facts/{edge}", confidence=0.8)
    await post(user, f"/v1/facts/{edge}/annotations", stance="disputed", reason="He told me that he lives in Faro.")
    retracted = await post(user, f"/v1/facts/{edge}/retract")
    await user.post(f"/v1/changes/{retracted['change_id']}/undo")


async def places(stage: Stage, world: Homes) -> None:
    """Where things are."""
    user = stage.user
    where = f"/v1/nodes/{world.lyon}/location"
    await post(user, where, latitude=45.764, longitude=4.8357, radius_m=6_000)
    await get(user, where)
    await get(user, "/v1/nearby", lat=45.75, lon=4.85, radius=10_000)
    await get(user, "/v1/nearby", lat=45.75, lon=4.85, k=1, format="geojson")
    await user.delete(where)


async def analysis(stage: Stage) -> None:
    """The graph as a whole."""
    user = stage.user
    asked = await post(user, "/v1/analysis/hubs")
    await stage.work()
    await get(user, "/v1/analysis/runs")
    await get(user, f"/v1/analysis/runs/{asked['run']['run_id']}")
    await get(user, f"/v1/analysis/runs/{asked['run']['run_id']}/results")


async def notes(stage: Stage) -> None:
    """What is written by hand."""
    user = stage.user
    note = {"text": "Beech swells next to the sink; oak lasts.", "kind": "decision", "tags": ["kitchen"]}
    one = (await post(user, "/v1/notes", title="Oak for the worktop", **note))["note_id"]
    other = (await post(user, "/v1/notes", title="What the kitchen may cost"))["note_id"]
    await get(user, "/v1/notes")
    await get(user, f"/v1/notes/{one}")
    await patch(user, f"/v1/notes/{one}", tags=["kitchen", "wood"], importance=6)
    link = await post(user, "/v1/links", from_node=one, to_node=other, relation="supports", reason="Oak lasts.")
    await get(user, f"/v1/notes/{one}/linked")
    await post(user, "/v1/links/close", link_id=link["link_id"])


async def lessons(stage: Stage) -> None:
    """What an assistant learns from mistakes and from work."""
    user = stage.user
    wedding = {
        "question": "When is the wedding of Ines and Jonas?", "answer": "On 13 June 2026.",
        "correction": "It was moved to Saturday, 5 September 2026.",
        "lesson": "Before you give a date, look for a later message that moves it.",
    }  # fmt: skip
    one = (await post(user, "/v1/critique", **wedding, id="correction-7"))["critique_id"]
    oak = {"question": "Which wood is the worktop?", "correction": "Oak.", "lesson": "Ask before you guess a wood."}
    other = (await post(user, "/v1/critique", **oak))["critique_id"]
    await get(user, "/v1/lessons", state="proposed")
    await post(user, f"/v1/lessons/{one}/accept", text="Look for later dates before you give one.")
    await post(user, f"/v1/lessons/{other}/reject")
    await get(user, f"/v1/lessons/{one}")
    steps = ["Have a photo taken", "Make an appointment", "Fetch the passport"]
    plan = (await post(user, "/v1/plans", task="Renew the passport before the trip to Lisbon", steps=steps))["plan_id"]
    photo = {"step": 1, "state": "done", "outcome": "Two photos, 12 euros"}
    await patch(user, f"/v1/plans/{plan}", results=[photo], reason="The photos are there.")
    await get(user, "/v1/plans", state="open")
    await get(user, f"/v1/plans/{plan}")
    await get(user, "/v1/reflections")


async def profile(stage: Stage) -> None:
    """What an assistant keeps in mind."""
    user = stage.user
    await put(user, PROFILE, text="Green tea, no sugar.")
    await patch(user, PROFILE, change={"op": "append", "text": "Oat milk in coffee."})
    await get(user, "/v1/profile")
    await get(user, PROFILE)
    await get(user, f"{PROFILE}/history")
    await post(user, f"{PROFILE}/demote", kind="archival")
    await post(user, f"{PROFILE}/promote")
    await user.delete(PROFILE)


async def ontology(stage: Stage) -> None:
    """What nodes and edges can be."""
    user = stage.user
    await get(user, "/v1/ontology")
    pet = {"name": "Pet", "description": "An animal that lives with people.", "parent": "Person"}
    await post(user, "/v1/ontology/node-types", **pet, reason="Bello was called a Person three times.")
    await post(user, "/v1/ontology/edge-types", name="MARRIED_TO", description="A is married to B.", functional=True)
    await patch(user, "/v1/ontology/node-types/Pet", description="An animal that people keep and name.")
    await user.post("/v1/ontology/node-types/Pet/approve")
    await user.delete("/v1/ontology/edge-types/MARRIED_TO")


async def doubts(stage: Stage) -> None:
    """Who is who."""
    user = stage.user
    for labels, decision in ((("Ana Berg", "Anna Berg"), "accept"), (("Tom", "Thom"), "reject")):
        one, other = await stage.suspect(*labels)
        await get(user, "/v1/duplicates")
        await user.post(f"/v1/duplicates/{one}/{other}/{decision}")
    await user.post(f"/v1/duplicates/{one}/{other}/reopen")
    await get(user, "/v1/waiting")
    await get(user, "/v1/facts/contested")
    evidence, sources = [], []
    for place in ("office", "boat"):
        said = (await post(user, "/v1/messages", conversation=place, text=f"Tom was at the {place}."))["messages"][0]
        evidence.append({"passage_id": said["passage_id"]})
        sources.append(said["conversation_id"])
    tom = await post(user, "/v1/nodes", type="Person", label="Tom Berg", evidence=evidence)
    await post(user, f"/v1/duplicates/{tom['results'][0]['node_id']}/split", sources=sources[:1])
    for proposal, decision in zip(await stage.propose(), ("accept", "reject"), strict=True):
        await get(user, "/v1/proposals")
        await user.post(f"/v1/proposals/{proposal}/{decision}")
    await user.post(f"/v1/proposals/{proposal}/reopen")


async def work(stage: Stage) -> None:
    """Background work, once and recurring."""
    user = stage.user
    await post(user, "/v1/sleep/preview", tasks=["duplicates"], limit=5)
    asked = await post(user, "/v1/sleep", tasks=["duplicates"], budget_s=60)
    await get(user, "/v1/sleep/runs")
    await get(user, f"/v1/sleep/runs/{asked['runs'][0]['run_id']}")
    await get(user, "/v1/sleep/report")
    await get(user, "/v1/sleep/tasks")
    await put(user, "/v1/sleep/tasks/duplicates", on=True)
    await get(user, "/v1/archive")
    await get(user, "/v1/archive/memories", limit=2)
    await put(user, "/v1/archive", forgetting=False)
    job = (await get(user, "/v1/jobs", state="pending"))["items"][0]["job_id"]
    await get(user, f"/v1/jobs/{job}")
    await user.post(f"/v1/jobs/{job}/cancel")
    await user.post(f"/v1/jobs/{job}/retry")
    await put(user, "/v1/schedules/tidy", at="03:30")
    await get(user, "/v1/schedules")


async def live(stage: Stage) -> None:
    """What happened, and the service about itself."""
    user = stage.user
    await get(user, "/v1/events", limit=3)
    await user.post("/v1/live/ticket")
    await user.get("/v1/export")
    await get(user, "/health")
    await user.get("/metrics")


async def documents(stage: Stage) -> None:
    """A chat of two others comes as a file, and Marcel says that he is neither."""
    user = stage.user
    chat = "14/02/2026, 10:01 - Mila: The key is under the mat.\n14/02/2026, 10:02 - Jo: Thanks! I shall look.\n"
    sent = (await user.post("/v1/documents", files=[("file", ("WhatsApp Chat with Garden.txt", chat))])).json()
    at = f"/v1/ingests/{sent['ingest_id']}"
    await stage.work()
    await get(user, at)
    await post(user, f"{at}/continue", not_me=True)
    await stage.work()
    await get(user, at)
    await get(user, "/v1/ingests")
    await user.delete(at)
    study = "# Coffee study\n\nThe beans come from Kenya.\n\n## Results\n\nRoasting takes eleven minutes.\n"
    await post(user, "/v1/documents", name="study.md", text=study)
    await stage.work()
    runs = (await get(user, "/v1/sleep/runs"))["items"]
    await user.post(f"/v1/sleep/runs/{next(run['run_id'] for run in runs if run['state'] == 'done')}/undo")
    [document] = (await get(user, "/v1/documents", name="coffee"))["items"]
    await get(user, f"/v1/documents/{document['document_id']}", limit=2)


async def feeds(stage: Stage) -> None:
    """The office pushes a note, signed with the feed's secret."""
    user = stage.user
    added = await post(user, "/v1/feeds", kind="push", name="office", takes="memory")
    at = f"/v1/feeds/{added['feed_id']}"
    body, now = b'{"text": "The office is closed on Friday.", "speaker": "office", "role": "other"}', int(time.time())
    headers = {"X-Memsvc-Timestamp": str(now), "X-Memsvc-Signature": sign(added["secret"], now, body)}
    await user.post(f"{at}/push", content=body, headers=headers)
    await get(user, "/v1/feeds")
    await get(user, at)
    await get(user, f"{at}/runs")
    await user.put(at, json={"kind": "push", "name": "the office", "takes": "memory"})
    await user.post(f"{at}/pause")
    await user.post(f"{at}/resume")
    await user.post(f"{at}/secret")
    await user.delete(at)
    mailbox = await stage.watch()
    await user.post(f"/v1/feeds/{mailbox}/run")
    await get(user, f"/v1/feeds/{mailbox}/runs")
    await get(user, "/v1/feeds")
    await user.delete(f"/v1/feeds/{mailbox}")


async def turns(stage: Stage) -> None:
    """An agent fixes a test, twice."""
    call = {"tool": "READ", "arguments": {"path": "shop/auth.py"}, "result": "def login", "ms": 9}
    failed = {"tool": "BASH", "arguments": {"command": "pytest -q"}, "result": "1 failed", "ok": False, "exit_code": 1}
    where = {"project": "github.com/kim/lantern-shop", "root": "/home/kim/code/lantern-shop"}
    await post(
        stage.user, "/v1/turns", conversation="agent-1", id="turn-1", request="Fix the login test.",
        calls=[call, failed], answer="It is green: I pinned bcrypt==4.0.1.", **where,
    )  # fmt: skip
    await stage.work()
    asked = {"query": "Fix the login test again.", "files": ["shop/auth.py"], "conversation": "agent-2", **where}
    [turn] = (await post(stage.user, "/v1/past-work", **asked))["turns"]
    document = turn["documents"][0]["document_id"]
    await get(stage.user, f"/v1/documents/{document}/versions", limit=2)
    await get(stage.user, f"/v1/documents/{document}/staleness", limit=2)


async def rereading(stage: Stage) -> None:
    """A new version of the extractor reads again."""
    user = stage.user
    await stage.renew("saying/2")
    again = "/v1/extractions/rereadings"
    await get(user, f"{again}/dry-run", messages=12)
    asked = (await post(user, again))["rereading"]["rereading_id"]
    await stage.work()
    await get(user, again)
    await get(user, f"{again}/{asked}")
    await get(user, f"{again}/{asked}/facts", limit=2)
    await user.post(f"{again}/{asked}/undo")
    await stage.work()
    await post(user, again)
    newest = (await get(user, again))["items"][0]["rereading_id"]
    await user.post(f"{again}/{newest}/stop")


async def forgetting(stage: Stage) -> None:
    """What must not be kept; first seen, then done."""
    user = stage.user
    texts = [{"conversation": name, "text": f"A {name} secret."} for name in ("first", "second", "third", "fourth")]
    said = (await post(user, "/v1/messages", messages=texts))["messages"]
    made = await post(user, "/v1/nodes", type="Person", label="Nobody")
    other = await post(user, "/v1/nodes", type="Person", label="Somebody")
    ends = [one["results"][0]["node_id"] for one in (made, other)]
    fact = await post(user, "/v1/facts", from_node=ends[0], to_node=ends[1], type="KNOWS", fact="Nobody knows.")
    for path in (
        f"/v1/messages/{said[0]['passage_id']}",
        f"/v1/passages/{said[1]['passage_id']}",
        f"/v1/sources/{said[2]['conversation_id']}",
        "/v1/conversations/fourth",
        f"/v1/facts/{fact['results'][0]['edge_id']}",
        f"/v1/nodes/{ends[0]}",
    ):
        await user.delete(path, params={"preview": True})
        receipt = (await user.delete(path)).json()
    await get(user, "/v1/erasures", limit=2)
    await get(user, f"/v1/erasures/{receipt['erasure_id']}")


async def administration(stage: Stage) -> None:
    """Users and keys of an app."""
    chief = stage.chief
    person = {"name": "Rui", "external_id": "rui@example.org", "aliases": ["RT"], "time_zone": "Europe/Lisbon"}
    rui = await post(chief, "/v1/users", **person)
    await get(chief, "/v1/users")
    key = await post(chief, "/v1/keys", user=rui["user_id"], label="phone", expires_in=7_776_000)
    await get(chief, "/v1/keys")
    key_id = key["key"]["key_id"]
    await put(chief, f"/v1/keys/{key_id}/limits", requests_per_minute=120, messages_per_day=5_000)
    await put(chief, f"/v1/keys/{key_id}/scopes", scopes=["read"])
    await chief.put("/v1/budgets", json={"whose": "each", "messages_per_day": 5_000})
    await get(chief, "/v1/budgets")
    await chief.put("/v1/budgets", json={"whose": "each"})
    await get(chief, "/v1/keys/use", days=7)
    await chief.delete(f"/v1/keys/{key_id}")
    leo = await post(chief, "/v1/users", name="Leo")
    await get(chief, f"/v1/users/{leo['user_id']}/figures")
    await chief.post(f"/v1/users/{leo['user_id']}/anonymise")
    await get(chief, "/v1/figures")
    await chief.delete("/v1/users/rui@example.org", params={"preview": True})
    await chief.delete("/v1/users/rui@example.org")
    await get(chief, f"/v1/users/{rui['user_id']}/erasure")
    await get(chief, "/v1/audit", limit=3)
    await get(chief, "/v1/policy")
    await put(chief, "/v1/policy", kinds={"private_key": "mask"})


async def operated(stage: Stage) -> None:
    """How the service is doing."""
    chief = stage.chief
    await get(chief, "/v1/operations")
    await get(chief, "/v1/operations/cells")
    await get(chief, "/v1/operations/models", cell="home")
    await get(chief, "/v1/operations/costs", days=7)
    await post(stage.user, "/v1/messages", conversation="jobs", text="Ines lives in Potsdam now.")
    job = (await get(chief, "/v1/operations/jobs", state="pending", limit=1))["items"][0]["job_id"]
    await stage.user.post(f"/v1/jobs/{job}/cancel")
    await chief.post(f"/v1/operations/jobs/{job}/retry")
    dead = await stage.reject()
    await get(chief, "/v1/operations/dead-letters")
    await chief.post(f"/v1/operations/dead-letters/{dead}/retry")
    await chief.delete(f"/v1/operations/dead-letters/{await stage.reject()}")
