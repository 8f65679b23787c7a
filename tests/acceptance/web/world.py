"""What the tests of the web page share: a running service with a browser, hostile texts, and what each screen must be.

Chromium refuses what the page's policy does not allow, and ``assert_clean`` asks that it had nothing to refuse. If
``make web`` has installed axe-core, each screen is also checked for accessibility.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.acceptance.killpoints import Rig
from tests.browser import Browser, Page

ROOT = Path(__file__).resolve().parents[3]
AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
SERIOUS = (
    "axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations"
    ".filter((one) => ['serious', 'critical'].includes(one.impact)).map((one) => one.id + one.nodes[0].html))"
)
HOSTILE = [
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    '"><svg onload=window.hacked=3>',
    "javascript:window.hacked=4",
    "<iframe srcdoc='<script>parent.hacked=5</script>'></iframe>",
    "{{constructor.constructor('window.hacked=6')()}}",
    "${window.hacked = 7} `</style><style>*{display:none}</style>",
    "<a href='data:text/html,<script>opener.hacked=8</script>'>Ines</a>",
    "\u202eevil\u202c \u200b\u2066 <b>bold</b> &lt;i&gt; ]]><!--",
    "W" * 1_500,
]


@dataclass(frozen=True, slots=True)
class World:
    """A running service, two users' keys, and a browser."""

    rig: Rig
    browser: Browser
    marcel: str
    bob: str

    def api(self, key: str) -> httpx.Client:
        """A client with this key."""
        return httpx.Client(base_url=self.rig.url, headers={"Authorization": f"Bearer {key}"}, timeout=60)


def told(answer: httpx.Response) -> Any:
    """The body of an answer that must be good."""
    assert answer.is_success, answer.text
    return answer.json()


def sign_in(world: World, page: Page, key: str) -> None:
    """Sign in with a key, as somebody on another machine does."""
    page.open(world.rig.url)
    page.fill("input[name=key]", key)
    page.click("Sign in", "button")
    page.until("document.querySelector('#content h2') !== null")  # it is drawn, and listens to keys


def assert_clean(page: Page) -> None:
    """Nothing was refused or thrown; a screen reader can use the screen; nothing is wider than the screen."""
    page.until("document.querySelector('.busy') === null")  # what is asked anew is paler for a moment
    assert page.complaints() == []
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
    if AXE.exists():
        page.send("Runtime.evaluate", expression=AXE.read_text())
        assert page.run(SERIOUS) == []
