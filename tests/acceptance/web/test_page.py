"""The way in, Ask, and people and things, in a real browser."""

from __future__ import annotations

import pytest

from tests.acceptance.web.world import HOSTILE, World, assert_clean, sign_in, told

pytestmark = pytest.mark.acceptance
CONTROL = 2


@pytest.fixture(scope="module")
def ines(world: World) -> dict[str, str]:
    """A person whom a message tells of, with two facts of different times; ids by name."""
    said = "At home in Leipzig on the 24th"
    with world.api(world.marcel) as api:
        found = told(api.post("/v1/recall", json={"query": said, "limit": 1}))["memories"][0]
        at = found["text"].index(said)
        evidence = [{"passage_id": found["passage_id"], "span": [at, at + len(said)]}]
        nodes = [("Ines", "Person"), ("Leipzig", "Place"), ("Porto", "Place")]
        made = [told(api.post("/v1/nodes", json={"label": label, "type": kind})) for label, kind in nodes]
        ids = [change["results"][0]["node_id"] for change in made]
        lives = {"type": "LIVES_IN", "from_node": ids[0]}
        facts = [
            lives | {"to_node": ids[1], "fact": "Ines lives in Leipzig.", "valid_from": "2025-01-01",
                     "valid_to": "2026-01-01", "evidence": evidence},
            lives | {"to_node": ids[2], "fact": "Ines lives in Porto.", "valid_from": "2026-01-01"},
        ]  # fmt: skip
        for fact in facts:
            told(api.post("/v1/facts", json=fact))
    return dict(zip(("ines", "leipzig", "porto"), ids, strict=True))


def test_a_link_signs_in_once_and_logging_out_ends_the_session(world: World) -> None:
    link = world.rig.ok("web", "--user", "Marcel").strip()
    with world.browser.visitor() as page:
        page.open(link)
        page.sees("On your mind")
        address, kept = page.run("[location.href, JSON.stringify(localStorage)]")
        assert "token" not in address
        assert "mk_" not in kept
        page.open(f"{world.rig.url}/#/things")  # a new tab or an old bookmark is still signed in
        page.sees("People & things", "h1")
        page.click("Marcel", "summary")
        page.click("Log out")
        page.sees("You are logged out.")
        assert page.run("localStorage.getItem('memsvc.session')") is None
        page.open(link)
        page.sees("This link has expired or was used already.")
        assert_clean(page)


def test_a_question_is_answered_with_reasons_and_as_the_model_gets_it(world: World) -> None:
    with world.browser.visitor() as page:
        sign_in(world, page, world.marcel)
        page.fill("input[type=search]", "When is the wedding of Ines?")
        page.press("Enter", code=13)
        page.sees("10 memories")
        page.sees("says “wedding”", ".memory .why")
        page.sees("points", ".memory .factors")
        page.until("[...document.querySelectorAll('.factors .part')].some((bar) => bar.offsetWidth > 20)")
        page.click("Left out", "summary")
        page.sees("beyond the limit", ".explained")
        page.click("Useful", ".memory button")
        page.sees("Noted.")
        page.click("Show the source", ".memory button")
        page.sees("Later", ".source")
        assert_clean(page)
        page.click("Context", ".tabs button")
        page.sees("[end of memsvc context", "pre")
        page.sees("of 1,500 tokens")
        assert_clean(page)
        address = page.run("location.href")
        page.resize(360)
        page.prefers("dark")
        page.open(address)  # a deep link shows the same
        page.sees("[end of memsvc context", "pre")
        assert_clean(page)
        page.open(f"{world.rig.url}/#/ask?q=wedding&kind=fact")
        page.sees("Nothing was found.")


