"""What comes in, and what is stored of it: files, texts, conversations, documents and feeds, in a real browser."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.web.world import HOSTILE, World, assert_clean, sign_in, told
from tests.browser import Page
from tests.chats import EXPORTS, slack, slack_message, tree

pytestmark = pytest.mark.acceptance
LONG = "An otter floats on its back. "
ODD_NAME = "<img src=x onerror='window.hacked=11'> talk.jsonl"


@pytest.fixture(scope="module", autouse=True)
def worker(world: World) -> Iterator[None]:
    """Somebody who reads what was sent, and facts from it."""
    part = world.rig.start_worker(extractor="offline")
    yield
    world.rig.kill(part)


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A folder with files to be sent."""
    tree(tmp_path, EXPORTS["whatsapp"])
    (tmp_path / "study.md").write_text("# Coffee study\n\nThe beans from Oaxaca were the best.\n")
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0" + b"x" * 1_000)
    return tmp_path


def open_sources(world: World, page: Page, key: str = "") -> None:
    """Sign in and open the screen."""
    sign_in(world, page, key or world.marcel)
    page.open(f"{world.rig.url}/#/sources")
    page.sees("Drop files or folders here")


def choose_me(page: Page, name: str) -> None:
    """Say which of the speakers one is, and store."""
    page.run(
        "[...document.querySelectorAll('.who label')].find((one) => one.innerText.startsWith(values[0])).click()", name
    )
    page.click("Store it", ".who button:enabled")


def test_a_chat_and_a_document_are_looked_at_stored_and_read(world: World, shelf: Path) -> None:
    with world.browser.visitor() as page, world.api(world.marcel) as api:
        open_sources(world, page)
        page.sees("known", ".known")
        before = page.run("document.querySelector('.known').innerText")
        page.choose("input.files", shelf / "WhatsApp Chat with Mila.txt", shelf / "study.md", shelf / "photo.jpg")
        page.sees("Which of these are you?")
        page.sees("Coffee study", ".ingest")
        page.sees("photo.jpg looks like a picture", ".ingest .bad")
        page.sees("source_unknown", ".ingest code")
        assert told(api.get("/v1/documents"))["items"] == []  # a preview stores nothing
        assert len(told(api.get("/v1/conversations"))["items"]) == 1
        assert page.run("document.querySelector('.who button').disabled")
        assert_clean(page)
        choose_me(page, "Jo")
        page.sees("2 new messages stored.", ".ingest")
        page.click("Store it", ".ingest button")
        page.sees("Stored as a new document.", ".ingest")
        page.until("document.querySelector('.known').innerText !== values[0]", before)  # the graph has grown, live
        page.click("Mila", ".listed a")
        page.sees("The key is under the mat.", ".messages")
        roles = {one["speaker"]: one["role"] for one in _messages(world, "Mila")}
        assert roles == {"Mila": "other", "Jo": "user"}
        assert_clean(page)
        page.open(f"{world.rig.url}/#/sources?view=documents")
        page.click("Coffee study", ".listed a")
        page.sees("The beans from Oaxaca were the best.", ".chunks")
        assert_clean(page)
        page.open(f"{world.rig.url}/#/ask?q=beans from Oaxaca")
        page.click("Show the source", ".memory button")
        page.click("Open in its document", ".source a")
        page.sees("The beans from Oaxaca were the best.", ".chunks .said-here")


def test_the_same_file_again_stores_nothing_and_says_so(world: World, shelf: Path) -> None:
    with world.browser.visitor() as page, world.api(world.marcel) as api:
        talks = len(told(api.get("/v1/conversations"))["items"])
        open_sources(world, page)
        page.choose("input.files", shelf / "WhatsApp Chat with Mila.txt", shelf / "study.md")
        page.sees("Which of these are you?")
        page.until("document.querySelector('.who input:checked') !== null")  # the answer of last time
        page.click("Store it", ".who button:enabled")
        page.sees("Nothing new: all 2 messages were stored already.", ".ingest")
        page.click("Store it", ".ingest button")
        page.sees("Nothing new: it is stored already.", ".ingest")
        assert len(told(api.get("/v1/conversations"))["items"]) == talks
        assert len(_messages(world, "Mila")) == 2


