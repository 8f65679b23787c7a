"""Who waits for a turn has no snapshot meanwhile, for which REINDEX CONCURRENTLY would wait."""

from __future__ import annotations

import threading
import time

import psycopg
import pytest

from memsvc.server.exclusive import take_turn
from tests.cluster import Cluster
from tests.sql.world import value

pytestmark = pytest.mark.server
SNAPSHOT = "SELECT backend_xmin::text FROM pg_stat_activity WHERE pid = %s"


def test_who_waits_for_a_turn_holds_nobody_up(cluster: Cluster, database_name: str, admin: psycopg.Connection) -> None:
    url = cluster.admin_url(database_name)
    with psycopg.connect(url, autocommit=True) as first, psycopg.connect(url) as second:
        take_turn(first, shared=True)
        waiter = threading.Thread(target=take_turn, args=[second])
        waiter.start()
        time.sleep(0.5)
        # It may be asking just now; who waits in a statement would have a snapshot each time.
        seen = [value(admin, SNAPSHOT, [second.info.backend_pid]) for _ in range(20)]
        assert None in seen
        assert waiter.is_alive()
        first.close()
        waiter.join(10)
        assert not waiter.is_alive()
