"""A backup before the embedded database is upgraded: there is no way back down, and nobody is asked.

The backups lie in ``<data_dir>/backups``, named by the revision and the time; the latest ``upgrade_backups`` of them
are kept, and older ones removed when the upgrade has succeeded. Until then a file beside the backup says that it is
needed, and an upgrade that is tried again makes no second one. A database of its own server has an operator who makes
its backups.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from memsvc.db.files import head_revision
from memsvc.errors import BackupFailedError, MemsvcError, RestoreUnfinishedError
from memsvc.server.backup import MANIFEST, backup
from memsvc.settings import Settings

NAMED = re.compile(r"before-upgrade-of-(?P<revision>\d{4})-\d{8}T\d{12}Z")
UNFINISHED = ".unfinished"
"""Ends the name of the file that says of a backup that no upgrade after it has succeeded."""
GO_ON = "To upgrade without a backup, say --without-backup, or set MEMSVC_UPGRADE_BACKUPS=0."


@contextmanager
def backed_up(admin_url: str, settings: Settings, report: Callable[[str], None]) -> Iterator[None]:
    """Back up the embedded database if its tables are older than this program; upgrade it in the block.

    Raises:
        BackupFailedError, RestoreUnfinishedError: as ``back_up_if_older``.
    """
    made = back_up_if_older(admin_url, settings, report) if settings.embedded else None
    yield
    if settings.embedded:
        settle(settings)
    if made is not None:
        _prune(made, settings, report)


def settle(settings: Settings) -> None:
    """Note that the database is in use at its revision: the backups of earlier tries do not have what comes now."""
    for mark in (settings.data_dir / "backups").glob(f".*{UNFINISHED}"):
        mark.unlink(missing_ok=True)


def back_up_if_older(admin_url: str, settings: Settings, report: Callable[[str], None]) -> Path | None:
    """Back up a database whose tables are older than this program.

    Returns:
        The backup, or that of an earlier try to upgrade the same revision; None: the tables are not older, or no
        backups are wanted.

    Raises:
        BackupFailedError: it failed; nothing was upgraded.
        RestoreUnfinishedError: a restore into the database was not finished.
    """
    revision = _revision(admin_url)
    if revision is None or revision >= head_revision() or not settings.upgrade_backups:
        return None
    folder = settings.data_dir / "backups"
    if (earlier := _of_unfinished(folder, revision)) is not None:
        report(f"An earlier upgrade did not succeed; its backup of revision {revision} is kept: {earlier}.")
        return earlier
    target = folder / f"before-upgrade-of-{revision}-{datetime.now(UTC):%Y%m%dT%H%M%S%f}Z"
    report(f"The database is of revision {revision}; this program needs {head_revision()}. It is backed up first.")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        manifest = backup(admin_url, settings, target)
        _mark(target).touch(mode=0o600)
    except RestoreUnfinishedError:
        raise
    except (MemsvcError, OSError) as error:
        said = error.message if isinstance(error, MemsvcError) else str(error)
        raise BackupFailedError(
            f"The database was not upgraded, because it cannot be backed up: {said}", hint=GO_ON
        ) from error
    report(f"The backup is {target} ({manifest.bytes / 1e6:,.1f} MB); 'memsvc restore' reads it.")
    return target


def _mark(backup_folder: Path) -> Path:
    return backup_folder.with_name(f".{backup_folder.name}{UNFINISHED}")


def _of_unfinished(folder: Path, revision: str) -> Path | None:
    """The backup that an upgrade of this revision made which has not succeeded."""
    if not folder.is_dir():
        return None
    ours = (one for one in _kept(folder) if (named := NAMED.fullmatch(one.name)) and named["revision"] == revision)
    return next((one for one in ours if _mark(one).exists()), None)


def _prune(made: Path, settings: Settings, report: Callable[[str], None]) -> None:
    """Remove older backups than the latest ones, but not that of this upgrade."""
    for old in _kept(made.parent)[settings.upgrade_backups :]:
        if old != made:
            shutil.rmtree(old, ignore_errors=True)
            report(f"{old.name}, an older backup, is removed; the latest {settings.upgrade_backups} are kept.")


def _revision(admin_url: str) -> str | None:
    """The database's revision; None: it has no memsvc yet."""
    with psycopg.connect(admin_url, autocommit=True) as connection:
        there = connection.execute("SELECT to_regclass('memsvc.schema_version') IS NOT NULL").fetchone()
        row = (
            connection.execute("SELECT version_num FROM memsvc.schema_version").fetchone() if there == (True,) else None
        )
    return str(row[0]) if row else None


def _kept(folder: Path) -> list[Path]:
    """Complete backups that this module made, the latest first."""
    ours = [one for one in folder.iterdir() if NAMED.fullmatch(one.name) and (one / MANIFEST).is_file()]
    return sorted(ours, key=lambda one: one.name.rpartition("-")[2], reverse=True)
