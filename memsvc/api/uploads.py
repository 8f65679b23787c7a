"""Bodies of POST /v1/documents: files as multipart/form-data, or one text or address as JSON."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec
from litestar.datastructures import FormMultiDict, UploadFile
from litestar.exceptions import ClientException, HTTPException, InternalServerException
from litestar.openapi.spec import OpenAPI, OpenAPIMediaType, Reference, RequestBody, Schema
from litestar.openapi.spec.enums import OpenAPIFormat, OpenAPIType

from memsvc.api.bodies import FORM, JsonRequest, decode
from memsvc.api.callers import service_of
from memsvc.api.examples import operations
from memsvc.errors import BodyTooSlowError, InvalidRequestError, InvalidTextError
from memsvc.settings import Settings
from memsvc.sources.ingests import Sent

FIELDS_BYTES = 1_000_000
"""Room for the fields and the frame of a form, in addition to its files."""
SLOWEST_BYTES_PER_S = 100_000
"""A slower client is broken off, after MEMSVC_BODY_TIMEOUT_S more."""
TEXT_NAME = "text.txt"
OPERATION = "addDocuments"
YES_NO = {"true": True, "1": True, "false": False, "0": False, "": False}
As = Annotated[str | None, msgspec.Meta(description="Read everything as this kind. Left out: it is recognised.")]


class _Wanted(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    as_: As = msgspec.field(default=None, name="as")
    me: list[str] = []
    """Names or ids of the speaker who is the user."""
    not_me: bool = False
    """The user is none of the speakers."""
    since: str | None = None
    """Leave out what was said before (ISO 8601)."""
    title: str = ""
    """The name for people of what is read. Left out: its own."""
    map: str | None = None
    """Read CSV as a chat with these columns: "text=body,said_at=date,speaker=from"."""
    dry_run: bool = False
    """Only say what would be stored. POST /v1/ingests/{id}/continue stores it within a day."""


class TextIn(_Wanted, kw_only=True, forbid_unknown_fields=True):
    """A text to be stored like a file."""

    text: str
    name: str = TEXT_NAME
    """The name of the file that it would be; its ending may help to recognise it."""


class UrlIn(_Wanted, kw_only=True, forbid_unknown_fields=True):
    """An address to be fetched and stored like a file."""

    url: str
    """A public http or https address. Fetched only if the operator allows it (MEMSVC_INGEST_URLS)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Documents:
    """What a client sent, in either form."""

    sent: list[Sent]
    kind: str | None = None
    me: list[str] = field(default_factory=list)
    not_me: bool = False
    since: str | None = None
    title: str = ""
    map: str | None = None
    dry_run: bool = False


def largest_body(settings: Settings) -> int:
    """Return the most bytes of a body with files."""
    return settings.max_upload_bytes + FIELDS_BYTES


def check_size(size: int, settings: Settings) -> None:
    """Refuse files that are too large together.

    Args:
        size: their bytes.
        settings: the limit.

    Raises:
        HTTPException: 413.
    """
    if size > settings.max_upload_bytes:
        raise HTTPException(
            status_code=413, detail=f"The files have more than {settings.max_upload_bytes:,} bytes together."
        )


def decode_document(body: bytes, _into: Any) -> Documents:
    """Decode a text or an address. ``decode`` lists the errors."""
    top: dict[str, msgspec.Raw] = decode(body, dict[str, msgspec.Raw])
    found: TextIn | UrlIn = decode(body, UrlIn if "url" in top else TextIn)
    if isinstance(found, UrlIn):
        sent = Sent("page", url=found.url)
    else:
        try:
            sent = Sent(found.name, found.text.encode())
        except UnicodeEncodeError as error:
            raise InvalidTextError("The text contains half of a surrogate pair.", field="text") from error
    return Documents(
        sent=[sent], kind=found.as_, me=found.me, not_me=found.not_me, since=found.since, title=found.title,
        map=found.map, dry_run=found.dry_run,
    )  # fmt: skip


