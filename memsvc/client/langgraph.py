"""A LangGraph store in memsvc: what a graph puts there is remembered and can be recalled.

It needs the extra ``langgraph``. A namespace is a conversation, a key is a session in it, and an item is the last
message there. The message's text can be searched; the item's value is in the message's metadata. Putting an item again
first stores the new message and then erases the old one, so the item always exists. If a program ends in between, the
old message is ignored, and the next put erases it. docs/adr/0026-langgraph-items-are-messages.md has the reasons.
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
"""The most conversations that one recall can be limited to."""
MOST_RECALLED = 1_000
UNSEARCHED: Role = "tool"
"""The role of items that cannot be searched: messages of tools are kept but not recalled."""
PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Kept:
    """An item, with the conversation, session and ordinal of its message."""

    item: Item
    place: Place
    searched: bool
    """True: it has a text that recall can find."""


class MemsvcStore(BaseStore):
    """Keeps a graph's items in the memory of one user, or of each item's user."""

    def __init__(self, memory: Memory, *, fields: Sequence[str] = (), user_at: int | None = None) -> None:
        """Store items with a client, whose key needs the scopes read, write and forget.

        Args:
            memory: the client. The caller closes it.
            fields: JSON paths of the searchable texts in a value, if an item names none; empty: all texts.
            user_at: index in a namespace, from 0, of the user whose memory it is; None: the client's user.
        """
        self._memory = memory
        self._fields = tuple(fields)
        self._user_at = user_at

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations, reads before puts. Of several puts of one item, the last one counts.

        Raises:
            ClientError: a call to memsvc failed.
            NotImplementedError: a put has a ttl; nothing was done.
            ValueError: a filter has an unknown operator, or a namespace is invalid or lacks its user.
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
        """Do the same in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _of(self, namespace: Namespace) -> Memory:
        """Return the memory to which a namespace belongs."""
        if self._user_at is None:
            return self._memory
        if len(namespace) <= self._user_at or namespace[self._user_at] == "*":
            message = f"Index {self._user_at} of a namespace must name the user, but {namespace!r} has no user there."
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
            [stored] = memory.add_messages([message])
            if stored.outcome == "paused":  # what is there stays
                raise RefusedError("memory_paused", "The user's memory is paused: nothing was put.")
        for said in before:
            _forget(memory, said)

    def _text(self, op: PutOp) -> str:
        """Return the searchable text of an item; empty: it cannot be searched."""
        if op.value is None or op.index is False:
            return ""
        paths = self._fields if op.index is None else op.index
        found = [text for path in paths for text in get_text_at_path(op.value, tokenize_path(path))]
        return trimmed("\n".join(found if paths else _texts(op.value)))

    def _search(self, op: SearchOp) -> list[SearchItem]:
        memory = self._of(op.namespace_prefix)
        items = [
            kept
            for namespace in _namespaces(memory)
            if namespace[: len(op.namespace_prefix)] == op.namespace_prefix
            for kept in _items(memory, namespace)
            if all(_fits(kept.item.value.get(name), wished) for name, wished in (op.filter or {}).items())
        ]
        wanted = min(MOST_RECALLED, op.offset + op.limit)
        first = MOST_RECALLED if op.filter else wanted
        scores = _scores(memory, op.query, items, wanted, first) if op.query and items and wanted else {}
        if op.query:  # first what recall found, then the rest
            items.sort(key=lambda kept: -scores.get(kept.place, -math.inf))
        return [
            SearchItem(
                kept.item.namespace,
                kept.item.key,
                kept.item.value,
                kept.item.created_at,
                kept.item.updated_at,
                scores.get(kept.place),
            )
            for kept in items[op.offset : op.offset + op.limit]
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
    """Return a valid operation with its namespace as a tuple; a list is accepted too.

    Raises:
        InvalidNamespaceError: its namespace is invalid.
        NotImplementedError: it has a ttl, which would be ignored, so the item would stay for ever.
    """
    validate_op_namespace(op)
    match op:
        case PutOp(ttl=float() | int() as ttl):
            message = (
                f"ttl={ttl} is not supported by MemsvcStore: items stay until they are deleted. Put it without a ttl."
            )
            raise NotImplementedError(message)
        case SearchOp():
            return op._replace(namespace_prefix=_namespace(op.namespace_prefix))
        case GetOp() | PutOp():
            return op._replace(namespace=_namespace(op.namespace))
        case _:
            return op


def _namespace(given: Sequence[str]) -> Namespace:
    if isinstance(given, str):
        message = f"A namespace is a tuple of labels, such as ({given!r},), but {given!r} is a text."
        raise InvalidNamespaceError(message)
    return tuple(given)


def written(namespace: Namespace) -> str:
    """Return a namespace as the identifier of a conversation."""
    return PREFIX + ":".join(quote(label, safe=" ") for label in namespace)


def _namespaces(memory: Memory) -> Iterator[Namespace]:
    for conversation in memory.conversations(page=PAGE):
        if conversation.identifier.startswith(PREFIX) and conversation.messages:
            yield tuple(unquote(label) for label in conversation.identifier.removeprefix(PREFIX).split(":"))


def _messages(memory: Memory, conversation: str) -> list[Message]:
    """Return all messages of a namespace; none if nothing was ever put there."""
    try:
        return list(memory.messages(conversation, page=PAGE))
    except RefusedError as error:
        if error.code != "conversation_unknown":
            raise
        return []


def _kept(memory: Memory, namespace: Namespace) -> list[Message]:
    """Return the messages of a namespace that are items. Other messages of the conversation are ignored."""
    return [said for said in _messages(memory, written(namespace)) if isinstance(said.metadata.get("value"), dict)]


def _forget(memory: Memory, said: Message) -> None:
    """Erase a message, unless another process just did."""
    try:
        memory.forget("message", said.passage_id)
    except RefusedError as error:
        if error.status != HTTPStatus.NOT_FOUND:
            raise


def _created(said: Message) -> datetime:
    try:
        return datetime.fromisoformat(said.metadata["created_at"])
    except (KeyError, TypeError, ValueError):  # put only once, or by another program
        return said.recorded_at


def _items(memory: Memory, namespace: Namespace) -> list[Kept]:
    """Return the items of a namespace, in the order in which they were first put."""
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


def _scores(memory: Memory, query: str, items: Sequence[Kept], wanted: int, first: int) -> dict[Place, float]:
    """Return recall's scores for a query, by conversation, session and ordinal; of a long message its best part.

    Args:
        memory: the memory of the items.
        query: what to search for.
        items: the items to score.
        wanted: how many items should have a score, if recall finds as many.
        first: the first recall's limit. It grows if parts of one item, or other messages, take up the results.
    """
    names = list(dict.fromkeys(kept.place[0] for kept in items))
    options: RecallOptions = {"facts": False, "limit": first}
    if len(names) <= MOST_NAMED:
        options["conversations"] = names
    wanted = min(wanted, sum(kept.searched for kept in items))
    while True:
        limit = options["limit"]
        found = memory.recall(query, **options).memories
        scores: dict[Place, float] = {}
        for one in found:
            scores.setdefault((one.conversation, one.session, one.ordinal), one.score)
        if len(found) < limit or limit >= MOST_RECALLED or sum(kept.place in scores for kept in items) >= wanted:
            return scores
        options["limit"] = min(MOST_RECALLED, 4 * limit)


def _texts(value: Any) -> list[str]:
    """Return all texts in a value, in order."""
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
    """Whether a value matches a filter: it is equal, its operators hold, or, for an object, each field matches."""
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
    """Whether an operator holds. A missing value or one that is not a number is neither more nor less."""
    if name in ("$eq", "$ne"):
        return bool((value == other) is (name == "$eq"))
    if name not in ORDERS:
        message = f"Unsupported operator: {name}"
        raise ValueError(message)
    try:
        return ORDERS[name](float(value), float(other))
    except (TypeError, ValueError):
        return False
