"""Notes, the profile, the night, answers and examples, in a real browser."""

from __future__ import annotations

import pytest

from tests.acceptance.web.world import HOSTILE, World, assert_clean, sign_in, told

pytestmark = pytest.mark.acceptance
ENTER = 13
SWITCH = (
    "[...document.querySelectorAll('.task-row')].find((one) => one.innerText.includes(values[0]))"
    ".querySelector('input')"
)


@pytest.fixture(scope="module")
def ines(world: World) -> str:
    """A person to link to; her id."""
    with world.api(world.marcel) as api:
        made = told(api.post("/v1/nodes", json={"label": "Ines", "type": "Person"}))
    node: str = made["results"][0]["node_id"]
    return node


@pytest.fixture(scope="module")
def night(world: World) -> None:
    """A night has run."""
    world.rig.ok("sleep", "--user", "Marcel")


def test_a_note_links_to_others_and_shows_what_links_to_it(world: World, ines: str) -> None:
    with world.browser.visitor() as page:
        sign_in(world, page, world.marcel)
        page.open(f"{world.rig.url}/#/notes")
        page.sees("There are no notes yet.", ".empty")
        assert_clean(page)
        page.click("Write a note")
        page.fill("input[name=title]", "Beech swells next to the sink")
        page.click("Save", "button:enabled")
        page.sees("Beech swells next to the sink", "h1")
        page.sees("Not linked yet.", ".linked")
        page.open(f"{world.rig.url}/#/notes/new")
        page.fill("input[name=title]", "Oak for the worktop")
        page.fill("textarea", "# Why\n**80** more, see [[Beech")
        page.sees("Beech swells next to the sink", "[role=option]")
        assert_clean(page)
        page.press("Enter", code=ENTER)
        page.until("document.querySelector('textarea').value.endsWith('[[Beech swells next to the sink]]')")
        page.send("Input.insertText", text=", ask [[ines]] and [[Nobody]].")
        page.click("Preview", ".tabs button")
        page.sees("80", ".previewed strong")
        page.click("Save", "button:enabled")
        page.sees("Not linked, because nothing or several things have this name: Nobody.", ".notice")
        page.sees("Why", ".prose h2")
        page.until(f"document.querySelector('.prose a[href=\"#/things/{ines}\"]') !== null")
        page.sees("Nobody", ".prose .unwritten")
        assert_clean(page)
        page.click("Beech swells next to the sink", ".prose a")
        page.sees("Linked from", ".linked")
        page.click("Oak for the worktop", ".linked a")
        page.click("Link …", ".card button")
        page.fill("dialog [cmdk-input]", "Beech")
        page.click("Beech swells next to the sink", "dialog [cmdk-item]")
        page.run("document.querySelector('dialog select').value = 'contradicts'")
        page.run("document.querySelector('dialog select').dispatchEvent(new Event('change', { bubbles: true }))")
        assert_clean(page)
        page.click("Link", "dialog button[type=submit]:enabled")
        page.sees("contradicts", ".linked .relation")
        page.run("document.querySelector('.linked li:has(.relation) button').click()")
        page.sees("The link has ended.", ".notice")
        page.click("Undo", ".notice button")
        page.sees("Taken back.", ".notice")
        page.until("document.querySelectorAll('.linked section:first-child li').length === 3")


def test_a_note_changed_in_two_places_is_not_overwritten(world: World) -> None:
    with world.api(world.marcel) as api:
        note = told(api.post("/v1/notes", json={"title": "Tiles", "text": "White.", "tags": ["bath"]}))["note_id"]
        with world.browser.visitor() as page:
            sign_in(world, page, world.marcel)
            page.open(f"{world.rig.url}/#/notes/{note}/edit")
            page.fill("textarea", "Blue.")
            told(api.patch(f"/v1/notes/{note}", json={"text": "Green."}))
            page.sees("was changed elsewhere", "[role=alert]")
            page.click("What it says now", "summary")
            page.sees("Green.", "[role=alert] .prose")
            assert_clean(page)
            assert page.run("document.querySelector('textarea').value") == "Blue."
            assert page.run("document.querySelector('button[type=submit]').disabled")
            page.click("Keep mine", "[role=alert] button")
            page.click("Save", "button[type=submit]:enabled")
            page.sees("Blue.", ".prose")
            page.click("Undo", ".notice button")
            page.sees("Green.", ".prose")
            page.click("History", ".tabs button")
            page.sees("Blue.", ".history")
            page.click("Forget …", ".card button")
            page.click("Forget for good", "dialog button:enabled")
            page.sees("nothing is left", "dialog")
            page.click("Close", "dialog footer button")
            page.sees("Notes", "h1")
        assert api.get(f"/v1/notes/{note}").status_code == 404