def test_a_folder_is_read_as_one_and_can_be_dropped(world: World, tmp_path: Path) -> None:
    folder = tmp_path / "My Slack"
    folder.mkdir()
    tree(folder, slack(slack_message("1769936400.000100", "U1", "The kettle whistles at five.")))
    (folder / "clip.mp4").write_bytes(b"x" * 5_000)
    (tmp_path / "plan.txt").write_text("Buy a kettle that whistles.\n")
    with world.browser.visitor() as page:
        open_sources(world, page)
        page.drop(".drop", folder, tmp_path / "plan.txt")
        page.sees("plan.txt", ".ingest")
        page.sees("Slack", ".ingest .meta")
        page.until("document.querySelectorAll('.ingest .primary').length === 2")
        for left in (1, 0):
            page.click("Discard", ".ingest button")
            page.until("document.querySelectorAll('.ingest .primary').length === values[0]", left)
        assert "My Slack.zip" not in page.text()
        page.choose("input.folders", folder)
        page.sees("My Slack.zip", ".ingest")
        page.sees("Slack", ".ingest .meta")
        page.click("Discard", ".ingest button")
        page.sees("Discarded. Nothing was stored.", ".notice")
        page.until("!document.body.innerText.includes('My Slack.zip')")


def test_a_file_that_is_too_large_is_refused_in_plain_words(world: World, tmp_path: Path) -> None:
    (tmp_path / "large.txt").write_text("words " * 12_000_000)
    with world.browser.visitor() as page:
        open_sources(world, page)
        page.choose("input.files", tmp_path / "large.txt")
        page.sees("Files above its limit", ".ingest .bad")
        page.click("Remove from the list", ".ingest button")
        page.until("!document.body.innerText.includes('large.txt')")


def test_hostile_names_and_texts_are_shown_as_text(world: World, tmp_path: Path) -> None:
    rows = [{"conversation": f"odd {text}"[:300], "speaker": text[:150], "text": text} for text in HOSTILE]
    with world.api(world.marcel) as api:
        told(api.post("/v1/messages", json={"messages": rows}))
        feed = {"kind": "push", "name": HOSTILE[1]}
        told(api.post("/v1/feeds", json=feed))
        paper = {"text": f"{HOSTILE[2]}\n", "name": "odd.txt", "title": HOSTILE[0]}
        told(api.post("/v1/documents", json=paper))
        listed = told(api.get("/v1/conversations"))["items"]
    talk = next(one for one in listed if one["identifier"].startswith("odd <img"))["conversation_id"]
    odd = tmp_path / ODD_NAME.replace("/", "_")
    odd.write_text(
        "".join(f'{{"conversation_id": "c", "id": "{n}", "speaker": "<b>{n}</b>", "text": "Hi"}}\n' for n in range(3))
    )
    with world.browser.visitor(width=360) as page:
        open_sources(world, page)
        page.choose("input.files", odd)
        page.sees("<img src=x", ".ingest .name")
        page.sees("<b>1</b>", ".who, .ingest")
        assert_clean(page)
        for address, where, shown in (
            ("#/sources", ".listed", "odd <script>"),
            ("#/sources?view=documents", ".listed", "<script>"),
            ("#/sources?view=feeds", ".feed", "<img src=x"),
            (f"#/sources/{talk}", ".messages", "<img src=x"),
        ):
            page.open(f"{world.rig.url}/{address}")
            page.sees(shown, where)
            page.run("document.querySelectorAll('.feed .head').forEach((one) => one.click())")
            assert page.run("window.hacked ?? null") is None, address
            assert_clean(page)
        page.open(f"{world.rig.url}/#/sources?view=documents")
        page.click("<script>", ".listed a")
        page.sees("<svg onload", ".chunks")
        assert page.run("window.hacked ?? null") is None
        assert_clean(page)


def test_a_message_of_100_000_characters_stays_readable(world: World) -> None:
    text = f"{LONG * 3_500}At the very end stands Zanzibar. {LONG}"
    with world.api(world.marcel) as api:
        receipt = told(api.post("/v1/messages", json={"conversation": "long", "text": text}))["messages"][0]
        found = told(api.post("/v1/recall", json={"query": "Zanzibar", "limit": 1}))["memories"][0]
    assert found["passage_id"] != receipt["passage_id"]
    with world.browser.visitor() as page:
        sign_in(world, page, world.marcel)
        began = time.monotonic()
        page.open(f"{world.rig.url}/#/sources/{receipt['conversation_id']}?at={found['passage_id']}")
        page.sees("Zanzibar", ".said-here mark")
        assert time.monotonic() - began < 10
        assert page.run("document.querySelector('.said-here').innerText.length") < 10_000
        page.click("Show all", ".messages button")
        page.until("document.querySelector('.said-here').innerText.length > 100000")
        assert_clean(page)


