"""Files in by HTTP: stored in the background, answered later, cancelled; and what must not do harm."""

from __future__ import annotations

import asyncio
import io
import json
import os
import zipfile
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from litestar import Litestar

from jobs.steps import all_steps
from memsvc.access.pausing import pause, resume
from memsvc.access.users import Owner
from memsvc.api import uploads
from memsvc.db.engine import Database
from memsvc.erasing.users import erase_user
from memsvc.queue.execution import run_due
from memsvc.settings import Settings
from memsvc.sources import ingest_job, ingests
from memsvc.sources.ingests import clean_name
from tests.api.conftest import Connect
from tests.chats import EXPORTS, packed, telegram_chat, telegram_message

GROUP = telegram_chat(
    telegram_message(1, "Mila/user7", "The key is under the mat."), telegram_message(2, "Jo/user9", "Thanks!"),
    type="private_group", id=77, name="Garden",
)  # fmt: skip
TALK = '{"id": "1", "text": "I like oak."}\n{"id": "2", "text": "And ash.", "role": "assistant"}\n'
TEXTS = "SELECT text FROM memsvc.passages WHERE user_id = %s AND kind = 'message' ORDER BY passage_id"
KEPT = "SELECT count(*) FROM memsvc.ingest_files WHERE user_id = %s AND content IS NOT NULL"
Work = Callable[[], Awaitable[None]]


@pytest.fixture
def work(db: Database, settings: Settings) -> Work:
    """Does all jobs that wait."""

    async def done() -> None:
        await run_due(db, all_steps(settings, None))

    return done


@pytest.fixture
def limited(api: Litestar) -> Iterator[Callable[..., None]]:
    """Changes settings of the application."""
    before = api.state["service"]

    def change(**values: Any) -> None:
        api.state["service"] = replace(before, settings=before.settings.model_copy(update=values))

    yield change
    api.state["service"] = before


async def sent(client: httpx.AsyncClient, *files: tuple[str, bytes | str], **fields: Any) -> dict[str, Any]:
    answer = await client.post("/v1/documents", files=[("file", one) for one in files], data=fields)
    assert answer.status_code == 202, answer.text
    assert answer.headers["Location"] == f"/v1/ingests/{answer.json()['ingest_id']}"
    made: dict[str, Any] = answer.json()
    return made