def test_a_persons_facts_lie_in_time_and_can_be_corrected_and_taken_back(world: World, ines: dict[str, str]) -> None:
    with world.browser.visitor() as page:
        sign_in(world, page, world.marcel)
        page.press("k", code=ord("K"), modifiers=CONTROL)
        page.fill("[cmdk-input]", "Ines")
        page.sees("Ines", "[cmdk-item]")
        page.until("document.querySelector('[cmdk-item][aria-selected=true]').innerText.includes('Person')")
        page.press("Enter", code=13)
        page.sees("Ines", "h1")
        page.sees("since 1 Jan 2026", ".fact")
        page.click("Ines lives in Leipzig.", ".fact .head")
        page.click("Show the source", ".quotes button")
        page.sees("At home in Leipzig on the 24th", ".source mark")
        assert_clean(page)
        page.click("Correct …", ".opened button")
        page.fill("dialog textarea", "Ines lives near Leipzig.")
        assert_clean(page)
        page.click("Save", "dialog button")
        page.sees("Corrected.", ".notice")
        page.sees("Ines lives near Leipzig.", ".fact")
        page.click("Undo", ".notice button")
        page.sees("Taken back.", ".notice")
        page.sees("Ines lives in Leipzig.", ".fact")
        page.click("Ines lives in Porto.", ".fact .head")
        page.click("Correct …", ".opened button")
        page.click("It began on another day", "dialog label")
        page.fill("dialog input[type=date]", "2026-02-01")
        page.click("Save", "dialog button")
        page.sees("since 1 Feb 2026", ".fact")
        page.click("Undo", ".notice button")
        page.sees("1 Jan 2026 – 31 Jan 2026", ".fact")
        page.fill(".thing input[type=date]", "0002-03-01")  # as while a year is typed
        page.sees("Ines lives in Leipzig.", ".fact")
        page.fill(".thing input[type=date]", "2026-03-01")
        page.until("!document.body.innerText.includes('Ines lives in Leipzig.')")
        page.sees("Ines lives in Porto.", ".fact")
        page.click("History", ".tabs button")
        page.sees("Ines lives near Leipzig.", ".closed")
        assert_clean(page)
        page.open(f"{world.rig.url}/#/things/{ines['porto']}")
        page.click("Forget …", ".card button")
        page.sees("What goes", "dialog")
        page.click("Forget for good", "dialog button:enabled")
        page.sees("Receipt", "dialog h2")
        page.sees("nothing is left", "dialog")
        page.click("Close", "dialog footer button")
        page.sees("People & things", "h1")
    with world.api(world.marcel) as api:
        assert api.get(f"/v1/nodes/{ines['porto']}").status_code == 404


def test_hostile_texts_are_shown_as_text_everywhere(world: World) -> None:
    with world.api(world.marcel) as api:
        for index, text in enumerate(HOSTILE):
            told(
                api.post("/v1/messages", json={"conversation": f"odd {text[:90]}", "speaker": text[:90], "text": text})
            )
            node = {"label": f"zz{index} {text}", "type": "Object", "description": text}
            made = told(api.post("/v1/nodes", json=node))["results"][0]["node_id"]
            told(api.post(f"/v1/nodes/{made}/aliases", json={"aliases": [f"alias {text}"[:190]]}))
            mine = told(api.get("/v1/me"))["node_id"]
            fact = {
                "type": "OWNS",
                "from_node": mine,
                "to_node": made,
                "fact": f"Owns {text}",
                "valid_from": "2026-02-01",
            }
            told(api.post("/v1/facts", json=fact))
    screens = [
        ("#/things?q=zz", ".rows", "zz0 <script>"),
        (f"#/things/{mine}", ".fact", "Owns <script>"),
        (f"#/things/{mine}?view=history", ".history", "Owns <script>"),
        (f"#/things/{made}", "h1", "zz9 WWW"),
        ("#/ask?q=window.hacked onerror onload script&limit=50", ".memory .text", "window.hacked"),
        ("#/ask?q=window.hacked onerror onload script&view=context&budget=6000", "pre", "window.hacked"),
        ("#/ask?q=%3Cscript%3Ewindow.hacked%3D9%3C%2Fscript%3E", "input[type=search]", "<script>window"),
        ("#/<script>window.hacked=10</script>", "main", "This page does not exist."),
    ]
    with world.browser.visitor(width=360) as page:
        sign_in(world, page, world.marcel)
        for address, where, shown in screens:
            page.open(f"{world.rig.url}/{address}")
            page.sees(shown, where)
            page.run(
                "document.querySelectorAll('details, .fact .head').forEach((one) => { one.open = true; one.click() })"
            )
            assert page.run("window.hacked ?? null") is None, address
            assert_clean(page)


def test_another_user_sees_nothing_and_a_session_ends_in_plain_words(world: World, ines: dict[str, str]) -> None:
    with world.browser.visitor() as page:
        sign_in(world, page, world.bob)
        page.sees("Nothing is remembered yet")
        page.sees("memsvc ingest FILE", "pre")
        assert_clean(page)
        page.open(f"{world.rig.url}/#/ask?q=wedding")
        page.sees("Nothing was found.")
        page.open(f"{world.rig.url}/#/things/{ines['ines']}")
        page.sees("There is no node", "[role=alert]")
        page.open(f"{world.rig.url}/#/things")
        page.sees("Bob", ".rows")
        assert "Ines" not in page.text()
        world.rig.ok("key", "revoke", world.bob.partition(".")[0])
        page.click("Bob", ".rows a")
        page.sees("Your session has ended.")
        assert page.complaints() == []
