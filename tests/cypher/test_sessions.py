"""Sessions on a server that has AGE: its defects are nobody's answer."""

from __future__ import annotations

import psycopg
import pytest
from sqlalchemy import text

from memsvc.db.engine import Database

MUCH_IS_CREATED = """
DO $$
BEGIN
  FOR n IN 1..300 LOOP
    EXECUTE 'CREATE TEMP TABLE busy (' || (SELECT string_agg('c' || c || ' int', ',') FROM generate_series(1, 50) c)
      || ')';
    DROP TABLE busy;
  END LOOP;
END
$$
"""
"""PostgreSQL forgets what it wanted to tell others of its catalogs, and they empty their caches."""


async def test_a_session_that_has_failed_needs_no_rollback(
    cypher_db: Database, cypher_admin: psycopg.Connection
) -> None:
    async def fail() -> None:
        async with cypher_db.transaction() as connection:
            try:
                await connection.execute(text("SELECT 1 / 0"))
            finally:
                cypher_admin.execute(MUCH_IS_CREATED)

    for _ in range(2):
        with pytest.raises(Exception, match="division by zero"):
            await fail()
        async with cypher_db.transaction() as connection:
            assert (await connection.execute(text("SELECT 1"))).scalar_one() == 1