async def shown(client: httpx.AsyncClient, ingest: dict[str, Any]) -> dict[str, Any]:
    answer = await client.get(f"/v1/ingests/{ingest['ingest_id']}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def stored(admin: psycopg.Connection, owner: Owner) -> list[str]:
    return [row[0] for row in admin.execute(TEXTS, [owner.user_id]).fetchall()]


def kept(admin: psycopg.Connection, owner: Owner) -> int:
    row = admin.execute(KEPT, [owner.user_id]).fetchone()
    assert row is not None
    return int(row[0])


async def test_files_are_stored_in_the_background_and_removed(
    ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection, work: Work, tmp_path: Path
) -> None:
    export = packed(tmp_path / "x.zip", EXPORTS["telegram"]).read_bytes()
    ingest = await sent(ada, ("talk.jsonl", TALK), ("x.zip", export), ("notes.xyz", b"\x00\x01\x02"), me=["Jo"])
    assert (ingest["state"], ingest["files"], ingest["done"]) == ("pending", 3, 0)
    await work()
    found = await shown(ada, ingest)
    assert (found["state"], found["done"], found["created"], found["refused"]) == ("completed", 3, 4, 1)
    assert [(one["name"], one["outcome"], one["kind"]) for one in found["items"]] == [
        ("talk.jsonl", "stored", "jsonl"), ("x.zip", "stored", "telegram"), ("notes.xyz", "refused", None),
    ]  # fmt: skip
    assert found["items"][0]["counts"] == {"created": 2}
    assert found["items"][0]["preview"]["messages"] == 2
    assert found["items"][2]["code"] == "source_unknown"
    assert len(stored(admin, owner)) == 4
    assert kept(admin, owner) == 0


async def test_sending_again_stores_nothing_twice(
    ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection, work: Work
) -> None:
    for counts in ({"created": 2}, {"existing": 2}):
        ingest = await sent(ada, ("talk.jsonl", TALK))
        await work()
        assert (await shown(ada, ingest))["items"][0]["counts"] == counts
    assert len(stored(admin, owner)) == 2


async def test_a_text_is_stored_like_a_file(
    ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection, work: Work
) -> None:
    body = {"text": TALK, "name": "oak.jsonl", "title": "Woods", "since": "2000-01-01"}
    ingest = (await ada.post("/v1/documents", json=body)).json()
    await work()
    [file] = (await shown(ada, ingest))["items"]
    assert (file["name"], file["outcome"]) == ("oak.jsonl", "stored")
    row = admin.execute("SELECT title FROM memsvc.sources WHERE user_id = %s AND identifier = 'oak'", [owner.user_id])
    assert row.fetchone() == ("Woods",)


@pytest.mark.parametrize(("answer", "roles"), [({"me": ["Jo"]}, {"Jo"}), ({"not_me": True}, set())])
async def test_a_file_waits_until_it_is_known_who_is_the_owner(
    *, ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection, work: Work, answer: Any, roles: set[str]
) -> None:
    ingest = await sent(ada, ("result.json", json.dumps(GROUP)), ("talk.jsonl", TALK))
    await work()
    found = await shown(ada, ingest)
    assert (found["state"], found["owner_required"], found["created"]) == ("completed", 1, 2)
    asked = found["items"][0]
    assert (asked["outcome"], asked["code"], asked["is_kept"]) == ("owner_required", "owner_required", True)
    assert {one["speaker"] for one in asked["preview"]["speakers"]} == {"Mila", "Jo"}
    assert (stored(admin, owner), kept(admin, owner)) == (["I like oak.", "And ash."], 1)
    going = await ada.post(f"/v1/ingests/{ingest['ingest_id']}/continue", json=answer)
    assert (going.status_code, going.json()["state"]) == (202, "pending")
    refused = await ada.post(f"/v1/ingests/{ingest['ingest_id']}/continue", json=answer)
    assert (refused.status_code, refused.json()["code"]) == (409, "ingest_state")
    await work()
    found = await shown(ada, ingest)
    assert (found["state"], found["owner_required"], found["created"]) == ("completed", 0, 4)
    said = admin.execute(
        "SELECT speaker FROM memsvc.passages WHERE user_id = %s AND role = 'user' AND speaker <> ''", [owner.user_id]
    )
    assert {row[0] for row in said.fetchall()} == roles
    assert kept(admin, owner) == 0
    refused = await ada.post(f"/v1/ingests/{ingest['ingest_id']}/continue", json=answer)
    assert (refused.status_code, refused.json()["code"]) == (409, "ingest_state")


async def test_a_dry_run_stores_nothing_and_can_be_continued(
    ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection, work: Work
) -> None:
    ingest = await sent(ada, ("talk.jsonl", TALK), dry_run="true")
    await work()
    [file] = (await shown(ada, ingest))["items"]
    assert (file["outcome"], file["preview"]["messages"], file["stored"]) == ("previewed", 2, 0)
    assert stored(admin, owner) == []
    await ada.post(f"/v1/ingests/{ingest['ingest_id']}/continue", json={})
    await work()
    assert (await shown(ada, ingest))["created"] == 2


async def test_what_waits_for_an_answer_is_kept_for_a_day(
    ada: httpx.AsyncClient, db: Database, owner: Owner, admin: psycopg.Connection, work: Work
) -> None:
    ingest = await sent(ada, ("result.json", json.dumps(GROUP)))
    await work()

    async def tidied(days: int) -> int:
        return await db.attempt(
            owner.user_id, lambda connection: ingests.delete_old(connection, owner.user_id, timedelta(days=days))
        )

    def older(span: str) -> None:
        admin.execute(
            "UPDATE memsvc.ingests SET created_at = created_at - %s::interval, "
            "finished_at = finished_at - %s::interval WHERE user_id = %s",
            [span, span, owner.user_id],
        )

    older("23 hours")
    assert (await tidied(30), kept(admin, owner)) == (0, 1)
    older("2 hours")
    assert (await tidied(30), kept(admin, owner)) == (0, 0)
    refused = await ada.post(f"/v1/ingests/{ingest['ingest_id']}/continue", json={"me": ["Jo"]})
    assert refused.json()["code"] == "ingest_state"
    older("30 days")
    assert await tidied(30) == 1
    assert (await ada.get("/v1/ingests")).json()["items"] == []


async def test_a_long_ingest_gives_way_and_goes_on_where_it_was(
    *, ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memsvc.sources.ingesting.BATCH", 2)
    monkeypatch.setattr(ingest_job._Desk, "check", lambda _desk: asyncio.sleep(0))  # so that each slice does a batch
    slices: list[int] = []
    real = ingest_job._work

    async def counted(desk: Any, wanted: Any) -> None:
        monkeypatch.setattr(ingest_job._Desk, "check", lambda _desk: asyncio.sleep(0))
        desk.until = 0.0
        slices.append(len(stored(admin, owner)))
        await real(desk, wanted)

    monkeypatch.setattr(ingest_job, "_work", counted)
    lines = "".join(json.dumps({"text": f"word {number}"}) + "\n" for number in range(7))
    ingest = await sent(ada, ("talk.jsonl", lines))
    await work()
    found = await shown(ada, ingest)
    assert slices == [0, 2, 4, 6, 7]
    assert (found["state"], found["created"], found["existing"], found["stored"]) == ("completed", 7, 0, 7)
    assert stored(admin, owner) == [f"word {number}" for number in range(7)]


async def test_a_waiting_ingest_can_be_cancelled_and_an_ended_one_deleted(
    ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection, work: Work
) -> None:
    ingest = await sent(ada, ("talk.jsonl", TALK))
    at = f"/v1/ingests/{ingest['ingest_id']}"
    answer = (await ada.delete(at)).json()
    assert (answer["ingest"]["state"], answer["deleted"]) == ("cancelled", False)
    await work()
    assert (stored(admin, owner), kept(admin, owner)) == ([], 0)
    assert (await ada.delete(at)).json()["deleted"] is True
    assert (await ada.get(at)).status_code == 404
    assert (await ada.delete(at)).status_code == 404


async def test_a_running_ingest_stops_after_a_batch_and_keeps_it(
    *, ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memsvc.sources.ingesting.BATCH", 2)
    ingest = await sent(ada, ("talk.jsonl", "".join(json.dumps({"text": f"word {i}"}) + "\n" for i in range(9))))
    told = ingest_job._Place.storing

    async def cancelling(place: Any, messages: int) -> None:
        await told(place, messages)
        if place.counts["created"] == 4:
            await ada.delete(f"/v1/ingests/{ingest['ingest_id']}")

    monkeypatch.setattr(ingest_job._Place, "storing", cancelling)
    await work()
    assert (await shown(ada, ingest))["state"] == "cancelled"
    assert len(stored(admin, owner)) == 6


async def test_two_ingests_of_the_same_file_at_once_store_it_once(
    ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection, work: Work
) -> None:
    lines = "".join(json.dumps({"id": str(i), "text": f"word {i}"}) + "\n" for i in range(300))
    both = [await sent(ada, ("talk.jsonl", lines)) for _ in range(2)]
    await asyncio.gather(work(), work())
    found = [await shown(ada, one) for one in both]
    assert [one["state"] for one in found] == ["completed", "completed"]
    assert sorted(one["created"] + one["existing"] for one in found) == [300, 300]
    assert len(stored(admin, owner)) == 300


async def test_the_same_request_with_a_key_is_one_ingest(ada: httpx.AsyncClient) -> None:
    def post(text: str) -> Awaitable[httpx.Response]:
        return ada.post("/v1/documents", files=[("file", ("a.jsonl", text))], headers={"Idempotency-Key": "one"})

    first, second, other = await post(TALK), await post(TALK), await post(TALK + "\n")
    assert first.json()["ingest_id"] == second.json()["ingest_id"]
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_conflict")


async def test_ingests_are_listed_in_pages_and_only_to_their_user(
    ada: httpx.AsyncClient, bob: httpx.AsyncClient
) -> None:
    made = [(await sent(ada, ("talk.jsonl", TALK)))["ingest_id"] for _ in range(3)]
    page = (await ada.get("/v1/ingests", params={"limit": 2})).json()
    rest = (await ada.get("/v1/ingests", params={"limit": 2, "cursor": page["next_cursor"]})).json()
    assert [one["ingest_id"] for one in (*page["items"], *rest["items"])] == made[::-1]
    assert rest["next_cursor"] is None
    assert (await bob.get("/v1/ingests")).json()["items"] == []
    for does in (bob.get, bob.delete):
        assert (await does(f"/v1/ingests/{made[0]}")).status_code == 404
    assert (await bob.post(f"/v1/ingests/{made[0]}/continue", json={})).status_code == 404


async def test_live_clients_hear_of_it(ada: httpx.AsyncClient, work: Work) -> None:
    cursor = (await ada.get("/v1/events", params={"cursor": "now"})).json()["next_cursor"]
    ingest = await sent(ada, ("talk.jsonl", TALK))
    await work()
    events = (await ada.get("/v1/events", params={"cursor": cursor})).json()["items"]
    heard = [one for one in events if one["kind"] == "ingest.changed"]
    assert len(heard) >= 2
    assert {one["subject_id"] for one in heard} == {ingest["ingest_id"]}


async def test_a_paused_memory_takes_nothing(
    *, ada: httpx.AsyncClient, db: Database, owner: Owner, admin: psycopg.Connection, work: Work
) -> None:
    await pause(db, owner)
    try:
        ingest = await sent(ada, ("talk.jsonl", TALK))
        await work()
        assert (await shown(ada, ingest))["items"][0]["counts"] == {"paused": 2}
    finally:
        await resume(db, owner)
    assert stored(admin, owner) == []


async def test_messages_count_against_the_keys_limit(
    *, connect: Connect, chief: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection, work: Work,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("memsvc.sources.ingesting.BATCH", 2)
    client = await connect(user=owner)
    key = client.headers["Authorization"].removeprefix("Bearer ").split(".")[0]
    limits = {"requests_per_minute": None, "messages_per_day": 4}
    assert (await chief.put(f"/v1/keys/{key}/limits", json=limits)).status_code == 200
    ingest = await sent(client, ("talk.jsonl", "".join(json.dumps({"text": f"word {i}"}) + "\n" for i in range(9))))
    await work()
    found = await shown(client, ingest)
    assert (found["state"], found["error_code"], found["stored"]) == ("failed", "quota_exceeded", 4)
    assert (len(stored(admin, owner)), kept(admin, owner)) == (4, 1)
    await chief.put(f"/v1/keys/{key}/limits", json={"requests_per_minute": None, "messages_per_day": None})
    assert (await client.post(f"/v1/ingests/{ingest['ingest_id']}/continue", json={})).status_code == 202
    await work()
    found = await shown(client, ingest)
    assert (found["state"], found["created"], found["existing"]) == ("completed", 9, 0)


# What must not do harm ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("../../etc/passwd", "passwd"), ("..\\..\\x.jsonl", "x.jsonl"), ("/", "file"), ("..", "file"), ("a\x00b", "ab"),
        ("a\r\nb\x1b[31m", "ab[31m"), ("x" * 999, "x" * 200), ("\u202etxt.exe", "txt.exe"), ("", "file"),
    ],
)  # fmt: skip
def test_a_name_is_one_line_without_folders(name: str, clean: str) -> None:
    assert clean_name(name) == clean


async def test_names_lead_nowhere(
    ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection, work: Work, tmp_path: Path
) -> None:
    export = packed(tmp_path / "x.zip", {"../../../tmp/evil.jsonl": TALK, "/etc/evil.jsonl": TALK}).read_bytes()
    ingest = await sent(ada, ("../../../tmp/evil.jsonl", TALK), ("..\\x.zip", export))
    await work()
    found = await shown(ada, ingest)
    assert [one["outcome"] for one in found["items"]] == ["stored"] * 3
    assert found["items"][0]["name"] == "evil.jsonl"
    assert not any(os.path.exists(f"{folder}/evil.jsonl") for folder in ("/tmp", "/etc"))  # noqa: ASYNC240, PTH110


async def test_ten_thousand_files_in_a_zip_file_are_too_many_or_passed_over(
    ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection, work: Work, tmp_path: Path
) -> None:
    many = packed(tmp_path / "a.zip", {f"{i}.jsonl": '{"text": "a"}\n' for i in range(10_000)}).read_bytes()
    odd = packed(tmp_path / "b.zip", {f"{i}.bin": b"\x00\x01" for i in range(2_000)} | {"a.jsonl": TALK}).read_bytes()
    ingest = await sent(ada, ("a.zip", many), ("b.zip", odd))
    await work()
    found = await shown(ada, ingest)
    assert (found["state"], found["created"]) == ("completed", 2)
    first, second, *rest = found["items"]
    assert (first["outcome"], first["code"]) == ("refused", "bad_file")
    assert "at most 1,000" in first["message"]
    assert (second["name"], second["outcome"]) == ("b.zip/a.jsonl", "stored")
    assert len(rest) == 101
    assert {one["outcome"] for one in rest} == {"passed_over"}
    assert rest[-1]["message"].startswith("1,900 more files")


async def test_a_slice_that_ends_between_two_sources_leaves_none_out(
    ada: httpx.AsyncClient, work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memsvc.sources.ingest_job.SLICE_S", 0.0)
    files = {f"{i}.jsonl": f'{{"conversation": "{i}", "text": "Number {i}."}}\n' for i in range(5)}
    ingest = await sent(ada, ("a.zip", packed(tmp_path / "a.zip", files | {"x.bin": b"\x00\x01"}).read_bytes()))
    await work()
    found = await shown(ada, ingest)
    assert (found["state"], found["files"], found["done"], found["created"]) == ("completed", 6, 6, 5)


async def test_a_zip_bomb_is_refused(
    ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection, work: Work
) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(60):
            archive.writestr(f"{number}.jsonl", b" " * 10_000_000)
    ingest = await sent(ada, ("bomb.zip", bomb.getvalue()), ("talk.jsonl", TALK))
    await work()
    first, second = (await shown(ada, ingest))["items"]
    assert (first["outcome"], first["code"], second["outcome"]) == ("refused", "bad_file", "stored")
    assert "unpacks to more than" in first["message"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "source_unknown"), (b"PK\x03\x04 broken", "bad_file"), (b'{"text": "a\\u0000b"}\n', "invalid_text"),
        (b'{"text": "a"}\n{"text": \n', "bad_file"), (b"\xff\xfe\x00" * 50, "source_unknown"), (b"[" * 100_000, None),
    ],
)  # fmt: skip
async def test_a_bad_file_is_refused_and_the_others_are_stored(
    *, ada: httpx.AsyncClient, work: Work, content: bytes, code: str | None
) -> None:
    ingest = await sent(ada, ("bad.jsonl", content), ("talk.jsonl", TALK))
    await work()
    bad, good = (await shown(ada, ingest))["items"]
    assert (bad["outcome"], good["outcome"]) == ("refused", "stored")
    assert code is None or bad["code"] == code


async def test_a_reader_that_fails_does_not_keep_others_waiting(
    ada: httpx.AsyncClient, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError

    ingest = await sent(ada, ("result.json", json.dumps(telegram_chat(GROUP["messages"][0]))), ("talk.jsonl", TALK))
    monkeypatch.setattr("memsvc.sources.kinds.telegram.Telegram.read", fails)
    await work()
    bad, good = (await shown(ada, ingest))["items"]
    assert (bad["outcome"], bad["code"], good["outcome"]) == ("refused", "job_failed", "stored")
    assert "ZeroDivision" not in json.dumps(bad)


BOUNDARY = {"Content-Type": "multipart/form-data; boundary=x"}
PART = b'--x\r\nContent-Disposition: form-data; name="%s"; filename="a.jsonl"\r\n\r\n{"text": "a"}\r\n'
FIELD = b'--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n'
END = b"--x--\r\n"


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        (BOUNDARY, b"", 400), (BOUNDARY, b"nonsense", 400), (BOUNDARY, END, 400), (BOUNDARY, PART % b"file", 400),
        (BOUNDARY, PART % b"attachment" + END, 400), (BOUNDARY, FIELD % (b"me", b"Jo") + END, 400),
        (BOUNDARY, PART % b"file" + FIELD % (b"mine", b"Jo") + END, 400),
        pytest.param(  # Litestar leaves the file to the garbage collector
            BOUNDARY, PART % b"file" + FIELD % (b"me", b"\xff\xfe") + END, 400,
            marks=pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
        ),
        (BOUNDARY, PART % b"file" + FIELD % (b"me", b"a\x00b") + END, 400),
        (BOUNDARY, PART % b"file" + FIELD % (b"dry_run", b"perhaps") + END, 400),
        (BOUNDARY, PART % b"file" + FIELD % (b"as", b"nothing") + END, 400),
        (BOUNDARY, PART % b"file" + FIELD % (b"map", b"words=body") + END, 400),
        (BOUNDARY, PART % b"file" + FIELD % (b"since", b"soon") + END, 400),
        (BOUNDARY, (PART % b"file") * 101 + END, 400), (BOUNDARY, (FIELD % (b"me", b"Jo")) * 2_000 + END, 400),
        ({"Content-Type": "multipart/form-data"}, PART % b"file" + END, 400),
        ({"Content-Type": "text/plain"}, b"a", 415), ({"Content-Type": "application/json"}, b"{}", 400),
        ({"Content-Type": "application/json"}, b'{"text": "a", "url": "http://x"}', 400),
        ({"Content-Type": "application/json"}, b'{"text": "\\ud800"}', 400),
        ({"Content-Type": "application/json"}, b'{"text": "a", "me": ["Jo"], "not_me": true}', 400),
    ],
)  # fmt: skip
async def test_a_wrong_body_is_refused(
    ada: httpx.AsyncClient, headers: dict[str, str], body: bytes, status: int
) -> None:
    answer = await ada.post("/v1/documents", content=body, headers=headers)
    assert (answer.status_code, "code" in answer.json()) == (status, True), answer.text
    assert (await ada.get("/v1/ingests")).json()["items"] == []


async def test_what_is_too_large_is_refused(
    ada: httpx.AsyncClient, limited: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(max_upload_bytes=10_000)
    half = "x" * 6_000
    answer = await ada.post("/v1/documents", files=[("file", ("a", half)), ("file", ("b", half))])
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    answer = await ada.post("/v1/documents", json={"text": half * 2})
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    for number in range(6):
        last = await ada.post("/v1/documents", files=[("file", (f"{number}", half + "y" * 2_000))])
    assert (last.status_code, last.json()["code"]) == (429, "ingests_full")
    assert uploads.largest_body(Settings()) == Settings().max_upload_bytes + uploads.FIELDS_BYTES


async def test_an_erased_user_has_no_ingests(
    *, db: Database, app: UUID, ada: httpx.AsyncClient, owner: Owner, admin: psycopg.Connection
) -> None:
    await sent(ada, ("result.json", json.dumps(GROUP)))
    await erase_user(db, app, str(owner.user_id), requested_by="tests")
    for table in ("ingests", "ingest_files"):
        row = admin.execute(f"SELECT count(*) FROM memsvc.{table} WHERE user_id = %s", [owner.user_id]).fetchone()
        assert row == (0,)
