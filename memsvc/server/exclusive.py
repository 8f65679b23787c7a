"""A lock for work on a whole database: upgrades, restores and index rebuilds run alone, backups run together."""

from __future__ import annotations

import time

import psycopg

ONE_AT_A_TIME = 0x6D656D73766300  # "memsvc"
PAUSE_S = 0.2


def take_turn(connection: psycopg.Connection, *, shared: bool = False) -> None:
    """Wait for the lock, and keep it until the session ends.

    It polls instead of waiting in a statement: a waiting statement has a snapshot, and REINDEX CONCURRENTLY, which may
    hold the lock, waits until all older snapshots are gone. Each would wait for the other.

    Args:
        connection: in autocommit, or without an open transaction.
        shared: share the lock with others that share it, as backups do.
    """
    ask = "SELECT pg_try_advisory_lock_shared(%s)" if shared else "SELECT pg_try_advisory_lock(%s)"
    while True:
        had = connection.execute(ask, [ONE_AT_A_TIME]).fetchone() == (True,)
        connection.commit()
        if had:
            return
        time.sleep(PAUSE_S)
