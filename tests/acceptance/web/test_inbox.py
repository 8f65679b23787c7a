"""The inbox: decisions by one key each, taken back, in two windows, several at once; and what a thing's page does."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
import pytest

from tests.acceptance.web.world import HOSTILE, World, assert_clean, sign_in, told

pytestmark = pytest.mark.acceptance
SAID = "At home in Leipzig on the 24th"
FOCUSED = "document.activeElement.dataset.key?.startsWith(values[0])"


class Memory:
    """Marcel's memory, filled with what waits."""

    def __init__(self, api: httpx.Client, database: psycopg.Connection[Any]) -> None:
        """Find the user, and a message that says something."""
        self._api, self._database = api, database
        self._user = told(self._api.get("/v1/me"))["user"]["user_id"]
        database.execute("SELECT set_config('memsvc.user_id', %s, false)", [self._user])
        found = told(self._api.post("/v1/recall", json={"query": SAID, "limit": 1}))["memories"][0]
        self._passage = found["passage_id"]

    def get(self, path: str, **query: Any) -> Any:
        """What the API tells."""
        return told(self._api.get(path, params=query))

    def post(self, path: str, **body: Any) -> Any:
        """What the API did."""
        return told(self._api.post(path, json=body))

    def node(self, label: str, kind: str = "Person", **more: Any) -> str:
        """The id of a new node."""
        made: str = self.post("/v1/nodes", label=label, type=kind, **more)["results"][0]["node_id"]
        return made

    def pair(self, *labels: str, by: str = "sleep:duplicates") -> tuple[str, str]:
        """Two nodes that may be the same."""
        one, other = sorted(self.node(label) for label in labels)
        self._database.execute(
            "INSERT INTO memsvc.duplicate_candidates (user_id, node_a, node_b, score, evidence, found_by) "
            "VALUES (%s, %s, %s, 0.6, %s, %s)",
            [self._user, one, other, json.dumps({"name": 5, "company": -1}), by],
        )
        return one, other

    def doubt(self, sentence: str, quote: str = SAID) -> str:
        """A doubtful fact."""
        proposal = {
            "subject": {"name": "Ines", "type": "Person"}, "type": "LIVES_IN",
            "object": {"name": "Leipzig", "type": "Place"}, "sentence": sentence, "quote": quote, "confidence": 0.4,
        }  # fmt: skip
        row = self._database.execute(
            "INSERT INTO memsvc.fact_reviews (user_id, passage_id, extractor, state, reason, proposal, digest) "
            "VALUES (%s, %s, 'offline/2', 'doubtful', 'doubtful', %s, %s) RETURNING review_id",
            [self._user, self._passage, json.dumps(proposal), hashlib.sha256(sentence.encode()).digest()],
        ).fetchone()
        assert row is not None
        return str(row[0])

    def link(self, *labels: str) -> None:
        """A proposed link."""
        one, other = sorted(self.node(label) for label in labels)
        self._database.execute(
            "INSERT INTO memsvc.proposals (user_id, kind, key, node_id, other_id, score) "
            "VALUES (%s, 'link', %s, %s, %s, 0.7)",
            [self._user, other, one, other],
        )

    def lesson(self, lesson: str, question: str = "When is the wedding?") -> str:
        """A proposed instruction."""
        made: str = self.post(
            "/v1/critique", question=question, answer="In June.", correction="In September.", lesson=lesson
        )["critique_id"]
        return made


@pytest.fixture
def memory(world: World) -> Iterator[Memory]:
    """Marcel's memory."""
    with world.api(world.marcel) as api, psycopg.connect(world.rig.admin_url(), autocommit=True) as database:
        yield Memory(api, database)


@contextmanager
def signed_in(world: World, address: str, *, width: int = 1280) -> Iterator[Any]:
    """A visitor who sees a screen."""
    with world.browser.visitor(width=width) as page:
        sign_in(world, page, world.marcel)
        page.open(f"{world.rig.url}/{address}")
        yield page


