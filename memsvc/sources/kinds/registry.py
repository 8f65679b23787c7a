"""Find the kind of files: the built-in kinds and those that other packages add, all as entry points.

The built-in ones are entry points in code, so that a checkout has them without being installed anew. A file that no
kind recognises is refused by what it looks like; a file that two kinds claim alike is refused, too.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NamedTuple
from zipfile import ZipFile

import msgspec

from memsvc.errors import ConfigurationError, InvalidRequestError, SourceUnknownError
from memsvc.sources.foreign import foreign_document, foreign_text, packed_document, part_of
from memsvc.sources.kinds.bundles import ZIP, Bundle
from memsvc.sources.kinds.json_files import BYTE_ORDER_MARK, Document, decode
from memsvc.sources.kinds.kind import Detection, Kind
from memsvc.transfer.archive import UNREADABLE

ENTRY_POINTS = "memsvc.sources"
BUILT_IN = (
    EntryPoint("jsonl", "memsvc.sources.kinds.jsonl:ChatJsonl", ENTRY_POINTS),
    EntryPoint("chatgpt", "memsvc.sources.kinds.chatgpt:ChatGpt", ENTRY_POINTS),
    EntryPoint("claude", "memsvc.sources.kinds.claude:Claude", ENTRY_POINTS),
    EntryPoint("discord", "memsvc.sources.kinds.discord:Discord", ENTRY_POINTS),
    EntryPoint("signal", "memsvc.sources.kinds.signal:Signal", ENTRY_POINTS),
    EntryPoint("sms", "memsvc.sources.kinds.sms:Sms", ENTRY_POINTS),
    EntryPoint("slack", "memsvc.sources.kinds.slack:Slack", ENTRY_POINTS),
    EntryPoint("gemini", "memsvc.sources.kinds.gemini:Gemini", ENTRY_POINTS),
    EntryPoint("google-chat", "memsvc.sources.kinds.google_chat:GoogleChat", ENTRY_POINTS),
    EntryPoint("skype", "memsvc.sources.kinds.skype:Skype", ENTRY_POINTS),
    EntryPoint("copilot", "memsvc.sources.kinds.copilot:Copilot", ENTRY_POINTS),
    EntryPoint("imessage", "memsvc.sources.kinds.imessage:IMessage", ENTRY_POINTS),
    EntryPoint("telegram", "memsvc.sources.kinds.telegram:Telegram", ENTRY_POINTS),
    EntryPoint("whatsapp", "memsvc.sources.kinds.whatsapp:WhatsApp", ENTRY_POINTS),
    EntryPoint("mail", "memsvc.sources.kinds.mail:Mail", ENTRY_POINTS),
    EntryPoint("transcript", "memsvc.sources.kinds.transcript:Transcript", ENTRY_POINTS),
    EntryPoint("mem0", "memsvc.sources.kinds.mem0:Mem0", ENTRY_POINTS),
    EntryPoint("letta", "memsvc.sources.kinds.letta:Letta", ENTRY_POINTS),
    EntryPoint("graphiti", "memsvc.sources.kinds.graphiti:Graphiti", ENTRY_POINTS),
    EntryPoint("role-content", "memsvc.sources.kinds.role_content:RoleContent", ENTRY_POINTS),
)
DOCUMENT = "document"
"""The name of what is no chat (``document_files``), beside those of kinds."""
LEAST_SURE = 0.5
LEAST_LEAD = 0.1
"""By how much the surest kind must lead."""
LOOKED_AT = 50


class Recognised(NamedTuple):
    """A kind that takes files."""

    kind: Kind
    detection: Detection


@cache
def kinds() -> dict[str, Kind]:
    """Return all kinds by name.

    Raises:
        ConfigurationError: a kind of another package cannot be loaded, or has the name of another one.
    """
    found: dict[str, Kind] = {}
    for point in (*BUILT_IN, *entry_points(group=ENTRY_POINTS)):
        if point.name in {*found, DOCUMENT}:
            raise ConfigurationError(
                f"There is more than one kind of source {point.name!r}.",
                hint=f"Rename or remove the one of {point.value}.",
            )
        try:
            found[point.name] = point.load()()
        except Exception as error:
            raise ConfigurationError(
                f"The kind of source {point.name!r} cannot be loaded: {type(error).__name__}.",
                hint=f"Install or remove the package that adds it: {point.value}.",
            ) from error
    return found


def kind_called(name: str) -> Kind:
    """Return a kind by its name.

    Raises:
        InvalidRequestError: there is none.
    """
    if (kind := kinds().get(name)) is None:
        raise InvalidRequestError(
            f"There is no kind of source {name[:60]!r}.",
            hint=f"Use one of: {', '.join(sorted([*kinds(), DOCUMENT]))}.",
            field="as",
        )
    return kind


def recognised(bundle: Bundle) -> Recognised | None:
    """Return the kind of a bundle; None if no kind is sure.

    Raises:
        SourceUnknownError: two kinds are equally sure.
        BadFileError: the bundle cannot be read.
    """
    found = sorted(
        (Recognised(kind, kind.detect(bundle)) for kind in kinds().values()), key=lambda one: -one.detection.sure
    )
    found = [one for one in found if one.detection.sure >= LEAST_SURE]
    if not found:
        return None
    first, *others = found
    if others and others[0].detection.sure > first.detection.sure - LEAST_LEAD:
        second = others[0]
        raise SourceUnknownError(
            f"{bundle.name} may be {first.kind.title} ({first.detection.why}) or {second.kind.title} "
            f"({second.detection.why}).",
            hint=f"Nothing was stored. Say which: --as {first.kind.name} or --as {second.kind.name}.",
        )
    return first


def unknown(bundle: Bundle, file: str) -> SourceUnknownError:
    """Return the error of a file that no kind recognises; says what it looks like.

    Raises:
        BadFileError: it cannot be read.
    """
    shown = bundle.shown(file)
    head = bundle.head(file)
    if not head.strip():
        return SourceUnknownError(f"{shown} is empty.", hint="There is nothing to store.")
    looks = _packed(bundle, file) if head.startswith(ZIP) else foreign_text(head)
    if looks is None:
        looks = foreign_document(_outline(bundle.document(file), head))
        if looks is None:
            return SourceUnknownError(f"{shown} is JSON, but has no messages.")
    if (whole := part_of(looks)) is not None:
        return SourceUnknownError(f"{shown} looks like a part of {looks}.", hint=f"Nothing was stored. {whole}")
    if any(looks == kind.title for kind in kinds().values()):
        return SourceUnknownError(f"{shown} looks like {looks}, but has another form than those that are known.")
    return SourceUnknownError(f"{shown} looks like {looks}, which memsvc ingest cannot read yet.")


def _packed(bundle: Bundle, file: str) -> str:
    """Return what a zip file looks like by its members."""
    try:
        with ZipFile(bundle.path(file)) as archive:
            return packed_document(set(archive.namelist())) or "a zip file"
    except UNREADABLE:
        return "a zip file"


def _outline(document: Document, head: bytes) -> Any:
    """Return the shape of a document; of several in one file, that of the first line."""
    if document.is_container:
        return document.outline(LOOKED_AT)
    try:
        return decode(head.removeprefix(BYTE_ORDER_MARK).lstrip().split(b"\n", 1)[0])
    except msgspec.DecodeError:
        return None
