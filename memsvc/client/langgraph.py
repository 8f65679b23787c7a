"""A LangGraph store in memsvc: what a graph puts there is remembered, and found by recall.

It needs the extra ``langgraph``. A namespace is a conversation, a key is a session in it, and an item is the last
message there: its text is what can be searched for, its value stands in the message's metadata. Putting an item again
stores the new message and erases the old one; so at no moment there is none, and what was left by a program that ended
in between is passed over, and erased by the next put. Why so: docs/adr/0026-langgraph-items-are-messages.md.
"""

from __future__ import annotations

import asyncio
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, unquote

import msgspec
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)

from memsvc.client.errors import RefusedError
from memsvc.client.memory import Memory
from memsvc.client.options import RecallOptions
from memsvc.sources.messages import MessageIn, Role
from memsvc.sources.read import Message
from memsvc.text.characters import trimmed

Namespace = tuple[str, ...]
PREFIX = "langgraph:"
Place = tuple[str, str, int]
"""Conversation, session and ordinal of a message."""
MOST_NAMED = 1_000
"""Conversations that one recall can be limited to."""
MOST_RECALLED = 1_000
UNSEARCHED: Role = "tool"
"""Who says what cannot be searched for: what tools say is kept, and not recalled."""
PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Kept:
    """An item with the place of its message."""

    item: Item
    place: Place
    searched: bool
    """It has a text that recall can find."""


