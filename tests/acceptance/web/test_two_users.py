"""Two users side by side; a lost connection; a key that may only read; long texts and those from right to left."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from tests.acceptance.web.world import World, assert_clean, sign_in, told
from tests.browser import Page

pytestmark = pytest.mark.acceptance
CONTROL = 2
LOST = "The page tries again by itself"
ARABIC, HEBREW = "القهوة مع إيناس في المرفأ القديم", "רוזלינדה היא האופניים החדשים של מרסל"
# The socket's messages as the page gets them. A silence after which a connection is dead comes sooner where asked.
RECORD = """
window.heard = [];
window.sockets = [];
window.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given);
    sockets.push(this);
    this.addEventListener("message", ({ data }) => heard.push(JSON.parse(data)));
  }
};
if (SOON) {
  const { setTimeout } = window;
  window.setTimeout = (act, wait, ...more) => setTimeout(act, wait === 50_000 ? 1_500 : wait, ...more);
}
"""
OPEN = "document.querySelectorAll('details, .fact .head').forEach((one) => { one.open = true; one.click() })"
DIRECTIONS = (
    "[...document.querySelectorAll(values[0])].filter((one) => one.innerText.startsWith(values[1]))"
    ".map((one) => getComputedStyle(one).direction)"
)
EVENTS = "heard.filter((one) => one.event_id)"


def record(page: Page, *, silence_soon: bool = False) -> None:
    """Keep what the socket says in ``window.heard``."""
    page.send("Page.addScriptToEvaluateOnNewDocument", source=RECORD.replace("SOON", json.dumps(silence_soon)))


def signed_in(world: World, page: Page, key: str) -> None:
    """Sign in, and wait until the socket is open."""
    sign_in(world, page, key)
    page.until("heard.some((one) => one.type === 'READY')")


def owns(world: World, key: str, thing: str) -> str:
    """Let a user own a new thing; its id."""
    with world.api(key) as api:
        node = told(api.post("/v1/nodes", json={"label": thing, "type": "Object"}))["results"][0]["node_id"]
        fact = {"type": "OWNS", "from_node": told(api.get("/v1/me"))["node_id"], "to_node": node}
        told(api.post("/v1/facts", json=fact | {"fact": f"Owns {thing}."}))
        return str(node)


def screens(page: Page) -> list[str]:
    """Addresses of all screens that the page offers."""
    found: list[str] = page.run("[...document.querySelectorAll('nav a[href^=\"#/\"]')].map((one) => one.hash)")
    assert "#/things" in found
    return found


def go(page: Page, address: str) -> None:
    """Go to a screen and wait until it is drawn."""
    page.run("location.hash = values[0]", address)
    page.until("document.querySelector('#content :is(h1, h2, h3, p)') && !document.querySelector('#content .waiting')")
    page.run("new Promise((done) => setTimeout(done, 150))")


def palette(page: Page, name: str) -> list[str]:
    """What the finder suggests for a name."""
    page.press("k", code=ord("K"), modifiers=CONTROL)
    page.fill("[cmdk-input]", name)
    page.sees(f"Ask: {name}", "[cmdk-item]")
    page.run("new Promise((done) => setTimeout(done, 700))")
    found: list[str] = page.run("[...document.querySelectorAll('[cmdk-item]')].map((one) => one.innerText)")
    page.press("Escape", code=27)
    page.until("!document.querySelector('dialog[open]')")
    return found


def test_neither_of_two_users_sees_an_event_a_count_or_a_suggestion_of_the_other(world: World) -> None:
    with world.browser.visitor() as marcels, world.browser.visitor() as bobs:
        pages = {"marcel": (marcels, world.marcel, "Mandolin"), "bob": (bobs, world.bob, "Bassoon")}
        for page, key, _ in pages.values():
            record(page)
            signed_in(world, page, key)
            go(page, "#/things")
        made = {name: owns(world, key, f"{thing} Quux") for name, (_, key, thing) in pages.items()}
        with world.api(world.marcel) as api:
            told(api.post("/v1/messages", json={"conversation": "music", "text": "The Mandolin Quux needs strings."}))
            told(api.post("/v1/recall", json={"query": "Mandolin Quux"}))
        marcels.until(f"{EVENTS}.some((one) => one.type === 'SOURCE_UPDATE')")
        marcels.until(f"{EVENTS}.some((one) => one.type === 'NODE_FOCUS')")
        owns(world, world.bob, "Bassoon reed")  # what comes after this was there before it
        bobs.until("JSON.stringify(heard).includes('Bassoon reed')")
        types = set(bobs.run(f"{EVENTS}.map((one) => one.type)"))
        assert types == {"GRAPH_UPDATE"}  # Bob has said nothing yet, and asked nothing
        for mine, other in (("marcel", "bob"), ("bob", "marcel")):
            page, key, thing = pages[mine]
            page.sees(f"{thing} Quux", ".rows")  # the list has followed
            foreign = pages[other][2]
            heard = json.dumps(page.run("heard"))
            assert made[mine] in heard
            assert made[other] not in heard
            assert foreign not in heard
            assert [one for one in palette(page, "Quux") if "Quux" in one and "Ask:" not in one] == [
                f"{thing} Quux\nObject"
            ]
            with world.api(key) as api:
                stats = told(api.get("/v1/graph/stats"))
            page.until(
                "document.querySelector('select option').innerText === values[0]", f"All types ({stats['nodes']})"
            )
            options = page.run("[...document.querySelectorAll('select option')].map((one) => one.innerText)")
            assert dict(stats["types"]) == {
                name: int(count.rstrip(")")) for name, _, count in (one.rpartition(" (") for one in options[1:])
            }
            for address in [*screens(page), "#/ask?q=Quux", "#/ask?q=Quux&view=context", f"#/things/{made[other]}"]:
                go(page, address)
                assert foreign not in page.text(), address
            assert page.complaints() == []


def _once(page: Page) -> None:
    """Nothing was heard twice."""
    heard: list[dict[str, Any]] = page.run(EVENTS)
    assert heard
    assert max(Counter(one["event_id"] for one in heard).values()) == 1


def test_a_restarted_service_is_said_and_waited_for_and_nothing_is_missed_or_doubled(world: World) -> None:
    with world.browser.visitor() as page, world.browser.visitor(width=390) as other:
        for one in (page, other):
            record(one)
            signed_in(world, one, world.marcel)
            go(one, "#/things?q=Kazoo")
        owns(world, world.marcel, "Kazoo the first")
        page.sees("Kazoo the first", ".rows")
        serving = next(part for part in world.rig.parts if part.running)
        world.rig.kill(serving)
        page.sees(LOST, ".connection")
        other.sees(LOST, ".connection")
        assert_clean(page)
        assert_clean(other)
        world.rig.ok("assert", "Marcel", "OWNS", "Kazoo the second", "Second.", "--to-type", "Object", "-u", "Marcel")
        page.run("location.hash = '#/ask?q=wedding'")
        page.sees("memsvc does not answer. Is it running?", "[role=alert]")
        world.rig.serve("api")
        page.sees("memories", ".answer")  # asked again by itself
        for one in (page, other):
            one.until(f"!document.querySelector('.connection').innerText && {EVENTS}.length > 1")
            assert one.run("sockets.length") > 1
        other.sees("Kazoo the second", ".rows")
        owns(world, world.marcel, "Kazoo the third")
        other.sees("Kazoo the third", ".rows")
        shown = other.run("[...document.querySelectorAll('.rows .label')].map((one) => one.innerText)")
        assert sorted(shown) == ["Kazoo the first", "Kazoo the second", "Kazoo the third"]
        for one in (page, other):
            one.until("JSON.stringify(heard).includes('Kazoo the third')")
            _once(one)
            assert one.complaints() == []


def test_a_short_loss_needs_no_word_and_a_silent_connection_is_left(world: World) -> None:
    with world.browser.visitor() as page, world.browser.visitor() as silent:
        record(page)
        signed_in(world, page, world.marcel)
        page.run("sockets[0].close()")
        page.until("sockets.length === 2 && heard.filter((one) => one.type === 'READY').length === 2")
        assert page.run("document.querySelector('.connection').innerText") == ""
        record(silent, silence_soon=True)
        signed_in(world, silent, world.marcel)
        go(silent, "#/things?q=Ocarina")
        silent.until("sockets.length > 1 && sockets[0].readyState > 1")
        owns(world, world.marcel, "Ocarina")
        silent.sees("Ocarina", ".rows")
        silent.until(f"{EVENTS}.length > 1")
        _once(silent)


def test_a_key_that_may_only_read_sees_everything_and_is_offered_no_change(world: World) -> None:
    node = owns(world, world.marcel, "Theremin")
    key = world.rig.ok("key", "create", "--user", "Marcel", "--scope", "read").strip()
    with world.browser.visitor() as page:
        sign_in(world, page, key)
        for address in [*screens(page), f"#/things/{node}", f"#/things/{node}?view=history", "#/ask?q=wedding"]:
            go(page, address)
            page.run(OPEN)
            assert page.run("[...document.querySelectorAll('#content [role=alert]')].map((one) => one.innerText)") == []
            assert "This page does not exist" not in page.text(), address
            offered = page.run("[...document.querySelectorAll('#content button')].map((one) => one.innerText.trim())")
            changing = {"Correct …", "Merge …", "Pin", "Forget …", "Has ended …", "Never true", "Take back …"}
            assert not changing & set(offered), address
            assert_clean(page)
        go(page, f"#/things/{node}")
        page.sees("This key may only read.")
        page.sees("Owns Theremin.", ".fact")


def test_long_texts_and_names_and_texts_from_right_to_left_are_shown_as_they_are(world: World) -> None:
    long_name = "Nn" * 1_000
    made = [owns(world, world.bob, name) for name in (long_name, ARABIC, f"{HEBREW} (Rosalinde)")]
    words = "The unusually long report mentions a glockenspiel. "
    with world.api(world.bob) as api:
        for text in (words * (100_000 // len(words)), "G" * 100_000, ARABIC, HEBREW):
            told(api.post("/v1/messages", json={"conversation": "بعيد 2026", "speaker": "إيناس", "text": text}))
    screens = [
        ("#/things", ".rows", ARABIC),
        (f"#/things/{made[0]}", "h1", long_name),
        (f"#/things/{made[1]}", ".fact", ARABIC),
        (f"#/things/{made[2]}?view=history", ".history", HEBREW),
        ("#/ask?q=glockenspiel report", ".memory .text", words.strip()),
        ("#/ask?q=glockenspiel report&view=context&budget=6000", "pre", "glockenspiel"),
        (f"#/ask?q={HEBREW}", ".memory .text", HEBREW),
        (f"#/ask?q={long_name}", "input[type=search]", long_name),
        (f"#/ask?q={'w' * 10_000}", "input[type=search]", "www"),
    ]
    for width in (390, 1280):
        with world.browser.visitor(width=width) as page:
            sign_in(world, page, world.bob)
            for address, where, text in screens:
                page.open(f"{world.rig.url}/{address}")
                page.sees(text, where)
                page.run("document.querySelectorAll('.fact .head').forEach((one) => one.click())")
                assert_clean(page)
            page.open(f"{world.rig.url}/#/ask?q={HEBREW}")
            page.sees(HEBREW, ".memory .text")
            assert page.run(DIRECTIONS, ".memory .text", HEBREW) == ["rtl"]
            page.open(f"{world.rig.url}/#/things")
            page.sees(ARABIC, ".rows .label")
            assert page.run(DIRECTIONS, ".rows .label", ARABIC) == ["rtl"]
            assert page.run(DIRECTIONS, ".rows .label", long_name) == ["ltr"]
