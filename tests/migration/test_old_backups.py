"""A backup of an older version is restored and brought up to this one, with every row."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from memsvc.db.files import head_revision
from memsvc.server.backup import backup
from memsvc.server.restore import open_backup, restore
from memsvc.server.upgrade import is_current
from memsvc.settings import Settings
from tests.cluster import Cluster
from tests.migration.conftest import Upgrader
from tests.migration.samples import all_rows, insert_samples, lost

pytestmark = [pytest.mark.server, pytest.mark.slow]
OLD = "0024"


def test_a_backup_of_an_older_version_comes_up_to_this_one(
    empty: str, run_upgrade: Upgrader, settings: Settings, cluster: Cluster, tmp_path: Path
) -> None:
    run_upgrade(empty, OLD)
    with psycopg.connect(empty, autocommit=True) as admin:
        insert_samples(admin, OLD)
        before = all_rows(admin)
    written = backup(empty, settings, tmp_path / "old")  # this version backs up the older one's tables
    assert (written.revision, written.rows["users"]) == (OLD, 2)
    cluster.recreate(make_url(empty).database or "")
    with cluster.alone():
        done = restore(empty, settings, open_backup(settings, tmp_path / "old", new_secret=True))
    assert (done.from_revision, done.to_revision) == (OLD, head_revision())
    assert is_current(empty)
    with psycopg.connect(empty, autocommit=True) as admin:
        after = all_rows(admin)
        for table in ("applied_sql", "identity_keys"):  # what the upgrade applied; keys are this place's
            before.pop(table)
        assert lost(before, after) == []
