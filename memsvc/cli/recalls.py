"""``memsvc feedback``, ``pin``, ``unpin``, ``promote`` and ``top-of-mind``: rate, pin, and show what is salient."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import AppName, AsJson, UserRef, as_uuid, for_owner, plain, print_json

if TYPE_CHECKING:
    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.profiles.blocks import Block
    from memsvc.recall.results import Memory
    from memsvc.recall.signals import FeedbackReceipt, MarkedMemory


def feedback(
    recall_id: str = typer.Argument(help="The answer's recall_id."),
    used: list[str] = typer.Option([], help="Id of a memory that was useful, short or in full; repeatable."),
    irrelevant: list[str] = typer.Option([], help="Id of a memory that was irrelevant, short or in full; repeatable."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Record which memories of an answer were useful and which were irrelevant. Repeating it counts once."""
    recall = as_uuid(recall_id, "recall")

    async def act(db: Database, owner: Owner) -> FeedbackReceipt:
        from memsvc.recall.signals import feedback, memories_meant

        good, bad = [await memories_meant(db, owner, recall, given) for given in (used, irrelevant)]
        return await feedback(db, owner, recall, used=good, irrelevant=bad)

    receipt = for_owner(user, app, act)
    if as_json:
        print_json(receipt)
        return
    print(f"{len(receipt.used)} used, {len(receipt.irrelevant)} irrelevant; {receipt.changed} of these are new.")
    if receipt.erased:
        print(f"{len(receipt.erased)} have been erased since and are ignored.")


def top_of_mind(
    user: str | None = UserRef,
    limit: int = typer.Option(10, "--limit", "-k", min=1, max=200, help="Most memories to show."),
    as_of: str | None = typer.Option(None, "--as-of", help="What was salient at this time (ISO 8601)."),
    known_at: str | None = typer.Option(None, "--known-at", help="What memsvc knew at this time (ISO 8601)."),
    traces: bool = typer.Option(False, "--traces", help="Include messages of system, tool and thinking roles."),
    facts: bool = typer.Option(True, "--facts/--no-facts", help="Include facts."),
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Show memories that are salient without a query: new, important, often recalled, found useful, or pinned."""

    async def act(db: Database, owner: Owner) -> list[Memory]:
        from memsvc.recall.salient import top_of_mind
        from memsvc.sources.moments import read_known_at, read_moment

        return await top_of_mind(
            db,
            owner,
            limit=limit,
            as_of=read_moment(as_of, owner, "as_of"),
            known_at=read_known_at(known_at, owner),
            traces=traces,
            facts=facts,
        )

    found = for_owner(user, app, act)
    if as_json:
        print_json(found)
        return
    for number, memory in enumerate(found, 1):
        said = f"[{number}] {memory.speaker or memory.role}: {memory.text or memory.caption or ''}"
        print(plain(" ".join(said.split())))
        print(plain(f"    why: {memory.reason} | score {memory.score:.2f} | {memory.kind} {memory.memory_id}"))
    if not found:
        print("There are no memories yet.")


def pin(
    memory: str = typer.Argument(help="The memory's id, as a context or recall shows it (m:…, f:… or n:…)."),
    importance: int | None = typer.Option(None, min=1, max=10, help="How important it is, 1 (trivial) to 10."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Pin a message, a fact, a note or a node: it is always among the salient memories."""
    _mark(memory, user, app, pinned=True, importance=importance, as_json=as_json)


def unpin(
    memory: str = typer.Argument(help="The memory's id, as a context or recall shows it (m:…, f:… or n:…)."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Unpin a message, a fact, a note or a node."""
    _mark(memory, user, app, pinned=False, importance=None, as_json=as_json)


def promote(
    memory: str = typer.Argument(help="The memory's id, as a context or recall shows it (m:…, f:… or n:…)."),
    block: str = typer.Option("remembered", "--block", help="The core block of the profile that gets it as a line."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Promote a memory into core memory, which is part of every context."""

    async def act(db: Database, owner: Owner) -> Block:
        from memsvc.sources.promoting import promote_memory

        return await promote_memory(db, owner, memory, block=block)

    made = for_owner(user, app, act)
    if as_json:
        print_json(made)
    else:
        print(f"{made.name} ({made.kind}, version {made.version})\n{made.text}")


def _mark(memory: str, user: str | None, app: str, *, pinned: bool, importance: int | None, as_json: bool) -> None:
    async def act(db: Database, owner: Owner) -> MarkedMemory:
        from memsvc.recall.signals import mark_memory

        return await mark_memory(db, owner, memory, pinned=pinned, importance=importance)

    marked = for_owner(user, app, act)
    if as_json:
        print_json(marked)
    else:
        of = f", importance {marked.importance}" if marked.importance is not None else ""
        print(f"{'Pinned' if marked.pinned else 'Not pinned'}: {marked.kind} {marked.memory_id}{of}.")
