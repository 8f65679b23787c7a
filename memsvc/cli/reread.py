"""``memsvc reread``: let a new version of an extractor read again what an older one has read; look at it, undo it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import (
    AppName,
    AsJson,
    UserRef,
    as_uuid,
    for_owner,
    for_owner_with,
    note,
    print_json,
    print_table,
)
from memsvc.text.counts import counted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.extract.rehearsal import Rehearsal
    from memsvc.extract.rereading import Count, Reported, Reread, Rereading
    from memsvc.extract.run import Extractors
    from memsvc.settings import Settings

reread = typer.Typer(
    help="Read again what an older version of the extractor has read; show the changes, undo them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
TASK = "reread"
Which = typer.Argument(help="An id from 'memsvc reread list'.", metavar="ID")


@reread.command("run")
def run(
    dry_run: bool = typer.Option(False, "--dry-run", help="Read the next messages, show the changes; store nothing."),
    messages: int = typer.Option(120, min=1, max=600, help="With --dry-run: about how many messages to read."),
    cursor: str | None = typer.Option(None, "--cursor", help="With --dry-run: next_cursor of the previous page."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Read again now, until all is read, the most recalled conversations first.

    A worker does the same at night, a part each night. Facts that only older versions found are retracted, unless a
    person stands for them. Ctrl-C pauses; the same command resumes, and the next night goes on. One that was stopped
    goes on.
    """
    if dry_run:
        _show_rehearsal(
            for_owner_with(user, app, lambda db, owner, settings: _rehearse(db, owner, settings, cursor, messages)),
            as_json=as_json,
        )
        return
    found = for_owner_with(user, app, _run)
    if as_json:
        print_json(found)
    elif found is None:
        note("There is nothing to read again: no older version of the extractor has read anything that is left.")
    else:
        _show([found])
        _show_counts(found.counts)


async def _rehearse(db: Database, owner: Owner, settings: Settings, cursor: str | None, messages: int) -> Rehearsal:
    from memsvc.cli.extraction import load
    from memsvc.extract.rehearsal import rehearse

    extractor, backend = await load(settings, None)
    return await rehearse(db, owner, extractor, backend, settings, cursor=cursor, messages=messages)


async def _run(db: Database, owner: Owner, settings: Settings) -> Rereading | None:
    from memsvc.extract.rereading import begin, get_rereading
    from memsvc.extract.run import Extractors

    extractors = Extractors(settings)
    extractor, backend = await extractors.named(None)
    found = await begin(db, owner, extractor, backend)
    if found is None:
        return None
    return await _work(
        db, owner, settings, extractors, lambda: get_rereading(db, owner, found.rereading_id), while_in={"open"}
    )


async def _work(
    db: Database,
    owner: Owner,
    settings: Settings,
    extractors: Extractors,
    look: Callable[[], Awaitable[Rereading]],
    *,
    while_in: set[str],
) -> Rereading:
    """Run sleep's task until the re-reading has another state; a nightly run that was open ends with its part."""
    from memsvc.cli.sleep import work

    while (found := await look()).state in while_in:
        await work(db, owner, settings, [TASK], extractors=extractors)
    return found


