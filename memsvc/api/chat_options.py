"""The header X-Memsvc-Context: options of the memory block in a drop-in chat, as ``budget_tokens=600, mode=eager``."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from memsvc.api.problems import invalid_value
from memsvc.errors import InvalidRequestError
from memsvc.recall.items import Why
from memsvc.recall.options import Filters, Mode
from memsvc.sources.moments import read_asked_at

HEADER = "X-Memsvc-Context"


class ChatContext(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the header may say; the names and ranges are those of POST /v1/context."""

    budget_tokens: Annotated[int, msgspec.Meta(ge=50, le=100_000)] | msgspec.UnsetType = msgspec.UNSET
    limit: Annotated[int, msgspec.Meta(ge=1, le=1_000)] | msgspec.UnsetType = msgspec.UNSET
    mode: Mode | msgspec.UnsetType = msgspec.UNSET
    why: Why | msgspec.UnsetType = msgspec.UNSET
    salient: Annotated[int, msgspec.Meta(ge=0, le=3)] | msgspec.UnsetType = msgspec.UNSET
    chance: bool | msgspec.UnsetType = msgspec.UNSET
    asked_at: str | msgspec.UnsetType = msgspec.UNSET


def read_chat_context(header: str | None) -> dict[str, Any]:
    """Return the options that a header names, as ``ContextOptions`` calls them, with their values.

    Args:
        header: ``name=value`` pairs with commas between them; None: there is no such header.

    Raises:
        InvalidRequestError, InvalidTimeError: an option is unknown, named twice, or has a value that cannot be.
    """
    given: dict[str, str] = {}
    for pair in filter(None, (one.strip() for one in (header or "").split(","))):
        name, sign, value = (part.strip() for part in pair.partition("="))
        if not sign or name in given:
            raise InvalidRequestError(
                f"{HEADER} does not consist of different options as name=value.",
                hint=f"For example: {HEADER}: budget_tokens=600, mode=eager",
                field=HEADER,
            )
        given[name] = value
    try:
        read = msgspec.convert(given, ChatContext, strict=False)
    except msgspec.ValidationError as error:
        names = ", ".join(ChatContext.__struct_fields__)
        said = invalid_value(error, ChatContext).message
        raise InvalidRequestError(f"{HEADER}: {said}", hint=f"Options are {names}.", field=HEADER) from error
    chosen = {name: value for name, value in msgspec.structs.asdict(read).items() if value is not msgspec.UNSET}
    asked_at = chosen.pop("asked_at", None)
    return chosen if asked_at is None else {**chosen, "filters": Filters(asked_at=read_asked_at(asked_at, HEADER))}
