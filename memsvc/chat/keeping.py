"""Stores what is new in a request to a chat server, and the answer.

One message that cannot be stored, because it is too long or has other words than its id had before, does not keep the
others from being stored.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memsvc import observe
from memsvc.access.keys import Principal, spend_messages
from memsvc.access.users import Owner
from memsvc.chat.admitting import Doubt
from memsvc.chat.afterwards import Afterwards
from memsvc.chat.known import Known, identified
from memsvc.chat.request import ChatRequest, Trace, Utterance, anchored
from memsvc.db.engine import Database
from memsvc.errors import MemsvcError, MessageConflictError
from memsvc.extract.names import folded
from memsvc.recall.search import QueryEmbedder
from memsvc.settings import Settings
from memsvc.sources.messages import TRACES, MessageIn, Prepared, Role, append_checked, prepare

NOBODYS_NAMES = frozenset({"user", "human"})
"""Names that clients give to every user."""
DATA = "data"
"""The code for data of a picture or file, which is not stored."""
EXISTING = "existing"
"""The code for a message that is stored already."""
ANSWER_LEFT = "an answer was not stored"
Numbered = tuple[int | None, MessageIn]
"""A message, with its index in the request; None: an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """The user and the conversation of a chat, and what remembering it needs."""

    db: Database
    principal: Principal
    owner: Owner
    settings: Settings
    embedder: QueryEmbedder | None
    afterwards: Afterwards
    conversation: str
    session: str = ""
    agent: str = ""
    """Which agent chats."""
    project: str | None = None
    """Where it works."""
    doubt: Doubt | None = None
    """Set if the database has not yet confirmed the caller's key: nothing is read, and storing waits."""


@dataclass(slots=True)
class Gathering:
    """What is new in a request."""

    message_id: str
    """The identity of the user's last message; if there is none, of the request."""
    ids: Mapping[int, str]
    """The ids of what the user says, stored or new, by index."""
    anchors: list[str] = field(default_factory=list)
    """What the ids of all other messages of the request begin with, after their kind (``trace:``)."""
    messages: list[Numbered] = field(default_factory=list)
    left: list[tuple[int, str]] = field(default_factory=list)
    """Indexes of messages that are not stored whole, with codes that say why."""


@dataclass(slots=True)
class Kept:
    """What became of messages that were to be stored."""

    left: list[tuple[int | None, str]] = field(default_factory=list)
    """Indexes of those that were not stored now, with codes that say why; None: the answer."""
    reasons: list[str] = field(default_factory=list)
    """The codes of failures."""
    whole: bool = True
    """True: all are stored."""

    def leave(self, at: int | None, code: str) -> None:
        """Note a message that cannot be stored. Nobody may read the header of an answer, so that is logged."""
        self.whole = False
        self.reasons.append(code)
        self.left.append((at, code))
        observe.DEGRADED.labels(code).inc()
        if at is None:
            observe.logger().warning(ANSWER_LEFT, code=code)


def gathered(request: ChatRequest, known: Known | None, talk: Talk, key: str | None) -> Gathering:
    """Return what is new in a request.

    Args:
        request: the request.
        known: what is stored already; None: not known, so only the ids tell.
        talk: the conversation.
        key: the client's own id for the user's last message; None: there is none.
    """
    names = {folded(talk.owner.name), *NOBODYS_NAMES, *(known.own_names if known is not None else ())}
    told = identified(request, known, talk.conversation, talk.session)
    ids, existing = dict(told.ids), set(told.existing)
    if key is not None and request.asked:
        ids[request.asked[-1].at] = f"chat:{key}"
        existing.discard(request.asked[-1].at)
    last = ids[request.asked[-1].at] if request.asked else None
    found = Gathering(anchored(last or f"chat:{request.digest(talk.conversation, talk.session, traces=True)}"), ids)
    found.left = [(at, EXISTING) for at in sorted(existing)]
    anchor, seen = f"chat:{request.digest(talk.conversation, talk.session)}", Counter[str]()
    for one in request.unanswered:
        if one.at in ids:
            anchor = anchored(ids[one.at])
            if one.at not in existing:
                found.messages.append((one.at, _message(talk, one, ids[one.at], names)))
        for trace in one.traces:
            of = ":".join([trace.speaker, *trace.metadata.values(), trace.text])
            digest = hashlib.sha256(of.encode(errors="surrogatepass")).hexdigest()[:16]
            seen[digest] += 1  # the same call may be made several times
            name = f"trace:{anchor}:{digest}:{seen[digest]}"
            found.anchors.append(anchor)
            if known is not None and name in known.traces:  # those before it are stored, too
                found.messages = [kept for kept in found.messages if kept[1].role not in TRACES]
                continue
            found.messages.append((one.at, _trace(talk, trace, name)))
        if one.shortened:
            found.left.append((one.at, DATA))
    return found


async def keep(talk: Talk, messages: Sequence[Numbered]) -> Kept:
    """Store messages, as many as can be stored.

    Raises:
        MemsvcError: none can be stored, because of the caller or the database.
    """
    principal = talk.principal
    if talk.doubt is not None:
        principal = await talk.doubt.settled()
        principal.require("write")
    kept, checked = Kept(), list[tuple[int | None, Prepared]]()
    for at, message in messages:
        try:
            [prepared] = prepare([message], talk.owner, talk.settings)
            checked.append((at, prepared))
        except MemsvcError as error:
            kept.leave(at, error.code)
    for begin in range(0, len(checked), talk.settings.max_batch):
        await _store(talk, principal, checked[begin : begin + talk.settings.max_batch], kept)
    return kept


async def _store(talk: Talk, principal: Principal, batch: list[tuple[int | None, Prepared]], kept: Kept) -> None:
    """Store a batch without those of its messages whose ids have other words."""
    await spend_messages(talk.db, principal, len(batch))
    while batch:
        try:
            with observe.INGEST_SECONDS.time():
                stored = await append_checked(talk.db, talk.owner, [prepared for _, prepared in batch])
        except MessageConflictError as error:
            at, _ = batch.pop(error.details["row"])
            kept.leave(at, error.code)
            continue
        for (at, prepared), one in zip(batch, stored, strict=True):
            observe.MESSAGES.labels(outcome=one.outcome).inc()
            if one.outcome in {"erased", "paused"}:
                kept.whole = False
                kept.left.append((at, one.outcome))
            elif one.outcome == EXISTING and at is not None and prepared.message.role not in TRACES:
                kept.left.append((at, one.outcome))
        return


def _message(talk: Talk, one: Utterance, name: str, own: set[str]) -> MessageIn:
    """What a person said. With a name that is not the user's, it is somebody else who speaks."""
    is_own = not one.name or folded(one.name) in own or folded(one.name.replace("_", " ").replace("-", " ")) in own
    role: Role = "user" if is_own else "other"
    return MessageIn(
        conversation=talk.conversation, session=talk.session, role=role, text=one.text, speaker=one.name, id=name
    )


def _trace(talk: Talk, trace: Trace, name: str) -> MessageIn:
    return MessageIn(
        conversation=talk.conversation, session=talk.session, role=trace.role, text=trace.text, speaker=trace.speaker,
        id=name, metadata=dict(trace.metadata),
    )  # fmt: skip