def test_three_are_decided_by_one_key_each_and_one_is_taken_back(world: World, memory: Memory) -> None:
    memory.pair("Kira Vogt", "Kira Voigt")
    lesson = memory.lesson("Look for a later message that moves a date.")
    review = memory.doubt("Ines lives in Leipzig.")
    with signed_in(world, "#/inbox") as page:
        page.sees("3", "#screens .count")
        page.sees("Kira Vogt", ".item.open")
        assert_clean(page)
        page.press("a")
        page.sees("Merged.", ".notice")
        page.until(FOCUSED, "lessons")
        page.press("e")
        page.sees("The instruction in your words", "dialog")
        page.press("r")  # a dialog is open: it decides nothing
        page.fill("dialog textarea", "Look for later dates first. Then r and a answer.")
        page.click("Save and accept", "dialog button")
        page.sees("It is an instruction now.", ".notice")
        page.until(FOCUSED, "reviews")
        page.sees("Not sure enough", ".item.open")
        page.press("r")
        page.sees("Rejected.", ".notice")
        page.sees("Nothing waits for you.")
        page.until("document.querySelector('#screens .count') === null")
        page.press("u")
        page.sees("Taken back.", ".notice")
        page.until(FOCUSED, "reviews")
        page.sees("1", "#screens .count")
        assert memory.get(f"/v1/reviews/{review}")["state"] == "doubtful"
        page.press("l")
        page.sees("1 is put aside.")
        page.click("Show again")
        page.press("a")
        page.sees("The fact is written.", ".notice")
        assert_clean(page)
    assert memory.get("/v1/waiting")["total"] == 0
    assert memory.get(f"/v1/lessons/{lesson}")["lesson"].startswith("Look for later dates first.")
    assert memory.get(f"/v1/reviews/{review}")["state"] == "accepted"


def test_a_merge_is_taken_back_and_both_wait_again(world: World, memory: Memory) -> None:
    one, other = memory.pair("Timo Sand", "Timo Sandt")
    with signed_in(world, "#/inbox?kind=duplicates") as page:
        page.sees("Timo Sandt", ".side")
        page.click("Merge", ".item .primary")
        page.sees("Merged.", ".notice")
        assert memory.get(f"/v1/nodes/{other}")["node_id"] == memory.get(f"/v1/nodes/{one}")["node_id"]
        page.click("Undo", ".notice button")
        page.sees("Timo Sandt", ".side")
        assert memory.get(f"/v1/nodes/{other}")["node_id"] != memory.get(f"/v1/nodes/{one}")["node_id"]
        page.press("r")
        page.sees("Kept apart.", ".notice")
    assert memory.get("/v1/duplicates")["items"] == []


def test_two_windows_decide_on_the_same_pair_and_the_second_is_told(world: World, memory: Memory) -> None:
    one, other = memory.pair("Ole Brand", "Ole Brandt")
    with signed_in(world, "#/inbox?kind=duplicates") as first, signed_in(world, "#/inbox?kind=duplicates") as second:
        first.sees("Ole Brandt", ".side")
        second.sees("Ole Brandt", ".side")
        first.press("r")
        first.sees("Kept apart.", ".notice")
        second.press("a")
        second.sees("This was decided already", ".notice")
        second.sees("Nothing of this kind waits.")
        assert_clean(second)
    assert memory.get(f"/v1/nodes/{other}")["node_id"] == other
    assert memory.get(f"/v1/nodes/{one}")["node_id"] == one
    rejected = memory.get("/v1/duplicates", status="rejected")["items"]
    assert (one, other) in [(pair["a"]["node_id"], pair["b"]["node_id"]) for pair in rejected]


def test_several_are_decided_at_once_after_a_look(world: World, memory: Memory) -> None:
    for name in ("Anker", "Boje"):
        memory.link(f"{name} Werft", f"{name} Hafen")
    before = memory.get("/v1/graph/stats")["edge_types"].get("RELATED_TO", 0)
    with signed_in(world, "#/inbox?kind=links") as page:
        page.sees("Boje Werft", ".item")
        page.click("Select all shown")
        page.click("Accept …", ".bulk button")
        page.sees("2 links are written, as RELATED_TO.", "dialog")
        page.sees("Anker Hafen", "dialog li")
        assert_clean(page)
        page.click("Accept 2", "dialog button")
        page.sees("2 decided.", ".notice")
        assert memory.get("/v1/graph/stats")["edge_types"]["RELATED_TO"] == before + 2
        page.press("u")
        page.sees("Taken back.", ".notice")
        page.sees("Boje Werft", ".item")
    assert memory.get("/v1/graph/stats")["edge_types"].get("RELATED_TO", 0) == before
    assert memory.get("/v1/waiting")["links"] == 2


