"""The graph, in a real browser: drawn, live, at two times, compared, with paths and exports; and as a list."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta

import pytest

from tests.acceptance.killpoints import wait_until
from tests.acceptance.web.world import HOSTILE, World, assert_clean, sign_in, told
from tests.browser import Page

pytestmark = pytest.mark.acceptance
SAVED = """((made) => { URL.createObjectURL = (file) => { window.saved = file; return made.call(URL, file); }; })
(URL.createObjectURL)"""
COLOURS = """createImageBitmap(window.saved).then((picture) => {
  const canvas = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
  canvas.drawImage(picture, 0, 0);
  const { data } = canvas.getImageData(0, 0, picture.width, picture.height);
  return new Set(new Uint32Array(data.buffer)).size;
})"""
OPEN_ALL = "document.querySelectorAll('.graph-list details').forEach((one) => { one.open = true; })"
GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


def add_node(world: World, label: str, kind: str) -> str:
    """Write a node as Marcel; its id."""
    with world.api(world.marcel) as api:
        made: str = told(api.post("/v1/nodes", json={"label": label, "type": kind}))["results"][0]["node_id"]
    return made


def add_fact(world: World, type_: str, start: str, end: str, fact: str, **times: str) -> str:
    """Write a fact as Marcel; its id."""
    given = {"type": type_, "from_node": start, "to_node": end, "fact": fact, **times}
    with world.api(world.marcel) as api:
        made: str = told(api.post("/v1/facts", json=given))["results"][0]["edge_id"]
    return made


@pytest.fixture(scope="module")
def ids(world: World) -> dict[str, str]:
    """Ines, who moved from Leipzig to Porto, and knows Jonas; ids by name."""
    kinds = {"Ines": "Person", "Jonas": "Person", "Leipzig": "Place", "Porto": "Place"}
    made = {label: add_node(world, label, kind) for label, kind in kinds.items()}
    ines = made["Ines"]
    add_fact(
        world, "LIVES_IN", ines, made["Leipzig"], "Ines lives in Leipzig.",
        valid_from="2025-01-01", valid_to="2026-01-01",
    )  # fmt: skip
    add_fact(world, "LIVES_IN", ines, made["Porto"], "Ines lives in Porto.", valid_from="2026-01-01")
    add_fact(world, "KNOWS", made["Jonas"], ines, "Jonas knows Ines.")
    return made


def count(world: World, *, more_nodes: int = 0, more_facts: int = 0) -> str:
    """What the page says of Marcel's whole graph."""
    with world.api(world.marcel) as api:
        graph = told(api.get("/v1/graph", params={"as_of": "always", "limit": 2_000}))
        if graph["next_cursor"]:
            rest = told(api.get("/v1/graph", params={"as_of": "always", "cursor": graph["next_cursor"]}))
            graph["nodes"] += rest["nodes"]
    nodes = len({node["node_id"] for node in graph["nodes"]}) + more_nodes
    facts = len(graph["edges"]) + more_facts
    return f"{nodes} people and things, {facts} fact{'' if facts == 1 else 's'}"


def open_graph(world: World, page: Page, rest: str = "", key: str = "") -> None:
    sign_in(world, page, key or world.marcel)
    page.run(SAVED)
    page.run("location.hash = values[0]", f"#/graph{rest}")


def texts(page: Page) -> str:
    """All that the list shows, opened."""
    page.run(OPEN_ALL)
    shown: str = page.run("document.querySelector('.graph-list').innerText")
    return shown


def test_the_graph_is_drawn_grows_live_and_finds_what_is_searched(world: World, ids: dict[str, str]) -> None:
    with world.browser.visitor() as page:
        open_graph(world, page)
        page.sees(count(world), ".counts")
        page.until("!document.querySelector('.counts').innerText.includes('Arranging')")
        page.click("Take along", "summary")
        page.click("Picture (PNG)")
        page.until("window.saved?.type === 'image/png'")
        assert page.run(COLOURS) > 10, "nothing is drawn"
        page.press("Escape", code=27)
        soon = count(world, more_nodes=1, more_facts=1)
        add_fact(world, "OWNS", ids["Jonas"], add_node(world, "a red canoe", "Object"), "Jonas owns a red canoe.")
        page.sees(soon, ".counts")  # nobody has loaded it again
        page.fill(".tools input", "canoe")
        page.click("a red canoe", "[role=option]")
        page.sees("a red canoe", ".node-card h2")
        page.sees("Jonas owns a red canoe.", ".node-card .near")
        page.click("Jonas", ".node-card .link")
        page.sees("Jonas", ".node-card h2")
        page.sees("Jonas knows Ines.", ".node-card .near")
        assert f"node={ids['Jonas']}" in page.run("location.hash")
        assert_clean(page)


