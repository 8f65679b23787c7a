"""``memsvc note``: notes that are written by hand, and links between them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    clock,
    finding,
    for_owner,
    for_owner_shown,
    note_missing,
    plain,
    print_json,
    print_table,
)
from memsvc.cli.references import id_of

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.graph.links import Link, LinkedNote
    from memsvc.graph.notes import FoundNote, Note
    from memsvc.llm.embedders.residents import Residents
    from memsvc.recall.find import FoundPage
    from memsvc.settings import Settings

notes = typer.Typer(help="Write notes by hand, and link them.", rich_markup_mode=None)
NoteId = typer.Argument(help="The note's id.", metavar="NOTE")
KINDS = "fact, preference, decision, insight, question or concept"


def _show(found: Note, owner: Owner) -> None:
    tags = " ".join(f"#{tag}" for tag in found.tags)
    print(plain(f"{found.title}  ({found.kind}{', ' + tags if tags else ''})"))
    if found.text:
        print(plain(found.text))
    if found.about:
        print(f"about: {', '.join(map(str, found.about))}")
    print(f"note {found.note_id} | since {clock(found.recorded_from, owner)} | by {found.asserted_by}")


@notes.command("add")
def add(
    title: str = typer.Argument(help="Title, up to 200 characters."),
    text: str | None = typer.Option(None, "--text", "-t", help="Text, up to 8,000 characters; - reads standard input."),
    kind: str = typer.Option("fact", "--kind", help=f"{KINDS}.".capitalize()),
    tag: list[str] = typer.Option([], "--tag", help="A tag; repeatable."),
    about: list[str] = typer.Option([], "--about", help="Id of a node that the note is about; repeatable."),
    importance: float = typer.Option(5.0, "--importance", help="1 (trivial) to 10 (life-changing)."),
    id_alone: bool = typer.Option(False, "--id", help="Print only the note's id, for scripts."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Write a note."""
    content = sys.stdin.read() if text == "-" else text or ""

    async def act(db: Database, owner: Owner) -> Note:
        from memsvc.graph.notes import create_note

        nodes = [await id_of(db, owner, node, "node") for node in about]
        kinds: Any = kind
        return await create_note(db, owner, title, content, kind=kinds, tags=tag, about=nodes, importance=importance)

    found, owner = for_owner_shown(user, app, act)
    if id_alone:
        print(found.note_id)
    elif as_json:
        print_json(found)
    else:
        _show(found, owner)


@notes.command("list")
def list_notes(
    q: str | None = typer.Option(None, "--query", "-q", help="Only notes that say this, or are about it."),
    kind: str | None = typer.Option(None, "--kind", help=f"Only this kind: {KINDS}."),
    tag: str | None = typer.Option(None, "--tag", help="Only notes with this tag."),
    limit: int = typer.Option(50, "--limit", "-k", min=1, max=1000, help="Most notes to show."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List notes, newest first; with --query, notes that are about it without saying it come last."""

    async def act(
        db: Database, owner: Owner, settings: Settings, models: Residents | None
    ) -> tuple[FoundPage[FoundNote], Owner]:
        from memsvc.recall.find import find_notes

        asked: dict[str, Any] = {"kind": kind, "tag": tag, "q": q, "limit": limit}
        return await find_notes(db, owner, settings, embedder=models, **asked), owner

    page, owner = finding(user, app, act)
    note_missing(page.degraded)
    found = page.items
    if as_json:
        print_json(found)
    else:
        print_table(
            ["note", "since", "kind", "title", "tags"],
            [[n.note_id, clock(n.recorded_from, owner), n.kind, n.title, ",".join(n.tags)] for n in found],
        )


@notes.command("show")
def show(note: str = NoteId, user: str | None = UserRef, app: str = AppName, as_json: bool = AsJson) -> None:
    """Show a note."""

    async def act(db: Database, owner: Owner) -> Note:
        from memsvc.graph.notes import note as read_note

        return await read_note(db, owner, await id_of(db, owner, note, "node", "note"))

    found, owner = for_owner_shown(user, app, act)
    if as_json:
        print_json(found)
    else:
        _show(found, owner)


@notes.command("link")
def link(
    from_note: str = typer.Argument(help="Id of a note or any other node.", metavar="FROM"),
    to_note: str = typer.Argument(help="Id of another note or node.", metavar="TO"),
    relation: str = typer.Argument(
        help="extends, contradicts, supports, example_of, part_of, relates_to, answers, caused_by or temporal."
    ),
    strength: float = typer.Option(1.0, "--strength", help="Strength of the link, above 0 and at most 1."),
    reason: str = typer.Option("", "--reason", help="Reason for the link, as a sentence."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Link two notes, or change a link's strength and reason."""

    async def act(db: Database, owner: Owner) -> Link:
        from memsvc.graph.links import create_link

        start, end = [await id_of(db, owner, one, "node") for one in (from_note, to_note)]
        relations: Any = relation
        return await create_link(db, owner, start, end, relations, strength=strength, reason=reason)

    found: Link = for_owner(user, app, act)
    if as_json:
        print_json(found)
    else:
        print(f"{plain(found.fact)}\nlink {found.link_id} | strength {found.strength:g}")


@notes.command("unlink")
def unlink_notes(
    link: str = typer.Argument(help="The link's id.", metavar="LINK"), user: str | None = UserRef, app: str = AppName
) -> None:
    """End a link; the history keeps it."""

    async def act(db: Database, owner: Owner) -> bool:
        from memsvc.graph.links import unlink

        return await unlink(db, owner, await id_of(db, owner, link, "fact", "link"))

    print("The link has ended." if for_owner(user, app, act) else "The link had already ended.")


@notes.command("linked")
def linked(
    note: str = NoteId,
    radius: int = typer.Option(2, "--radius", "-r", min=1, max=4, help="Most links between the two notes."),
    relation: list[str] = typer.Option([], "--relation", help="Only links of this relation; repeatable."),
    min_strength: float = typer.Option(
        0.0, "--min-strength", help="Least product of the strengths of the links between."
    ),
    limit: int = typer.Option(50, "--limit", "-k", min=1, max=1000, help="Most notes to show."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Show the notes linked to a note, nearest first, then strongest."""

    async def act(db: Database, owner: Owner) -> list[LinkedNote]:
        from memsvc.graph.links import get_linked_notes

        wanted = await id_of(db, owner, note, "node", "note")
        relations: Any = relation or None
        return await get_linked_notes(
            db, owner, wanted, radius=radius, relations=relations, min_strength=min_strength, limit=limit
        )

    found: list[LinkedNote] = for_owner(user, app, act)
    if as_json:
        print_json(found)
    else:
        print_table(
            ["distance", "strength", "note", "title", "by"],
            [[n.distance, f"{n.strength:.2f}", n.note_id, n.title, ", ".join(n.relations)] for n in found],
        )
