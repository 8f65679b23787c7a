"""Exports that somebody broke or made up: each is refused with its file and line, and nothing of it is stored."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import stat
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import psycopg
import pytest

from memsvc.access.users import Owner, add_user
from memsvc.db.engine import Database
from memsvc.errors import ImportInvalidError, NotFoundError
from memsvc.graph import history
from memsvc.graph.operations import Edge, Evidence, Node
from memsvc.settings import Settings
from memsvc.sources.messages import MessageIn, append
from memsvc.transfer.archive import open_archive
from memsvc.transfer.load import load
from tests.sql.exports import Travel, rewrite
from tests.sql.world import value

pytestmark = pytest.mark.slow
_numbers = itertools.count()
Row = dict[str, Any]
LATER = (datetime.now(UTC) + timedelta(days=1)).isoformat()
NOWHERE = "01a00000-0000-7000-8000-000000000000"


@pytest.fixture(scope="session")
async def sample(db: Database, app: UUID, settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export: one message in four parts, four nodes, a fact with evidence, a merge."""
    travel = Travel(db, app, settings, tmp_path_factory.mktemp("sample"))
    owner = (await add_user(db, app, name="Ada", external_id="ada of the sample")).owner
    message = MessageIn(conversation="c", text="Ada knows Bob. " * 200, id="m")
    stored = (await append(db, owner, [message], settings))[0]
    assert stored.passage_id is not None
    made = [
        Node(type="Person", label="Bob"),
        Node(type="Person", label="Rob"),
        Node(type="Place", label="Tal"),
        Edge(
            from_node=0,
            type="LIVES_IN",
            to_node=2,
            fact="Bob lives in Tal.",
            evidence=[Evidence(passage_id=stored.passage_id, span=(0, 3))],
        ),
    ]
    change = await history.write(db, owner, made, asserted_by="tests")
    bob, rob = (change.results[place].node_id for place in (0, 1))
    assert bob is not None
    assert rob is not None
    await history.merge(db, owner, rob, bob, asserted_by="tests")
    await travel.out(owner.user_id, "it", markdown=False)
    return travel.path("it")


@pytest.fixture
def broken(travel: Travel, sample: Path) -> Travel:
    """A copy of it named 'it', to be broken."""
    shutil.copytree(sample, travel.path("it"))
    return travel


def lines(travel: Travel, kind: str) -> list[Row]:
    """The rows of a file."""
    return [json.loads(line) for line in travel.path(f"it/{kind}.jsonl").read_bytes().splitlines()]


async def refused(travel: Travel, admin: psycopg.Connection, name: str, says: str) -> None:
    """The import is refused, and there is not even a user."""
    ref = f"nobody {next(_numbers)}"
    users = value(admin, "SELECT count(*) FROM memsvc.users")
    with pytest.raises(ImportInvalidError) as caught:
        await travel.into(ref, name)
    assert says in caught.value.message, caught.value.message
    assert "secret" not in caught.value.message, "an error shows no text of a memory"
    assert value(admin, "SELECT count(*) FROM memsvc.users") == users


def change(kind: str, place: int, /, **fields: Any) -> Callable[[Travel], None]:
    """Another value in one row."""

    def work(travel: Travel) -> None:
        rows = lines(travel, kind)
        rows[place].update(fields)
        rewrite(travel.path("it"), f"{kind}.jsonl", [msgspec.json.encode(row) for row in rows])

    return work


def add(kind: str, place: int, /, **fields: Any) -> Callable[[Travel], None]:
    """A copy of a row with other values, behind the others."""

    def work(travel: Travel) -> None:
        rows = lines(travel, kind)
        rows.append({**rows[place], **fields})
        rewrite(travel.path("it"), f"{kind}.jsonl", [msgspec.json.encode(row) for row in rows])

    return work


