"""``memsvc documents``: what is stored of documents, with their versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    as_uuid,
    clock,
    for_owner,
    for_owner_shown,
    note,
    plain,
    print_json,
    print_table,
)
from memsvc.text.counts import counted

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.db.paging import Page
    from memsvc.sources.document_reads import Document, ReadDocument

documents = typer.Typer(
    help="Show what is stored of documents, and their versions. 'memsvc ingest' stores them.",
    invoke_without_command=True,
    rich_markup_mode=None,
)
DocumentRef = typer.Argument(help="A document, by its id, path or identifier.", metavar="DOCUMENT")


@documents.callback()
def list_(
    context: typer.Context,
    name: str | None = typer.Option(None, "--name", help="Only those with this in their title or path."),
    format_: str | None = typer.Option(None, "--format", help="Only those of this format, such as pdf."),
    gone: bool | None = typer.Option(
        None, "--gone/--there", help="Only those whose files are gone, or only those whose files are there."
    ),
    after: str | None = typer.Option(None, "--after", metavar="ID", help="Go on after this document."),
    limit: int = typer.Option(50, "--limit", "-k", min=1, max=1000, help="Most documents to show."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List documents, those stored last first."""
    if context.invoked_subcommand is not None:
        return

    async def act(db: Database, owner: Owner) -> Page[Document]:
        from memsvc.sources.document_reads import list_documents

        start = as_uuid(after, "document") if after is not None else None
        return await list_documents(db, owner, name=name, format_=format_, gone=gone, after=start, limit=limit)

    page = for_owner(user, app, act)
    if as_json:
        print_json(page)
        return
    print_table(
        ["document", "title", "format", "version", "chunks", "gone", "path"],
        [
            [one.document_id, one.title, one.format, one.version, one.chunks, "gone" if one.gone else "", one.path]
            for one in page.items
        ],
    )
    if page.next_cursor is not None:
        note(f"There are more: add --after {page.next_cursor}")


@documents.command("show")
def show(
    document: str = DocumentRef,
    version: int | None = typer.Option(None, "--version", min=1, help="As this version had it, instead of the last."),
    cursor: str | None = typer.Option(None, "--cursor", help="Go on with the chunks after those of another page."),
    limit: int = typer.Option(100, "--limit", "-k", min=1, max=1000, help="Most chunks to show."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Show a document and its chunks, each with its place."""

    async def act(db: Database, owner: Owner) -> ReadDocument:
        from memsvc.sources.document_reads import read_document

        return await read_document(db, owner, document, version=version, cursor=cursor, limit=limit)

    from memsvc.sources.origins import place_in_words

    found = for_owner(user, app, act)
    if as_json:
        print_json(found)
        return
    about = found.document
    print(plain(f"{about.title}  ({about.format}, version {found.version} of {about.version})"))
    print(
        plain(
            f"{about.path}{', gone' if about.gone else ''} | {counted(about.characters, 'character')} | "
            f"{about.document_id}"
        )
    )
    for chunk in found.chunks:
        print(plain(f"\n[m:{chunk.passage_id}] {place_in_words('', chunk.headings, chunk.origin)}"))
        print(plain(chunk.text))
    if found.next_cursor is not None:
        note(f"There are more: add --cursor {found.next_cursor}")


@documents.command("history")
def history(
    document: str = DocumentRef, user: str | None = UserRef, app: str = AppName, as_json: bool = AsJson
) -> None:
    """List the versions of a document, the newest first."""

    async def act(db: Database, owner: Owner) -> ReadDocument:
        from memsvc.sources.document_reads import read_document

        return await read_document(db, owner, document, limit=1)

    found, owner = for_owner_shown(user, app, act)
    if as_json:
        print_json(found.versions)
        return
    print_table(
        ["version", "stored", "until", "title", "chunks", "bytes", "path"],
        [
            [
                one.version, clock(one.recorded_from, owner), clock(one.recorded_to, owner), one.title, one.chunks,
                one.bytes, one.path,
            ]
            for one in found.versions
        ],
    )  # fmt: skip
