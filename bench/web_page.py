"""How long the web page takes, told by the page itself: a script that is there before those of the page.

A screen is drawn when nothing is asked any more, nothing says "Loading …" or is busy, and two frames in a row have been
shown like that; the second one is its time. So the clock is the browser's, and what drives it adds nothing.
"""

from __future__ import annotations

import re
import statistics
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bench.metrics import percentile
from tests.browser import Page, RefusedError

WATCH = """
(() => {
  let busy = 0;
  const counted = (promise) => { busy += 1; return promise.finally(() => { busy -= 1; }); };
  const { fetch } = window;
  window.fetch = (...given) => counted(fetch(...given));
  for (const name of ["json", "text", "blob", "arrayBuffer"]) {
    const read = Response.prototype[name];
    Response.prototype[name] = function () { return counted(read.call(this)); };
  }
  performance.setResourceTimingBufferSize(10_000);
  const calm = (there) => {
    const content = document.querySelector("#content");
    return busy === 0 && content?.firstElementChild && (!there || content.querySelector(there))
      && !content.querySelector(".waiting, .busy, [aria-busy=true]");
  };
  window.drawn = (there) => new Promise((done) => {
    let frames = 0, at = 0;
    const look = () => {
      frames = calm(there) ? frames + 1 : 0;
      if (frames === 2) at = performance.now();
      if (frames < 4) requestAnimationFrame(look); else done(at);
    };
    requestAnimationFrame(look);
  });
  const asked = () => performance.getEntriesByType("resource")
    .filter((one) => one.initiatorType === "fetch")
    .map((one) => ({ path: new URL(one.name).pathname, milliseconds: one.duration, bytes: one.encodedBodySize }));
  window.moved = (hash, there) => new Promise((done) => {
    performance.clearResourceTimings();
    const begin = performance.now();
    addEventListener("hashchange",
      () => drawn(there).then((at) => done({ milliseconds: at - begin, asked: asked() })), { once: true });
    location.hash = hash;
  });
  window.first = (there) => drawn(there).then((at) => ({ milliseconds: at, asked: asked() }));
  window.frames = (milliseconds) => new Promise((done) => {
    const board = document.querySelector("#content canvas").getBoundingClientRect();
    const [clientX, clientY] = [board.x + board.width / 2, board.y + board.height / 2];
    const begin = performance.now();
    let count = 0;
    const draw = (now) => {
      if (now - begin > milliseconds) { done((count * 1_000) / (now - begin)); return; }
      count += 1;
      const turn = { clientX, clientY, deltaY: count % 60 < 30 ? -30 : 30, bubbles: true, cancelable: true };
      if (count % 5 === 0) document.elementFromPoint(clientX, clientY).dispatchEvent(new WheelEvent("wheel", turn));
      requestAnimationFrame(draw);
    };
    requestAnimationFrame(draw);
  });
  window.heard = { events: 0, doubled: 0, sockets: 0 };
  const seen = new Set();
  window.WebSocket = class extends WebSocket {
    constructor(...given) {
      super(...given);
      heard.sockets += 1;
      this.addEventListener("message", ({ data }) => {
        const { type, event_id } = JSON.parse(data);
        if (type !== "GRAPH_UPDATE") return;
        heard.events += 1;
        if (seen.has(event_id)) heard.doubled += 1;
        seen.add(event_id);
        if (seen.size > 256) seen.delete(seen.values().next().value);  // what is measured must not grow itself
      });
    }
  };
})();
"""
"""Says too how many changes the page has heard of, and how many twice."""


ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Asked:
    """A call of the API by the page."""

    path: str
    milliseconds: float
    bytes: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """A screen that has been drawn."""

    milliseconds: float
    asked: list[Asked]

    @classmethod
    def told(cls, told: Any) -> Drawn:
        """As the page tells it."""
        return cls(told["milliseconds"], [Asked(**one) for one in told["asked"]])


def watch(page: Page) -> None:
    """Have the script in all documents that this page opens from now on."""
    page.send("Page.addScriptToEvaluateOnNewDocument", source=WATCH)


def first_view(page: Page, link: str) -> Drawn:
    """Open a link; the first screen, from the beginning of the navigation."""
    page.send("Page.navigate", url=link)
    page.until("Boolean(window.first && document.querySelector('#content'))")
    return Drawn.told(page.run("first()"))


def move(page: Page, address: str, there: str = "") -> Drawn:
    """Go to another screen, as a click on a link does.

    Args:
        page: it shows another screen now.
        address: what follows the server's, with '#'.
        there: a selector of what the screen shows when it is drawn.
    """
    return Drawn.told(page.run("moved(values[0], values[1])", address, there))


def frames_per_s(page: Page, seconds: float) -> float:
    """Frames that are shown in a second while the screen's canvas is zoomed in and out all the time."""
    found: float = page.run("frames(values[0])", seconds * 1_000)
    return found


def screens_of(page: Page) -> list[str]:
    """Addresses of all screens that the page's own list of screens has."""
    found: list[str] = page.run("[...document.querySelectorAll('nav a[href^=\"#/\"]')].map((one) => one.hash)")
    return found


def heap_mb(page: Page) -> float:
    """Memory of the page's scripts after everything that is not needed was removed, in MB."""
    for _ in range(3):
        page.send("HeapProfiler.collectGarbage")
    used: float = page.send("Runtime.getHeapUsage")["usedSize"]
    return used / 1_000_000


def why_slow(drawn: list[Drawn]) -> str:
    """The call that took longest in most of these, its median, and the bytes of its answer."""
    longest = [max(one.asked, key=lambda asked: asked.milliseconds) for one in drawn if one.asked]
    with suppress(statistics.StatisticsError):
        path = statistics.mode(ID.sub("{id}", one.path) for one in longest)
        mine = [one for one in longest if ID.sub("{id}", one.path) == path]
        median = percentile([one.milliseconds for one in mine], 0.5)
        return f"{path} {median:.0f} ms, {max(one.bytes for one in mine) / 1_000:.0f} kB"
    return ""


def has(page: Page, address: str) -> bool:
    """Whether the page knows a screen of this address."""
    with suppress(RefusedError):
        return address in screens_of(page)
    return False
