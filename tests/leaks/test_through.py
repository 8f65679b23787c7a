"""What MEMSVC_TEST_THROUGH puts between stands there, and the tests that go through it would notice a leak."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest

from memsvc.db.engine import Database
from tests.leaks.scene import Scene
from tests.sql.world import APP, login_url
from tests.through import CURRENT, THROUGH

pytestmark = [pytest.mark.server, pytest.mark.slow]


if THROUGH == "pooler":  # make test-leaks; elsewhere there is nothing to ask

    async def test_users_share_sessions_and_an_identity_that_stays_is_noticed(scene: Scene, db: Database) -> None:
        pooler = CURRENT[0].pooler
        assert pooler is not None
        assert db.engine.url.port == pooler.port
        assert db.direct.url.port != pooler.port
        pids = set()
        for token in (scene.token, scene.bobs_token):
            with scene.logins.enter(APP, token) as connection:
                [pid] = connection.execute("SELECT pg_backend_pid()").fetchone() or ()
                pids.add(pid)
        assert len(pids) == 1
        url = CURRENT[0].divert(login_url(scene.logins.admin_url, APP, scene.logins.settings))
        with closing(psycopg.connect(url, autocommit=True, prepare_threshold=None)) as careless:
            careless.execute("SELECT set_config('memsvc.identity', %s, false)", [scene.bobs_token])
        with (
            pytest.raises(AssertionError, match="whoever had the session before"),
            scene.logins.enter(APP, scene.token),
        ):
            pass
        with closing(psycopg.connect(url, autocommit=True, prepare_threshold=None)) as careful:
            careful.execute("DISCARD ALL")
        with scene.logins.enter(APP, scene.token):
            pass


if THROUGH == "replica":  # make test-leaks; elsewhere there is nothing to ask

    def test_logins_read_from_the_standby(scene: Scene) -> None:
        with scene.logins.enter(APP, scene.token) as connection:
            assert connection.execute("SELECT pg_is_in_recovery()").fetchone() == (True,)
            assert connection.execute("SELECT count(*) > 0 FROM memsvc.passages").fetchone() == (True,)