def test_a_block_is_edited_restored_and_not_overwritten(world: World) -> None:
    with world.api(world.marcel) as api, world.browser.visitor() as page:
        told(api.put("/v1/profile/preferences", json={"text": "Green tea."}))
        sign_in(world, page, world.marcel)
        page.open(f"{world.rig.url}/#/profile")
        page.sees("Green tea.", ".block")
        page.click("Edit", ".block button")
        page.fill("dialog textarea", "Black tea.")
        assert_clean(page)
        page.click("Save", "dialog button:enabled")
        page.sees("Black tea.", ".block .text")
        page.click("History", ".block button")
        page.sees("Green tea.", ".versions")
        assert_clean(page)
        page.click("Restore this", ".versions button")
        page.sees("It says again what version 1 said.", ".notice")
        page.sees("version 3", ".block .meta")
        page.click("Undo", ".notice button")
        page.sees("version 4", ".block .meta")
        page.click("Edit", ".block button")
        page.fill("dialog textarea", "Coffee.")
        told(api.put("/v1/profile/preferences", json={"text": "Water."}))
        page.click("Save", "dialog button:enabled")
        page.sees("is at version 5", "dialog [role=alert]")
        page.sees("Water.", "dialog [role=alert]")
        assert_clean(page)
        page.click("Drop mine", "dialog button")
        assert page.run("document.querySelector('dialog textarea').value") == "Water."
        page.click("Close", "dialog button")
        page.sees("version 5", ".block .meta")
        page.click("To the archive", ".block button")
        page.sees("It is in the archive now.", ".notice")
        page.click("Undo", ".notice button")
        page.sees("Taken back.", ".notice")
    with world.api(world.marcel) as api:
        assert told(api.get("/v1/profile/preferences"))["kind"] == "core"


def test_instructions_what_an_assistant_gets_pause_and_export(world: World) -> None:
    with world.browser.visitor() as page:
        sign_in(world, page, world.marcel)
        page.open(f"{world.rig.url}/#/profile?view=instructions")
        page.sees("There are no instructions yet.", ".empty")
        page.click("Add an instruction")
        page.fill("dialog input[name=label]", "Answer in short sentences")
        assert_clean(page)
        page.click("Save", "dialog button")
        page.sees("Answer in short sentences", ".block h3")
        page.sees("your rule", ".block")
        assert_clean(page)
        page.click("As an assistant gets it", ".tabs button")
        page.sees("Answer in short sentences", ".given pre")
        assert_clean(page)
        page.click("Pause & export", ".tabs button")
        page.click("Pause", ".keeping button")
        page.sees("Memory is paused.", ".paused")
        assert_clean(page)
        with world.api(world.marcel) as api:
            assert told(api.get("/v1/me/pause"))["paused"]
        page.click("Go on remembering", ".paused button")
        page.sees("Memory is on again.", ".notice")
        page.sees("Memory is on.", ".keeping")
        page.run("window.saved = []")
        page.run("(HTMLAnchorElement.prototype.click = function () { window.saved.push(this.download) }) && true")
        page.click("Export everything", ".keeping button")
        page.sees("is in your downloads.", ".notice")
        assert page.run("window.saved[0]").endswith(".zip")


@pytest.mark.usefixtures("night")
def test_a_night_is_read_run_and_undone(world: World) -> None:
    with world.browser.visitor() as page:
        sign_in(world, page, world.marcel)
        page.open(f"{world.rig.url}/#/night")
        page.sees("summaries", ".brought")
        page.click("6 September, Ines", ".entry .head")
        page.sees("marcel-and-ines", ".entry .source")
        assert_clean(page)
        page.click("Runs", ".tabs button")
        page.sees("summarised", ".run")
        page.click("Run now …")
        page.click("Choose none", "dialog button")
        page.click("Salience", "dialog label")
        page.click("Dry run", "dialog button:enabled")
        page.sees("What would happen", "dialog .would")
        assert_clean(page)
        page.click("Run", "dialog button.primary:enabled")
        page.sees("A run is open.", ".runs")
        world.rig.ok("jobs", "run")
        page.until("!document.querySelector('.runs').innerText.includes('A run is open.')")
        page.until(
            "[...document.querySelectorAll('.run')].filter((one) => one.innerText.includes('Summaries'))[0]"
            ".querySelector('button') !== null"
        )
        page.run(
            "[...document.querySelectorAll('.run')].filter((one) => one.innerText.includes('Summaries'))[0]"
            ".querySelector('button').click()"
        )
        assert_clean(page)
        page.click("Undo the run", "dialog button")
        page.sees("taken back.", ".notice")
        page.sees("undone", ".run .state")
        page.click("Report", ".tabs button")
        page.until(
            "document.querySelector('.brought') && !document.querySelector('.brought').innerText.includes('summar')"
        )
        assert_clean(page)


