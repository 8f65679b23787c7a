"""From an old revision to head at once nothing is lost.

That each migration keeps all rows is shown step by step, on both servers, in ``test_migrations``. Here several run in
one upgrade, so one revision in five is enough, and the newest ones, where most databases are.
"""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest
from alembic.script import ScriptDirectory

from memsvc.db.files import head_revision
from memsvc.server.migrations import alembic_config
from memsvc.server.upgrade import is_current
from tests.migration.conftest import Upgrader
from tests.migration.samples import all_rows, insert_samples, lost

pytestmark = pytest.mark.slow
EVERY = 5
NEWEST = 3
REVISIONS = [script.revision for script in ScriptDirectory.from_config(alembic_config()).walk_revisions()][::-1]
OLD = [*REVISIONS[:-1:EVERY], *REVISIONS[-1 - NEWEST : -1]]


@pytest.mark.parametrize("revision", sorted(set(OLD)))
def test_an_upgrade_from_an_old_revision_keeps_every_row(
    revision: str, at_revision: Callable[[str], str], run_upgrade: Upgrader
) -> None:
    old = at_revision(revision)
    with psycopg.connect(old, autocommit=True) as admin:
        insert_samples(admin, revision)
        before = all_rows(admin)
        assert before["users"], "there is nothing to lose"
        before.pop("applied_sql")  # says what the upgrade itself applied
        assert not is_current(old)
        done = run_upgrade(old)
        assert (done.from_revision, done.to_revision) == (revision, head_revision())
        assert lost(before, all_rows(admin)) == []
        assert is_current(old)
