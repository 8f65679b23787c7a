"""``memsvc audit``: who did what, and how often keys were used."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import AppName, AsJson, as_uuid, note, print_json, print_table, with_database

if TYPE_CHECKING:
    from memsvc.access.audit import Act
    from memsvc.db.engine import Database
    from memsvc.settings import Settings

Day = ["%Y-%m-%d"]


def audit(
    actor: str | None = typer.Option(None, help="Only acts by this key, or through this door: api, page, cli."),
    action: str | None = typer.Option(None, help="Only this action, such as key.revoke, or its first word: key."),
    since: datetime | None = typer.Option(None, formats=Day, help="The first day (UTC)."),
    until: datetime | None = typer.Option(None, formats=Day, help="The last day (UTC)."),
    before: str | None = typer.Option(None, help="Id of the last act of the previous page."),
    limit: int = typer.Option(50, min=1, max=1_000, help="Most acts to list, newest first."),
    export: Path | None = typer.Option(
        None,
        "--export",
        metavar="FILE",
        help="Write all of them to a new file instead, as JSON lines; '-' is standard output.",
    ),
    use: bool = typer.Option(False, "--use", help="List how often keys were used on each of the last 30 days instead."),
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """List who did what to users, keys, memories and models, newest first. The log has ids and no text."""

    async def work(db: Database, _settings: Settings) -> Any:
        from datetime import UTC

        from memsvc.access.audit import ActFilters, every_act, key_use, list_acts
        from memsvc.access.users import find_app

        owner = await find_app(db, app)
        if use:
            return await key_use(db, owner)
        begin = since.replace(tzinfo=UTC) if since else None
        end = until.replace(tzinfo=UTC) + timedelta(days=1) if until else None
        filters = ActFilters(actor=actor, action=action, since=begin, until=end)
        last = as_uuid(before, "act") if before else None
        if export is not None:
            return await _write(every_act(db, owner, filters, before=last), export)
        return (await list_acts(db, owner, filters, before=last, limit=limit)).items

    if use and export is not None:
        raise typer.BadParameter("--export writes acts, and --use lists requests.")
    if export is not None and os.path.lexists(export):
        from memsvc.errors import AlreadyExistsError

        raise AlreadyExistsError(f"{export} already exists.", hint="Choose another name: nothing is overwritten.")
    found = with_database(work)
    if export is not None:
        note(f"{found:,} acts were written.")
    elif as_json:
        print_json(found)
    elif use:
        print_table(["day", "key", "requests", "last"], [[u.day, u.key_id, u.requests, u.last_at] for u in found])
    else:
        print_table(
            ["time", "act", "about", "user", "by"],
            [[a.recorded_at, a.action, a.subject, a.user_id, _by(a)] for a in found],
        )
    if not found and not as_json and export is None:
        note("Nothing was found.")


async def _write(acts: AsyncIterator[Act], target: Path) -> int:
    """Write acts as JSON lines; the file has its name once it is complete. Returns how many they are.

    Raises:
        StorageFullError: it cannot be written.
    """
    import msgspec

    from memsvc.errors import StorageFullError

    count = 0
    if str(target) == "-":
        async for act in acts:
            sys.stdout.write(msgspec.json.encode(act).decode() + "\n")
            count += 1
        return count
    draft = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            async for act in acts:
                file.write(msgspec.json.encode(act) + b"\n")
                count += 1
            file.flush()
            os.fsync(file.fileno())
        draft.rename(target)
    except OSError as error:
        raise StorageFullError(f"{target} cannot be written: {error.strerror}.") from error
    finally:
        draft.unlink(missing_ok=True)
    return count


def _by(act: Act) -> str:
    """Who acted: the door and the key; for others, the login of the database."""
    return " ".join(part for part in (act.door, act.key_id) if part) or act.login
