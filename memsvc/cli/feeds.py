"""``memsvc feed``: what is read again by itself. The operator may read any path of the server, and mailboxes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from memsvc.cli.common import AppName, AsJson, UserRef, as_uuid, for_owner_with, note, plain, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime, tzinfo
    from typing import Any

    from memsvc.access.users import Owner
    from memsvc.db.engine import Database
    from memsvc.feeds.feeds import AddedFeed, Feed, FeedRemoved
    from memsvc.feeds.wanted import FeedIn, Mailbox
    from memsvc.settings import Settings
    from memsvc.sources.ingests import Ingest

feed = typer.Typer(
    help="Read folders, web addresses, calendars and mailboxes again by themselves, or let programs push.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Which = typer.Argument(help="A feed's name, or its id from 'memsvc feed list'.", metavar="FEED")
KINDS = ("folder", "url", "ics", "imap", "push")
RUNS = 10


@feed.command("add")
def add_(
    kind: str = typer.Argument(help="folder, url, ics (a calendar), imap (a mailbox) or push.", metavar="KIND"),
    what: str = typer.Argument(
        help="A path; an address; user@host or user@host:port of a mailbox; a name for a push.", metavar="WHAT"
    ),
    rule: str | None = typer.Option(
        None, "--rule", help='When: "every 2 hours" (default: every hour), an RRULE, or five fields of cron.'
    ),
    name: str = typer.Option("", "--name", help="A name for people."),
    kind_of_files: str | None = typer.Option(None, "--as", metavar="KIND", help="Read everything as this kind."),
    me: list[str] = typer.Option([], "--me", metavar="NAME", help="Your name or address there; repeatable."),
    not_me: bool = typer.Option(False, "--not-me", help="You are none of the speakers."),
    since: str | None = typer.Option(None, "--since", metavar="DATE", help="Leave out what was said before."),
    mailbox: str = typer.Option("INBOX", "--mailbox", help="Of imap: the mailbox."),
    security: str = typer.Option("tls", "--security", help="Of imap: tls, starttls, or none (on this machine only)."),
    password_env: str | None = typer.Option(
        None, "--password-env", metavar="NAME", help="Of imap: the variable of the worker that has the password."
    ),
    password_file: Path | None = typer.Option(
        None, "--password-file", metavar="PATH", help="Of imap: the file that has the password."
    ),
    takes: str = typer.Option("documents", "--takes", help="Of push: documents or memory."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Add a feed: a worker reads it at once, and then by its rule, on your clock.

    For a push, the secret with which programs sign is printed once.
    """
    asked = _asked(kind, what, name)
    asked.rule, asked.as_, asked.me, asked.not_me, asked.since = rule, kind_of_files, me, not_me, since
    asked.takes = _one_of(takes, ("documents", "memory"), "--takes")
    box = _mailbox(what, mailbox, security) if kind == "imap" else None
    if password_env is not None:
        secret: str | None = f"env:{password_env}"
    else:
        secret = f"file:{password_file.resolve()}" if password_file is not None else None

    async def act(db: Database, owner: Owner, settings: Settings) -> AddedFeed:
        from memsvc.feeds.feeds import add
        from memsvc.feeds.wanted import Door

        return await add(db, owner, asked, settings, Door(by_operator=True, mailbox=box, secret=secret))

    added = for_owner_with(user, app, act)
    if as_json:
        print_json(added)
        return
    print(f"{plain(added.name)} is added as {added.feed_id}.")
    if added.secret is not None:
        print(f"POST /v1/feeds/{added.feed_id}/push")
        print(f"secret  {added.secret}")
        note("The secret is shown only now.")


def _asked(kind: str, what: str, name: str) -> FeedIn:
    """Return a feed of what the command line names."""
    from memsvc.feeds.wanted import FeedIn

    asked = FeedIn(kind=_one_of(kind, KINDS, "KIND"), name=name)
    is_address = what.startswith(("http://", "https://"))
    if kind == "url" or (kind == "ics" and is_address):
        asked.url = what
    elif kind in {"folder", "ics"}:
        asked.path = str(Path(what).absolute())
    elif kind == "push":
        asked.name = name or what
    return asked


def _mailbox(what: str, mailbox: str, security: str) -> Mailbox:
    """Return a mailbox of user@host:port; the user may have an @, too."""
    from memsvc.errors import InvalidRequestError
    from memsvc.feeds.wanted import PORTS, Mailbox

    chosen = _one_of(security, tuple(PORTS), "--security")
    username, _, place = what.rpartition("@")
    host, _, port = place.partition(":")
    if not username or not host or not (port or "1").isdecimal():
        raise InvalidRequestError("A mailbox is user@host or user@host:port.", field="WHAT")
    return Mailbox(
        host=host, username=username, port=int(port) if port else PORTS[chosen], mailbox=mailbox, security=chosen
    )


def _one_of(value: str, values: tuple[str, ...], what: str) -> Any:
    if value not in values:
        raise typer.BadParameter(f"{value!r} is none of {', '.join(values)}.", param_hint=what)
    return value


