"""What stands between Ada and Bob's rows beside the policies, and which way opens where it is taken away.

Each wall is a statement of the administrator that takes it away, and the way (``ways.py``) and login that then get
through. Policies, flags and the checks of definer functions are in ``tests/sql/mutations.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.conftest import SERVER
from tests.leaks.ways import COUNTED, NO_INDEX, WAYS, Way
from tests.sql.world import ANALYST, APP, CYPHER, READER


@dataclass(frozen=True, slots=True)
class Wall:
    """How it is taken away, and by which way that is noticed."""

    broken: str
    way: Way
    login: str = READER


_FUNCTION = "GRANT EXECUTE ON FUNCTION pg_catalog.{} TO PUBLIC"
_VIEW = "GRANT SELECT ON pg_catalog.{} TO PUBLIC; " + _FUNCTION
MONITORING = {
    "what others ask": _VIEW.format("pg_stat_activity", "pg_stat_get_activity(integer)"),
    "what others ask, by function": _FUNCTION.format("pg_stat_get_activity(integer)"),
    "what another asks": _FUNCTION.format("pg_stat_get_backend_activity(integer)"),
    "who holds locks": _VIEW.format("pg_locks", "pg_lock_status()"),
    "who holds locks, by function": _FUNCTION.format("pg_lock_status()"),
    "Bob's lock": _FUNCTION.format("pg_advisory_lock(bigint)"),
    "a try at Bob's lock": _FUNCTION.format("pg_try_advisory_xact_lock(bigint)"),
}
"""Revoked in ``sql/prepare.sql``. A view alone opens nothing: the function beneath it is asked for, too."""

WALLS: dict[str, Wall] = {
    **{f"nobody learns or does: {way}": Wall(broken, WAYS[way]) for way, broken in MONITORING.items()},
    "nobody makes temporary tables": Wall("GRANT TEMPORARY ON DATABASE {database} TO PUBLIC", WAYS["a temporary "
    "table"]),
    "nobody makes temporary functions": Wall(
        "GRANT TEMPORARY ON DATABASE {database} TO PUBLIC", WAYS["a function of the session"]
    ),
    "nobody makes schemas": Wall("GRANT CREATE ON DATABASE {database} TO PUBLIC", WAYS["a schema"]),
    "nobody makes functions in memsvc": Wall("GRANT CREATE ON SCHEMA memsvc TO PUBLIC", WAYS["a function in memsvc"]),
    "nobody makes functions in public": Wall("GRANT CREATE ON SCHEMA public TO PUBLIC", WAYS["a function in public"]),
    **{
        f"{login} does not become {role}": Wall(f"GRANT {role} TO {login}", WAYS[f"SET ROLE {role}"], login)
        for login in (APP, READER, CYPHER, ANALYST)
        for role in ("memsvc_owner", "memsvc_recall", "memsvc_eraser", "pg_read_all_data")
    },
    "logins do not pass row security by": Wall(f"ALTER ROLE {READER} BYPASSRLS", WAYS["a table"]),
    "the app's login does not pass row security by": Wall(f"ALTER ROLE {APP} BYPASSRLS", WAYS["a table"], APP),
    "logins do not make roles": Wall(f"ALTER ROLE {READER} CREATEROLE", Way(("CREATE ROLE mine",), refused=True)),
    "logins do not replicate": Wall(f"ALTER ROLE {READER} REPLICATION", WAYS["a replication slot"]),
    # What looks into a text comes behind the policy, because nobody called it leakproof. (People's policy comes first
    # even so.)
    "patterns are not leakproof": Wall(
        "ALTER FUNCTION pg_catalog.textregexeq(text, text) LEAKPROOF",
        Way((*NO_INDEX, COUNTED + "SELECT 1 FROM memsvc.passages WHERE text ~ '^{word}'")),
        APP,
    ),
    # The order of conditions (rows_asked_for): with the equality alone, a plan tells who has a text between two others.
    **{
        f"rows of {table} are asked for their owner first": Wall(
            f"ALTER POLICY rows_asked_for ON memsvc.{table} USING (user_id = (SELECT memsvc.current_user_id()))",
            WAYS[way],
        )
        for table, way in {
            "passages": "a text between two", "node_versions": "a label between two", "aliases": "a name that "
            "begins so",
        }.items()
    },
    "the owner first, where Bob is named": Wall(
        "ALTER POLICY rows_asked_for ON memsvc.passages USING (user_id = (SELECT memsvc.current_user_id()))",
        WAYS["Bob's text between two"],
    ),
    "the owner first, in prepared plans": Wall(
        "ALTER POLICY rows_asked_for ON memsvc.passages USING (user_id = (SELECT memsvc.current_user_id()))",
        WAYS["a prepared plan"],
    ),
    "types are asked for their owner first": Wall(
        "ALTER POLICY rows_asked_for ON memsvc.edge_types USING (user_id = '00000000-0000-0000-0000-000000000000' "
        "OR user_id = (SELECT memsvc.current_user_id()))",
        WAYS["a type between two"],
    ),
}  # fmt: skip

_ONLY_EQUAL = "ALTER POLICY rows_asked_for ON memory.{} USING (user_id = (SELECT memsvc.current_user_id()))"
_ONE_INDEX = """
DO $$ DECLARE found text; BEGIN
  FOR found IN SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'memory."Person"'::regclass LOOP
    EXECUTE 'DROP INDEX ' || found;
  END LOOP;
END $$;
CREATE INDEX ON memory."Person" USING gin (properties);
"""
if SERVER == "full":
    WALLS |= {
        "vertices are asked for their owner first": Wall(
            _ONLY_EQUAL.format('"Person"'), WAYS["a plan by node"], CYPHER
        ),
        "relations are asked for their owner first": Wall(
            _ONLY_EQUAL.format('"KNOWS"'), WAYS["a plan by version"], CYPHER
        ),
        "the owner is in the index of properties": Wall(_ONE_INDEX, WAYS["a plan by properties by an index"], CYPHER),
    }