def test_of_facts_that_exclude_each_other_one_is_kept(world: World, memory: Memory) -> None:
    nils, double, bonn, kiel = (
        memory.node(*one) for one in (("Nils",), ("Nils P.",), ("Bonn", "Place"), ("Kiel", "Place"))
    )
    for who, where, fact in ((nils, bonn, "Nils lives in Bonn."), (double, kiel, "Nils lives in Kiel.")):
        memory.post("/v1/facts", type="LIVES_IN", from_node=who, to_node=where, fact=fact, valid_from="2025-01-01")
    memory.post(f"/v1/nodes/{double}/merge", into=nils)
    with signed_in(world, "#/inbox?kind=contradictions") as page:
        page.sees("Nils lives in Bonn.", ".rivals label")
        assert_clean(page)
        texts = page.run("[...document.querySelectorAll('.rivals b')].map((one) => one.innerText)")
        page.press(str(texts.index("Nils lives in Kiel.") + 1))
        page.until("document.querySelector('.rivals input:checked + kbd + .rival b').innerText.includes('Kiel')")
        page.press("a")
        page.sees("Decided: the other is taken out.", ".notice")
    facts = [one["fact"] for one in memory.get("/v1/facts", about=nils)["items"]]
    assert facts == ["Nils lives in Kiel."]


def test_hostile_texts_are_only_shown(world: World, memory: Memory) -> None:
    for nth, text in enumerate(HOSTILE):
        memory.pair(f"zz{nth} {text}", f"yy{nth} {text}", by=f"by {text}"[:190])
        memory.doubt(f"zz{nth} {text}"[:900], quote=text[:400])
        memory.lesson(f"zz{nth} {text}"[:900], question=text[:900])
        memory.link(f"xx{nth} {text}", f"ww{nth} {text}")
        memory.post("/v1/ontology/node-types", name=f"Odd{nth}", description=text, reason=text, proposed_by=text[:50])
    for kind in ("duplicates", "reviews", "lessons", "links", "types"):
        with signed_in(world, f"#/inbox?kind={kind}", width=360) as page:
            page.until("document.querySelectorAll('.item').length >= values[0]", len(HOSTILE))
            for _ in range(len(HOSTILE)):
                page.press("j")
                page.until("document.querySelector('.item.open .opened') !== null")
            assert page.run("window.hacked ?? null") is None, kind
            assert_clean(page)
            page.click("Select all shown")
            page.click("Reject …", ".bulk button")
            page.until("document.querySelectorAll('dialog li').length >= values[0]", len(HOSTILE))
            assert_clean(page)
            if kind == "types":
                page.click("Reject ", "dialog button.danger")
                page.sees("10 decided.", ".notice")
                page.sees("Nothing of this kind waits.")


def test_another_user_has_nothing_to_decide(world: World, memory: Memory) -> None:
    memory.pair("Lea Stein", "Lea Steiner")
    with world.browser.visitor() as page:
        sign_in(world, page, world.bob)
        page.open(f"{world.rig.url}/#/inbox")
        page.sees("Nothing waits for you.")
        assert page.run("document.querySelector('#screens .count')") is None
        assert "Stein" not in page.text()
        assert_clean(page)


def test_a_thing_is_pinned_split_and_told_of_and_what_sleep_wrote_is_hidden(world: World, memory: Memory) -> None:
    memory.post("/v1/messages", conversation="harbour", text="Jo is a sailor.")
    memory.post("/v1/messages", conversation="school", text="Jo is a teacher.")
    said = [memory.post("/v1/recall", query=text, limit=1)["memories"][0] for text in ("Jo sailor", "Jo teacher")]
    evidence = [{"passage_id": one["passage_id"]} for one in said]
    jo = memory.node("Jo", description="Someone.", evidence=evidence)
    memory.node("Summary of everything", "Summary")
    with signed_in(world, f"#/things/{jo}") as page:
        page.click("Pin", ".card button")
        page.sees("Pinned", ".card .pinned")
        page.click("Unpin", ".card button")
        page.until("document.querySelector('.card .pinned') === null")
        page.click("Split …", ".card button")
        page.sees("harbour", "dialog label")
        page.click("school", "dialog label")
        assert_clean(page)
        page.click("Split", "dialog button[type=submit]:enabled")
        page.sees("Split.", ".notice")
        page.click("For the assistant", ".tabs button")
        page.sees("[end of memsvc context", "pre")
        assert_clean(page)
        page.open(f"{world.rig.url}/#/things?q=Summary of everything")
        page.sees("Nothing has this name.")
        page.click("Also what sleep mode wrote", "label")
        page.sees("Summary of everything", ".rows")
        assert_clean(page)
    assert memory.get("/v1/nodes", q="Jo", type="Person")["items"][1]["name"] == "Jo"
