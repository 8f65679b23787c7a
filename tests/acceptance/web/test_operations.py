"""Operations in a real browser: keys, jobs, users and the audit log, for administrators alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import psycopg
import pytest
from sqlalchemy import make_url

from memsvc.db.files import head_revision
from tests.acceptance.killpoints import wait_until
from tests.acceptance.web.world import HOSTILE, World, assert_clean, sign_in, told
from tests.browser import Page

pytestmark = pytest.mark.acceptance
ROUTES = ("/v1/operations", "/v1/operations/jobs", "/v1/audit", "/v1/keys/use", "/v1/users", "/v1/keys")
FAIL = (
    "UPDATE memsvc.jobs SET state = 'failed', finished_at = now(), attempts = 3, error_code = 'embedder', error = %s "
    "WHERE job_id = (SELECT job_id FROM memsvc.jobs ORDER BY job_id DESC LIMIT 1)"
)


@pytest.fixture(scope="module")
def boss(world: World) -> str:
    """A key of the whole app with all that an administrator of the page needs."""
    scopes = [part for scope in ("read", "write", "forget", "admin") for part in ("--scope", scope)]
    return world.rig.ok("key", "create", "--label", "the boss", *scopes).strip()


@pytest.fixture
def chief(world: World, boss: str) -> Iterator[Page]:
    """The page of an administrator, who signed in with a key for one of the users."""
    with world.browser.visitor() as page:
        page.open(world.rig.url)
        page.fill("input[name=key]", boss)
        page.click("Sign in", "button")
        page.fill("input[name=user]", "Marcel")
        page.click("Sign in", "button")
        page.click("Operations", "nav a")
        page.sees("Operations", "h1")
        yield page


def tab(page: Page, name: str) -> None:
    """Open a part of the screen."""
    page.click(name, ".operations > .tabs button")


def key_of(world: World, secret: str) -> httpx.Client:
    """A client with a key that was copied from the page."""
    return httpx.Client(base_url=world.rig.url, headers={"Authorization": f"Bearer {secret}"}, timeout=60)


def test_a_key_is_made_seen_once_used_changed_and_revoked(world: World, chief: Page) -> None:
    page = chief
    tab(page, "Keys")
    page.click("Make a key …")
    page.fill("dialog input[name=label]", "my phone")
    page.until("[...document.querySelectorAll('dialog option')].some((one) => one.text === 'Marcel')")
    page.run(
        "((field) => { Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set.call(field, "
        "[...field.options].find((one) => one.text === 'Marcel').value); "
        "field.dispatchEvent(new Event('change', { bubbles: true })); })(document.querySelector('dialog select'))"
    )
    page.until("!document.querySelector('dialog [value=admin]')")  # a key of one user does not administer
    assert_clean(page)
    page.click("Make the key", "dialog button")
    page.sees("It is not shown again.", "dialog")
    secret = page.run("document.querySelector('dialog .secret').textContent")
    assert_clean(page)
    page.click("Close", "dialog footer button")
    page.sees("my phone", ".keys strong")
    assert secret not in page.run("document.documentElement.innerHTML")
    with key_of(world, secret) as api:
        for _ in range(3):
            told(api.get("/v1/me"))
        tab(page, "Usage & costs")
        page.until(
            "[...document.querySelectorAll('.ledger tbody tr')].some((row) => "
            "row.innerText.includes('my phone') && row.innerText.trim().endsWith('3'))"
        )
        assert_clean(page)
        tab(page, "Keys")
        page.until("document.querySelector('[aria-label=\"Change … my phone\"]') !== null")
        page.sees("last used", ".keys .use")
        page.run("document.querySelector('[aria-label=\"Change … my phone\"]').click()")
        page.run("document.querySelector('dialog [value=write]').click()")
        page.fill("dialog input[name=minute]", "60")
        page.click("Save", "dialog button")
        page.sees("Changed.", ".notice")
        assert told(api.get("/v1/me"))["scopes"] == ["read"]
        page.click("Undo", ".notice button")
        page.sees("Taken back.", ".notice")
        assert told(api.get("/v1/me"))["scopes"] == ["read", "write"]
        page.run("document.querySelector('[aria-label=\"Revoke … my phone\"]').click()")
        page.sees("It stops working at once", "dialog")
        page.click("Revoke", "dialog footer .danger")
        page.sees("Revoked.", ".notice")
        assert api.get("/v1/me").status_code == 401
    page.until("![...document.querySelectorAll('.keys strong')].some((one) => one.innerText === 'my phone')")
    tab(page, "Audit log")
    key_id = secret.split(".")[0]
    for act in ("key made", "scopes of a key changed", "key revoked"):
        page.until(
            "[...document.querySelectorAll('.acts li')].some((one) => "
            "one.innerText.includes(values[0]) && one.innerText.includes(values[1]))",
            act,
            key_id,
        )
    page.sees("this page mk_", ".acts .by")
    assert secret not in page.text()
    assert_clean(page)


def test_a_failed_job_is_seen_retried_and_written_down(world: World, chief: Page) -> None:
    page = chief
    with world.api(world.marcel) as api:
        told(api.post("/v1/messages", json={"conversation": "jobs", "text": "Ines sails on Sunday."}))
    with world.rig.admin() as database:
        database.execute(FAIL.encode(), [HOSTILE[1]])
    page.sees("1 job has failed.", ".troubles")
    assert_clean(page)
    page.click("See jobs", ".troubles a")
    page.sees(HOSTILE[1], ".lines .why")
    assert_clean(page)
    page.click("Retry", ".lines button")
    page.sees("The job is waiting again.", ".notice")
    page.sees("There are no such jobs.")
    tab(page, "Audit log")
    page.sees("job retried", ".acts")
    page.run("window.scrollTo(0, 0)")
    page.open(f"{world.rig.url}/#/operations/audit?action=job")  # a deep link shows the same
    page.sees("job retried", ".acts strong")
    page.until("[...document.querySelectorAll('.acts strong')].every((one) => one.innerText === 'job retried')")
    page.resize(360)
    page.prefers("dark")
    assert_clean(page)
    assert page.run("window.hacked") is None


def test_a_user_is_added_and_erased_with_a_receipt(world: World, chief: Page, boss: str) -> None:
    page = chief
    tab(page, "Users")
    page.click("Add a user …")
    page.fill("dialog input[name=name]", HOSTILE[0])
    page.click("Add", "dialog footer .primary")
    page.sees("was added.", ".notice")
    page.sees(HOSTILE[0], ".lines strong")
    assert_clean(page)
    page.run("document.querySelector(`[aria-label=${JSON.stringify('Erase … ' + values[0])}]`).click()", HOSTILE[0])
    page.sees("What goes", "dialog")
    assert page.run("document.querySelector('dialog .danger').disabled")
    page.fill("dialog input", HOSTILE[0])
    assert_clean(page)
    page.click("Erase for good", "dialog button:enabled")
    page.sees("Checked: nothing is left.", "dialog")
    page.click("Close", "dialog footer button")
    tab(page, "Erasures")
    page.click("Check again", ".parts section:last-child button")
    page.sees("Checked: nothing is left.", ".parts section:last-child")
    assert_clean(page)
    with key_of(world, boss) as api:
        assert HOSTILE[0] not in json.dumps(told(api.get("/v1/audit", params={"limit": 1_000})))
    assert page.run("window.hacked") is None


def test_hostile_labels_of_keys_are_text(world: World, chief: Page, boss: str) -> None:
    page = chief
    labels = [label[:200] for label in HOSTILE]
    with key_of(world, boss) as api:
        made = [told(api.post("/v1/keys", json={"label": label}))["key"]["key_id"] for label in labels]
        tab(page, "Keys")
        page.until("values[0].every((id) => document.body.innerText.includes(id))", made)
        shown = page.run("[...document.querySelectorAll('.keys strong')].map((one) => one.textContent)")
        assert set(labels) <= set(shown)
        assert_clean(page)
        page.resize(360)
        page.prefers("dark")
        assert_clean(page)
        page.run("document.querySelector('.keys .danger').click()")
        page.sees("It stops working at once", "dialog")
        assert_clean(page)
        for key_id in made:
            api.delete(f"/v1/keys/{key_id}")
    assert page.run("window.hacked") is None


@pytest.mark.parametrize("part", ["health", "models", "transfer", "usage"])
def test_each_part_has_an_address_of_its_own(world: World, chief: Page, part: str) -> None:
    chief.open(f"{world.rig.url}/#/operations/{part}")
    chief.sees("Operations", "h1")
    chief.until(
        "document.querySelector('.operations .waiting') === null && document.querySelector('.operations h2') !== null"
    )
    assert_clean(chief)
    chief.resize(360)
    chief.prefers("dark")
    assert_clean(chief)


def test_everything_is_downloaded_as_one_file_and_that_is_written_down(world: World, chief: Page) -> None:
    page = chief
    tab(page, "Export & import")
    page.run(
        "((make) => { URL.createObjectURL = (file) => { window.saved = [file.type, file.size]; return make(file); }; })"
        "(URL.createObjectURL.bind(URL))"
    )
    page.click("Download everything")
    page.sees("The file is in your downloads.", ".notice")
    kind, size = page.run("window.saved")
    assert kind == "application/zip"
    assert size > 1_000
    tab(page, "Audit log")
    page.sees("memory exported", ".acts")
    assert_clean(page)


def test_without_admin_there_is_no_screen_and_no_route(world: World) -> None:
    bound = world.rig.ok("key", "create", "--user", "Marcel", "--scope", "read", "--scope", "admin").strip()
    for key in (world.marcel, bound):  # a key of one user administers nothing, whatever its scopes
        with world.browser.visitor() as page, key_of(world, key) as api:
            sign_in(world, page, key)
            page.sees("Ask", "nav a")
            assert "Operations" not in page.text()
            page.open(f"{world.rig.url}/#/operations/keys")
            page.sees("This page does not exist.")
            assert_clean(page)
            for route in ROUTES:
                assert api.get(route).json()["code"] == "forbidden", route
    link = world.rig.ok("web", "--user", "Marcel").strip()
    with world.browser.visitor() as page:
        page.open(link)
        page.sees("On your mind")
        assert "Operations" not in page.text()


def test_a_link_for_administrators_signs_in_and_its_key_ends_with_the_session(world: World, boss: str) -> None:
    link = world.rig.ok("web", "--user", "Marcel", "--admin").strip()
    with world.browser.visitor() as page, key_of(world, boss) as api:
        page.open(link)
        page.click("Operations", "nav a")
        page.sees("Jobs waiting", ".health")
        assert_clean(page)
        page.click("Marcel", "summary")
        page.click("Log out")
        page.sees("You are logged out.")

        def of_links() -> list[dict[str, Any]]:
            return [key for key in told(api.get("/v1/keys"))["items"] if key["label"] == "web page (administrator)"]

        wait_until(lambda: all(key["revoked_at"] for key in of_links()))  # the page says so before it is done
        revoked = of_links()
        assert [key["scopes"] for key in revoked] == [["admin", "forget", "read", "write"]]
    told_by_command = json.loads(world.rig.ok("audit", "--action", "key.revoke", "--limit", "1", "--json"))
    assert [(act["subject"], act["door"]) for act in told_by_command] == [(revoked[0]["key_id"], "page")]
    assert revoked[0]["key_id"] in world.rig.ok("audit", "--actor", "page")
    assert world.rig.run("audit", "--use").returncode == 0


@pytest.fixture
def east(world: World, boss: str) -> Iterator[str]:
    """A second database of the deployment, which the running service knows; its URL."""
    with world.rig.admin() as admin:
        admin.execute("CREATE DATABASE east TEMPLATE template0")
        url = make_url(world.rig.admin_url()).set(database="east")
        with_login = url.render_as_string(hide_password=False)
        world.rig.ok("db", "upgrade", database_url=with_login)
        plain = url._replace(username=None, password=None).render_as_string(hide_password=False)
        world.rig.ok("cells", "add", "east", plain, "--weight", "0")
        with world.api(boss) as api:
            wait_until(lambda: len(told(api.get("/v1/operations/cells"))["items"]) == 2)
        yield with_login
        world.rig.ok("cells", "remove", "east")
        admin.execute("DROP DATABASE east WITH (FORCE)")


def test_the_cell_is_chosen_where_there_are_several(
    world: World, chief: Page, boss: str, request: pytest.FixtureRequest
) -> None:
    page = chief
    page.sees("Longest wait for a vector", ".health")
    assert page.run("document.querySelector('.operations select') === null"), "there is but one cell"
    url = request.getfixturevalue("east")
    with psycopg.connect(url, autocommit=True) as there:
        there.execute("SELECT memsvc.create_user(memsvc.ensure_app('other'), 'x', 'X', 'UTC', 'english')")
    tab(page, "Keys")
    page.until("document.querySelector('.keys') !== null")
    assert page.run("document.querySelector('.operations > .narrow') === null"), "keys are those of all cells"
    tab(page, "Health")
    page.until("document.querySelector('.operations > .narrow select') !== null")
    options = page.run("[...document.querySelectorAll('.operations > .narrow option')].map((one) => one.text)")
    assert options == ["home, with the keys", "east"]
    assert_clean(page)
    pick(page, ".operations > .narrow select", "east")
    page.until("location.hash === '#/operations/health?cell=east'")
    page.sees("No worker is running", ".troubles")
    assert_clean(page)
    with psycopg.connect(url, autocommit=True) as there:  # seen a few seconds later, as the page reads again
        there.execute("UPDATE memsvc.schema_version SET version_num = '0001'")
        tab(page, "Jobs")
        page.until("location.hash === '#/operations/jobs?cell=east'")
        page.sees("There are no such jobs.")
        assert_clean(page)
        tab(page, "Health")
        page.sees("The database is not of this version.", ".troubles")
        there.execute("UPDATE memsvc.schema_version SET version_num = %s", [head_revision()])
    tab(page, "Usage & costs")
    page.sees("Keys and their requests are those of all cells", ".narrow")
    page.resize(390)
    assert_clean(page)
    pick(page, ".operations > .narrow select", "home")
    page.until("location.hash === '#/operations/usage'")
    page.open(f"{world.rig.url}/#/operations?cell={quote(HOSTILE[1])}")
    page.sees("There is no cell", "[role=alert]")
    assert page.run("window.hacked") is None
    assert_clean(page)


def pick(page: Page, selector: str, value: str) -> None:
    """Choose an option of a list, as a person does."""
    page.run(
        "((field) => { Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set.call(field, "
        "values[1]); field.dispatchEvent(new Event('change', { bubbles: true })); })"
        "(document.querySelector(values[0]))",
        selector,
        value,
    )
