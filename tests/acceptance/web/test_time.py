"""The timeline, the agenda, what came in while somebody was away, and the map, in a real browser."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest

from tests.acceptance.web.world import HOSTILE, World, assert_clean, sign_in, told

pytestmark = pytest.mark.acceptance
CHOSEN = "document.querySelector('.density').getAttribute('aria-valuetext')"
HOME = {"latitude": 51.34, "longitude": 12.37}


def node(world: World, label: str, kind: str, **more: object) -> str:
    """A node of Marcel's; its id."""
    with world.api(world.marcel) as api:
        made = told(api.post("/v1/nodes", json={"label": label, "type": kind, **more}))
        return str(made["results"][0]["node_id"])


def fact(world: World, start: str, kind: str, end: str, sentence: str, **more: object) -> None:
    """A fact of Marcel's."""
    with world.api(world.marcel) as api:
        told(api.post("/v1/facts", json={"type": kind, "from_node": start, "to_node": end, "fact": sentence, **more}))


@pytest.fixture(scope="module")
def moved(world: World) -> tuple[str, str]:
    """Ada lived in Leipzig from 2020 to 2024; the ids of both. Leipzig has its place since 2020."""
    ada, leipzig = node(world, "Ada Wolf", "Person"), node(world, "Leipzig", "Place")
    span = {"valid_from": "2020-02-01", "valid_to": "2024-07-01"}
    fact(world, ada, "LIVES_IN", leipzig, "Ada lives in Leipzig.", **span)
    with world.api(world.marcel) as api:
        told(api.post(f"/v1/nodes/{leipzig}/location", json=HOME | {"valid_from": "2020-02-01"}))
    return ada, leipzig


def test_time_is_seen_by_day_week_month_and_year_and_moved_by_keyboard(world: World, moved: tuple[str, str]) -> None:
    with world.browser.visitor() as page:
        sign_in(world, page, world.marcel)
        page.open(f"{world.rig.url}/#/timeline?at=2026-03")
        page.sees("March 2026", "h2.now")
        page.sees("messages", ".entry.message")
        page.until("document.querySelectorAll('.parts li').length === 31")
        assert_clean(page)
        page.click("Show", ".entry.message button")
        page.until("document.querySelector('.entry .source .said-here') !== null")
        assert_clean(page)
        for zoom, name, parts in (
            ("Week", "Week of 23 February 2026", 7),
            ("Day", "23 February 2026", 0),
            ("Year", "2026", 12),
        ):
            page.click(zoom, ".zooms button")
            page.until("document.querySelector('h2.now').innerText === values[0]", name)
            page.until("document.querySelectorAll('.parts li').length === values[0]", parts)
            assert_clean(page)
        page.click("Mar", ".parts button")
        page.sees("March 2026", "h2.now")
        page.run("document.querySelector('.density').focus()")
        page.press("ArrowLeft", code=37)
        page.until(f"{CHOSEN} === 'February 2026'")
        page.press("PageDown", code=34)
        page.until(f"{CHOSEN} === 'February 2025'")
        page.press("Home", code=36)
        page.until(f"{CHOSEN} === 'February 2020'")  # the first that is known
        page.sees("Ada lives in Leipzig.", ".entry.began")
        page.resize(390)
        page.prefers("dark")
        assert_clean(page)


def test_kinds_and_one_person_narrow_what_is_shown(world: World, moved: tuple[str, str]) -> None:
    ada, _ = moved
    with world.browser.visitor() as page:
        sign_in(world, page, world.marcel)
        page.open(f"{world.rig.url}/#/timeline?at=2024&zoom=year&node={ada}")
        page.sees("Ada Wolf", ".chip")
        page.sees("Ada lives in Leipzig.", ".entry.ended")
        page.until("document.querySelectorAll('.entry').length === 1")
        page.click("Endings", ".kinds label")
        page.sees("Nothing is known of this time.", ".empty")
        assert_clean(page)
        today = datetime.now(UTC).date().isoformat()
        page.open(f"{world.rig.url}/#/timeline?at={today}&zoom=day&kinds=change")
        page.click("Show", ".entry.change button")
        page.sees("Ada lives in Leipzig.", ".learnt")
        assert_clean(page)


