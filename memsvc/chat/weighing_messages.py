"""What messages say about a claim: they can support it, and never contradict it by themselves.

People change their minds and their lives without denying what they once said, and a denial may be out of date as well:
that something is not so, only facts decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from memsvc.chat.statements import Voice, agreement, speaks_of_its_moment
from memsvc.chat.weighing import ClaimEvidence, Weighed
from memsvc.chat.wording import speaks_of
from memsvc.db.short_ids import short_id
from memsvc.extract.boilerplate import injected_spans
from memsvc.extract.names import folded
from memsvc.recall.results import Memory

MOST_RELATED = 5
PEOPLE = ("user", "other")


def weigh_messages(
    claim: str, memories: Iterable[Memory], own: Sequence[str], at: datetime, zone: str
) -> tuple[Weighed, list[ClaimEvidence]]:
    """Messages that state or deny the claim in its own words, of each speaker the latest; and those related to it.

    Args:
        claim: the claim.
        memories: recalled messages.
        own: names of the owner.
        at: when the claim is made.
        zone: the owner's, IANA name: a claim about its moment needs messages of the same day there.
    """
    weighed, related = Weighed(), list[ClaimEvidence]()
    latest: dict[str, tuple[Memory, str, str]] = {}
    of_moment, today = speaks_of_its_moment(claim), at.astimezone(ZoneInfo(zone)).date()
    for memory in sorted(memories, key=_last_said, reverse=True):
        text = _own_words(memory.text)
        voice = _voice(memory, own)
        fresh = not of_moment or _last_said(memory).astimezone(ZoneInfo(zone)).date() == today
        found = agreement(claim, text, voice) if fresh and _counts(memory) else None
        if found is not None:
            latest.setdefault(folded(voice.speaker) if voice.speaker is not None else "<owner>", (memory, *found))
        elif speaks_of(claim, text, voice.names) and len(related) < MOST_RELATED:
            related.append(_evidence(memory, memory.text))
    for memory, how, sentence in latest.values():
        (weighed.supporting if how == "same" else weighed.contradicting).append(_evidence(memory, sentence))
    if weighed.contradicting:
        weighed.reason = (
            "What people said disagrees." if weighed.supporting else "A message denies it; no fact decides."
        )
    elif weighed.supporting:
        weighed.verdict, weighed.reason = "supported", "A message says so."
    return weighed, related


def _last_said(memory: Memory) -> datetime:
    return memory.last_said or memory.said_at


def _counts(memory: Memory) -> bool:
    """Whether people said it, nothing is known to have changed since, and it is no piece from within a long text."""
    return memory.role in PEOPLE and not memory.stale and not memory.remark and memory.part == 0


def _own_words(text: str) -> str:
    """A message without the context blocks that came back in it."""
    for begin, end in sorted(injected_spans(text), reverse=True):
        text = f"{text[:begin]}\n{text[end:]}"
    return text


def _voice(memory: Memory, own: Sequence[str]) -> Voice:
    """Who says a message: the owner, if a user's message has no other speaker."""
    named = not memory.speaker or folded(memory.speaker) in {folded(name) for name in own}
    return Voice(own, None if memory.role == "user" and named else memory.speaker)


def _evidence(memory: Memory, text: str) -> ClaimEvidence:
    return ClaimEvidence(
        id=f"m:{short_id(memory.memory_id)}",
        memory_id=memory.memory_id,
        kind="message",
        text=text,
        speaker=memory.speaker,
        said_at=memory.said_at,
    )