def test_a_task_is_switched_off_and_on_and_the_night_paused(world: World) -> None:
    with world.browser.visitor() as page, world.api(world.marcel) as api:
        sign_in(world, page, world.marcel)
        page.open(f"{world.rig.url}/#/night?view=tasks")
        page.sees("Reflection", ".task-row")
        assert_clean(page)
        page.run(f"{SWITCH}.click()", "Reflection")
        page.sees("“Reflection” is off.", ".notice")
        page.until(f"!{SWITCH}.checked", "Reflection")
        assert not {one["name"]: one["on"] for one in told(api.get("/v1/sleep/tasks"))["items"]}["reflection"]
        page.click("Undo", ".notice button")
        page.sees("Taken back.", ".notice")
        page.until(f"{SWITCH}.checked", "Reflection")
        assert page.run(f"{SWITCH}.disabled", "Reviews"), "the settings have it off"
        page.run(f"{SWITCH}.click()", "Forgetting")
        page.sees("“Forgetting” is on.", ".notice")
        assert told(api.get("/v1/archive"))["forgetting"]
        page.click("Pause", ".when button")
        page.sees("Sleep mode is paused.", ".when")
        page.click("Undo", ".notice button")
        page.sees("Runs each night at", ".when")


def test_what_was_archived_is_listed_and_restored(world: World) -> None:
    with world.rig.admin() as admin:
        found = admin.execute(
            "UPDATE memsvc.passages SET archived_at = now() WHERE passage_id = (SELECT p.passage_id "
            "FROM memsvc.passages AS p JOIN memsvc.users AS u USING (user_id) WHERE u.name = 'Marcel' "
            "AND p.kind = 'message' AND p.part = 0 ORDER BY p.passage_id LIMIT 1) RETURNING left(text, 40)"
        ).fetchone()
    assert found is not None
    with world.browser.visitor() as page:
        sign_in(world, page, world.marcel)
        page.open(f"{world.rig.url}/#/night?view=archive")
        page.sees(found[0], ".archive .text")
        page.sees("1 archived memory", ".archive")
        assert_clean(page)
        page.click("Restore", ".archive button")
        page.sees("1 memory was restored.", ".notice")
        page.sees("Nothing is archived.", ".archive")


def test_an_answer_says_that_no_model_is_set_and_shows_its_sources(world: World) -> None:
    with world.browser.visitor() as page:
        sign_in(world, page, world.marcel)
        page.open(f"{world.rig.url}/#/ask?q=When is the wedding of Ines?&view=answer")
        page.sees("No language model is set", ".claims .said")
        page.sees("wedding", ".claim-list li")
        page.run("document.querySelector('.cite').click()")
        page.sees("Later", ".answer-sources .source")
        assert_clean(page)
        page.click("Memories", ".tabs button")
        page.click("Save as an example …")
        page.run("document.querySelector('dialog input[type=checkbox]').click()")
        page.fill("dialog textarea", "It was moved to 5 September.")
        assert_clean(page)
        page.click("Save", "dialog button:enabled")
        page.sees("Saved. It counts from now on.", ".notice")
    with world.api(world.marcel) as api:
        kept = told(api.get("/v1/lessons"))["items"][0]
        assert (kept["question"], kept["correction"]) == (
            "When is the wedding of Ines?",
            "It was moved to 5 September.",
        )
        assert told(api.get("/v1/usefulness"))["judged"] > 0