@feed.command("list")
def list_(user: str | None = UserRef, app: str = AppName, as_json: bool = AsJson) -> None:
    """List feeds: what they read, when they ran and will run, and why they failed."""

    async def act(db: Database, owner: Owner, _settings: Settings) -> tuple[list[Feed], Owner]:
        return await _all(db, owner), owner

    found, owner = for_owner_with(user, app, act)
    if as_json:
        print_json(found)
        return
    zone = _zone(owner)
    print_table(
        ["name", "kind", "rule", "state", "next", "last", "error"],
        [
            [
                one.name, one.kind, one.rule or "", one.state, _local(one.next_run, zone),
                _local(one.last_run, zone) or "never", one.last_error,
            ]
            for one in found
        ],
    )  # fmt: skip
    if not found:
        note("There are no feeds yet: memsvc feed add folder ~/notes")


@feed.command("show")
def show(which: str = Which, user: str | None = UserRef, app: str = AppName, as_json: bool = AsJson) -> None:
    """Show a feed and its last ten runs."""

    async def act(db: Database, owner: Owner, _settings: Settings) -> tuple[Feed, list[Ingest], Owner]:
        from memsvc.feeds.feeds import runs

        found = await _named(db, owner, which)
        return found, (await runs(db, owner, found.feed_id, limit=RUNS)).items, owner

    found, ran, owner = for_owner_with(user, app, act)
    if as_json:
        print_json({"feed": found, "runs": ran})
        return
    zone = _zone(owner)
    for title, value in (
        ("id", found.feed_id), ("reads", found.identifier), ("rule", found.rule), ("state", found.state),
        ("failures", found.failures or None), ("error", found.last_error), ("next", _local(found.next_run, zone)),
    ):  # fmt: skip
        if value is not None:
            print(f"{title:9} {plain(str(value))}")
    print_table(
        ["run", "began", "state", "files", "refused", "new messages", "error"],
        [
            [
                one.ingest_id,
                _local(one.created_at, zone),
                one.state,
                one.files,
                one.refused,
                one.created,
                one.error_code,
            ]
            for one in ran
        ],
    )


@feed.command("run")
def run_(which: str = Which, user: str | None = UserRef, app: str = AppName, as_json: bool = AsJson) -> None:
    """Read a feed now; a running worker does it."""
    from memsvc.feeds.feeds import run

    found: Ingest = _act(which, user, app, run)
    if as_json:
        print_json(found)
    else:
        print(f"It is read as ingest {found.ingest_id}.")


@feed.command("pause")
def pause_(which: str = Which, user: str | None = UserRef, app: str = AppName) -> None:
    """Stop reading a feed until it is resumed."""

    async def act(db: Database, owner: Owner, _settings: Settings) -> Feed:
        from memsvc.feeds.feeds import pause

        return await pause(db, owner, (await _named(db, owner, which)).feed_id)

    print(f"{plain(for_owner_with(user, app, act).name)} is paused.")


@feed.command("resume")
def resume_(which: str = Which, user: str | None = UserRef, app: str = AppName) -> None:
    """Read a paused or failed feed again, at once and then by its rule."""
    from memsvc.feeds.feeds import resume

    found: Feed = _act(which, user, app, resume)
    print(f"{plain(found.name)} is active.")


@feed.command("remove")
def remove_(which: str = Which, user: str | None = UserRef, app: str = AppName) -> None:
    """Remove a feed. What it stored stays."""

    async def act(db: Database, owner: Owner, _settings: Settings) -> FeedRemoved:
        from memsvc.feeds.feeds import remove

        return await remove(db, owner, (await _named(db, owner, which)).feed_id)

    print(f"{plain(for_owner_with(user, app, act).feed.name)} is removed. What it stored stays.")


def _act(which: str, user: str | None, app: str, does: Callable[..., Awaitable[Any]]) -> Any:
    """Do something with a feed as the operator."""

    async def act(db: Database, owner: Owner, settings: Settings) -> Any:
        from memsvc.feeds.wanted import Door

        found = await _named(db, owner, which)
        return await does(db, owner, found.feed_id, settings, Door(by_operator=True))

    return for_owner_with(user, app, act)


async def _all(db: Database, owner: Owner) -> list[Feed]:
    from memsvc.db.paging import MAX_PAGE, read_id
    from memsvc.feeds.feeds import list_feeds

    found: list[Feed] = []
    cursor: str | None = None
    while not found or cursor is not None:
        page = await list_feeds(db, owner, after=read_id(cursor), limit=MAX_PAGE)
        found += page.items
        cursor = page.next_cursor
        if not page.items:
            break
    return found


async def _named(db: Database, owner: Owner, which: str) -> Feed:
    """Return a feed by name or id.

    Raises:
        FeedUnknownError, NotFoundError: there is none.
        InvalidRequestError: several have this name.
    """
    from memsvc.errors import InvalidRequestError
    from memsvc.feeds.feeds import look

    found = [one for one in await _all(db, owner) if one.name == which]
    if len(found) > 1:
        raise InvalidRequestError(
            f"{len(found)} feeds have this name.", hint="Name it by its id: memsvc feed list --json"
        )
    return found[0] if found else await look(db, owner, as_uuid(which, "feed"))


def _zone(owner: Owner) -> tzinfo:
    from memsvc.access.users import valid_zone

    return valid_zone(owner.time_zone)


def _local(moment: datetime | None, zone: tzinfo) -> str:
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}" if moment is not None else ""