def test_the_agenda_shows_an_appointment_and_its_source(world: World) -> None:
    day = datetime.now(UTC) + timedelta(days=5)
    text = f"The dentist is on {day:%d %B %Y} at 9:30."
    with world.api(world.marcel) as api:
        told(api.post("/v1/messages", json={"conversation": "plans", "text": text, "speaker": "Marcel"}))
    with world.browser.visitor() as page:
        sign_in(world, page, world.marcel)
        page.open(f"{world.rig.url}/#/timeline")
        page.click("Agenda", ".tabs button")
        page.sees(text, ".entry")
        page.sees("09:30", ".entry .at")
        page.click("Show", ".entry button")
        page.sees(text, ".source")
        assert_clean(page)


def test_what_came_in_while_away_is_counted_until_it_is_seen(world: World) -> None:
    with world.browser.visitor() as page:
        sign_in(world, page, world.marcel)
        page.open(f"{world.rig.url}/#/timeline?view=away")
        page.sees("From now on,")
        with world.api(world.marcel) as api:
            told(api.post("/v1/messages", json={"conversation": "news <b>of</b> Ada", "text": "Ada has a new bike."}))
            told(api.post("/v1/messages", json={"conversation": "news <b>of</b> Ada", "text": "It is red."}))
        node(world, "Red bike", "Object")
        page.open(f"{world.rig.url}/#/timeline")
        page.until("document.querySelector('.fresh')?.innerText === '2'")
        page.click("While you were away", ".tabs button")
        page.until("document.querySelector('.figures').innerText.includes('Messages')")
        page.sees("news <b>of</b> Ada", ".entry")
        page.sees("2 messages", ".entry")
        page.sees("Red bike", ".learnt")
        page.click("Show", ".entry button")
        page.sees("Ada has a new bike.", ".source")
        assert_clean(page)
        page.click("Mark as seen")
        page.sees("Nothing new.")
        page.click("Undo", ".notice button")
        page.sees("2 messages", ".entry")
        assert_clean(page)


def test_the_map_shows_a_place_in_its_time_and_a_location_can_be_set_and_taken_back(
    world: World, moved: tuple[str, str]
) -> None:
    harbour = node(world, "Harbour", "Place")
    with world.browser.visitor() as page:
        sign_in(world, page, world.marcel)
        page.open(f"{world.rig.url}/#/map?on=2022-05-01")
        page.sees("Leipzig · Ada Wolf", ".mark .name")
        page.until("document.querySelector('.land')?.getAttribute('d').length > 1000")
        page.click("Leipzig", ".places button")
        page.sees("Ada lives in Leipzig.", ".place-card")
        assert_clean(page)
        page.fill(".day-choice input[type=date]", "2025-01-01")
        page.until("!document.querySelector('.places').innerText.includes('Ada')")  # she has moved, the town has not
        page.fill(".day-choice input[type=date]", "2019-01-01")
        page.sees("Nobody and nothing has a place on this day.")
        page.until("document.querySelectorAll('.mark').length === 0")
        page.click("Today", ".day-choice button")
        page.click("Set a location …", "button")
        page.fill(".set-place [cmdk-input]", "Harbour")
        page.click("Harbour", "[cmdk-item]")
        before = page.run("document.querySelector('.land').parentNode.getAttribute('transform')")
        page.run("document.querySelector('.world').focus()")
        for key, code in (("+", 107), ("ArrowRight", 39)):
            page.press(key, code=code)
        page.until("document.querySelector('.land').parentNode.getAttribute('transform') !== values[0]", before)
        page.press("Enter", code=13)  # takes the centre of the map
        page.until("document.querySelector('input[name=latitude]').value !== ''")
        page.fill("input[name=latitude]", "53.54")
        assert_clean(page)
        page.click("Save", ".set-place button")
        page.sees("The location is set.", ".notice")
        page.sees("Harbour", ".places")
        with world.api(world.marcel) as api:
            (at,) = told(api.get(f"/v1/nodes/{harbour}/location"))["items"]
        assert at["latitude"] == pytest.approx(53.54)
        page.click("Undo", ".notice button")
        page.sees("Taken back.", ".notice")
        page.until("!document.querySelector('.places').innerText.includes('Harbour')")
        page.resize(390)
        page.prefers("dark")
        assert_clean(page)