def test_a_click_in_the_picture_selects_and_keys_move_it(world: World, ids: dict[str, str]) -> None:
    with world.browser.visitor() as page:
        open_graph(world, page, f"?node={ids['Ines']}")
        page.sees("Ines", ".node-card h2")
        page.until("!document.querySelector('.counts').innerText.includes('Arranging')")
        page.click("Go there")
        page.run("new Promise((done) => setTimeout(done, 900))")
        page.run("document.querySelector('.stage').focus()")
        page.press("Escape", code=27)
        page.until("document.querySelector('.node-card') === null")
        page.run("new Promise((done) => setTimeout(done, 500))")
        middle = page.run(
            "((box) => [box.x + box.width / 2, box.y + box.height / 2])"
            "(document.querySelector('.stage').getBoundingClientRect())"
        )

        def clicked() -> bool:
            for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
                page.send(
                    "Input.dispatchMouseEvent",
                    type=kind,
                    x=middle[0],
                    y=middle[1],
                    button="left",
                    clickCount=int(kind != "mouseMoved"),
                )
            page.run("new Promise((done) => setTimeout(done, 600))")
            there: bool = page.run("document.querySelector('.node-card h2')?.innerText === 'Ines'")
            return there

        wait_until(clicked, seconds=30)
        page.sees("Ines", ".node-card h2")
        page.run("document.querySelector('.stage').focus()")
        for key in ("ArrowLeft", "+", "-", "0"):
            page.press(key)
        assert_clean(page)


def test_both_sliders_show_another_time(world: World, ids: dict[str, str]) -> None:
    with world.browser.visitor() as page:
        open_graph(world, page, "?view=list&as_of=2025-12-31")
        page.sees("Ines", ".graph-list")
        shown = texts(page)
        assert "Ines lives in Leipzig." in shown
        assert "Porto" not in shown
        page.run("document.querySelector('.time input[type=range]').focus()")
        page.press("ArrowRight", code=39)
        page.sees("Porto", ".graph-list")
        shown = texts(page)
        assert "Ines lives in Porto." in shown
        assert "Leipzig" not in shown
        page.until("location.hash.includes('as_of=2026-01-01')")
        page.press("PageDown", code=34)
        page.until("location.hash.includes('as_of=2025-12-01')")
        page.click("All of time")
        page.sees("Porto", ".graph-list")
        page.sees("Leipzig", ".graph-list")
        page.run("document.querySelectorAll('.time input[type=range]')[1].focus()")
        page.press("Home", code=36)
        page.until("/known_at=\\d{4}-/.test(location.hash)")
        page.sees("Nothing is shown at this time", ".counts")  # the day before anything was known
        page.click("As known now")
        page.sees(count(world), ".counts")
        assert ids["Ines"] not in page.run("location.hash")
        assert_clean(page)


def test_two_moments_are_compared(world: World, ids: dict[str, str]) -> None:
    with world.browser.visitor() as page:
        open_graph(world, page, "?axis=valid&since=2025-06-01&as_of=2026-06-01")
        page.sees("2 differences from 1 Jun 2025 to 1 Jun 2026", ".differences")
        rows = page.run("[...document.querySelectorAll('.differences li')].map((one) => one.innerText)")
        assert any("Ines lives in Porto." in row and "began" in row for row in rows)
        assert any("Ines lives in Leipzig." in row and "ended" in row for row in rows)
        assert_clean(page)
        page.click("List")
        page.sees("Leipzig", ".graph-list")
        page.run(OPEN_ALL)
        page.sees("new", ".graph-list .mark.new")
        page.sees("ended", ".graph-list .mark.ended")
        yesterday = (datetime.now(UTC) - timedelta(days=2)).date().isoformat()
        page.run("location.hash = values[0]", f"#/graph?axis=known&since={yesterday}&node={ids['Jonas']}")
        page.sees("Jonas knows Ines.", ".differences")
        page.sees("new", ".differences .mark.new")
        assert_clean(page)


def test_a_path_leads_from_one_to_another(world: World, ids: dict[str, str]) -> None:
    with world.browser.visitor() as page:
        open_graph(world, page, f"?node={ids['Jonas']}")
        page.fill(".node-card .picker input", "Porto")
        page.click("Porto", ".node-card [role=option]")
        page.sees("2 facts apart", ".path")
        page.sees("Ines lives in Porto.", ".path li")
        page.until("location.hash.includes(values[0])", f"to={ids['Porto']}")
        page.click("End the path")
        page.until("document.querySelector('.path') === null")
        assert_clean(page)


