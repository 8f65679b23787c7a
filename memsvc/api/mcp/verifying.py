"""The tool that verifies claims."""

from __future__ import annotations

from typing import Annotated
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Meta

from memsvc.access.users import Owner, valid_zone
from memsvc.api.mcp.asker import Asker
from memsvc.api.mcp.tool import Answer, Quoting, Tool
from memsvc.chat.verifying import MOST_CHARS, When
from memsvc.chat.verifying import verify as check
from memsvc.chat.weighing import ClaimEvidence, Verdict
from memsvc.recall.times_in_words import day, on_clock_of
from memsvc.sources.moments import read_moment
from memsvc.text.characters import flat
from memsvc.text.fence import fenced
from memsvc.times.untold import span_in_words


class VerifyArguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What to verify."""

    claim: Annotated[str, Meta(min_length=1, max_length=MOST_CHARS, description="One statement, not a question.")]
    as_of: Annotated[str, Meta(max_length=60, description="Whether it was true then (ISO 8601).")] | None = None


class Verification(Quoting, frozen=True, kw_only=True):
    """What memory says about a claim."""

    verdict: Verdict
    reason: str
    supporting: list[str]
    """Memories for it, with ids that open_source opens."""
    contradicting: list[str]
    related: list[str]
    """These decide nothing."""


async def verify(asker: Asker, owner: Owner, given: VerifyArguments) -> Answer:
    """Verify a claim."""
    found = await check(
        asker.db,
        owner,
        given.claim,
        asker.settings,
        extractors=asker.extractors,
        embedder=asker.embedder,
        when=When(as_of=read_moment(given.as_of, owner, "as_of")),
    )
    zone = valid_zone(owner.time_zone)
    content = Verification(
        verdict=found.verdict,
        reason=found.reason,
        supporting=[evidence_line(one, zone) for one in found.supporting],
        contradicting=[evidence_line(one, zone) for one in found.contradicting],
        related=[evidence_line(one, zone) for one in found.related],
    )
    lines = [
        f"{word}: {line}"
        for word, listed in (
            ("for", content.supporting), ("against", content.contradicting), ("related", content.related),
        )
        for line in listed
    ]  # fmt: skip
    verdict = f"{found.verdict}: {found.reason}"
    return Answer(f"{verdict}\n{fenced(chr(10).join(lines))}" if lines else verdict, content)


def evidence_line(evidence: ClaimEvidence, zone: ZoneInfo) -> str:
    """Return a memory for or against a claim as a line, with days on the user's clock."""
    said_on = "" if evidence.said_at is None else f"said on {day(evidence.said_at)}"
    begin, end = (
        None if moment is None else day(on_clock_of(moment, zone))
        for moment in (evidence.valid_from, evidence.valid_to)
    )
    span = span_in_words(begin, end, begin_untold=evidence.begin_untold, end_untold=evidence.end_untold)
    dates = [part for part in (said_on, span) if part]
    said = f"{flat(evidence.speaker)}: " if evidence.speaker else ""
    return f"[{evidence.id}] {said}{flat(evidence.text)}" + (f" ({', '.join(dates)})" if dates else "")


TOOLS = (
    Tool(
        name="verify",
        description="Check a statement against memory: supported, contradicted or unknown, with the "
        "memories for and against.",
        scope="read",
        given=VerifyArguments,
        unlisted=frozenset({"as_of"}),
        run=verify,
    ),
)
