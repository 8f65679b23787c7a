"""The embedded database is backed up before a newer program upgrades it, and nothing is upgraded if that fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr
from sqlalchemy import make_url

from memsvc.db.files import head_revision
from memsvc.errors import BackupFailedError, EmbeddedServerError
from memsvc.server import before_upgrade, embedded, locate
from memsvc.server.backup import MANIFEST, read_manifest
from memsvc.server.locate import located, ready
from memsvc.server.restore import open_backup, restore
from memsvc.server.upgrade import is_current, upgrade
from memsvc.settings import Settings
from tests.acceptance.conftest import private_folder
from tests.acceptance.killpoints import Rig
from tests.migration.samples import all_rows, insert_samples, lost

pytestmark = [pytest.mark.acceptance, pytest.mark.slow]
OLD = "0057"


@pytest.fixture
def older() -> Iterator[Settings]:
    """Settings of a data folder whose embedded database is of an older revision."""
    with private_folder(None) as data:
        settings = Settings.model_validate({"data_dir": data, "database_url": None})
        with located(settings) as url:
            upgrade(url, settings, revision=OLD)
            with psycopg.connect(url, autocommit=True) as admin:
                insert_samples(admin, OLD)
        yield settings
        embedded.stop(settings.data_dir)


def backups(settings: Settings) -> list[Path]:
    """What lies in the folder of backups, oldest first."""
    folder = settings.data_dir / "backups"
    return sorted(folder.iterdir()) if folder.is_dir() else []


def test_an_older_database_is_backed_up_and_then_upgraded(older: Settings, tmp_path: Path) -> None:
    said: list[str] = []
    with located(older) as url, psycopg.connect(url, autocommit=True) as admin:
        before = all_rows(admin)
    with ready(older, said.append) as url:
        assert is_current(url, older)
        [made] = backups(older)
        assert any(str(made) in line for line in said), said
        assert (made.stat().st_mode & 0o077, made.parent.stat().st_mode & 0o077) == (0, 0)
        manifest = read_manifest(made)
        assert (manifest.revision, manifest.rows["users"]) == (OLD, len(before["users"]))
        with ready(older, said.append):  # nothing to upgrade: no further backup
            assert backups(older) == [made]
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute("CREATE DATABASE again TEMPLATE template0")
        again = make_url(url).set(database="again").render_as_string(hide_password=False)
        restore(again, older, open_backup(older, made, new_secret=True))
        with psycopg.connect(again, autocommit=True) as admin:
            for table in ("applied_sql", "identity_keys"):
                before.pop(table)
            assert lost(before, all_rows(admin)) == []


def test_only_the_latest_are_kept_and_nothing_else_is_touched(older: Settings) -> None:
    settings = older.model_copy(update={"upgrade_backups": 2})
    folder = settings.data_dir / "backups"
    mine = folder / "my own"
    with located(settings) as url:
        for _ in range(2):
            with before_upgrade.backed_up(url, settings, lambda _line: None):
                pass
        made = backups(settings)
        assert len(made) == 2
        mine.mkdir()
        unfinished = folder / f"before-upgrade-of-{OLD}-20200101T000000000000Z"
        unfinished.mkdir()
        with before_upgrade.backed_up(url, settings, lambda _line: None):
            assert set(made) < set(backups(settings)), "the upgrade has not succeeded yet"
        [latest] = set(backups(settings)) - {*made, mine, unfinished}
    assert set(backups(settings)) == {made[1], latest, mine, unfinished}


def test_upgrades_that_fail_keep_the_backups_and_make_one(older: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = older.model_copy(update={"upgrade_backups": 1})
    earlier = settings.data_dir / "backups" / "before-upgrade-of-0041-20990101T000000000000Z"  # whatever the clock says
    earlier.mkdir(parents=True)
    (earlier / MANIFEST).write_text("{}")

    def fails(*_: object, **__: object) -> None:
        raise EmbeddedServerError("it fails")

    with monkeypatch.context() as patch:
        patch.setattr(locate, "upgrade", fails)
        for _ in range(3):
            with pytest.raises(EmbeddedServerError), ready(settings):
                pass
        [made] = [one for one in backups(settings) if before_upgrade.NAMED.fullmatch(one.name) and one != earlier]
        assert earlier.is_dir()
        with located(settings) as url:
            before_upgrade.settle(settings)  # the older program was used again: its backup is no longer up to date
            with pytest.raises(EmbeddedServerError), ready(settings):
                pass
            second = before_upgrade.back_up_if_older(url, settings, lambda _line: None)
        assert second not in {None, made}
    with ready(settings):
        assert set(backups(settings)) == {earlier, second}, "the latest by name, and the one of this upgrade"


def test_the_commands_that_upgrade_make_one_too(older: Settings) -> None:
    with Rig(older.data_dir) as rig:
        for command, revisions in (
            (("db", "alembic", "upgrade", "0058"), [OLD]),
            (("db", "alembic", "--without-backup", "upgrade", "0059"), [OLD]),
            (("db", "upgrade"), [OLD, "0059"]),
            (("db", "upgrade"), [OLD, "0059"]),
        ):
            done = rig.run_anew(*command)
            assert done.returncode == 0, done.stderr
            assert [read_manifest(one).revision for one in backups(older)] == revisions, command


def test_nothing_is_upgraded_if_the_backup_fails(older: Settings) -> None:
    (older.data_dir / "backups").write_text("a file is in the way")
    with pytest.raises(BackupFailedError, match="not upgraded") as refused, ready(older):
        pass
    assert "--without-backup" in refused.value.advice
    with located(older) as url, psycopg.connect(url) as admin:
        assert admin.execute("SELECT version_num FROM memsvc.schema_version").fetchone() == (OLD,)
    with Rig(older.data_dir) as rig:
        environment = {"embedding_model": ""}
        told = rig.run_anew("api", "--port", str(rig.port), **environment)
        assert told.returncode != 0
        assert "not upgraded" in told.stderr
        assert "--without-backup" in told.stderr
        part = rig.start("api", "--port", str(rig.port), "--without-backup", **environment)
        rig.wait_healthy(part)
        with rig.admin() as admin:
            assert admin.execute("SELECT version_num FROM memsvc.schema_version").fetchone() == (head_revision(),)


def test_a_new_database_and_a_foreign_one_are_not_backed_up(older: Settings) -> None:
    with located(older) as url:
        off = older.model_copy(update={"upgrade_backups": 0})
        assert before_upgrade.back_up_if_older(url, off, lambda _line: None) is None
        given = older.model_copy(update={"database_url": SecretStr(url)})
        with ready(given):  # its operator upgrades it
            assert not is_current(url)
    assert backups(older) == []
