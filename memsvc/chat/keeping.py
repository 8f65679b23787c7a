"""Stores what is new in a request to a chat server, and the answer.

One message that cannot be stored, because it is too long or has other words than its id had before, does not keep the
others from being stored.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memsvc import observe
from memsvc.access.keys import Principal, spend_messages
from memsvc.access.users import Owner
from memsvc.chat.admitting import Doubt
from memsvc.chat.afterwards import Afterwards
from memsvc.chat.known import Known, repeated
from memsvc.chat.request import ChatRequest, Trace, Utterance
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
    doubt: Doubt | None = None
    """Set if the database has not yet confirmed the caller's key: nothing is read, and storing waits."""


@dataclass(slots=True)
class Gathering:
    """What is new in a request."""

    message_id: str
    """The identity of the user's last message; if there is none, of the request."""
    messages: list[Numbered] = field(default_factory=list)
    left: list[tuple[int, str]] = field(default_factory=list)
    """Indexes of messages that are not stored whole, with codes that say why."""


@dataclass(slots=True)
class Kept:
    """What became of messages that were to be stored."""

    left: list[tuple[int, str]] = field(default_factory=list)
    """Indexes of those that were not stored, with codes that say why."""
    reasons: list[str] = field(default_factory=list)
    """The codes."""
    whole: bool = True
    """True: all are stored."""

    def leave(self, at: int | None, error: MemsvcError) -> None:
        """Note a message that cannot be stored."""
        self.whole = False
        self.reasons.append(error.code)
        if at is not None:
            self.left.append((at, error.code))


def gathered(request: ChatRequest, known: Known | None, talk: Talk, key: str | None) -> Gathering:
    """Return what is new in a request.

    Args:
        request: the request.
        known: what is stored already; None: not known, so only the ids tell.
        talk: the conversation.
        key: the client's own id for the user's last message; None: there is none.
    """
    names = {folded(talk.owner.name), *NOBODYS_NAMES, *(known.own_names if known is not None else ())}
    stored = repeated(request, known) if known is not None else {}
    ids, whole = _ids(request, stored, talk, key)
    found = Gathering(ids[request.asked[-1].at] if request.asked else f"chat:{whole}")
    anchor, seen = "" if request.asked else found.message_id, Counter[str]()
    for one in request.unanswered:
        if one.at in ids:
            anchor = ids[one.at]
            if stored.get(one.at) != anchor:
                found.messages.append((one.at, _message(talk, one, anchor, names)))
        for trace in one.traces:
            digest = hashlib.sha256(f"{trace.speaker}:{trace.text}".encode(errors="surrogatepass")).hexdigest()[:16]
            seen[digest] += 1  # the same call may be made several times
            name = f"trace:{anchor}:{digest}:{seen[digest]}"
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
            kept.leave(at, error)
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
            kept.leave(at, error)
            continue
        for (at, _), one in zip(batch, stored, strict=True):
            observe.MESSAGES.labels(outcome=one.outcome).inc()
            if one.outcome == "erased":
                kept.whole = False
                kept.left += [(at, one.outcome)] if at is not None else []
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


def _ids(request: ChatRequest, stored: Mapping[int, str], talk: Talk, key: str | None) -> tuple[dict[int, str], str]:
    """Return the identities of ``request.asked``, by their index in the request, and a digest of the request.

    The history in a request identifies its messages. Without history, a new message gets an id of its own.

    Args:
        request: the request.
        stored: the identities of those that are stored already.
        talk: the conversation.
        key: the client's own id for the user's last message; None: there is none.
    """
    wanted = {one.at for one in request.asked}
    ids, digest = dict[int, str](), ""
    for at, digest in request.digests(talk.conversation, talk.session):
        if at in wanted:
            own = "" if request.before else f":{secrets.token_hex(4)}"
            ids[at] = stored.get(at) or f"chat:{digest}{own}"
    if key is not None and request.asked:
        ids[request.asked[-1].at] = f"chat:{key}"
    return ids, digest
