"""``python -m tests.acceptance.web.pictures [FOLDER]``: pictures of the screens of the web page, from the sample.

A service of its own stores the sample conversation, extracts its facts and runs one night. Then each screen is drawn in
light and dark, wide and narrow. ``--only ask,things``: only these. Without a folder: the pictures of the documentation,
into docs/pictures.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import httpx

from memsvc.server.locate import ready
from memsvc.settings import Settings
from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig
from tests.acceptance.web.world import ROOT, World, told
from tests.browser import Browser, Page
from tests.chats import EXPORTS

DOCS = ROOT / "docs" / "pictures"
IN_DOCS = (
    "ask", "person", "graph-compared", "timeline", "map", "inbox", "sources", "note", "profile", "night", "health",
)  # fmt: skip
FORMS = [(theme, width) for theme in ("light", "dark") for width in (1280, 390)]
PLACES = {
    "Hamburg": (53.55, 9.99), "Kiel": (54.32, 10.14), "Leipzig": (51.34, 12.37), "Lisbon": (38.72, -9.14),
    "Porto": (41.15, -8.61), "Copenhagen": (55.68, 12.57), "Budapest": (47.5, 19.04), "Lyon": (45.76, 4.84),
}  # fmt: skip
"""Where places of the sample are."""
SETTLE = "new Promise((done) => setTimeout(done, 900))"


def screens(world: World) -> dict[str, tuple[str, str]]:
    """By name: the address, and a selector of what is there once the screen is drawn."""
    with world.api(world.marcel) as api:
        found = told(api.get("/v1/nodes", params={"q": "Marcel", "limit": 1}))["items"]
        marcel = found[0]["node_id"]
        talk = told(api.get("/v1/conversations", params={"limit": 1}))["items"][0]["conversation_id"]
        said = told(api.post("/v1/recall", json={"query": "a small flat in Alfama", "limit": 1}))["memories"][0]
        chat = {"name": "WhatsApp Chat with Mila.txt", "text": EXPORTS["whatsapp"]["WhatsApp Chat with Mila.txt"]}
        told(api.post("/v1/documents", json=chat | {"dry_run": True}))
        note = noted(api, marcel)
        at = {}
        for name, (latitude, longitude) in PLACES.items():
            for node in told(api.get("/v1/nodes", params={"q": name, "type": "Place", "limit": 1}))["items"]:
                point = {"latitude": latitude, "longitude": longitude}
                told(api.post(f"/v1/nodes/{node['node_id']}/location", json=point))
                at[name] = node["node_id"]
    return {
        "start": ("#/ask", "#content h2"),
        "ask": ("#/ask?q=When is the wedding of Ines?", ".memory"),
        "context": ("#/ask?q=When is the wedding of Ines?&view=context", "pre"),
        "answer": ("#/ask?q=When is the wedding of Ines?&view=answer", ".claim-list"),
        "notes": ("#/notes", ".rows a"),
        "note": (f"#/notes/{note}", ".linked li"),
        "profile": ("#/profile", ".block"),
        "night": ("#/night", ".report section"),
        "tasks": ("#/night?view=tasks", ".task-row"),
        "things": ("#/things", ".rows a"),
        "person": (f"#/things/{marcel}", ".fact"),
        "sources": ("#/sources", ".who"),
        "conversation": (f"#/sources/{talk}?at={said['passage_id']}", ".said-here"),
        "timeline": ("#/timeline?at=2026-03", ".days .entry"),
        "map": (f"#/map?on=2026-03-01&place={at.get('Porto', '')}", ".mark"),
        "health": ("#/operations", ".health dl"),
        "keys": ("#/operations/keys", ".keys .days"),
        "audit": ("#/operations/audit", ".acts li"),
        "inbox": ("#/inbox", ".item.open .opened"),
        "duplicates": ("#/inbox?kind=duplicates", ".side"),
        "doubts": ("#/inbox?kind=reviews", ".item.open mark"),
        "told": (f"#/things/{marcel}?view=told", "pre"),
        "graph": ("#/graph", ".counts span"),
        "graph-person": (f"#/graph?node={marcel}", ".node-card .near li"),
        "graph-compared": ("#/graph?axis=valid&since=2025-11-01&as_of=2026-05-01", ".differences li"),
        "graph-list": ("#/graph?view=list", ".graph-list li"),
    }


def noted(api: httpx.Client, about: str) -> str:
    """Write notes with links, and blocks of the profile; the id of a note."""
    text = (
        "It costs **80** more and lasts. Compare [[Beech swells next to the sink]].\n\n- sample ordered\n- oil it twice"
    )
    oak, beech = (
        told(api.post("/v1/notes", json={"title": title, "kind": kind, "tags": ["kitchen"], "text": said}))["note_id"]
        for title, kind, said in (
            ("Oak for the worktop", "decision", text),
            ("Beech swells next to the sink", "insight", "Seen at Charlotte's."),
        )
    )
    for begin, end, relation in ((oak, beech, "relates_to"), (beech, oak, "supports"), (oak, about, "relates_to")):
        told(api.post("/v1/links", json={"from_node": begin, "to_node": end, "relation": relation}))
    for name, said in (("preferences", "Green tea, no sugar.\nMeetings after ten."), ("current_state", "In Porto.")):
        told(api.put(f"/v1/profile/{name}", json={"text": said}))
    note: str = oak
    return note


def draw(page: Page, world: World, screen: tuple[str, str], files: dict[tuple[str, int], Path]) -> None:
    """Draw one screen in some forms, each into its file."""
    for (theme, width), file in files.items():
        page.prefers(theme)
        page.resize(width)
        page.open(f"{world.rig.url}/{screen[0]}")
        page.until("document.querySelector(values[0]) !== null", screen[1])
        page.run(SETTLE)
        page.until("!(document.querySelector('.counts')?.innerText ?? '').includes('Arranging')")
        if screen[1] == ".fact":  # with the quote that supports one of them
            page.click("Marcel lives in Porto.", ".fact .head")
            page.click("Show the source", ".quotes button")
            page.sees("Later", ".source")
            page.run(SETTLE)
        page.picture(file)


def main() -> None:
    """Start everything, draw, end everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="left out: the pictures of the documentation")
    parser.add_argument("--only", default="", help="names of screens, separated by commas")
    given = parser.parse_args()
    wanted = given.only.split(",") if given.only else IN_DOCS if given.folder is None else ()
    if given.folder is not None:
        given.folder.mkdir(parents=True, exist_ok=True)
    with private_folder(None) as data, tempfile.TemporaryDirectory() as profile, Rig(data, extractor="offline") as rig:
        data.parent.chmod(0o755)
        with ready(Settings.model_validate({"data_dir": data, "database_url": None})), rig.admin():
            shutil.copy(ROOT / "examples" / "conversation.jsonl", rig.cwd)
            rig.ok("user", "add", "--name", "Marcel", "--zone", "Europe/Berlin")
            rig.ok("ingest", "conversation.jsonl", "--user", "Marcel")
            rig.ok("jobs", "run")
            rig.ok("sleep", "--user", "Marcel")
            rig.ok("jobs", "run")
            rig.serve("up")
            with Browser(Path(profile)) as browser, browser.visitor() as page:
                world = World(rig, browser, rig.ok("key", "create", "--user", "Marcel").strip(), "")
                page.open(rig.ok("web", "--user", "Marcel", "--admin").strip())
                page.sees("Marcel", "summary")
                for name, screen in screens(world).items():
                    if given.folder is None:
                        files = {FORMS[0]: DOCS / f"{name}.png"}
                    else:
                        files = {form: given.folder / f"{name}-{form[0]}-{form[1]}.png" for form in FORMS}
                    if not wanted or name in wanted:
                        draw(page, world, screen, files)


if __name__ == "__main__":
    main()