class MemsvcStore(BaseStore):
    """Keeps a graph's items in the memory of one user, or of each item's user."""

    def __init__(self, memory: Memory, *, fields: Sequence[str] = (), user_at: int | None = None) -> None:
        """Store items by a client, which needs the scopes read, write and forget.

        Args:
            memory: the client; it stays the caller's to close.
            fields: JSON paths of what is searched in a value, where an item does not say; empty: all texts in it.
            user_at: place in a namespace of the user whose memory it belongs to, from 0; None: the client's user.
        """
        self._memory = memory
        self._fields = tuple(fields)
        self._user_at = user_at

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations; all that read come first, and of several puts of one item the last one counts.

        Raises:
            ClientError: a call to memsvc failed.
            NotImplementedError: an item is to be put with a ttl; nothing was done.
            ValueError: an operator of a filter is unknown, a namespace is none, or lacks its user.
        """
        asked = [_checked(op) for op in ops]
        results: list[Result] = []
        puts: dict[tuple[Namespace, str], PutOp] = {}
        for op in asked:
            match op:
                case GetOp():
                    results.append(self._get(op))
                case SearchOp():
                    results.append(self._search(op))
                case ListNamespacesOp():
                    results.append(self._list(op))
                case PutOp():
                    results.append(None)
                    puts[op.namespace, op.key] = op
        for put in puts.values():
            self._put(put)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _of(self, namespace: Namespace) -> Memory:
        """The memory that a namespace belongs to."""
        if self._user_at is None:
            return self._memory
        if len(namespace) <= self._user_at or namespace[self._user_at] == "*":
            message = f"The user stands at place {self._user_at} of a namespace, so {namespace!r} has none."
            raise ValueError(message)
        return self._memory.for_user(namespace[self._user_at])

    def _get(self, op: GetOp) -> Item | None:
        found = (kept.item for kept in _items(self._of(op.namespace), op.namespace) if kept.item.key == op.key)
        return next(found, None)

    def _put(self, op: PutOp) -> None:
        memory = self._of(op.namespace)
        before = [said for said in _kept(memory, op.namespace) if said.session == op.key]
        if op.value is not None:
            text = self._text(op)
            message = MessageIn(
                conversation=written(op.namespace),
                session=op.key,
                text=text or msgspec.json.encode(op.value).decode(),
                role="other" if text else UNSEARCHED,
                metadata={"value": op.value, "created_at": _created(before[0]).isoformat() if before else None},
            )
            memory.add_messages([message])
        for said in before:
            _forget(memory, said)

    def _text(self, op: PutOp) -> str:
        """What an item can be found by; empty: it cannot."""
        if op.value is None or op.index is False:
            return ""
        paths = self._fields if op.index is None else op.index
        found = [text for path in paths for text in get_text_at_path(op.value, tokenize_path(path))]
        return trimmed("\n".join(found if paths else _texts(op.value)))

    def _search(self, op: SearchOp) -> list[SearchItem]:
        memory = self._of(op.namespace_prefix)
        there = [
            kept
            for namespace in _namespaces(memory)
            if namespace[: len(op.namespace_prefix)] == op.namespace_prefix
            for kept in _items(memory, namespace)
            if all(_fits(kept.item.value.get(name), wished) for name, wished in (op.filter or {}).items())
        ]
        wanted = min(MOST_RECALLED, op.offset + op.limit)
        first = MOST_RECALLED if op.filter else wanted
        scores = _scores(memory, op.query, there, wanted, first) if op.query and there and wanted else {}
        if op.query:  # first what recall found, then what it did not look at or found too far away
            there.sort(key=lambda kept: -scores.get(kept.place, -math.inf))
        return [
            SearchItem(
                kept.item.namespace,
                kept.item.key,
                kept.item.value,
                kept.item.created_at,
                kept.item.updated_at,
                scores.get(kept.place),
            )
            for kept in there[op.offset : op.offset + op.limit]
        ]

    def _list(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        prefix = next((tuple(known.path) for known in conditions if known.match_type == "prefix"), ())
        found = {
            namespace[: op.max_depth]
            for namespace in _namespaces(self._of(prefix))
            if all(_matches(namespace, condition) for condition in conditions)
        }
        return sorted(found)[op.offset : op.offset + op.limit]


def _checked(op: Op) -> Op:
    """An operation that can be done, its namespace as a tuple: who gives a list means the same.

    Raises:
        InvalidNamespaceError: it is no namespace.
        NotImplementedError: it has a ttl, which would be forgotten: the item would stay for ever.
    """
    validate_op_namespace(op)
    match op:
        case PutOp(ttl=float() | int() as ttl):
            message = f"ttl={ttl} is not supported by MemsvcStore: items stay until they are deleted. Put it without."
            raise NotImplementedError(message)
        case SearchOp():
            return op._replace(namespace_prefix=_namespace(op.namespace_prefix))
        case GetOp() | PutOp():
            return op._replace(namespace=_namespace(op.namespace))
        case _:
            return op


def _namespace(given: Sequence[str]) -> Namespace:
    if isinstance(given, str):
        message = f"A namespace is a tuple of labels, such as ({given!r},), and {given!r} is a text."
        raise InvalidNamespaceError(message)
    return tuple(given)


def written(namespace: Namespace) -> str:
    """A namespace as the name of a conversation."""
    return PREFIX + ":".join(quote(label, safe=" ") for label in namespace)


def _namespaces(memory: Memory) -> Iterator[Namespace]:
    for conversation in memory.conversations(page=PAGE):
        if conversation.identifier.startswith(PREFIX) and conversation.messages:
            yield tuple(unquote(label) for label in conversation.identifier.removeprefix(PREFIX).split(":"))


def _messages(memory: Memory, conversation: str) -> list[Message]:
    """All messages of a namespace; none where nothing was ever put there."""
    try:
        return list(memory.messages(conversation, page=PAGE))
    except RefusedError as error:
        if error.code != "conversation_unknown":
            raise
        return []


def _kept(memory: Memory, namespace: Namespace) -> list[Message]:
    """The messages of a namespace that are items; whoever else talks in its conversation is left alone."""
    return [said for said in _messages(memory, written(namespace)) if isinstance(said.metadata.get("value"), dict)]


def _forget(memory: Memory, said: Message) -> None:
    """Erase a message, unless somebody else did just now."""
    try:
        memory.forget("message", said.passage_id)
    except RefusedError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise


def _created(said: Message) -> datetime:
    try:
        return datetime.fromisoformat(said.metadata["created_at"])
    except (KeyError, TypeError, ValueError):  # it was put once, or by somebody else
        return said.recorded_at


def _items(memory: Memory, namespace: Namespace) -> list[Kept]:
    """The items of a namespace, those put first in front."""
    newest: dict[str, Message] = {}
    for said in _kept(memory, namespace):
        if said.session not in newest or said.ordinal > newest[said.session].ordinal:
            newest[said.session] = said
    return [
        Kept(
            Item(
                value=said.metadata["value"],
                key=key,
                namespace=namespace,
                created_at=_created(said),
                updated_at=said.recorded_at,
            ),
            (written(namespace), key, said.ordinal),
            said.role != UNSEARCHED,
        )
        for key, said in newest.items()
    ]


def _scores(memory: Memory, query: str, there: Sequence[Kept], wanted: int, first: int) -> dict[Place, float]:
    """What recall gives for a query, by the place of the message; of a long one its best part.

    Args:
        memory: where they are.
        query: the words.
        there: the items.
        wanted: so many of them are to have a score, where recall finds so many.
        first: recall is asked for so many memories; for more, where parts of one item and what others say take places.
    """
    names = list(dict.fromkeys(kept.place[0] for kept in there))
    options: RecallOptions = {"facts": False, "limit": first}
    if len(names) <= MOST_NAMED:
        options["conversations"] = names
    wanted = min(wanted, sum(kept.searched for kept in there))
    while True:
        limit = options["limit"]
        found = memory.recall(query, **options).memories
        scores: dict[Place, float] = {}
        for one in found:
            scores.setdefault((one.conversation, one.session, one.ordinal), one.score)
        if len(found) < limit or limit >= MOST_RECALLED or sum(kept.place in scores for kept in there) >= wanted:
            return scores
        options["limit"] = min(MOST_RECALLED, 4 * limit)


def _texts(value: Any) -> list[str]:
    """All texts in a value, in order."""
    match value:
        case str():
            return [value]
        case Mapping():
            return [text for inner in value.values() for text in _texts(inner)]
        case list() | tuple():
            return [text for inner in value for text in _texts(inner)]
        case _:
            return []


def _matches(namespace: Namespace, condition: MatchCondition) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wished in ("*", label) for label, wished in zip(part, path, strict=True))


ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def _fits(value: Any, wished: Any) -> bool:
    """Whether a value is as a filter wishes: equal, or as its operators say; of an object, field by field."""
    match wished:
        case Mapping() if any(name.startswith("$") for name in wished):
            return all(_holds(value, name, other) for name, other in wished.items())
        case Mapping():
            return isinstance(value, Mapping) and all(_fits(value.get(name), other) for name, other in wished.items())
        case list() | tuple():
            alike = isinstance(value, (list, tuple)) and len(value) == len(wished)
            return alike and all(map(_fits, value, wished))
        case _:
            return bool(value == wished)


def _holds(value: Any, name: str, other: Any) -> bool:
    """Whether an operator holds; what is missing or no number is neither more nor less."""
    if name in ("$eq", "$ne"):
        return bool((value == other) is (name == "$eq"))
    if name not in ORDERS:
        message = f"Unsupported operator: {name}"
        raise ValueError(message)
    try:
        return ORDERS[name](float(value), float(other))
    except (TypeError, ValueError):
        return False
