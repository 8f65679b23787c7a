"""``python -m bench.web``: the web page in Chromium, cold and warm, for a user of 100,000 passages.

A real ``memsvc api`` serves with all defaults, and Debian's Chromium draws. The page tells its times itself
(``bench.web_page``). *First view*: a new browser with a new profile opens a one-time link, until Ask is drawn.
*Screens*: from one to the next, all that the page offers, each with several questions or things; the first visit, which
loads the screen's script, counts apart. *Graph*: 5,000 nodes and 20,000 facts of another user. *Events*: as many as an
hour has with two changes a second, one right after another while the page listens; its memory before and after.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path
from urllib.parse import quote

from bench.corpus_users import DEFAULT_MODEL, QUESTIONS
from bench.harness import Outcome, database, figures_table, progress, report, run, table
from bench.metrics import percentile
from bench.processes import api
from bench.web_page import Drawn, first_view, frames_per_s, has, heap_mb, move, screens_of, watch, why_slow
from bench.web_world import EDGES, NODES, World, prepare
from memsvc.api.page import page_files
from memsvc.errors import ConfigurationError
from memsvc.graph.history import write
from memsvc.graph.operations import Node
from tests.browser import Browser, Page

FIRST_VIEWS, ROUNDS = 5, 9
TOUCHED = 50
"""So many things change again and again, so what is there does not grow."""
MOVED_S, ARRANGED_S = 3.0, 60.0
ARRANGING = "document.querySelector('#content').innerText.includes('Arranging')"
EVENTS_WARM_UP, HEARD_S = 300, 60.0
BARS = {
    "first_view_ms": "<= 1,500", "screen_ms": "<= 300", "screen_p95_ms": "<= 300", "script_kb": "<= 350",
    "graph.20k.ready_ms": "<= 3,000", "graph.20k.fps": ">= 30", "heap_growth_mb": "<= 2",
    "events.lost": "0", "events.doubled": "0",
}  # fmt: skip
IMPORTED = re.compile(rb'(?:from|import)\s*"\./([\w.-]+\.js)"')


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line says."""

    passages: int
    """Of the user whose screens are drawn."""
    events: int
    """While the page listens."""


# Scripts ------------------------------------------------------------------------------------------------------------


def _scripts(outcome: Outcome) -> None:
    """Bytes that travel, in kB: of the first view's scripts with all that these import at once, and of all scripts."""
    files = {name: file for name, file in page_files().items() if name.endswith(".js")}
    first = [name for name in files if name.encode() in page_files()["index.html"].body]
    for name in first:
        first += [one for one in map(bytes.decode, IMPORTED.findall(files[name].body)) if one not in first]
    outcome.figures |= {
        "script_kb": sum(len(files[name].packed) for name in first) / 1_000,
        "script_all_kb": sum(len(file.packed) for file in files.values()) / 1_000,
    }


# Views --------------------------------------------------------------------------------------------------------------


@contextmanager
def _page() -> Iterator[Page]:
    """Yield a page of a new browser with a new profile."""
    profile = Path(tempfile.mkdtemp(prefix="memsvc-bench-browser-"))
    try:
        with Browser(profile) as browser, browser.visitor() as page:
            watch(page)
            yield page
    finally:
        shutil.rmtree(profile, ignore_errors=True)


def _first_views(world: World, outcome: Outcome) -> None:
    views = []
    for _ in range(FIRST_VIEWS):
        with _page() as page:
            views.append(first_view(page, world.link(world.big.owner)))
    times = [one.milliseconds for one in views]
    outcome.figures |= {"first_view_ms": percentile(times, 0.5), "first_view.worst_ms": max(times)}
    print(f"first view: {', '.join(f'{one:.0f}' for one in times)} ms; longest call {why_slow(views)}", flush=True)


def _sign_in(page: Page, world: World) -> None:
    page.open(world.url)
    page.fill("input[name=key]", world.key)
    page.press("Enter", code=13)
    page.until("document.querySelector('#content h2') !== null")


def _addresses(world: World, page: Page) -> dict[str, list[str]]:
    """Addresses by the name of the screen: with questions and things those that take some, and all others."""
    questions = [quote(question) for question, _ in world.big.questions(QUESTIONS)][: 3 * ROUNDS]
    names = [quote(name[:3]) for name in world.big.names[: ROUNDS + 1]]
    mine = {
        "start": ["#/ask"],
        "ask": [f"#/ask?q={one}" for one in questions[:ROUNDS]],
        "context": [f"#/ask?q={one}&view=context" for one in questions[ROUNDS:]],
        "things": ["#/things", *(f"#/things?q={one}" for one in names)],
        "thing": [f"#/things/{one}" for one in world.things],
        "history": [f"#/things/{one}?view=history" for one in reversed(world.things)],
    }
    others = [address for address in screens_of(page) if address not in {"#/ask", "#/things", "#/graph"}]
    return mine | {address.removeprefix("#/"): [address] for address in others}