def replace(kind: str, place: int, old: bytes, new: bytes) -> Callable[[Travel], None]:
    """Other bytes in one line."""

    def work(travel: Travel) -> None:
        raw = travel.path(f"it/{kind}.jsonl").read_bytes().splitlines()
        assert old in raw[place]
        raw[place] = raw[place].replace(old, new, 1)
        rewrite(travel.path("it"), f"{kind}.jsonl", raw)

    return work


def circle(travel: Travel) -> None:
    """Bob is Rob, who is Bob: through a third, so that no constraint can see it."""
    (merge,) = lines(travel, "merges")
    tal = next(row["node_id"] for row in lines(travel, "node_versions") if row["label"] == "Tal")
    rows = [
        merge,
        {**merge, "merge_id": new(1), "node_id": merge["canonical_id"], "canonical_id": tal},
        {**merge, "merge_id": new(2), "node_id": tal, "canonical_id": merge["node_id"]},
    ]
    rewrite(travel.path("it"), "merges.jsonl", [msgspec.json.encode(row) for row in rows])


def new(number: int) -> str:
    """An id that no row has."""
    return f"{NOWHERE[:-1]}{number}"


BROKEN: dict[str, tuple[Callable[[Travel], None], str]] = {
    "no JSON": (replace("nodes", 0, b"{", b"["), "nodes.jsonl, line 1: "),
    "half a line": (replace("passages", 1, b"}", b""), "passages.jsonl, line 2: "),
    "an unknown field": (change("nodes", 1, gid=7), "nodes.jsonl, line 2: "),
    "a field that lacks": (replace("nodes", 1, b'"created_at"', b'"made_at"'), "nodes.jsonl, line 2: "),
    "a number for a text": (change("sources", 0, title=7), "sources.jsonl, line 1: "),
    "an id that is none": (change("nodes", 0, node_id="me"), "nodes.jsonl, line 1: "),
    "a long text": (change("node_versions", 0, label="secret" * 2000), "node_versions.jsonl, line 1: "),
    "a long message": (change("passages", 0, text="secret" * 400_000), "passages.jsonl, line 1: text has 2,400,000"),
    "NUL": (change("passages", 0, text="\0secret"), "passages.jsonl, line 1: text contains a NUL"),
    "NUL inside": (
        change("sources", 0, metadata={"a": ["\0secret"]}), "sources.jsonl, line 1: metadata contains a NUL"
    ),
    "half a sign": (replace("passages", 0, b'"text":"', rb'"text":"\ud800'), "passages.jsonl, line 1: "),
    "half a sign inside": (
        replace("sources", 0, b'"metadata":{', rb'"metadata":{"a":"\ud800"'), "sources.jsonl, line 1: JSON"
    ),
    "no UTF-8": (replace("passages", 0, b'"text":"', b'"text":"\xff'), "passages.jsonl, line 1: "),
    "no object": (change("sources", 0, metadata=[]), "sources.jsonl, line 1: metadata is not an object"),
    "no number": (
        replace("sources", 0, b'"metadata":{', b'"metadata":{"a":1e999999'), "sources.jsonl, line 1: the database"
    ),
    "depth": (
        replace("sources", 0, b'"metadata":{', b'"metadata":{"a":' + b"[" * 200 + b"]" * 200),
        "sources.jsonl, line 1: metadata is nested",
    ),
    "bottomless depth": (
        replace("sources", 0, b'"metadata":{', b'"metadata":{"a":' + b"[" * 50_000 + b"]" * 50_000),
        "sources.jsonl, line 1: ",
    ),
    "another language": (change("passages", 0, language="klingon"), "passages.jsonl, line 1: language"),
    "another role": (change("passages", 0, role="secret"), "passages.jsonl, line 1: a value is outside"),
    "another kind": (change("sources", 0, kind="secret"), "sources.jsonl, line 1: a value is outside"),
    "a time that is none": (change("passages", 0, said_at="2026-02-30T00:00:00+00:00"), "said_at is not a time"),
    "a time in words": (change("passages", 2, said_at="tomorrow"), "passages.jsonl, line 3: said_at is not a time"),
    "a time of no zone": (change("node_versions", 0, valid_from="2026-01-01T00:00:00"), "line 1: valid_from is not"),
    "a time long past": (change("passages", 0, said_at="0001-01-01T00:00:00+00:00"), "line 1: said_at is outside"),
    "the year 10000": (change("node_versions", 0, valid_to="10000-01-01T00:00:00+00:00"), "valid_to is not a time"),
    "recorded tomorrow": (change("node_versions", 1, recorded_from=LATER), "line 2: recorded_from is in the future"),
    "closed tomorrow": (change("node_versions", 1, recorded_to=LATER), "line 2: recorded_to is in the future"),
    "made tomorrow": (change("nodes", 0, created_at=LATER), "nodes.jsonl, line 1: created_at is in the future"),
    "changed tomorrow": (change("changes", 0, recorded_at=LATER), "changes.jsonl, line 1: recorded_at is in the"),
    "an end before the begin": (
        change("edge_versions", 0, valid_from="2026-01-02T00:00:00+00:00", valid_to="2026-01-01T00:00:00+00:00"),
        "edge_versions.jsonl, line 1: a value is outside",
    ),
    "closed before it was open": (
        change("node_versions", 0, recorded_to="2020-01-01T00:00:00+00:00"), "node_versions.jsonl, line 1: a value"
    ),
    "no such source": (change("passages", 1, source_id=NOWHERE), "passages.jsonl, line 2: it refers to something"),
    "no such node": (change("aliases", 2, node_id=NOWHERE), "aliases.jsonl, line 3: it refers to something"),
    "no such edge": (change("edge_versions", 0, edge_id=NOWHERE), "edge_versions.jsonl, line 1: it refers"),
    "another end": (change("edge_versions", 0, to_node=NOWHERE), "edge_versions.jsonl, line 1: it refers"),
    "no such passage": (change("source_links", 0, passage_id=NOWHERE), "source_links.jsonl, line 1: it refers"),
    "no such version": (change("source_links", 0, edge_version_id=NOWHERE), "source_links.jsonl, line 1: it refers"),
    "no such change": (change("changes", 0, undoes=NOWHERE), "changes.jsonl, line 1: it refers"),
    "no subject": (change("source_links", 0, edge_version_id=None), "source_links.jsonl, line 1: a value is"),
    "a node type of nobody": (change("node_versions", 0, type="Secret"), "node_versions.jsonl, line 1: it refers"),
    "an edge type of nobody": (change("edges", 0, type="SECRET"), "edges.jsonl, line 1: it refers"),
    "a span behind the end": (change("source_links", 0, span_to=9_999), "source_links.jsonl, line 1: its span ends"),
    "a span before the begin": (change("source_links", 0, span_from=-1), "source_links.jsonl, line 1: "),
    "an empty span": (change("source_links", 0, span_from=3), "source_links.jsonl, line 1: a value is outside"),
    "half a span": (change("source_links", 0, span_to=None), "source_links.jsonl, line 1: a value is outside"),
    "a message without its begin": (change("passages", 0, part=7), "it is a part of a message"),
    "a part of somebody else": (change("passages", 1, speaker="Eve"), "passages.jsonl, line 2: it is a part"),
    "the same id again": (add("nodes", 0), "nodes.jsonl, line 5: it exists already"),
    "the same place again": (add("passages", 0, passage_id=new(1), client_id=None), "line 5: it exists already"),
    "the same name again": (add("sources", 0, source_id=new(1)), "sources.jsonl, line 2: it exists already"),
    "the same schedule again": (add("schedules", 0), "schedules.jsonl, line 1: "),
    "an overlap": (add("node_versions", 0, version_id=new(1)), "node_versions.jsonl, line 5: it overlaps"),
    "two homes at once": (add("edge_versions", 0, version_id=new(1)), "edge_versions.jsonl, line 2: it overlaps"),
    "the same name twice": (add("aliases", 0, alias_id=new(1)), "aliases.jsonl, line 6: it overlaps"),
    "a name of nothing": (change("aliases", 0, alias=" \u3000"), "aliases.jsonl, line 1: a value is"),
    "merged twice": (add("merges", 0, merge_id=new(1)), "merges.jsonl, line 2: it overlaps"),
    "a circle of merges": (circle, "it would merge a node into itself"),
    "a weight without end": (change("edge_versions", 0, weight=1e39), "edge_versions.jsonl, line 1: the database"),
    "a negative weight": (change("edge_versions", 0, weight=-1), "edge_versions.jsonl, line 1: a value is outside"),
    "a doubt of nothing": (change("edge_versions", 0, confidence=0), "edge_versions.jsonl, line 1: a value is"),
    "a digest of nothing": (change("changes", 0, operations=["x" * 201]), "changes.jsonl, line 1: "),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
async def test_a_broken_line_is_named_and_nothing_is_stored(
    case: str, broken: Travel, admin: psycopg.Connection
) -> None:
    breaking, says = BROKEN[case]
    breaking(broken)
    await refused(broken, admin, "it", says)


async def test_what_is_not_broken_is_imported(broken: Travel) -> None:
    """The same way of writing files, without a fault: so it is the fault that is refused."""
    for kind in ("sources", "passages", "node_versions", "merges", "source_links"):
        change(kind, 0)(broken)
    loaded = await broken.into(f"somebody {next(_numbers)}", "it")
    assert loaded.rows["passages"] == 4
    assert loaded.rows["merges"] == 1


async def test_the_bad_line_is_found_among_many(travel: Travel, owner: Owner, admin: psycopg.Connection) -> None:
    await travel.say(owner, *(f"Message {n}." for n in range(900)))
    await travel.out(owner.user_id, "it", markdown=False)
    change("passages", 777, role="nobody")(travel)
    await refused(travel, admin, "it", "passages.jsonl, line 778: a value is outside")


# The files around the lines


def tamper(travel: Travel, path: str, work: Callable[[bytes], bytes]) -> None:
    """Change a file, and not what the manifest says about it."""
    file = travel.path(f"it/{path}")
    file.write_bytes(work(file.read_bytes()))


def manifest(travel: Travel, **fields: Any) -> None:
    """Another value in the manifest."""
    tamper(travel, "manifest.json", lambda raw: json.dumps({**json.loads(raw), **fields}).encode())


def entry(travel: Travel, **fields: Any) -> None:
    """The manifest lists one file more."""
    files = json.loads(travel.path("it/manifest.json").read_bytes())["files"]
    manifest(travel, files=[*files, {**files[0], **fields}])


def edited(travel: Travel) -> None:
    tamper(travel, "passages.jsonl", lambda raw: raw.replace(b"Bob", b"Eve"))


def pipe(travel: Travel) -> None:
    travel.path("it/nodes.jsonl").unlink()
    os.mkfifo(travel.path("it/nodes.jsonl"))


def link(name: str) -> Callable[[Travel], None]:
    """The file stands elsewhere, and a link to it in its place: what it leads to is not at fault."""

    def work(travel: Travel) -> None:
        travel.path(f"it/{name}").rename(travel.path("elsewhere"))
        travel.path(f"it/{name}").symlink_to(travel.path("elsewhere"))

    return work


def folder_link(travel: Travel) -> None:
    travel.path("it/nodes.jsonl").unlink()
    travel.path("it/nodes.jsonl").symlink_to(travel.path("."), target_is_directory=True)


def dangling(travel: Travel) -> None:
    travel.path("it/nodes.jsonl").unlink()
    travel.path("it/nodes.jsonl").symlink_to("nowhere")


TAMPERED: dict[str, tuple[Callable[[Travel], None], str]] = {
    "a changed word": (edited, "passages.jsonl: its sha256"),
    "a line more": (
        lambda travel: tamper(travel, "nodes.jsonl", lambda raw: raw + raw), "nodes.jsonl, line 5: the manifest says"
    ),
    "a line less": (
        lambda travel: tamper(travel, "nodes.jsonl", lambda raw: raw[: raw.index(b"\n") + 1]),
        "nodes.jsonl: it has 1 lines",
    ),
    "no last line break": (
        lambda travel: tamper(travel, "nodes.jsonl", lambda raw: raw[:-1]), "nodes.jsonl, line 4: it does not end"
    ),
    "an endless line": (
        lambda travel: tamper(travel, "nodes.jsonl", lambda _: b"x" * 9_000_000), "line 1: it has more than 8,000,000"
    ),
    "a missing file": (lambda travel: travel.path("it/nodes.jsonl").unlink(), "nodes.jsonl: the export has no such"),
    "a pipe": (pipe, "nodes.jsonl: the file cannot be read (it is not a regular file)"),
    "a link": (link("passages.jsonl"), "passages.jsonl: the file cannot be read (it is a link"),
    "a link instead of the manifest": (link("manifest.json"), "manifest.json: the file cannot be read (it is a link"),
    "a link to a folder": (folder_link, "nodes.jsonl: the file cannot be read (it is a link"),
    "a link to nothing": (dangling, "nodes.jsonl: the file cannot be read (it is a link"),
    "no manifest": (lambda travel: travel.path("it/manifest.json").unlink(), "manifest.json: the export has no such"),
    "a newer format": (lambda travel: manifest(travel, version=2), "the export has format 2"),
    "another format": (lambda travel: manifest(travel, format="zip"), "this is not an export"),
    "no JSON": (lambda travel: tamper(travel, "manifest.json", lambda raw: raw[:-5]), "manifest.json: "),
    "a huge manifest": (
        lambda travel: tamper(travel, "manifest.json", lambda _: b" " * 2_000_000), "the file is too large"
    ),
    "a path out of the folder": (lambda travel: entry(travel, path="../x.jsonl"), "which this memsvc does not know"),
    "a file of a newer memsvc": (lambda travel: entry(travel, path="types.jsonl"), "which this memsvc does not know"),
    "a file twice": (entry, "it lists node_types.jsonl twice"),
    "no zone": (
        lambda travel: manifest(travel, user={"name": "A", "time_zone": "Moon/Sea", "language": "english"}),
        "manifest.json: 'Moon/Sea' is not a time zone",
    ),
    "no name": (
        lambda travel: manifest(travel, user={"name": " ", "time_zone": "UTC", "language": "english"}),
        "manifest.json: name must have",
    ),
    "no language": (
        lambda travel: manifest(travel, user={"name": "A", "time_zone": "UTC", "language": "klingon"}),
        "manifest.json: language is not supported",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", TAMPERED)
async def test_files_that_are_not_what_the_manifest_means_are_refused(
    case: str, broken: Travel, admin: psycopg.Connection
) -> None:
    breaking, says = TAMPERED[case]
    breaking(broken)
    await refused(broken, admin, "it", says)


async def test_links_that_appear_while_an_import_runs_are_not_followed(
    broken: Travel, admin: psycopg.Connection
) -> None:
    """The manifest was read when somebody puts a link in a file's place, and another folder in the folder's place."""
    users = value(admin, "SELECT count(*) FROM memsvc.users")
    with open_archive(broken.path("it")) as archive:
        link("nodes.jsonl")(broken)
        with pytest.raises(ImportInvalidError, match=r"nodes\.jsonl: .*it is a link"):
            await load(broken.db, broken.app, "nobody", archive, broken.settings)
    broken.path("it/nodes.jsonl").unlink()
    broken.path("elsewhere").rename(broken.path("it/nodes.jsonl"))
    with open_archive(broken.path("it")) as archive:
        broken.path("it").rename(broken.path("away"))
        broken.path("it").symlink_to("/nowhere")
        loaded = await load(broken.db, broken.app, f"somebody {next(_numbers)}", archive, broken.settings)
    assert loaded.rows["merges"] == 1
    assert value(admin, "SELECT count(*) FROM memsvc.users") == users + 1


async def test_the_folder_itself_may_be_named_by_a_link(broken: Travel) -> None:
    broken.path("link").symlink_to(broken.path("it"), target_is_directory=True)
    assert (await broken.into(f"somebody {next(_numbers)}", "link")).rows["merges"] == 1


# Zip files


def packed(travel: Travel, *more: tuple[zipfile.ZipInfo, bytes], without: str = "") -> None:
    """The export as a zip file, with further entries."""
    with zipfile.ZipFile(travel.path("it.zip"), "w", zipfile.ZIP_DEFLATED) as target:
        for path in sorted(travel.path("it").iterdir()):
            if path.name != without:
                target.write(path, path.name)
        for info, data in more:
            target.writestr(info, data, zipfile.ZIP_DEFLATED)


def linked(name: str) -> zipfile.ZipInfo:
    """An entry that is a link."""
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("../../../tmp/x", "is outside the export's folder"),
        ("/etc/x", "is outside the export's folder"),
        ("C:x", "is outside the export's folder"),
        ("markdown/../../x", "is outside the export's folder"),
        ("nodes.jsonl", "has 'nodes.jsonl' twice"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
async def test_a_zip_file_that_leads_elsewhere_is_refused(
    name: str, says: str, broken: Travel, admin: psycopg.Connection
) -> None:
    packed(broken, (zipfile.ZipInfo(name), b"x"))
    await refused(broken, admin, "it.zip", says)


async def test_links_bombs_and_torn_zip_files_are_refused(broken: Travel, admin: psycopg.Connection) -> None:
    packed(broken)
    assert (await broken.into(f"somebody {next(_numbers)}", "it.zip")).rows["merges"] == 1
    whole = broken.path("it.zip").read_bytes()
    packed(broken, (linked("markdown/x"), b"/etc/passwd"))
    await refused(broken, admin, "it.zip", "'markdown/x' in the zip file is a link")
    packed(broken, (zipfile.ZipInfo("nodes.jsonl"), b"\n" * 200_000_000), without="nodes.jsonl")
    assert broken.path("it.zip").stat().st_size < 1_000_000
    await refused(broken, admin, "it.zip", "nodes.jsonl: it unpacks to 200,000,000 bytes; the manifest says")
    packed(broken, without="nodes.jsonl")
    await refused(broken, admin, "it.zip", "nodes.jsonl: the export has no such file")
    broken.path("it.zip").write_bytes(whole[: len(whole) // 2])
    await refused(broken, admin, "it.zip", "it.zip: the file cannot be read")
    flipped = bytearray(whole)
    flipped[whole.index(b"passages.jsonl") + 200] ^= 0xFF
    broken.path("it.zip").write_bytes(flipped)
    await refused(broken, admin, "it.zip", "passages.jsonl")


async def test_a_bomb_that_the_manifest_announces_ends_at_its_first_line(
    broken: Travel, admin: psycopg.Connection
) -> None:
    bomb = b"0" * 100_000_000
    files = json.loads(broken.path("it/manifest.json").read_bytes())["files"]
    for file in files:
        if file["path"] == "nodes.jsonl":
            file["bytes"] = len(bomb)
    manifest(broken, files=files)
    packed(broken, (zipfile.ZipInfo("nodes.jsonl"), bomb), without="nodes.jsonl")
    await refused(broken, admin, "it.zip", "nodes.jsonl, line 1: it has more than 8,000,000 bytes")


async def test_what_is_no_export_is_refused(travel: Travel, admin: psycopg.Connection) -> None:
    travel.path("text").write_text("hello")
    await refused(travel, admin, "text", "text: the file cannot be read")
    travel.path("empty").mkdir()
    await refused(travel, admin, "empty", "manifest.json: the export has no such file")
    with pytest.raises(NotFoundError):
        await travel.into("nobody", "nothing")
