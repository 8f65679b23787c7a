"""Folders of notes in the database: nodes, links and tasks that follow the folder, and what erasing leaves."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest
from msgspec.structs import asdict

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.documents.vaults.reading import VaultReader
from memsvc.settings import Settings
from memsvc.sources.vaults.reads import list_vaults, vault_links
from memsvc.sources.vaults.storing import Brought, Keeper

BENCH = Path(os.environ.get("MEMSVC_SHARED", "/work/shared")) / "bench" / "notes-vault"
OPEN = (
    "SELECT s.data ->> 'path', e.data -> 'links' -> 0 ->> 'line', coalesce(t.data ->> 'path', t.label) "
    "FROM memsvc.edge_versions AS e "
    "INNER JOIN memsvc.node_versions AS s ON s.node_id = e.from_node AND s.recorded_to = 'infinity' "
    "INNER JOIN memsvc.node_versions AS t ON t.node_id = e.to_node AND t.recorded_to = 'infinity' "
    "WHERE e.user_id = %s AND e.type = 'LINKS_TO' AND e.recorded_to = 'infinity' ORDER BY 1, 2, 3"
)


class Shelf:
    """A folder of notes, and one user's memory of it."""

    def __init__(self, db: Database, settings: Settings, owner: Owner, admin: psycopg.Connection, folder: Path) -> None:
        self.db, self.settings, self.owner, self.admin, self.folder = db, settings, owner, admin, folder
        folder.mkdir()

    def put(self, files: Mapping[str, str]) -> None:
        for path, text in files.items():
            place = self.folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)

    async def bring(self, files: Mapping[str, str] | None = None) -> Brought:
        self.put(files or {})
        return await Keeper(self.db, self.owner, self.settings, self.folder).bring(VaultReader(self.folder).read())

    def links(self) -> list[tuple[Any, ...]]:
        return self.admin.execute(OPEN, [self.owner.user_id]).fetchall()

    def one(self, statement: str) -> Any:
        [row] = self.admin.execute(statement, [self.owner.user_id]).fetchall()
        return row[0]


@pytest.fixture
def shelf(db: Database, settings: Settings, owner: Owner, admin: psycopg.Connection, tmp_path: Path) -> Shelf:
    return Shelf(db, settings, owner, admin, tmp_path / "Notes")


async def test_links_become_edges_and_follow_the_folder(shelf: Shelf) -> None:
    first = await shelf.bring(
        {"a.md": "# A\n\nSee [[b]] and [[nobody]].\n", "b.md": "# B\n\nBack to [[A|the first]].\n"}
    )
    assert [file.document.outcome for file in first.files if file.document] == ["created", "created"]
    assert shelf.links() == [("a.md", "3", "b.md"), ("b.md", "3", "a.md")]
    [broken] = await vault_links(shelf.db, shelf.owner, shelf.folder, broken=True)
    assert (broken.source, broken.line, broken.target) == ("a.md", 3, "nobody")
    again = await shelf.bring()
    assert not again.is_change
    changed = await shelf.bring({"nobody.md": "Now somebody.\n"})
    assert (len(changed.files), changed.relinked) == (1, 1)
    assert shelf.links() == [("a.md", "3", "b.md"), ("a.md", "3", "nobody.md"), ("b.md", "3", "a.md")]
    (shelf.folder / "b.md").unlink()
    gone = await shelf.bring()
    assert (gone.gone, gone.relinked) == (1, 1)
    assert shelf.links() == [("a.md", "3", "nobody.md")]
    [vault] = await list_vaults(shelf.db, shelf.owner)
    assert (vault.notes, vault.links, vault.broken) == (2, 1, 1)


async def test_a_changed_note_changes_only_its_own_edges_and_a_renamed_one_keeps_its_node(shelf: Shelf) -> None:
    await shelf.bring({"a.md": "# A\n\n[[b]]\n", "b.md": "# B\n\n[[a]] and [[c]]\n", "c.md": "# C\n\nText.\n"})
    written = "SELECT count(*) FROM memsvc.edge_versions WHERE user_id = %s"
    nodes = (
        "SELECT jsonb_object_agg(data ->> 'path', node_id) FROM memsvc.node_versions WHERE user_id = %s "
        "AND type = 'Document' AND recorded_to = 'infinity'"
    )
    before, old = shelf.one(written), shelf.one(nodes)
    await shelf.bring({"b.md": "# B\n\nA line.\n\n[[a]]\n\n[[c]]\n"})
    assert shelf.links() == [("a.md", "3", "b.md"), ("b.md", "5", "a.md"), ("b.md", "7", "c.md")]
    assert shelf.one(written) == before + 2
    (shelf.folder / "sub").mkdir()
    (shelf.folder / "a.md").rename(shelf.folder / "sub" / "a.md")
    moved = await shelf.bring()
    assert [(file.document.outcome, moved.gone) for file in moved.files if file.document] == [("moved", 0)]
    new = shelf.one(nodes)
    assert new == {"sub/a.md": old["a.md"], "b.md": old["b.md"], "c.md": old["c.md"]}


async def test_dated_tasks_are_nodes_until_they_are_ticked(shelf: Shelf) -> None:
    tasks = (
        "SELECT coalesce(jsonb_agg(jsonb_build_array(label, data ->> 'due')), '[]') FROM memsvc.node_versions "
        "WHERE user_id = %s AND type = 'Task' AND recorded_to = 'infinity'"
    )
    await shelf.bring({"2026-11-29.md": "- [ ] Call Ines 📅 2026-12-01\n- [ ] Some day\n- [x] Done 📅 2026-12-01\n"})
    assert shelf.one(tasks) == [["Call Ines", "2026-12-01"]]
    said = (
        "SELECT min(said_at AT TIME ZONE 'UTC')::date::text FROM memsvc.passages WHERE user_id = %s AND kind = 'chunk'"
    )
    assert shelf.one(said) in {"2026-11-28", "2026-11-29"}
    await shelf.bring({"2026-11-29.md": "- [x] Call Ines 📅 2026-12-01\n- [ ] Some day\n- [x] Done 📅 2026-12-01\n"})
    assert shelf.one(tasks) == []


def told(link: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a link says and means; the reference keeps no words of Markdown's links."""
    alias = link["alias"] if link["kind"] != "markdown" else None
    return (link["source"], link["line"], link["kind"], link["target"], link["section"], alias, link["resolves_to"])


@pytest.mark.slow
async def test_the_links_of_a_real_vault_are_those_that_its_reference_has(shelf: Shelf) -> None:
    if not BENCH.is_dir():
        pytest.skip("The shared vault is not here.")
    keeper = Keeper(shelf.db, shelf.owner, shelf.settings, BENCH / "vault")
    await keeper.bring(VaultReader(keeper.folder).read())
    expected = [json.loads(line) for line in (BENCH / "links.jsonl").read_text().splitlines()]
    found = [asdict(link) for link in await vault_links(shelf.db, shelf.owner, keeper.folder)]
    ours = [told({**link, "resolves_to": (link["resolves_to"],)}) for link in found if link["kind"] != "image"]
    theirs = [told({**link, "resolves_to": tuple(link["resolves_to"]) or (None,)}) for link in expected]
    assert sorted(ours, key=repr) == sorted(theirs, key=repr)