def test_a_text_is_written_down_and_forgotten_with_a_receipt(world: World) -> None:
    with world.browser.visitor() as page:
        open_sources(world, page)
        page.click("Write down …", "button")
        page.fill("dialog textarea", "The spare key hangs behind the clock.")
        page.fill("dialog input[name=conversation]", "cupboard")
        assert_clean(page)
        page.click("Write it down", "dialog button")
        page.click("Open", ".notice button")
        page.sees("The spare key hangs behind the clock.", ".said-here")
        page.click("Forget …", ".reading .top button")
        page.sees("What goes", "dialog")
        page.click("Forget for good", "dialog button:enabled")
        page.sees("Receipt", "dialog h2")
        page.sees("nothing is left", "dialog")
        page.click("Close", "dialog footer button")
        page.sees("Sources", "h1")
        assert not _talks(world, "cupboard")


def test_a_feed_is_added_paused_and_removed(world: World) -> None:
    with world.browser.visitor() as page:
        open_sources(world, page)
        page.click("Feeds", ".tabs button")
        page.click("Add a feed …", "button")
        page.fill("dialog input[name=where]", "https://example.org/team")
        page.click("Add", "dialog footer .primary")
        page.sees("This service fetches no addresses.", "dialog [role=alert]")  # refused, and the form is as it was
        page.run(
            "((field) => { field.value = 'push'; field.dispatchEvent(new Event('change', { bubbles: true })) })"
            "(document.querySelector('dialog select[name=kind]'))"
        )
        page.fill("dialog input[name=name]", "Office")
        assert_clean(page)
        page.click("Add", "dialog footer .primary")
        page.sees("mps_", "dialog pre")
        page.click("Close", "dialog footer button")
        page.click("Office", ".feed .head")
        page.click("Pause", ".feed .opened button")
        page.sees("paused", ".feed .state")
        page.click("Undo", ".notice button")
        page.sees("active", ".feed .state")
        page.click("Remove …", ".feed .opened button")
        page.click("Remove", "dialog footer .danger")
        page.until("!document.querySelector('.feeds').innerText.includes('Office')")
        assert_clean(page)


def test_another_user_sees_nothing_and_a_key_without_rights_changes_nothing(world: World) -> None:
    ours = _talks(world, "marcel-and-ines")
    with world.api(world.marcel) as api:
        told(api.post("/v1/documents", json={"text": "Buy a kettle.", "name": "plan.txt", "dry_run": True}))
    with world.browser.visitor() as page:
        open_sources(world, page, world.bob)
        page.sees("Bring in what you have")
        page.sees("WhatsApp", ".ways")
        page.sees("No conversations yet.")
        assert "marcel-and-ines" not in page.text()
        assert "plan.txt" not in page.text()
        assert_clean(page)
        page.open(f"{world.rig.url}/#/sources/{ours[0]}")
        page.sees("There is no source", "[role=alert]")
    key = world.rig.ok("key", "create", "--user", "Marcel", "--scope", "read").strip()
    with world.browser.visitor() as page:
        sign_in(world, page, key)
        page.open(f"{world.rig.url}/#/sources")
        page.sees("This key may only read.")
        page.sees("plan.txt", ".ingest")
        assert page.run("document.querySelectorAll('.drop, .who, .ingest .primary').length") == 0
        page.click("marcel-and-ines", ".listed a")
        page.sees("Back from the baker", ".messages")
        assert "Forget …" not in page.text()


def _talks(world: World, title: str) -> list[str]:
    with world.api(world.marcel) as api:
        found = told(api.get("/v1/conversations", params={"limit": 100}))["items"]
    return [one["conversation_id"] for one in found if title in {one["title"], one["identifier"]}]


def _messages(world: World, title: str) -> list[dict[str, str]]:
    (talk,) = _talks(world, title)
    with world.api(world.marcel) as api:
        found: list[dict[str, str]] = told(api.get(f"/v1/conversations/{talk}/messages"))["items"]
    return found
