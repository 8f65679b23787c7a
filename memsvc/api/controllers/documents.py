"""Files, texts and addresses in."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from litestar import Controller, Response, get, post
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, FromPath, QueryParameter, SkipValidation

from memsvc.api.callers import READER, STORES, WRITER, Caller
from memsvc.api.parameters import CursorParameter, OnceParameter, PageSize
from memsvc.api.problems import documented
from memsvc.api.uploads import OPERATION, Documents, TextIn, UrlIn, check_size, decode_document, read_form
from memsvc.db.paging import Page, read_id
from memsvc.sources.document_reads import Document, DocumentStatus, ReadDocument, list_documents, read_document
from memsvc.sources.ingests import Ingest, Sender, chosen, send
from memsvc.turns.history import CausedVersion, Staleness, document_staleness, document_versions

PATH = "/v1/documents"
TEXT = {
    "name": "talk.jsonl",
    "text": '{"speaker": "Marcel", "text": "I like oak."}\n{"role": "assistant", "text": "Noted."}\n',
}


def accepted(ingest: Ingest) -> Response[Ingest]:
    """Return the answer for an ingest that waits."""
    return Response(ingest, status_code=202, headers={"Location": f"/v1/ingests/{ingest.ingest_id}"})


class DocumentsController(Controller):
    """Files in, and what is stored of documents."""

    path = "/documents"
    tags = ("documents",)

    @post(
        status_code=202,
        operation_id=OPERATION,
        summary="Store files",
        description="Takes chats and exports as 'memsvc ingest' does: files as multipart/form-data, or one text or "
        "address as JSON. Each file is recognised by its content, read completely, and stored in the background; the "
        "answer is the ingest, and GET /v1/ingests/{id} says how far it is and what became of each file. If several "
        "people speak and none has the user's name, the file waits for a day with the outcome owner_required: POST "
        "/v1/ingests/{id}/continue with me or not_me. With dry_run nothing is stored. All files of a request may have "
        "MEMSVC_MAX_UPLOAD_BYTES together.",
        response_description="The ingest, which waits or runs.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
        opt={"decode": decode_document, "form": read_form} | STORES,
    )
    async def add(
        self,
        data: Annotated[
            SkipValidation[TextIn | UrlIn],
            BodyKwarg(examples=[Example(summary="A text", value=TEXT)]),
        ],
        writer: NamedDependency[Caller],
        idempotency_key: OnceParameter = None,
    ) -> Response[Ingest]:
        """Keep them and request the job."""
        given = _as_read(data)
        check_size(sum(len(one.content or b"") for one in given.sent), writer.settings)
        wanted = chosen(
            writer.owner,
            kind=given.kind,
            me=given.me,
            not_me=given.not_me,
            since=given.since,
            title=given.title,
            columns=given.map,
        )
        ingest = await send(
            writer.db, writer.owner, given.sent, wanted, writer.settings,
            dry_run=given.dry_run, sender=Sender(writer.principal.key_id, idempotency_key),
        )  # fmt: skip
        return accepted(ingest)

    @get(
        operation_id="listDocuments",
        summary="List documents",
        description="Lists the documents that are stored, those stored last first, each as its last version has it. "
        "Chats that came as files are conversations, and are not listed here.",
        response_description="One page of documents.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def list(
        self,
        *,
        reader: NamedDependency[Caller],
        name: Annotated[
            str | None, QueryParameter(description="Only those with this in their title, path or identifier.")
        ] = None,
        format_: Annotated[
            str | None, QueryParameter(name="format", description="Only those of this format, such as pdf.")
        ] = None,
        status: Annotated[
            DocumentStatus | None, QueryParameter(description="Only those whose background work is in this state.")
        ] = None,
        gone: Annotated[
            bool | None, QueryParameter(description="Only those whose files are gone (true), or are there (false).")
        ] = None,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[Document]:
        """Return one page."""
        return await list_documents(
            reader.db, reader.owner, name=name, format_=format_, status=status, gone=gone, after=read_id(cursor),
            limit=limit,
        )  # fmt: skip

    @get(
        "/{document_id:uuid}",
        operation_id="getDocument",
        summary="Read a document",
        description="Returns a document with its versions, the newest first, and a page of the chunks of one of them "
        "in reading order, each with its headings and its place. DELETE /v1/sources/{document_id} erases a document.",
        response_description="The document, its versions, and a page of chunks.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def read(
        self,
        *,
        reader: NamedDependency[Caller],
        document_id: FromPath[UUID],
        version: Annotated[
            int | None, QueryParameter(ge=1, le=2**31 - 1, description="As this version had it. Default: the last.")
        ] = None,
        cursor: CursorParameter = None,
        limit: PageSize = 100,
    ) -> ReadDocument:
        """Read it."""
        return await read_document(
            reader.db, reader.owner, str(document_id), version=version, cursor=cursor, limit=limit
        )

    @get(
        "/{document_id:uuid}/versions",
        operation_id="documentVersions",
        summary="Versions of a document, with what made each",
        description="Lists the versions of a document, the newest first. `cause` is inbound if an agent's call wrote "
        "it, and external if it came from outside and was found later; the turn is the one that wrote or found it.",
        response_description="One page of versions.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def versions(
        self,
        *,
        reader: NamedDependency[Caller],
        document_id: FromPath[UUID],
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[CausedVersion]:
        """Return one page."""
        return await document_versions(reader.db, reader.owner, document_id, cursor=cursor, limit=limit)

    @get(
        "/{document_id:uuid}/staleness",
        operation_id="documentStaleness",
        summary="How stale a document is for the turns that touched it",
        description="Returns a document's last version with what made it, how often it changes, in how many "
        "conversations agents touched it, and a page of those turns, the last first, each with the version that it "
        "saw and how many came since.",
        response_description="The document's signals and one page of turns.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def staleness(
        self,
        *,
        reader: NamedDependency[Caller],
        document_id: FromPath[UUID],
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Staleness:
        """Return it."""
        return await document_staleness(reader.db, reader.owner, document_id, cursor=cursor, limit=limit)


def _as_read(data: object) -> Documents:
    """Return what ``decode_document`` or ``read_form`` made of the body; its declared type is for the document."""
    assert isinstance(data, Documents)  # noqa: S101 - the handler's opt has both
    return data
