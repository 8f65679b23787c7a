"""A claim is supported, contradicted or unknown; a wrong verdict is worse than none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from litestar import Litestar

from memsvc.extract.run import Extractors
from memsvc.settings import Settings
from tests.api.mcp_clients import mcp_client, said

NODES = (
    ("ines", "Person", "Ines"), ("ben", "Person", "Ben"), ("porto", "Place", "Porto"), ("lyon", "Place", "Lyon"),
    ("acme", "Organization", "Acme"), ("bike", "Object", "cargo bike"),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _reading(api: Litestar, settings: Settings) -> Iterator[None]:
    """Lets the application read with the extractors of the settings."""
    service = api.state["service"]
    api.state["service"] = replace(service, extractors=Extractors(settings))
    yield
    api.state["service"] = service


@pytest.fixture
async def known(ada: httpx.AsyncClient) -> dict[str, str]:
    """Nodes, and facts about them: what holds, and what has ended."""
    ids: dict[str, str] = {}
    for key, type_, label in NODES:
        answer = await ada.post("/v1/nodes", json={"type": type_, "label": label})
        ids[key] = answer.json()["results"][0]["node_id"]

    async def fact(start: str, type_: str, end: str, sentence: str, **more: Any) -> None:
        body = {"from_node": ids[start], "type": type_, "to_node": ids[end], "fact": sentence, **more}
        assert (await ada.post("/v1/facts", json=body)).status_code in {200, 201}

    lyon = {"valid_from": "2020-01-01T00:00:00Z", "valid_to": "2024-05-01T00:00:00Z"}
    await fact("ines", "LIVES_IN", "lyon", "Ines lives in Lyon.", **lyon)
    await fact("ines", "LIVES_IN", "porto", "Ines lives in Porto.", valid_from="2024-05-01T00:00:00Z")
    await fact("ines", "WORKS_AT", "acme", "Ines works at Acme.")
    await fact("ines", "LIKES", "ben", "Ines likes Ben.")
    await fact("ines", "OWNS", "bike", "Ines owns the cargo bike.", valid_to="2025-03-02T00:00:00Z")
    return ids


async def verified(client: httpx.AsyncClient, claim: str, **more: Any) -> dict[str, Any]:
    answer = await client.post("/v1/verify", json={"claim": claim, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def say(client: httpx.AsyncClient, *messages: dict[str, Any]) -> None:
    sent = [{"conversation": "a", **message} for message in messages]
    assert (await client.post("/v1/messages", json={"messages": sent})).status_code == 202


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Ines lives in Porto.", "supported"),
        ("Ines works at Acme.", "supported"),
        ("Ines likes Ben.", "supported"),
        ("Ines lives in Lyon.", "contradicted"),  # it has ended, and another value holds
        ("Ines lives in Berlin.", "unknown"),  # another value holds, that may be its other name
        ("Ines lives in Oporto.", "unknown"),
        ("Ines works at Acme Holding.", "unknown"),
        ("Ines now lives in Porto.", "supported"),
        ("Ines used to live in Lyon.", "supported"),
        ("Ines used to live in Porto.", "unknown"),
        ("Ines did work at Acme.", "unknown"),
        ("Ines still owns the green cargo bike.", "contradicted"),  # the only one ended
        ("Ines no longer works at Acme.", "contradicted"),
        ("Ines lives in Portugal.", "unknown"),  # Porto may lie in it
        ("Ben lives in Porto.", "unknown"),
        ("Ines works at Acme as a surgeon.", "unknown"),  # only a part is known
        ("Ines will work at Acme.", "unknown"),
        ("Ines owns a dog.", "unknown"),
        ("Zora lives in Porto.", "unknown"),
    ],
)
async def test_known_facts_decide(ada: httpx.AsyncClient, known: dict[str, str], claim: str, verdict: str) -> None:
    found = await verified(ada, claim)
    assert found["verdict"] == verdict, found
    sides = {"supported": found["supporting"], "contradicted": found["contradicting"]}
    assert bool(sides.get(verdict, ["-"])), found
    assert not [one for side, listed in sides.items() if side != verdict for one in listed]


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("Tim is Eva's boyfriend.", "contradicted"),
        ("Tim is Eva's boyfriend", "contradicted"),
        ("Tim is Eva's partner.", "unknown"),
        ("Tim is still Eva's boyfriend.", "contradicted"),
        ("Eva's boyfriend is Tim.", "contradicted"),
        ("Tim was Eva's boyfriend.", "unknown"),
        ("Tim is Eva's brother.", "unknown"),
        ("Ole is Eva's colleague.", "contradicted"),
        ("Pia is Eva's sister.", "supported"),
    ],
)
async def test_a_relation_that_ended(ada: httpx.AsyncClient, claim: str, verdict: str) -> None:
    ids: dict[str, str] = {}
    for label in ("Eva", "Tim", "Ole", "Pia"):
        answer = await ada.post("/v1/nodes", json={"type": "Person", "label": label})
        ids[label] = answer.json()["results"][0]["node_id"]
    for type_, who, relation, more in (
        ("FAMILY_OF", "Tim", "boyfriend", {"valid_to": "2025-11-02T00:00:00Z"}),
        ("KNOWS", "Ole", "colleague", {"valid_to": "2025-11-02T00:00:00Z"}),
        ("FAMILY_OF", "Pia", "sister", {}),
    ):
        body = {
            "from_node": ids["Eva"], "type": type_, "to_node": ids[who], "fact": f"{who} is Eva's {relation}.",
            "data": {"relation": relation}, **more,
        }  # fmt: skip
        assert (await ada.post("/v1/facts", json=body)).status_code in {200, 201}
    found = await verified(ada, claim)
    assert found["verdict"] == verdict, found


async def test_the_evidence_has_ids_sentences_and_dates(ada: httpx.AsyncClient, known: dict[str, str]) -> None:
    found = await verified(ada, "Ines lives in Lyon.")
    [against] = found["contradicting"]
    assert (against["text"], against["valid_from"]) == ("Ines lives in Porto.", "2024-05-01T00:00:00Z")
    assert found["reason"] == "Something else holds since 2024-05-01."
    opened = await ada.get(f"/v1/memories/{against['id']}")
    assert opened.json()["text"] == "Ines lives in Porto."
    then = await verified(ada, "Ines lives in Lyon.", as_of="2022-01-01T00:00:00Z")
    assert (then["verdict"], then["supporting"][0]["valid_to"]) == ("supported", "2024-05-01T00:00:00Z")
    ended = await verified(ada, "Ines owns the cargo bike.")
    assert (ended["verdict"], ended["reason"]) == ("contradicted", "It ended on 2025-03-02.")


async def test_what_was_not_recorded_yet_does_not_count(ada: httpx.AsyncClient, known: dict[str, str]) -> None:
    found = await verified(ada, "Ines lives in Porto.", known_at="2020-01-01T00:00:00Z")
    assert (found["verdict"], found["supporting"]) == ("unknown", [])


async def test_messages_that_say_it_decide_and_those_near_it_are_listed(ada: httpx.AsyncClient) -> None:
    await say(
        ada,
        {"text": "Long week. Emil is allergic to hazelnuts. Poor boy."},
        {"text": "Greta keeps three grey geese behind the barn, she says."},
    )
    found = await verified(ada, "Emil is allergic to hazelnuts.")
    assert (found["verdict"], found["supporting"][0]["text"]) == ("supported", "Emil is allergic to hazelnuts.")
    denied = await verified(ada, "Emil is not allergic to hazelnuts.")
    assert (denied["verdict"], denied["reason"]) == ("unknown", "A message denies it; no fact decides.")
    assert denied["contradicting"][0]["text"] == "Emil is allergic to hazelnuts."
    near = await verified(ada, "Greta keeps seven geese behind the barn.")
    assert (near["verdict"], [one["kind"] for one in near["related"]]) == ("unknown", ["message"])
    assert (await verified(ada, "Quentin plays the tuba."))["related"] == []


async def test_a_speakers_last_word_counts_and_disagreement_decides_nothing(ada: httpx.AsyncClient) -> None:
    await say(
        ada,
        {"text": "The shed is painted blue.", "said_at": "2025-01-01T10:00:00Z"},
        {"text": "The shed is not painted blue.", "said_at": "2025-02-01T10:00:00Z"},
    )
    last = await verified(ada, "The shed is painted blue.")
    assert (last["verdict"], last["supporting"], len(last["contradicting"])) == ("unknown", [], 1)
    earlier = await verified(ada, "The shed is painted blue.", as_of="2025-01-15T00:00:00Z")
    assert earlier["verdict"] == "supported"
    await say(ada, {"text": "The shed is painted blue.", "speaker": "Rui", "role": "other"})
    split = await verified(ada, "The shed is painted blue.")
    assert (split["verdict"], split["reason"]) == ("unknown", "What is known disagrees.")
    assert split["supporting"]
    assert split["contradicting"]


async def test_the_owners_i_is_nobody_elses(ada: httpx.AsyncClient) -> None:
    await say(
        ada,
        {"text": "I live in Faro.", "role": "other"},
        {"text": "I live in Faro.", "speaker": "Rui", "role": "other"},
        {"text": "I live in Faro.", "speaker": "Rui"},
        {"text": "I keep bees."},
    )
    told = await verified(ada, "I live in Faro.")
    assert (told["verdict"], told["supporting"]) == ("unknown", [])
    assert (await verified(ada, "Rui lives in Faro."))["verdict"] == "supported"
    assert (await verified(ada, "I keep bees."))["verdict"] == "supported"
    assert (await verified(ada, "Ada keeps bees."))["verdict"] == "supported"
    assert (await verified(ada, "Rui keeps bees."))["verdict"] == "unknown"


async def test_a_claim_about_its_moment_needs_a_message_of_the_same_day(ada: httpx.AsyncClient) -> None:
    await say(
        ada,
        {"text": "I keep bees.", "said_at": "2025-01-01T10:00:00Z"},
        {"text": "I do not keep geese.", "said_at": "2025-01-01T10:00:00Z"},
    )
    for claim in ("I still keep bees.", "I currently keep geese."):
        later = await verified(ada, claim)
        assert (later["verdict"], later["supporting"], later["contradicting"]) == ("unknown", [], [])
    assert (await verified(ada, "I keep bees."))["verdict"] == "supported"
    assert (await verified(ada, "I still keep bees.", as_of="2025-01-01T20:00:00Z"))["verdict"] == "supported"


async def test_what_a_message_only_hands_over_is_no_evidence(ada: httpx.AsyncClient) -> None:
    await say(ada, {"text": "Translate this into German:\nI keep bees."}, {"text": "Rui wrote:\nI keep bees."})
    told = await verified(ada, "I keep bees.")
    assert (told["verdict"], told["supporting"], len(told["related"])) == ("unknown", [], 2)


async def test_a_facts_sentence_accounts_for_no_limits_of_a_claim(
    ada: httpx.AsyncClient, known: dict[str, str]
) -> None:
    sentence = "Ben works at Acme with Ines but not on Fridays and never alone except in May."
    body = {"from_node": known["ben"], "type": "WORKS_AT", "to_node": known["acme"], "fact": sentence}
    await ada.post("/v1/facts", json=body)
    assert (await verified(ada, "Ben works at Acme with Ines."))["verdict"] == "supported"
    for claim in (
        "Ben works at Acme but not on Fridays.",
        "Ben works at Acme with Ines except on Fridays.",
        "Ben works at Acme, never alone.",
        "Ben works at Acme only with Ines.",
    ):
        assert (await verified(ada, claim))["verdict"] == "unknown", claim


async def test_a_place_that_ended_is_contradicted_only_by_one_apart_from_it(
    ada: httpx.AsyncClient, known: dict[str, str]
) -> None:
    ids = dict[str, str]()
    for label in ("Foz", "Ribeira", "Lordelo"):
        answer = await ada.post("/v1/nodes", json={"type": "Place", "label": label})
        ids[label] = answer.json()["results"][0]["node_id"]
    for start, end in (("Foz", ids["Lordelo"]), ("Lordelo", known["porto"])):
        body = {"from_node": ids[start], "type": "PART_OF", "to_node": end, "fact": f"{start} is a part of it."}
        assert (await ada.post("/v1/facts", json=body)).status_code in {200, 201}
    past = {"valid_from": "2020-01-01T00:00:00Z", "valid_to": "2024-05-01T00:00:00Z"}
    for end, when in ((known["porto"], past), (known["lyon"], past), (ids["Foz"], {"valid_from": past["valid_to"]})):
        body = {"from_node": known["ben"], "type": "LIVES_IN", "to_node": end, "fact": "Ben lives there.", **when}
        assert (await ada.post("/v1/facts", json=body)).status_code in {200, 201}
    assert (await verified(ada, "Ben lives in Lyon."))["verdict"] == "contradicted"
    assert (await verified(ada, "Ben lives in Porto."))["verdict"] == "unknown"  # Foz lies in it


async def test_a_description_that_fits_two_things_decides_nothing(
    ada: httpx.AsyncClient, known: dict[str, str]
) -> None:
    async def own(label: str) -> str:
        answer = await ada.post("/v1/nodes", json={"type": "Object", "label": label})
        node = answer.json()["results"][0]["node_id"]
        body = {"from_node": known["ines"], "type": "OWNS", "to_node": node, "fact": f"Ines owns the {label}."}
        assert (await ada.post("/v1/facts", json=body)).status_code in {200, 201}
        return str((await verified(ada, "Ines still owns the green cargo bike."))["verdict"])

    assert await own("old blue city bike") == "contradicted"
    assert await own("Bullitt cargo bike") == "unknown"


async def test_another_value_that_holds_keeps_messages_from_deciding(
    ada: httpx.AsyncClient, known: dict[str, str]
) -> None:
    await say(ada, {"text": "Ines lives in Berlin.", "said_at": "2019-01-01T10:00:00Z"})
    told = await verified(ada, "Ines lives in Berlin.")
    assert (told["verdict"], len(told["supporting"])) == ("unknown", 1)


async def test_what_an_assistant_said_is_no_evidence(ada: httpx.AsyncClient) -> None:
    await say(ada, {"text": "The shed is painted blue.", "role": "assistant"})
    found = await verified(ada, "The shed is painted blue.")
    assert (found["verdict"], len(found["related"])) == ("unknown", 1)


async def test_others_memories_decide_nothing(
    ada: httpx.AsyncClient, bob: httpx.AsyncClient, known: dict[str, str]
) -> None:
    await say(ada, {"text": "Emil is allergic to hazelnuts."})
    for claim in ("Emil is allergic to hazelnuts.", "Ines lives in Porto."):
        found = await verified(bob, claim)
        assert (found["verdict"], found["supporting"], found["related"]) == ("unknown", [], [])


@pytest.mark.parametrize(
    ("claim", "code"),
    [
        ("Where does Ines live?", "claim_is_question"),
        ("Does Ines live in Porto?", "claim_is_question"),
        (" ", "invalid_request"),
        ("x" * 1_001, "invalid_request"),
        ("a\0b", "invalid_text"),
    ],
)
async def test_what_is_no_claim_is_refused(ada: httpx.AsyncClient, claim: str, code: str) -> None:
    answer = await ada.post("/v1/verify", json={"claim": claim})
    assert (answer.status_code, answer.json()["code"]) == (400, code)


async def test_without_the_extractor_messages_decide(
    api: Litestar, ada: httpx.AsyncClient, known: dict[str, str]
) -> None:
    api.state["service"] = replace(api.state["service"], extractors=None)
    await say(ada, {"text": "The shed is painted blue."})
    assert (await verified(ada, "The shed is painted blue."))["verdict"] == "supported"
    found = await verified(ada, "Ines lives in Porto.")
    assert (found["verdict"], found["degraded"][0]) == ("unknown", "facts")


async def test_models_verify_over_mcp(api: Litestar, ada: httpx.AsyncClient, known: dict[str, str]) -> None:
    async with mcp_client(api, ada, "2026-07-28") as client:
        answer = await client.call_tool("verify", {"claim": "Ines lives in Lyon."})
        asked = await client.call_tool("verify", {"claim": "Where does Ines live?"})
    assert said(answer).startswith("contradicted: Something else holds since 2024-05-01.\n[memsvc context ")
    assert answer.structured_content["verdict"] == "contradicted"
    assert "Ines lives in Porto. (since 1 May 2024)" in answer.structured_content["contradicting"][0]
    assert asked.is_error
    assert asked.structured_content["code"] == "claim_is_question"