@reread.command("list")
def list_(
    limit: int = typer.Option(20, "--limit", "-n", min=1, max=1_000, help="Most re-readings to list, newest first."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List re-readings: which version reads, how far it is, and what changed."""

    async def act(db: Database, owner: Owner) -> list[Rereading]:
        from memsvc.extract.rereading import list_rereadings

        return await list_rereadings(db, owner, limit=limit)

    found = for_owner(user, app, act)
    if as_json:
        print_json(found)
        return
    _show(found)
    if not found:
        note("Nothing has been read again yet.")


@reread.command("show")
def show(
    which: str = Which,
    outcome: str | None = typer.Option(
        None, help="Only added, changed, ended, retracted, refused or unchanged; default: all but refused."
    ),
    type_: str | None = typer.Option(None, "--type", "-t", help="Only facts of this type, such as LIVES_IN."),
    not_undone: bool = typer.Option(False, "--not-undone", help="Only what undoing it left."),
    limit: int = typer.Option(20, "--limit", "-n", min=1, max=1_000, help="Most facts to list."),
    cursor: str | None = typer.Option(None, "--cursor", help="next_cursor of the previous page."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Show what a re-reading changed: counts by type, and one page of facts."""
    rereading_id = as_uuid(which, "re-reading")

    async def act(db: Database, owner: Owner) -> tuple[Rereading, Reported]:
        from memsvc.extract.rereading import get_rereading, report

        return await get_rereading(db, owner, rereading_id), await report(
            db, owner, rereading_id,
            outcome=outcome, type_=type_, not_undone=not_undone, cursor=cursor, limit=limit,
        )  # fmt: skip

    found, shown = for_owner(user, app, act)
    if as_json:
        print_json({"rereading": found, "facts": shown.facts, "next_cursor": shown.next_cursor})
        return
    _show([found])
    _show_counts(found.counts)
    _show_facts(shown.facts)
    if shown.next_cursor:
        note(f"There are more: --cursor {shown.next_cursor}")


@reread.command("stop")
def stop(which: str = Which, user: str | None = UserRef, app: str = AppName, as_json: bool = AsJson) -> None:
    """Stop a re-reading; what it changed stays. 'memsvc reread run' goes on."""
    rereading_id = as_uuid(which, "re-reading")

    async def act(db: Database, owner: Owner) -> Rereading:
        from memsvc.extract.rereading import stop

        return await stop(db, owner, rereading_id)

    found = for_owner(user, app, act)
    if as_json:
        print_json(found)
    else:
        _show([found])


@reread.command("undo")
def undo(which: str = Which, user: str | None = UserRef, app: str = AppName, as_json: bool = AsJson) -> None:
    """Undo all changes of a re-reading; those that something newer builds on stay, and are named."""
    rereading_id = as_uuid(which, "re-reading")

    async def act(db: Database, owner: Owner, settings: Settings) -> tuple[Rereading, Reported]:
        from memsvc.extract.rereading import ask_undo, get_rereading, report
        from memsvc.extract.run import Extractors

        await ask_undo(db, owner, rereading_id)
        none = Extractors(settings.model_copy(update={"extractor": "none"}))
        found = await _work(
            db, owner, settings, none, lambda: get_rereading(db, owner, rereading_id), while_in={"undoing"}
        )
        return found, await report(db, owner, rereading_id, not_undone=True, limit=100)

    found, left = for_owner_with(user, app, act)
    if as_json:
        print_json({"rereading": found, "not_undone": left.facts, "next_cursor": left.next_cursor})
        return
    _show([found])
    if found.not_undone:
        note(
            f"{counted(found.not_undone, 'change stays', 'changes stay')}, "
            "because something in them was altered again since:"
        )
        _show_facts(left.facts)


def _show(found: Sequence[Rereading]) -> None:
    print_table(
        ["re-reading", "extractor", "state", "read", "left", "began", "ended"],
        [
            [
                one.rereading_id, one.extractor, one.state, f"{one.turns:,}", f"{one.left:,}",
                f"{one.started_at:%Y-%m-%d %H:%M}",
                f"{one.finished_at:%Y-%m-%d %H:%M}" if one.finished_at is not None else "",
            ]
            for one in found
        ],
    )  # fmt: skip


def _show_counts(counts: Sequence[Count]) -> None:
    if counts:
        print()
        print_table(["outcome", "type", "facts"], [[one.outcome, one.type, f"{one.facts:,}"] for one in counts])


def _show_facts(facts: Sequence[Reread]) -> None:
    from memsvc.extract.validation import REASONS

    if facts:
        print()
        print_table(
            ["outcome", "fact", "why"],
            [[one.outcome, one.fact, REASONS.get(one.reason, one.reason)] for one in facts],
        )


def _show_rehearsal(found: Rehearsal, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    _show_counts(found.counts)
    _show_facts(found.facts)
    note(f"{found.turns:,} of {found.left:,} messages were read by {found.extractor}; nothing was stored.")
    if found.next_cursor:
        note(f"To look at more: --cursor {found.next_cursor}")
