"""What 'memsvc doctor' says about streaming replicas: whether each answers, is a replica, and how late it is."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
from sqlalchemy import make_url

from memsvc.server.capabilities import Check
from memsvc.settings import Settings

STATE = "SELECT pg_is_in_recovery()"


def check_standbys(admin_url: str, settings: Settings) -> Iterator[Check]:
    """One check for each server of MEMSVC_REPLICA_URLS, with the administrator's login."""
    if not settings.replicas:
        return
    primary = make_url(admin_url)
    with psycopg.connect(admin_url, autocommit=True, connect_timeout=settings.connect_timeout_s) as connection:
        row = connection.execute("SELECT pg_current_wal_lsn()").fetchone()
    written = row[0] if row else None
    for url in settings.replicas:
        there = make_url(url).set(username=primary.username, password=primary.password)
        name = f"replica {there.host or there.query.get('host', 'local')}:{there.port or 5432}"
        try:
            with psycopg.connect(
                there.render_as_string(hide_password=False), autocommit=True, connect_timeout=settings.connect_timeout_s
            ) as replica:
                state = replica.execute(STATE).fetchone()
                behind = replica.execute("SELECT %s::pg_lsn - pg_last_wal_replay_lsn()", [written]).fetchone()
        except psycopg.Error as error:
            lines = str(error).splitlines() or ["no answer"]
            yield Check(name, "warning", f"cannot be read, so the primary serves its reads: {lines[0]}")
            continue
        if state is None or not state[0]:
            yield Check(name, "warning", "is no replica, so it serves nothing: was it promoted?")
            continue
        late = max(0, int(behind[0])) if behind and behind[0] is not None else 0
        yield Check(name, "ok", f"follows, {late / 1e6:.1f} MB behind")
