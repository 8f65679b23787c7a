"""Folders of notes in the database: nodes, links and tasks that follow the folder, and what erasing leaves."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from memsvc.access.users import Owner
from memsvc.cli.ingest import ingest_files
from memsvc.db.engine import Database
from memsvc.documents.vaults.reading import VaultReader, read_vault
from memsvc.documents.vaults.sections import owners_bytes
from memsvc.erasing.memories import erase
from memsvc.errors import MemsvcError
from memsvc.graph import read
from memsvc.graph.history import retract, write
from memsvc.graph.operations import Alias, Edge, Node, Thread
from memsvc.settings import Settings
from memsvc.sources.vaults.reads import list_vaults, vault_links
from memsvc.sources.vaults.storing import Brought, Keeper
from memsvc.sources.vaults.watching import Watch
from memsvc.sources.vaults.writing_back import WrittenBack, contents, is_written, undo, write_back

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


async def test_erasing_a_note_erases_its_node_and_links_and_neither_comes_back(shelf: Shelf) -> None:
    files = {"a.md": "# A\n\nalias: none\n\n[[b]]\n", "b.md": "---\naliases: [Bee]\n---\n# B\n\n[[a]]\n"}
    first = await shelf.bring(files)
    [gone] = [file.document.document_id for file in first.files if file.document and file.file.endswith("b.md")]
    assert gone is not None
    await erase(shelf.db, shelf.owner, "source", gone, requested_by="tests")
    left = (
        f"SELECT (SELECT count(*) FROM memsvc.node_versions AS n WHERE n.user_id = u.user_id AND n.node_id = '{gone}') "
        f"+ (SELECT count(*) FROM memsvc.edges AS e WHERE e.user_id = u.user_id AND e.from_node = '{gone}') "
        f"+ (SELECT count(*) FROM memsvc.aliases AS a WHERE a.user_id = u.user_id AND a.node_id = '{gone}') "
        "FROM memsvc.users AS u WHERE u.user_id = %s"
    )
    assert shelf.one(left) == 0
    again = await shelf.bring()
    assert [file.document.outcome for file in again.files if file.document] == ["erased"]
    assert (shelf.one(left), shelf.links()) == (0, [])
    assert not (await shelf.bring()).relinked


async def test_the_links_of_an_erased_chunk_do_not_come_back(shelf: Shelf) -> None:
    words = " ".join(f"word{number}" for number in range(150))
    text = f"# One\n\n{words} [[b]]\n\n# Two\n\n{words} more [[c]]\n"
    await shelf.bring({"a.md": text, "b.md": "# B\n", "c.md": "# C\n"})
    assert [row[2] for row in shelf.links()] == ["b.md", "c.md"]
    chunk = shelf.one("SELECT passage_id FROM memsvc.passages WHERE user_id = %s AND text LIKE '%%[[b]]%%'")
    await erase(shelf.db, shelf.owner, "passage", chunk, requested_by="tests")
    await shelf.bring()
    assert [row[2] for row in shelf.links()] == ["c.md"]
    await shelf.bring({"a.md": f"{text}\nA new line.\n"})
    assert [row[2] for row in shelf.links()] == ["c.md"]


async def test_two_runs_at_once_store_a_vault_once(shelf: Shelf) -> None:
    links = " ".join(f"[[n{number}]]" for number in range(6))
    shelf.put({f"n{number}.md": f"# {number}\n\n{links}\n" for number in range(6)})
    await asyncio.gather(shelf.bring(), shelf.bring())
    assert len(shelf.links()) == 30
    assert shelf.one("SELECT count(*) FROM memsvc.document_versions WHERE user_id = %s") == 6
    assert not (await shelf.bring()).is_change


async def test_bad_input_has_an_outcome_and_the_rest_goes_on(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put(
        {
            "yaml.md": "---\n: [unclosed\n\t- {\n---\nText with [[up]].\n", "up.md": "![[yaml]]\n", "empty.md": "",
            "out.md": "[x](../../../etc/passwd.md) [[../secret]] [[dead]]\n", "self.md": "![[self]] [[#Here]]\n",
        }
    )  # fmt: skip
    (tmp_path / "secret.md").write_text("secret\n")
    (shelf.folder / "bad.md").write_bytes(b"\xff\xfe\x00 [[up]]\n")
    (shelf.folder / "nul.md").write_bytes(b"a\x00b [[u\x00p]] [[up]]\n")
    (shelf.folder / "loop").symlink_to(shelf.folder, target_is_directory=True)
    (shelf.folder / "linked.md").symlink_to(tmp_path / "secret.md")
    done = await shelf.bring()
    refused = {file.file: file.code for file in done.files if file.outcome != "stored"}
    assert refused == {"Notes/nul.md": "source_unknown"}
    assert {"symbolic links"} <= done.odd.keys()
    assert {("yaml.md", "up.md"), ("up.md", "yaml.md")} <= {(row[0], row[2]) for row in shelf.links()}
    broken = await vault_links(shelf.db, shelf.owner, shelf.folder, broken=True)
    assert {"dead", "../secret"} <= {link.target for link in broken if link.source == "out.md"}
    assert (
        shelf.one("SELECT count(*) FROM memsvc.passages WHERE user_id = %s AND kind = 'chunk' AND text = 'secret'") == 0
    )
    again = await shelf.bring()
    assert ([file.file for file in again.files], again.relinked, again.gone) == (["Notes/nul.md"], 0, 0)


async def test_what_is_written_back_is_a_fixed_point_and_touches_sections_alone(shelf: Shelf) -> None:
    files = {"Ines.md": "# Ines\n\nShe paints.", "Porto.md": "# Porto\r\n\r\nA city.\r\n", "x.md": "# Other\n"}
    for path, text in files.items():
        (shelf.folder / path).write_bytes(text.encode())
    git(shelf.folder, "init", "-q")
    git(shelf.folder, "add", "-A")
    await shelf.bring()
    people = [Node(type="Person", label="Ines"), Node(type="Place", label="Porto")]
    facts = [Edge(from_node=0, type="LIVES_IN", to_node=1, fact="Ines lives in Porto."), Alias(node=0, alias="Nessa")]
    await write(shelf.db, shelf.owner, [*people, *facts], asserted_by="user")

    async def written(**more: Any) -> WrittenBack:
        vault = read_vault(shelf.folder)
        return write_back(shelf.folder, vault, await contents(shelf.db, shelf.owner, shelf.folder, vault), **more)

    planned = await written(dry_run=True)
    assert [plan.path for plan in planned.plans] == ["Ines.md", "Porto.md"]
    assert git(shelf.folder, "diff") == ""
    assert len((await written()).plans) == 2
    ines = (shelf.folder / "Ines.md").read_text()
    assert "Ines lives in Porto." in ines
    assert "Also called Nessa." in ines
    assert "[[Porto|Porto]]" in ines or "(Porto.md)" in ines
    for path, text in files.items():
        assert owners_bytes((shelf.folder / path).read_bytes())[0] == text.encode()
    assert not (await shelf.bring()).is_change
    again = await written()
    assert (again.plans, again.conflicts, again.errors) == ([], [], {})
    (shelf.folder / "Ines.md").write_text(ines.replace("Ines lives in Porto.", "I moved."))
    await retract(shelf.db, shelf.owner, [Thread(node=(await called(shelf)), alias="Nessa")], asserted_by="user")
    assert [plan.path for plan in (await written()).conflicts] == ["Ines.md"]
    assert [plan.path for plan in (await written(accept=True)).plans] == ["Ines.md"]
    undo(shelf.folder, read_vault(shelf.folder))
    undo(shelf.folder, read_vault(shelf.folder), ["Ines.md"])
    assert git(shelf.folder, "diff") == ""
    assert not is_written(shelf.folder)


async def test_groups_and_links_are_not_written_into_notes(shelf: Shelf) -> None:
    await shelf.bring({"People/Lena.md": "# Lena\n\nSee [[Tom Berger]].", "People/Tom Berger.md": "# Tom Berger\n"})
    vault = read_vault(shelf.folder)
    assert await contents(shelf.db, shelf.owner, shelf.folder, vault) == {}
    kinds = [
        ("Person", "Lena"),
        ("Person", "Tom Berger"),
        ("ConceptGroup", "Lena, Tom Berger and 2026-11-29"),
        ("ConceptGroup", "People"),
        ("Summary", "Lena in May"),
        ("Note", "Oak"),
        ("Place", "Porto"),
    ]
    nodes = [Node(type=kind, label=label) for kind, label in kinds]
    told = [
        (0, "PART_OF", 2, "Lena belongs to Lena, Tom Berger and 2026-11-29"),
        (0, "EXAMPLE_OF", 3, "Lena is an example of People"), (4, "ABOUT", 0, "Lena in May is about Lena."),
        (5, "MENTIONS", 0, "Oak mentions Lena."), (5, "LINKS_TO", 0, "Oak links to Lena."),
        (0, "LIVES_IN", 6, "Lena lives in Porto."), (0, "KNOWS", 1, "Lena knows Tom Berger."),
        (0, "PART_OF", 6, "Lena belongs to the choir of Porto."),
    ]  # fmt: skip
    facts = [Edge(from_node=begin, type=kind, to_node=end, fact=fact) for begin, kind, end, fact in told]
    await write(shelf.db, shelf.owner, [*nodes, *facts], asserted_by="user")
    said = await contents(shelf.db, shelf.owner, shelf.folder, vault)
    assert {path: set(content.facts) for path, content in said.items()} == {
        "People/Lena.md": {"Lena lives in Porto.", "Lena knows Tom Berger.", "Lena belongs to the choir of Porto."},
        "People/Tom Berger.md": {"Lena knows Tom Berger."},
    }
    assert {link.text for content in said.values() for link in content.links} == {"Lena knows Tom Berger."}


async def called(shelf: Shelf) -> UUID:
    [found] = {one.node_id for one in await read.called(shelf.db, shelf.owner, ["Nessa"])}
    return found


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True)
    return done.stdout


async def test_a_watch_takes_renames_deletes_and_editors_that_write_a_file_anew(shelf: Shelf) -> None:
    shelf.put({"a.md": "# A\n\n[[b]]\n", "b.md": "# B\n", "c.md": "# C\n\n[[a]]\n"})
    stopping, said, troubles = asyncio.Event(), asyncio.Queue[Brought](), asyncio.Queue[MemsvcError]()
    keeper = Keeper(shelf.db, shelf.owner, shelf.settings, shelf.folder)
    watch = Watch(keeper, VaultReader(keeper.folder), stopping)
    running = asyncio.create_task(watch.run(said.put, troubles.put_nowait))
    assert len((await said.get()).files) == 3
    (shelf.folder / "a.tmp").write_text("# A\n\n[[c]]\n")
    (shelf.folder / "a.tmp").rename(shelf.folder / "a.md")  # as many editors do
    assert [file.document.outcome for file in (await said.get()).files if file.document] == ["changed"]
    assert shelf.links() == [("a.md", "3", "c.md"), ("c.md", "3", "a.md")]
    (shelf.folder / "b.md").rename(shelf.folder / "d.md")
    moved = await said.get()
    assert ([file.document.outcome for file in moved.files if file.document], moved.gone) == (["moved"], 0)
    (shelf.folder / "c.md").unlink()
    assert (await said.get()).gone == 1
    away = shelf.folder.rename(shelf.folder.with_name("Away"))  # a disk that is not there for a moment
    assert (await troubles.get()).code == "bad_file"
    away.rename(shelf.folder)
    (shelf.folder / "a.md").write_text("# A\n\nAlone.\n")
    assert (await said.get()).gone == 0
    assert shelf.links() == []
    stopping.set()
    await running


async def test_a_note_that_is_ingested_as_a_file_lacks_what_memsvc_wrote(shelf: Shelf) -> None:
    await shelf.bring({"a.md": "# A\n\nMine.\n"})
    with (shelf.folder / "a.md").open("a") as file:
        file.write("\n<!-- memsvc:begin -->\n### memsvc\n\n- Not mine.\n<!-- memsvc:end -->\n")
    words_alone = shelf.settings.model_copy(update={"embedding_model": ""})
    report = await ingest_files(shelf.db, words_alone, shelf.owner, [shelf.folder / "a.md"])
    assert report.documents == {"existing": 1}