async def read_form(request: JsonRequest) -> Documents:
    """Read a form with files. They are kept on disk while they arrive.

    Raises:
        InvalidRequestError: it is no form, has no file, or a field that nobody knows.
        BodyTooSlowError: it arrives too slowly.
        HTTPException: 413, its files are too large together.
    """
    form = await _received(request)
    files: list[Sent] = []
    fields: dict[str, list[str]] = {}
    settings = service_of(request).settings
    try:
        for name, value in form.multi_items():
            if not isinstance(value, UploadFile):
                fields.setdefault(name, []).append(str(value))
                continue
            if name != "file":
                raise InvalidRequestError(f"{name[:60]!r} is not a field for files.", hint="Call it file.")
            content = await value.read()
            check_size(sum(len(one.content or b"") for one in files) + len(content), settings)
            files.append(Sent(value.filename, content))
    finally:
        for _, value in form.multi_items():
            if isinstance(value, UploadFile):
                await value.close()
    if not files:
        raise InvalidRequestError("The form has no file.", hint="Send at least one field 'file' with a filename.")
    return _read(files, fields)


async def _received(request: JsonRequest) -> FormMultiDict:
    settings = service_of(request).settings
    most = min(request.content_length or largest_body(settings), largest_body(settings))
    try:
        async with asyncio.timeout(settings.body_timeout_s + most / SLOWEST_BYTES_PER_S):
            return await request.form()
    except TimeoutError as error:
        raise BodyTooSlowError from error
    except InternalServerException as error:
        raise ClientException("The body is incomplete.") from error
    except UnicodeDecodeError as error:
        raise InvalidTextError("A field of the form is not valid UTF-8.") from error


def _read(files: list[Sent], fields: dict[str, list[str]]) -> Documents:
    values: dict[str, Any] = {}
    for name, given in fields.items():
        if name == "me":
            values["me"] = given
        elif name not in {"as", "not_me", "since", "title", "map", "dry_run"}:
            raise InvalidRequestError(f"{name[:60]!r} is not a field of this form.", field=name[:60])
        elif len(given) > 1:
            raise InvalidRequestError(f"{name} is given more than once.", field=name)
        elif name in {"not_me", "dry_run"}:
            if (answer := YES_NO.get(given[0].lower())) is None:
                raise InvalidRequestError(f"{name} is true or false.", field=name)
            values[name] = answer
        else:
            values["kind" if name == "as" else name] = given[0] or None
    values["title"] = values.get("title") or ""
    return Documents(sent=files, **values)


def add_form(document: OpenAPI) -> None:
    """Describe the form in the OpenAPI document, next to the JSON."""
    words: dict[str, Reference | Schema] = {
        "as": Schema(type=OpenAPIType.STRING, description="Read everything as this kind."),
        "me": _list("Names or ids of the speaker who is the user; repeat the field for several."),
        "not_me": Schema(type=OpenAPIType.BOOLEAN, description="The user is none of the speakers."),
        "since": Schema(type=OpenAPIType.STRING, description="Leave out what was said before (ISO 8601)."),
        "title": Schema(type=OpenAPIType.STRING, description="The name for people of what is read."),
        "map": Schema(
            type=OpenAPIType.STRING,
            description="Read CSV as a chat with these columns: text=body,said_at=date,speaker=from.",
        ),
        "dry_run": Schema(type=OpenAPIType.BOOLEAN, description="Only say what would be stored."),
        "file": Schema(
            type=OpenAPIType.ARRAY, min_items=1, max_items=100, description="The files, each with its name.",
            items=Schema(type=OpenAPIType.STRING, format=OpenAPIFormat.BINARY),
        ),
    }  # fmt: skip
    form = Schema(type=OpenAPIType.OBJECT, properties=words, required=["file"])
    for operation in operations(document):
        if operation.operation_id == OPERATION and isinstance(operation.request_body, RequestBody):
            operation.request_body.content[FORM] = OpenAPIMediaType(schema=form)


def _list(words: str) -> Schema:
    return Schema(type=OpenAPIType.ARRAY, items=Schema(type=OpenAPIType.STRING), description=words)
