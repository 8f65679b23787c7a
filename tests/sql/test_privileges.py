"""Who owns what, who may do what: the whole inventory, written out, against the catalog.

A new table, view or function fails here until somebody has decided who may use it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import psycopg
import pytest
from psycopg import errors

from tests.sql.inventory import (
    BOOKKEEPING,
    DECLARED,
    ERASERS_UPDATES,
    EXECUTE,
    LOGINS,
    ONTOLOGY,
    TABLE_PRIVILEGES,
    TABLES,
    UPDATED,
    VIEWS,
)
from tests.sql.world import (
    ANALYST,
    APP,
    CYPHER,
    ERASER,
    PARTITIONS,
    READER,
    USER_TABLES,
    WATCHDOG,
    Logins,
    value,
)

pytestmark = pytest.mark.server


def table(admin: psycopg.Connection, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
    """All rows of a statement about the catalog."""
    return admin.execute(statement.encode(), parameters or None).fetchall()


def names(found: Iterable[tuple[Any, ...]]) -> set[Any]:
    """The first column."""
    return {row[0] for row in found}


RELATIONS = "SELECT c.relname FROM pg_class AS c WHERE c.relnamespace = 'memsvc'::regnamespace AND c.relkind "


def test_tables_and_views_are_those_that_are_decided_upon_here(admin: psycopg.Connection) -> None:
    assert names(table(admin, RELATIONS + "IN ('r', 'p')")) == TABLES
    assert names(table(admin, RELATIONS + "= 'v'")) == VIEWS
    assert names(table(admin, RELATIONS + "= 'c'")) == {"memory", "question", "scope"}, (
        "composite types, which hold no rows"
    )
    assert names(table(admin, RELATIONS + "NOT IN ('r', 'p', 'v', 'c', 'i', 'I', 'S')")) == set()


def test_nothing_of_ours_belongs_to_a_superuser(admin: psycopg.Connection) -> None:
    owners = names(
        table(
            admin,
            """
            SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'memsvc'
            UNION SELECT relowner::regrole::text FROM pg_class WHERE relnamespace = 'memsvc'::regnamespace
            UNION SELECT proowner::regrole::text FROM pg_proc WHERE pronamespace = 'memsvc'::regnamespace
            UNION SELECT typowner::regrole::text FROM pg_type WHERE typnamespace = 'memsvc'::regnamespace
            """,
        )
    )
    assert owners == {"memsvc_owner", "memsvc_recall", ERASER, WATCHDOG}


def test_row_security_is_enabled_and_forced_on_every_table(admin: psycopg.Connection) -> None:
    without = table(admin, RELATIONS + "IN ('r', 'p') AND NOT (c.relrowsecurity AND c.relforcerowsecurity)")
    assert names(without) == BOOKKEEPING


def test_every_view_runs_as_its_caller(admin: psycopg.Connection) -> None:
    invokers = RELATIONS + "= 'v' AND c.reloptions @> '{security_invoker=true}'"
    assert names(table(admin, invokers)) == VIEWS


def test_roles_have_no_power_of_their_own(admin: psycopg.Connection) -> None:
    powers = table(
        admin,
        "SELECT rolname, rolcanlogin, rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication "
        "FROM pg_roles WHERE rolname LIKE 'memsvc\\_%' AND rolname <> current_user",
    )
    assert set(powers) == {
        *((login, True, False) for login in LOGINS),
        ("memsvc_owner", False, False),
        ("memsvc_recall", False, False),
        (ERASER, False, False),
        (WATCHDOG, False, False),
    }
    memberships = table(
        admin,
        "SELECT m.roleid::regrole::text, m.member::regrole::text, m.admin_option, m.inherit_option, m.set_option "
        "FROM pg_auth_members AS m "
        "WHERE m.roleid::regrole::text LIKE 'memsvc\\_%' AND m.member <> current_user::regrole",
    )
    assert set(memberships) == {
        *((role, "memsvc_owner", False, False, True) for role in ("memsvc_recall", ERASER)),
        *((login, WATCHDOG, False, True, False) for login in (READER, CYPHER, ANALYST)),  # to end their sessions
    }
    assert table(admin, "SELECT 1 FROM pg_auth_members WHERE member::regrole::text = ANY (%s)", list(LOGINS)) == []


def test_logins_plan_for_the_values_that_they_ask_with_and_readers_default_to_reading(
    admin: psycopg.Connection, logins: Logins
) -> None:
    settings = dict(table(admin, "SELECT rolname, rolconfig FROM pg_roles WHERE rolname = ANY (%s)", list(LOGINS)))
    assert "plan_cache_mode=force_custom_plan" in settings[APP]
    assert "plan_cache_mode=force_custom_plan" in settings[READER]
    for role in (READER, CYPHER, ANALYST):
        assert "default_transaction_read_only=on" in settings[role]
        for name in ("statement_timeout", "transaction_timeout"):
            assert any(setting.startswith(f"{name}=") for setting in settings[role])
    for role in LOGINS:
        assert any(setting.startswith("idle_in_transaction_session_timeout=") for setting in settings[role])


def test_public_has_nothing(admin: psycopg.Connection, template: str) -> None:
    public = table(
        admin,
        """
        SELECT 'relation', c.relname, a.privilege_type FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS a
        WHERE c.relnamespace = 'memsvc'::regnamespace AND a.grantee = 0
        UNION ALL
        SELECT 'column', c.relname || '.' || t.attname, a.privilege_type
        FROM pg_attribute AS t INNER JOIN pg_class AS c ON c.oid = t.attrelid
        CROSS JOIN LATERAL aclexplode(t.attacl) AS a
        WHERE c.relnamespace = 'memsvc'::regnamespace AND a.grantee = 0
        UNION ALL
        SELECT 'function', p.proname, a.privilege_type
        FROM pg_proc AS p CROSS JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
        WHERE p.pronamespace = 'memsvc'::regnamespace AND a.grantee = 0
        UNION ALL
        SELECT 'schema', n.nspname, a.privilege_type FROM pg_namespace AS n CROSS JOIN LATERAL aclexplode(n.nspacl) AS a
        WHERE n.nspname = 'memsvc' AND a.grantee = 0
        UNION ALL
        SELECT 'database', d.datname, a.privilege_type
        FROM pg_database AS d CROSS JOIN LATERAL aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) AS a
        WHERE d.datname = %s AND a.grantee = 0
        """,
        template,
    )
    assert public == []


def test_logins_may_connect_and_nothing_else_of_the_database(admin: psycopg.Connection, template: str) -> None:
    for role in (*LOGINS, "memsvc_recall", ERASER, WATCHDOG):
        allowed = [
            privilege
            for privilege in ("CONNECT", "CREATE", "TEMPORARY")
            if value(admin, "SELECT has_database_privilege(%s, %s, %s)", [role, template, privilege])
        ]
        # The watchdog cannot log in; it has this of the logins whose sessions it ends.
        assert allowed == (["CONNECT"] if role in {*LOGINS, WATCHDOG} else [])
    for role in LOGINS:
        for schema in ("memsvc", "public"):
            assert not value(admin, "SELECT has_schema_privilege(%s, %s, 'CREATE')", [role, schema])


def test_privileges_on_tables_and_columns(admin: psycopg.Connection) -> None:
    whole = table(
        admin,
        "SELECT a.grantee::regrole::text, a.privilege_type, c.relname, a.is_grantable "
        "FROM pg_class AS c CROSS JOIN LATERAL aclexplode(c.relacl) AS a "
        "WHERE c.relnamespace = 'memsvc'::regnamespace AND c.relkind <> 'S' AND a.grantee NOT IN (0, c.relowner)",
    )
    assert {row[:3] for row in whole} == TABLE_PRIVILEGES
    columns = table(
        admin,
        "SELECT a.grantee::regrole::text, a.privilege_type, c.relname, t.attname, a.is_grantable "
        "FROM pg_attribute AS t INNER JOIN pg_class AS c ON c.oid = t.attrelid "
        "CROSS JOIN LATERAL aclexplode(t.attacl) AS a WHERE c.relnamespace = 'memsvc'::regnamespace",
    )
    expected = {
        (role, "UPDATE", name, column)
        for role, updated in ((APP, UPDATED), (ERASER, ERASERS_UPDATES))
        for name, columns in updated.items()
        for column in columns
    }
    assert {row[:4] for row in columns} == expected
    assert not any(row[-1] for row in (*whole, *columns))
    assert table(admin, RELATIONS + "= 'S' AND c.relacl IS NOT NULL") == []


def test_what_was_said_and_when_it_was_known_cannot_be_changed(logins: Logins) -> None:
    for statement in (
        "UPDATE memsvc.passages SET text = ''",
        "UPDATE memsvc.passages SET metadata = '{}'",
        "DELETE FROM memsvc.passages",
        "DELETE FROM memsvc.sources",
        "TRUNCATE memsvc.passages",
        "UPDATE memsvc.node_versions SET label = ''",
        "UPDATE memsvc.node_versions SET recorded_from = now()",
        "DELETE FROM memsvc.node_versions",
        "UPDATE memsvc.aliases SET alias = ''",
        "DELETE FROM memsvc.aliases",
        "UPDATE memsvc.nodes SET node_id = uuidv7()",
        "UPDATE memsvc.nodes SET created_at = now()",
        "DELETE FROM memsvc.nodes",
        "UPDATE memsvc.edges SET key = ''",
        "DELETE FROM memsvc.edges",
        "UPDATE memsvc.edge_versions SET fact = ''",
        "UPDATE memsvc.edge_versions SET recorded_from = now()",
        "UPDATE memsvc.edge_versions SET valid_to = now()",
        "DELETE FROM memsvc.edge_versions",
        "UPDATE memsvc.merges SET canonical_id = node_id",
        "DELETE FROM memsvc.merges",
        "UPDATE memsvc.source_links SET passage_id = uuidv7()",
        "DELETE FROM memsvc.source_links",
        "UPDATE memsvc.changes SET asserted_by = ''",
        "DELETE FROM memsvc.changes",
        "UPDATE memsvc.node_types SET parent = 'Place'",
        "UPDATE memsvc.edge_types SET functional = true",
        "UPDATE memsvc.edge_types SET from_types = '{}'",
        "DELETE FROM memsvc.tombstones",
        "UPDATE memsvc.erasures SET counts = '{}'",
        "DELETE FROM memsvc.erasures",
        "UPDATE memsvc.recall_events SET memories = '{}'",
        "UPDATE memsvc.recall_events SET at = now()",
        "UPDATE memsvc.memory_signals SET memory_id = uuidv7()",
        "DELETE FROM memsvc.memory_signals",
        "UPDATE memsvc.extractions SET extractor = ''",
        "DELETE FROM memsvc.extractions",
        "UPDATE memsvc.fact_reviews SET passage_id = uuidv7()",
        "DELETE FROM memsvc.fact_reviews",
        "DELETE FROM memsvc.jobs",
        "UPDATE memsvc.outbox SET kind = ''",
        "DELETE FROM memsvc.outbox",
        "DELETE FROM memsvc.schedules",
        "UPDATE memsvc.schedules SET user_id = user_id",
        "UPDATE memsvc.embeddings SET vector = '[1,0,0]'",
        "DELETE FROM memsvc.embeddings",
        "INSERT INTO memsvc.embedding_models (name, dimensions) VALUES ('x', 3)",
        "UPDATE memsvc.embedding_models SET state = 'retired'",
    ):
        with logins.enter(APP) as connection, pytest.raises(errors.InsufficientPrivilege):
            connection.execute(statement.encode())


def test_functions_belong_to_whom_their_files_name(admin: psycopg.Connection) -> None:
    found = table(
        admin, "SELECT proname, proowner::regrole::text FROM pg_proc WHERE pronamespace = 'memsvc'::regnamespace"
    )
    assert set(found) == {(name, function.owner) for name, function in DECLARED.items()}


def test_definer_functions_have_a_fixed_search_path(admin: psycopg.Connection) -> None:
    found = table(
        admin,
        "SELECT p.proname, (SELECT min(s) FROM unnest(p.proconfig) AS s WHERE s LIKE 'search_path=%') "
        "FROM pg_proc AS p WHERE p.pronamespace = 'memsvc'::regnamespace AND p.prosecdef",
    )
    assert found
    for name, path in found:
        assert path in {
            "search_path=memsvc, pg_temp", "search_path=pg_catalog, pg_temp", "search_path=memsvc, public, pg_temp",
        }, f"{name} has {path}"  # fmt: skip


def test_who_may_call_which_function(admin: psycopg.Connection) -> None:
    for role, allowed in EXECUTE.items():
        callable_by_role = table(
            admin,
            "SELECT proname FROM pg_proc WHERE pronamespace = 'memsvc'::regnamespace "
            "AND has_function_privilege(%s, oid, 'EXECUTE')",
            role,
        )
        assert names(callable_by_role) == allowed, role


@pytest.mark.parametrize("role", [READER, CYPHER, ANALYST])
def test_what_readers_may_call_changes_nothing(role: str, admin: psycopg.Connection) -> None:
    """PostgreSQL refuses writing in functions that are not volatile, whoever owns them."""
    volatile = table(
        admin,
        "SELECT proname FROM pg_proc WHERE pronamespace = 'memsvc'::regnamespace AND provolatile = 'v' "
        "AND has_function_privilege(%s, oid, 'EXECUTE')",
        role,
    )
    assert volatile == []


@pytest.mark.parametrize("role", [READER, CYPHER, ANALYST])
def test_readers_write_nothing_and_make_nothing(role: str, admin: psycopg.Connection) -> None:
    writes = "INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER, MAINTAIN"
    written = table(
        admin,
        "SELECT c.oid::regclass::text FROM pg_class AS c INNER JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        "WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema') "
        "AND (has_table_privilege(%s, c.oid, %s) OR has_any_column_privilege(%s, c.oid, 'INSERT, UPDATE'))",
        role, writes, role,
    )  # fmt: skip
    assert written == []


def test_logins_do_not_see_what_others_ask(logins: Logins) -> None:
    for role in LOGINS:
        for peek in (
            "SELECT query FROM pg_stat_activity",
            "SELECT * FROM pg_stat_get_activity(NULL)",
            "SELECT pg_stat_get_backend_activity(1)",
            "SELECT * FROM pg_authid",
            "SELECT pg_read_file('/etc/passwd')",
            "COPY (SELECT 1) TO PROGRAM 'true'",
            "SELECT lo_import('/etc/passwd')",
        ):
            with logins.enter(role) as connection, pytest.raises(errors.InsufficientPrivilege):
                connection.execute(peek.encode())


# Keys and comments --------------------------------------------------------------------------------------------------

WITH_USERS = """
WITH owned AS (
  SELECT a.attrelid, a.attnum FROM pg_attribute AS a INNER JOIN pg_class AS c ON c.oid = a.attrelid
  WHERE c.relnamespace = 'memsvc'::regnamespace AND c.relkind IN ('r', 'p') AND a.attname = 'user_id'
    AND c.relname NOT IN ('users', 'api_keys', 'audit_log', 'dramatiq_queue', 'moves')
)
"""


def test_user_id_leads_every_key(admin: psycopg.Connection) -> None:
    owned = WITH_USERS + "SELECT attrelid::regclass::text FROM owned"
    led = {f"memsvc.{name}" for name in (*USER_TABLES, *PARTITIONS, *ONTOLOGY) if name != "users"}
    assert names(table(admin, owned)) == led
    unled = table(
        admin,
        WITH_USERS
        + """
        SELECT i.indexrelid::regclass::text FROM owned AS o INNER JOIN pg_index AS i ON i.indrelid = o.attrelid
        WHERE (i.indisunique OR i.indisprimary OR i.indisexclusion) AND i.indkey[0] <> o.attnum
        UNION ALL
        SELECT n.conname FROM owned AS o INNER JOIN pg_constraint AS n ON n.conrelid = o.attrelid
        WHERE n.contype IN ('p', 'u', 'x') AND n.conkey[1] <> o.attnum
        UNION ALL
        SELECT n.conname FROM owned AS o INNER JOIN pg_constraint AS n ON n.conrelid = o.attrelid
        INNER JOIN pg_attribute AS f ON f.attrelid = n.confrelid AND f.attname = 'user_id'
        WHERE n.contype = 'f' AND (n.conkey[1] <> o.attnum OR n.confkey[1] <> f.attnum)
          AND n.conname NOT IN ('node_types_user_id_fkey', 'edge_types_user_id_fkey') -- by own_user_id
        UNION ALL
        SELECT o.attrelid::regclass::text || ' has no primary key' FROM owned AS o
        WHERE NOT EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = o.attrelid AND i.indisprimary)
        """,
    )
    assert unled == []


def test_every_owned_row_belongs_to_a_user_that_exists(admin: psycopg.Connection) -> None:
    """By a foreign key to users, or to a table that has one."""
    unbound = table(
        admin,
        WITH_USERS
        + """
        SELECT o.attrelid::regclass::text FROM owned AS o
        WHERE NOT EXISTS (
          SELECT FROM pg_constraint AS n WHERE n.conrelid = o.attrelid AND n.contype = 'f'
            AND (n.confrelid = 'memsvc.users'::regclass OR n.confrelid IN (SELECT attrelid FROM owned))
        )
        """,
    )
    assert unbound == []


def test_everything_says_what_it_is(admin: psycopg.Connection) -> None:
    silent = table(
        admin,
        """
        SELECT c.relname FROM pg_class AS c
        WHERE c.relnamespace = 'memsvc'::regnamespace AND c.relkind IN ('r', 'p', 'v')
          AND obj_description(c.oid, 'pg_class') IS NULL
        UNION ALL
        SELECT c.relname || '.' || a.attname FROM pg_class AS c INNER JOIN pg_attribute AS a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'memsvc'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0
          AND NOT a.attisdropped AND NOT c.relispartition AND col_description(c.oid, a.attnum) IS NULL
        UNION ALL
        SELECT p.oid::regprocedure::text FROM pg_proc AS p
        WHERE p.pronamespace = 'memsvc'::regnamespace AND obj_description(p.oid, 'pg_proc') IS NULL
        """,
    )
    assert names(silent) == {"schema_version", "schema_version.version_num"}  # Alembic's own
    assert value(admin, "SELECT obj_description('memsvc'::regnamespace, 'pg_namespace')")