def _screens(world: World, outcome: Outcome) -> None:
    """Go around the screens, in an order that is drawn by lot for each round."""
    met: dict[str, list[Drawn]] = defaultdict(list)
    with _page() as page:
        _sign_in(page, world)
        addresses = {name: cycle(some) for name, some in _addresses(world, page).items()}
        names, lot = list(addresses), random.Random(3)
        with progress("drawing screens", ROUNDS + 1) as done:
            for _ in range(ROUNDS + 1):
                lot.shuffle(names)
                for name in names:
                    address = next(addresses[name])
                    if page.run("location.hash") == address:
                        address += "?again=1"
                    met[name].append(move(page, address))
                done(1)
        if complaints := page.complaints():
            raise ConfigurationError(f"The page complains: {complaints}")
    again = [one.milliseconds for some in met.values() for one in some[1:]]
    outcome.figures |= {"screen_ms": percentile(again, 0.5), "screen_p95_ms": percentile(again, 0.95)}
    rows = [["screen", "first", "median", "p95", "longest call, its median, its answer"]]
    for name, (first, *later) in met.items():
        times = [one.milliseconds for one in later]
        outcome.figures |= {
            f"screen.{name}.first_ms": first.milliseconds,
            f"screen.{name}.p50_ms": percentile(times, 0.5),
            f"screen.{name}.p95_ms": percentile(times, 0.95),
        }
        shown = [f"{one:.0f}" for one in (first.milliseconds, percentile(times, 0.5), percentile(times, 0.95))]
        rows.append([name, *shown, why_slow(later)])
    table("screens, in milliseconds", rows)


# The graph, and events ----------------------------------------------------------------------------------------------


def _graph_ready(world: World, outcome: Outcome) -> None:
    """Draw the graph in a browser that has not drawn one before."""
    times, frames = [], []
    for _ in range(3):
        with _page() as page:
            first_view(page, world.link(world.grapher))
            if not has(page, "#/graph"):
                print("graph: this page has no such screen, so it is left out", flush=True)
                return
            times.append(move(page, "#/graph", "canvas"))
            frames.append(frames_per_s(page, MOVED_S))
            arranged = time.monotonic() + ARRANGED_S
            while page.run(ARRANGING) and time.monotonic() < arranged:
                time.sleep(0.5)
            frames.append(frames_per_s(page, MOVED_S))
    outcome.figures |= {
        "graph.20k.ready_ms": percentile([one.milliseconds for one in times], 0.5),
        "graph.20k.arranging_fps": percentile(frames[::2], 0.5),
        "graph.20k.fps": percentile(frames[1::2], 0.5),
    }
    print(f"graph: longest call {why_slow(times)}", flush=True)


async def _touch(world: World, events: int) -> int:
    """Change the same things again and again: how many changes."""
    db, owner = world.bench.connect(), world.big.owner
    made = [Node(type="Concept", label=f"Touched {number}") for number in range(TOUCHED)]
    nodes = [one.node_id for one in (await write(db, owner, made, asserted_by="bench")).results]
    for number in range(events):
        node = nodes[number % TOUCHED]
        change = [Node(type="Concept", label=f"Touched {number % TOUCHED}", node=node, description=f"As of {number}.")]
        await write(db, owner, change, asserted_by="bench")
    await db.close()
    return events + 1


def _wait_heard(page: Page, wanted: int) -> int:
    """Wait until the page has heard of so many changes, or nothing comes any more."""
    until = time.monotonic() + HEARD_S
    heard: int = page.run("heard.events")
    while heard < wanted and time.monotonic() < until:
        time.sleep(0.2)
        now: int = page.run("heard.events")
        if now > heard:
            until = time.monotonic() + HEARD_S
        heard = now
    time.sleep(3)  # what the page does after the last one
    return heard


def _events(world: World, outcome: Outcome, events: int) -> None:
    """Let an hour's events pass by the screens that listen, and compare the memory before and after."""
    with _page() as page:
        _sign_in(page, world)
        move(page, "#/graph" if has(page, "#/graph") else "#/things")
        page.until("heard.sockets > 0")
        told = asyncio.run(_touch(world, EVENTS_WARM_UP))
        _wait_heard(page, told)
        before = heap_mb(page)
        started = time.perf_counter()
        told += asyncio.run(_touch(world, events))
        heard = _wait_heard(page, told)
        seconds, after = time.perf_counter() - started, heap_mb(page)
        doubled, sockets = page.run("[heard.doubled, heard.sockets]")
    outcome.figures |= {
        "heap_mb": after, "heap_growth_mb": after - before, "events": heard, "events.lost": told - heard + doubled,
        "events.doubled": doubled, "events.sockets": sockets, "events.per_s": events / seconds,
    }  # fmt: skip


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.web", description="The web page in a browser.")
    parser.add_argument("--passages", type=int, default=100_000, help="of the user whose screens are drawn")
    parser.add_argument("--events", type=int, default=7_200, help="changes while the page listens")
    given = parser.parse_args()
    asked = Asked(given.passages, given.events)

    def bench_web() -> None:
        outcome = Outcome("web", bars=dict(BARS))
        outcome.configuration = {
            **asdict(asked), "model": DEFAULT_MODEL, "first_views": FIRST_VIEWS, "rounds": ROUNDS,
            "graph": {"nodes": NODES, "edges": EDGES},
        }  # fmt: skip
        _scripts(outcome)
        with database() as bench:
            big, key, things, grapher = asyncio.run(prepare(bench, outcome, asked.passages))
            with api(bench) as serving:
                world = World(bench, serving, big, key, things, grapher)
                _first_views(world, outcome)
                _screens(world, outcome)
                _graph_ready(world, outcome)
                _events(world, outcome, asked.events)
            figures_table("the web page", outcome, ("",))
            report(outcome, bench)

    run(bench_web)


if __name__ == "__main__":
    main()
