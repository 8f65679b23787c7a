"""``python -m bench.vault``: what is read of a real vault of Markdown notes, beside another parser's view of it.

The set (``notes-vault``) is the documentation of Foam with its notes and links as a small parser of regular expressions
sees them. That parser knows wiki links, embeds and inline Markdown links; tags only in the text. So images and the tags
of frontmatter are compared with what this bench reads of the files itself. Each difference is printed.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import msgspec
import uvloop
import yaml

from bench.harness import Bench, Outcome, data_folder, database, figures_table, report
from bench.store import new_user
from memsvc.documents.vaults.form import Link, Note, Vault
from memsvc.documents.vaults.reading import VaultReader, read_vault
from memsvc.sources.vaults.reads import vault_links
from memsvc.sources.vaults.storing import Keeper

BARS = {
    "vault.notes.equal": ">= 1", "vault.links.equal": ">= 1", "vault.broken.equal": ">= 1", "vault.tags.equal": ">= 1",
    "vault.stored.equal": ">= 1",
}  # fmt: skip
ROUNDS = 5
KINDS = {"wiki", "embed", "markdown"}
Key = tuple[str, int, str, str, str, tuple[str, ...]]
StoredKey = tuple[str, int, str, str, str, str]


class _Link(msgspec.Struct, frozen=True):
    source: str
    line: int
    kind: str
    target: str
    section: str | None
    alias: str | None
    resolves_to: list[str]

    def key(self) -> Key:
        """What is compared; the other parser leaves a path's section in its target."""
        target, _, section = self.target.partition("#") if self.kind == "markdown" else (self.target, "", "")
        section = self.section or section
        return (self.source, self.line, self.kind, unquote(target), section, tuple(self.resolves_to))


class _Note(msgspec.Struct, frozen=True):
    path: str
    title: str | None
    frontmatter_keys: list[str]
    headings: int
    tags: list[str]


def key(path: str, link: Link) -> Key:
    """What is compared of a link of ours."""
    return (path, link.line, link.kind, link.target, link.section or "", link.resolves_to)


def tags(folder: Path, note: _Note) -> set[str]:
    """The tags of a note: those of its text, as the other parser sees them, and those of its frontmatter."""
    text = (folder / note.path).read_text(encoding="utf-8")
    front = yaml.safe_load(text.split("---\n", 2)[1]) if note.frontmatter_keys else {}
    return {*note.tags, *front.get("tags", [])}


def share(what: str, ours: Counter[Key], theirs: Counter[Key]) -> float:
    """How many of all are seen by both; prints the others."""
    for link in sorted((ours - theirs).elements()):
        print(f"{what}: only ours:   {link}")
    for link in sorted((theirs - ours).elements()):
        print(f"{what}: only theirs: {link}")
    return (ours & theirs).total() / max((ours | theirs).total(), 1)


def same_notes(vault: Vault, theirs: list[_Note]) -> float:
    """The share of notes with the same title and as many headings."""
    ours: dict[str, Note] = {note.path: note for note in vault.notes}
    count = 0
    for note in theirs:
        mine = ours.get(note.path)
        seen = mine is not None and (mine.title, len(mine.headings)) == (note.title, note.headings)
        count += seen
        if not seen:
            print(f"note: {note.path}: {note.title!r}, {note.headings} headings; ours: "
                  f"{(mine.title, len(mine.headings)) if mine else None}")  # fmt: skip
    return count / max(len(ours | {note.path: note for note in theirs}), 1)


async def stored(bench: Bench, folder: Path) -> Counter[StoredKey]:
    """What is compared of the links that are stored in a database."""
    db = bench.connect()
    owner = await new_user(db, "vault")
    keeper = Keeper(db, owner, bench.settings, folder)
    await keeper.bring(VaultReader(keeper.folder).read())
    found = await vault_links(db, owner, keeper.folder)
    await db.close()
    return Counter(
        (link.source, link.line, link.kind, link.target, link.section or "", link.resolves_to or "")
        for link in found
        if link.kind in KINDS
    )


def main() -> None:
    """Run the bench."""
    top = data_folder("notes-vault")
    folder = top / "vault"
    notes = [msgspec.json.decode(line, type=_Note) for line in (top / "notes.jsonl").read_bytes().splitlines()]
    links = [msgspec.json.decode(line, type=_Link) for line in (top / "links.jsonl").read_bytes().splitlines()]
    vault = read_vault(folder)
    ours = Counter(key(note.path, link) for note in vault.notes for link in note.links if link.kind in KINDS)
    theirs = Counter(link.key() for link in links)
    outcome = Outcome("vault", bars=BARS)
    figures = outcome.figures
    figures["vault.notes"] = len(vault.notes)
    figures["vault.links"] = ours.total()
    figures["vault.notes.equal"] = same_notes(vault, notes)
    figures["vault.links.equal"] = share("link", ours, theirs)
    broken, their_broken = (
        Counter({link: count for link, count in side.items() if not link[-1]}) for side in (ours, theirs)
    )
    figures["vault.broken"] = broken.total()
    figures["vault.broken.equal"] = share("broken", broken, their_broken)
    tagged = {note.path: {*note.tags} for note in vault.notes}
    for note in notes:
        if tagged.get(note.path) != tags(folder, note):
            print(f"tags: {note.path}: {sorted(tags(folder, note))}; ours: {sorted(tagged.get(note.path, ()))}")
    figures["vault.tags.equal"] = sum(tagged.get(note.path) == tags(folder, note) for note in notes) / len(notes)
    best = min(_seconds(folder) for _ in range(ROUNDS))
    figures["vault.notes_per_s"] = len(vault.notes) / best
    figures["vault.mb_per_s"] = sum(len(note.text.encode()) for note in vault.notes) / 1e6 / best
    figures["vault.second.changed"] = int(read_vault(folder) != vault)
    with database(embedding_model="") as bench:
        in_database = uvloop.run(stored(bench, folder))
    expected = Counter({(*link[:-1], link[-1][0] if link[-1] else ""): count for link, count in theirs.items()})
    figures["vault.stored.equal"] = (in_database & expected).total() / max((in_database | expected).total(), 1)
    for link in (in_database - expected) | (expected - in_database):
        print(f"stored: {link}")
    figures_table("a vault of notes", outcome, ("vault.",))
    report(outcome)


def _seconds(folder: Path) -> float:
    begin = time.perf_counter()
    read_vault(folder)
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
