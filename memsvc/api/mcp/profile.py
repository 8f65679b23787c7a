"""The tool with which an assistant edits the profile: what every context says about the user."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from memsvc.access.users import Owner
from memsvc.api.mcp.asker import Asker
from memsvc.api.mcp.opened import block_lines
from memsvc.api.mcp.references import MessageIds, messages_called
from memsvc.api.mcp.tool import Answer, Quoting, Tool
from memsvc.errors import InvalidRequestError
from memsvc.profiles.blocks import Section
from memsvc.profiles.changes import Append, Change, Replace, Set
from memsvc.profiles.write import change_section
from memsvc.text.fence import fenced


class ProfileArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What to change."""

    section: Annotated[
        Section,
        Meta(description="fixed_traits: who they are; current_state: what is true now."),
    ]
    change: Annotated[
        Literal["append", "replace", "set"],
        Meta(description="replace: text in place of old; set: the whole section."),
    ]
    text: Annotated[str, Meta(max_length=8_000, description="One fact per line.")]
    old: (
        Annotated[
            str,
            Meta(max_length=8_000, description="The exact text to replace."),
        ]
        | None
    ) = None
    expected_version: Annotated[int, Meta(ge=0, description="The one you read.")] | None = None
    sources: MessageIds = []


class ProfileSection(Quoting, frozen=True, kw_only=True):
    """A section of the profile after the change."""

    id: str
    """open_source opens it."""
    section: str
    version: int
    text: str


def _change(given: ProfileArguments) -> Change:
    if (given.old is not None) != (given.change == "replace"):
        raise InvalidRequestError("replace needs old, and only replace takes it.", hint="Send both.", field="old")
    match given.change:
        case "append":
            return Append(text=given.text)
        case "replace":
            return Replace(old=given.old or "", new=given.text)
        case "set":
            return Set(text=given.text)


async def update_profile(asker: Asker, owner: Owner, given: ProfileArguments) -> Answer:
    """Change a section."""
    evidence = await messages_called(asker.db, owner, given.sources)
    block = await change_section(
        asker.db,
        owner,
        given.section,
        _change(given),
        expected_version=given.expected_version,
        evidence=[one.passage_id for one in evidence],
        asserted_by=asker.asserted_by,
        passage_tokens=asker.settings.passage_tokens,
    )
    content = ProfileSection(id=block.id, section=block.name, version=block.version, text=block.text)
    return Answer(fenced("\n".join(block_lines(block))), content)


TOOLS = (
    Tool(
        name="update_profile",
        description="Edit the short profile that is part of every context, when something lasting about the user is "
        "new or no longer true.",
        scope="write",
        given=ProfileArguments,
        unlisted=frozenset({"expected_version", "sources"}),
        run=update_profile,
    ),
)