def test_hostile_texts_stay_texts(world: World) -> None:
    with world.api(world.marcel) as api:
        notes = []
        for index, text in enumerate(HOSTILE):
            short = text[:90]
            body = (
                f"# {text}\n\n{text}\n- {text}\n> {text}\n\n[[{short}]] [{short}](javascript:window.hacked=20) `{text}`"
            )
            note = {"title": f"yy{index} {text}"[:200], "text": body[:8_000], "tags": [text[:90]]}
            notes.append(told(api.post("/v1/notes", json=note))["note_id"])
            told(api.post("/v1/nodes", json={"type": "Instruction", "label": f"yy {text}"[:500], "description": text}))
        link = {"from_node": notes[0], "to_node": notes[1], "relation": "supports", "reason": HOSTILE[1]}
        told(api.post("/v1/links", json=link))
        for text in HOSTILE:
            told(api.patch("/v1/profile/odd", json={"change": {"op": "append", "text": text[:300]}}))
        run = {"question": HOSTILE[0], "correction": HOSTILE[1]}
        told(api.post("/v1/critique", json=run))
    screens = [
        ("#/notes?q=yy", ".rows", "yy0 <script>"),
        *((f"#/notes/{note}", "h1", f"yy{index} ") for index, note in enumerate(notes)),
        (f"#/notes/{notes[1]}/edit", "h1", "Change a note"),
        (f"#/notes/new?title={HOSTILE[0]}", "input[name=title]", "<script>"),
        ("#/profile", ".block .text", "window.hacked"),
        ("#/profile?view=instructions", ".block h3", "<script>"),
        ("#/profile?view=given", "pre", "window.hacked"),
        ("#/night", ".report", "Learnt"),
        ("#/ask?q=window.hacked onerror onload script&view=answer", ".claim-list", "hacked"),
        ("#/night?date=<script>", "[role=alert]", "is not a day"),
    ]
    with world.browser.visitor(width=360) as page:
        sign_in(world, page, world.marcel)
        for address, where, shown in screens:
            page.open(f"{world.rig.url}/{address}")
            page.sees(shown, where)
            page.run("document.querySelectorAll('.cite, .entry .head').forEach((one) => one.click())")
            assert page.run("window.hacked ?? null") is None, address
            hrefs = page.run("[...document.querySelectorAll('a')].map((one) => one.getAttribute('href'))")
            assert all(one.startswith(("http:", "https:", "#", "/")) for one in hrefs), hrefs
            assert_clean(page)


def test_another_user_sees_nothing_of_it(world: World) -> None:
    with world.browser.visitor() as page:
        page.open(world.rig.url)
        page.fill("input[name=key]", world.bob)
        page.click("Sign in", "button")
        page.sees("Nothing is remembered yet")
        for address, shown in (
            ("#/notes", "There are no notes yet."),
            ("#/profile", "Not written yet:"),
            ("#/profile?view=instructions", "There are no instructions yet."),
            ("#/night", "Sleep mode has not run yet."),
            ("#/night?view=runs", "Nothing has run yet."),
            ("#/night?view=archive", "Nothing is archived."),
            ("#/ask?q=wedding&view=answer", "Memory does not answer this."),
        ):
            page.open(f"{world.rig.url}/{address}")
            page.sees(shown)
            assert_clean(page)
            assert "Oak" not in page.text()
        with world.api(world.marcel) as api:
            note = told(api.get("/v1/notes"))["items"][0]["note_id"]
        page.open(f"{world.rig.url}/#/notes/{note}")
        page.sees("There is no node", "[role=alert]")


def test_a_key_that_only_reads_is_offered_no_changes(world: World) -> None:
    reader = world.rig.ok("key", "create", "--user", "Marcel", "--scope", "read").strip()
    with world.browser.visitor() as page:
        sign_in(world, page, reader)
        for address, there in (
            ("#/notes", ".rows a"),
            ("#/profile", ".block"),
            ("#/profile?view=instructions", ".block"),
            ("#/profile?view=keeping", ".state"),
            ("#/night?view=runs", ".run"),
            ("#/night?view=tasks", ".task-row"),
        ):
            page.open(f"{world.rig.url}/{address}")
            page.until("document.querySelector(values[0]) !== null", there)
            offered = page.run(
                "[...document.querySelectorAll('#content button, #content .button')].map((one) => one.innerText)"
            )
            refused = {"Write a note", "Edit", "Forget …", "Pause", "Run now …", "Undo …", "Add a block", "Always give"}
            assert not refused & set(offered), (address, offered)
            assert page.run("[...document.querySelectorAll('[role=switch]')].every((one) => one.disabled)")
            assert_clean(page)
