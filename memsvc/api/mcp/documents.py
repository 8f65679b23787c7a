"""The tool that stores a document: a text or an address, in the background."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from memsvc.access.users import Owner
from memsvc.api.mcp.asker import Asker
from memsvc.api.mcp.tool import Answer, Content, Tool
from memsvc.errors import BatchTooLargeError, InvalidRequestError, InvalidTextError
from memsvc.sources.ingests import Sender, Sent, chosen, send


class DocumentArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What to store: either a text or an address."""

    text: str | None = None
    url: Annotated[str, Meta(max_length=4_000)] | None = None
    name: Annotated[str, Meta(max_length=200)] = "text.txt"
    """The name of the file that it would be."""
    title: Annotated[str, Meta(max_length=200)] = ""
    """The name for people of what is read."""


class Accepted(Content, frozen=True, kw_only=True):
    """The ingest that stores it."""

    ingest_id: str
    """GET /v1/ingests/{id} says what became of it."""
    state: str


async def remember_document(asker: Asker, owner: Owner, given: DocumentArguments) -> Answer:
    """Keep it, and let the job store it."""
    match given:
        case DocumentArguments(text=str(text), url=None):
            try:
                sent = Sent(given.name, text.encode())
            except UnicodeEncodeError as error:
                raise InvalidTextError("The text contains half of a surrogate pair.", field="text") from error
            if len(sent.content or b"") > asker.settings.max_upload_bytes:
                raise BatchTooLargeError(f"The text has more than {asker.settings.max_upload_bytes:,} bytes.")
        case DocumentArguments(text=None, url=str(url)):
            sent = Sent("page", url=url)
        case _:
            raise InvalidRequestError("Give either a text or an address.", hint="Send text or url.", field="text")
    ingest = await send(
        asker.db, owner, [sent], chosen(owner, title=given.title), asker.settings, sender=Sender(asker.principal.key_id)
    )
    content = Accepted(ingest_id=str(ingest.ingest_id), state=ingest.state)
    return Answer(f"It is being stored in the background, as ingest {ingest.ingest_id}.", content)


TOOLS = (
    Tool(
        name="remember_document",
        description="Store a whole chat or document by its text or address.",
        scope="write",
        given=DocumentArguments,
        listed=False,  # the list is as long as it may be
        run=remember_document,
    ),
)