def test_it_is_taken_along_as_text(world: World, ids: dict[str, str]) -> None:
    with world.browser.visitor() as page:
        open_graph(world, page, "?as_of=2026-06-01")
        page.sees("people and things", ".counts")
        page.click("Take along", "summary")
        page.click("Mermaid")
        page.until("window.saved !== undefined")
        drawn = page.run("window.saved.text()")
        assert drawn.startswith("flowchart LR\n")
        assert '(["Ines"])' in drawn
        assert "lives in" in drawn
        page.run("window.saved = undefined")
        page.click("GraphML")
        page.until("window.saved !== undefined")
        graph = ET.fromstring(page.run("window.saved.text()"))
        assert ids["Ines"] in {node.get("id") for node in graph.iter(f"{GRAPHML}node")}
        assert "Ines lives in Porto." in {data.text for data in graph.iter(f"{GRAPHML}data")}


def test_what_somebody_asks_about_comes_into_focus(world: World, ids: dict[str, str]) -> None:
    said = "Ines has moved to Porto, to the Rua das Gaivotas"
    with world.api(world.marcel) as api:
        told(api.post("/v1/messages", json={"conversation": "moves", "speaker": "Marcel", "text": said}))
        found = told(api.post("/v1/recall", json={"query": "Rua das Gaivotas", "limit": 1}))["memories"][0]
        told(api.post(f"/v1/nodes/{ids['Ines']}/aliases", json={"aliases": ["Ines Albrecht"]}))
        given = {
            "type": "LOCATED_AT", "from_node": ids["Ines"], "to_node": ids["Porto"], "fact": "Ines is at Porto.",
            "evidence": [{"passage_id": found["passage_id"], "span": [0, len(said)]}],
        }  # fmt: skip
        told(api.post("/v1/facts", json=given))
    with world.browser.visitor() as page, world.api(world.marcel) as api:
        open_graph(world, page)
        page.sees("people and things", ".counts")
        told(api.post("/v1/recall", json={"query": "Who is in the Rua das Gaivotas?", "limit": 3}))
        page.sees("Somebody asked about", ".notice")
        page.click("Select", ".notice button")
        page.until("document.querySelector('.node-card h2') !== null")
        assert_clean(page)


def test_hostile_texts_are_text_in_every_part(world: World, ids: dict[str, str]) -> None:
    for index, text in enumerate(HOSTILE):
        made = add_node(world, f"zz{index} {text}"[:2_000], "Object")
        add_fact(world, "OWNS", ids["Jonas"], made, f"Owns {text}", valid_from="2026-02-01")
    with world.browser.visitor(width=360) as page:
        open_graph(world, page, f"?node={ids['Jonas']}&axis=valid&since=2026-01-15&as_of=2026-03-01")
        page.sees("Owns <script>", ".node-card")
        page.sees("Owns <script>", ".differences")
        page.until("!document.querySelector('.counts').innerText.includes('Arranging')")
        assert_clean(page)
        for part in ("Mermaid", "GraphML"):
            page.run("window.saved = undefined")
            page.run("document.querySelector('.export').open = true")
            page.click(part)
            page.until("window.saved !== undefined")
            taken = page.run("window.saved.text()")
            assert "<script" not in taken
            if part == "GraphML":
                ET.fromstring(taken)
        page.run("location.hash = '#/graph?view=list'")
        page.sees("zz0 <script>", ".graph-list")
        page.run(OPEN_ALL)
        assert page.run("window.hacked ?? null") is None
        assert_clean(page)
        page.run("location.hash = values[0]", "#/graph?node=<script>&as_of=x&axis=y&since=2026-99-99&view=z&without=,,")
        page.sees("people and things", ".counts")
        assert_clean(page)


def test_another_user_sees_nothing_of_it(world: World, ids: dict[str, str]) -> None:
    with world.browser.visitor() as mine, world.browser.visitor() as other:
        open_graph(world, mine)
        mine.sees(count(world), ".counts")
        open_graph(world, other, key=world.bob)
        other.sees("Nothing is connected yet", ".graph")
        soon = count(world, more_facts=1)
        add_fact(world, "KNOWS", ids["Ines"], ids["Jonas"], "Ines knows Jonas.")
        with world.api(world.marcel) as api:
            told(api.post("/v1/recall", json={"query": "Rua das Gaivotas", "limit": 3}))
        mine.sees(soon, ".counts")
        other.run("new Promise((done) => setTimeout(done, 1_500))")
        assert "Nothing is connected yet" in other.text()
        assert "asked about" not in other.text()
        assert "Ines" not in other.text()
        other.run(
            "location.hash = values[0]", f"#/graph?node={ids['Ines']}&to={ids['Jonas']}&axis=known&since=2025-01-01"
        )
        other.run("new Promise((done) => setTimeout(done, 1_000))")
        assert "knows" not in other.text()
        assert_clean(other)
