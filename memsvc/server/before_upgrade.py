"""A backup before the embedded database is upgraded: there is no way back down, and nobody is asked.

The backups lie in ``<data_dir>/backups``, named by the revision and the time; the latest ``upgrade_backups`` of them
are kept. A database of its own server is never upgraded implicitly, so its operator makes the backup.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from memsvc.db.files import head_revision
from memsvc.errors import BackupFailedError, MemsvcError, RestoreUnfinishedError
from memsvc.server.backup import MANIFEST, backup
from memsvc.settings import Settings

NAMED = re.compile(r"before-upgrade-of-(?P<revision>\d{4})-\d{8}T\d{12}Z")
GO_ON = "To upgrade without a backup, start it with --without-backup, or set MEMSVC_UPGRADE_BACKUPS=0."


def back_up_if_older(admin_url: str, settings: Settings, report: Callable[[str], None]) -> Path | None:
    """Back up a database whose tables are older than this program; None: they are not, or no backups are wanted.

    Raises:
        BackupFailedError: it failed; nothing was upgraded.
        RestoreUnfinishedError: a restore into the database was not finished.
    """
    revision = _revision(admin_url)
    if revision is None or revision >= head_revision() or not settings.upgrade_backups:
        return None
    folder = settings.data_dir / "backups"
    target = folder / f"before-upgrade-of-{revision}-{datetime.now(UTC):%Y%m%dT%H%M%S%f}Z"
    report(f"The database is of revision {revision}; this program needs {head_revision()}. It is backed up first.")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        manifest = backup(admin_url, settings, target)
    except RestoreUnfinishedError:
        raise
    except (MemsvcError, OSError) as error:
        said = error.message if isinstance(error, MemsvcError) else str(error)
        raise BackupFailedError(
            f"The database was not upgraded, because it cannot be backed up: {said}", hint=GO_ON
        ) from error
    report(f"The backup is {target} ({manifest.bytes / 1e6:,.1f} MB); 'memsvc restore' reads it.")
    for old in _kept(folder)[settings.upgrade_backups :]:
        shutil.rmtree(old, ignore_errors=True)
        report(f"{old.name}, an older backup, is removed; the latest {settings.upgrade_backups} are kept.")
    return target


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
