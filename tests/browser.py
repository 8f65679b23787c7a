"""A real browser: Debian's Chromium, driven over its DevTools protocol.

``Browser`` starts one and ends it. ``Browser.visitor`` opens a page with cookies and storage of its own, as another
person's browser has. Everything waits for a condition of the page. What the page's policy refused and what its scripts
threw is kept, so that a test can say that there was nothing.
"""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from websockets.sync.client import ClientConnection, connect

from tests.acceptance.killpoints import wait_until
from tests.servers import program

OPEN_S = 60.0
WAIT_S = 30.0
WATCH = """
window.refused = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.refused.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
window.shown = (selector, text) => [...document.querySelectorAll(selector)].filter((one) =>
  one.checkVisibility() && (one.innerText || one.value || one.getAttribute("aria-label") || "").includes(text));
"""


class RefusedError(AssertionError):
    """The browser could not do what was asked of it."""


class Browser:
    """A running Chromium without a window."""

    def __init__(self, folder: Path) -> None:
        """Name the folder of its profile; nothing runs yet."""
        self._folder = folder
        self._last = 0
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        """Start it."""
        command = [
            program("chromium", "chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", "--disable-background-networking", "--hide-scrollbars", "--lang=en-GB",
            f"--user-data-dir={self._folder}", "--remote-debugging-port=0", "about:blank",
        ]  # fmt: skip
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        told = self._folder / "DevToolsActivePort"
        wait_until(lambda: told.exists() and len(told.read_text().splitlines()) > 1, seconds=OPEN_S)
        port, path = told.read_text().splitlines()[:2]
        self._open = ExitStack()
        self._socket: ClientConnection = self._open.enter_context(
            connect(f"ws://127.0.0.1:{port}{path}", max_size=None)
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self._open.close()
        self._process.terminate()
        self._process.wait(OPEN_S)

    def send(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        self._last += 1
        said = {"id": self._last, "method": method, "params": parameters}
        self._socket.send(json.dumps(said | ({"sessionId": session} if session else {})))
        while True:
            heard: dict[str, Any] = json.loads(self._socket.recv(timeout=OPEN_S))
            if heard.get("id") != self._last:
                self.events.append(heard)
                continue
            if "error" in heard:
                raise RefusedError(f"{method}: {heard['error']}")
            result: dict[str, Any] = heard["result"]
            return result

    @contextmanager
    def visitor(self, *, width: int = 1280, height: int = 900) -> Iterator[Page]:
        """Yield a page of a new person: without cookies, storage or cache."""
        context = self.send("Target.createBrowserContext")["browserContextId"]
        target = self.send("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        for domain in ("Page", "Runtime"):
            page.send(f"{domain}.enable")
        page.send("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        page.resize(width, height)
        try:
            yield page
        finally:
            self.send("Target.disposeBrowserContext", browserContextId=context)


class Page:
    """A page of one person."""

    def __init__(self, browser: Browser, session: str) -> None:
        """Pages come from ``Browser.visitor``."""
        self._browser, self._session = browser, session

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command for this page."""
        return self._browser.send(method, self._session, **parameters)

    def resize(self, width: int, height: int = 900) -> None:
        """Give the page another size, in CSS pixels."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefers(self, scheme: str) -> None:
        """Let the system prefer light or dark."""
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def run(self, script: str, *values: Any) -> Any:
        """Run an expression, which may use ``values`` and may be a promise; its value."""
        given = f"((values) => ({script}))({json.dumps(values)})"
        done = self.send("Runtime.evaluate", expression=given, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in done:
            raise RefusedError(json.dumps(done["exceptionDetails"])[:2_000])
        return done["result"].get("value")

    def open(self, address: str) -> None:
        """Open an address, anew also if only what follows '#' differs."""
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=address)
        self.until("document.readyState === 'complete'")

    def until(self, condition: str, *values: Any) -> None:
        """Wait until an expression is true."""
        try:
            wait_until(lambda: self.run(condition, *values), seconds=WAIT_S, pause=0.05)
        except TimeoutError as error:
            raise RefusedError(f"never: {condition} {values}\n{self.text()[:3_000]}") from error

    def sees(self, text: str, selector: str = "body") -> None:
        """Wait until a text is shown."""
        self.until("window.shown(values[0], values[1]).length > 0", selector, text)

    def text(self) -> str:
        """All text that is shown."""
        shown: str = self.run("document.body.innerText")
        return shown

    def click(self, text: str, selector: str = "button, a, summary, [role=option]") -> None:
        """Click the first thing with this text, once it is enabled: some buttons wait for their data."""
        self.until("window.shown(values[0], values[1])[0]?.matches(':disabled') === false", selector, text)
        self.run("window.shown(values[0], values[1])[0].click()", selector, text)

    def fill(self, selector: str, text: str) -> None:
        """Write into a field, as if typed; a field of a date gets its value."""
        self.until("document.querySelector(values[0]) !== null", selector)
        if self.run("document.querySelector(values[0]).type === 'date'", selector):
            self.run(
                "((field) => { Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, "
                "values[1]); field.dispatchEvent(new Event('input', { bubbles: true })); })"
                "(document.querySelector(values[0]))",
                selector,
                text,
            )
            return
        self.run("((field) => { field.focus(); field.select(); })(document.querySelector(values[0]))", selector)
        self.send("Input.insertText", text=text)

    def choose(self, selector: str, *paths: Path) -> None:
        """Choose files in a field for files; a folder in a field for folders."""
        self.until("document.querySelector(values[0]) !== null", selector)
        found = self.send("Runtime.evaluate", expression=f"document.querySelector({json.dumps(selector)})")
        self.send("DOM.setFileInputFiles", files=[str(path) for path in paths], objectId=found["result"]["objectId"])

    def drop(self, selector: str, *paths: Path) -> None:
        """Drag files and folders from outside the browser onto something, and let go."""
        self.until("document.querySelector(values[0]) !== null", selector)
        middle = "((box) => [box.x + box.width / 2, box.y + box.height / 2])"
        x, y = self.run(f"{middle}(document.querySelector(values[0]).getBoundingClientRect())", selector)
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.send("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    def press(self, key: str, *, code: int = 0, modifiers: int = 0) -> None:
        """Press a key and release it. ``code`` is its Windows key code, which Enter, Tab and Escape need."""
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 and not modifiers else {}
        for kind in ("keyDown", "keyUp"):
            more = text if kind == "keyDown" else {}
            self.send(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                windowsVirtualKeyCode=code,
                modifiers=modifiers,
                **more,
            )

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """Write a picture of what is shown, or of the whole page, as PNG."""
        made = self.send("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(made["data"]))

    def complaints(self) -> list[str]:
        """What the page's policy refused, and what its scripts threw."""
        refused: list[str] = self.run("window.refused")
        thrown = [
            json.dumps(event["params"]["exceptionDetails"])[:1_000]
            for event in self._browser.events
            if event["method"] == "Runtime.exceptionThrown" and event["sessionId"] == self._session
        ]
        return refused + thrown