def test_hostile_texts_are_shown_as_text_on_the_timeline_and_the_map(world: World) -> None:
    today = datetime.now(UTC)
    for index, text in enumerate(HOSTILE):
        place = node(world, f"yy{index} {text}"[:1_900], "Place", description=text)
        node(world, f"event {text}"[:1_900], "Event", valid_from="2033-02-01T10:00:00Z", description=text)
        person = node(world, f"who{index} {text}"[:1_900], "Person")
        fact(world, person, "LIVES_IN", place, f"Lives {text}", valid_from="2033-02-02", valid_to="2033-02-05")
        at = {"latitude": 10 + 4 * index, "longitude": -60 + 9 * index, "valid_from": "2033-01-01"}
        with world.api(world.marcel) as api:
            told(api.post(f"/v1/nodes/{place}/location", json=at))
            said = {"conversation": f"time {text[:90]}", "speaker": text[:90], "said_at": "2033-02-03T12:00:00Z"}
            told(api.post("/v1/messages", json={"text": f"Remind me tomorrow {text}", **said}))
    screens = [
        ("#/timeline?at=2033-02", ".entry.message", "Remind me tomorrow <script>"),
        ("#/timeline?at=2033&zoom=year&kinds=event,began,ended", ".entry.event", "event <script>"),
        (f"#/timeline?at={today.date()}&zoom=day&kinds=change,message", ".entry.change", "changes"),
        ("#/timeline?view=agenda", ".entry", "Remind me tomorrow <script>"),
        ("#/timeline?view=away", ".entry", "time <script>"),
        ("#/map?on=2033-02-03", ".places", "yy0 <script>"),
        (f"#/timeline?at={quote(HOSTILE[1])}&zoom={quote(HOSTILE[0])}&kinds={quote(HOSTILE[0])}", ".timeline", ""),
        (f"#/map?on={quote(HOSTILE[0])}&place={quote(HOSTILE[1])}", ".map", ""),
    ]
    with world.browser.visitor(width=360) as page:
        sign_in(world, page, world.marcel)
        page.open(f"{world.rig.url}/#/timeline?view=away")
        page.sees("From now on,")
        with world.api(world.marcel) as api:
            for text in HOSTILE:
                said = {"conversation": f"time {text[:90]}", "speaker": text[:90]}
                told(api.post("/v1/messages", json={"text": f"Remind me tomorrow {text}", **said}))
        for address, where, shown in screens:
            page.open(f"{world.rig.url}/{address}")
            page.sees(shown, where)
            page.run("document.querySelectorAll('.entry button, .places button').forEach((one) => one.click())")
            page.run("new Promise((done) => setTimeout(done, 700))")
            assert page.run("window.hacked ?? null") is None, address
            assert_clean(page)


def test_another_user_sees_nothing_of_it(world: World, moved: tuple[str, str]) -> None:
    ada, leipzig = moved
    with world.browser.visitor() as page:
        sign_in(world, page, world.bob)
        page.open(f"{world.rig.url}/#/timeline")
        page.sees("Nothing has a time yet.")
        page.open(f"{world.rig.url}/#/timeline?at=2024&zoom=year&node={ada}")
        page.sees("There is no node", "[role=alert]")
        page.open(f"{world.rig.url}/#/timeline?view=agenda")
        page.sees("Nothing is planned in these days.")
        page.open(f"{world.rig.url}/#/map?place={leipzig}")
        page.sees("No place has coordinates yet")
        page.sees("Set a location …", "button")
        assert "Leipzig" not in page.text()
        assert_clean(page)
