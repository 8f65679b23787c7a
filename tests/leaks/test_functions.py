"""Every function of ours that a login may call, called by Ada with Bob's ids: by catalog, so none is forgotten."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest

from memsvc.db.files import folder
from tests.leaks.scene import Scene, comparable
from tests.leaks.test_ways import Record, said_by
from tests.sql.mutations import BINDING, function_texts
from tests.sql.world import ANALYST, APP, CYPHER, READER, USER_TABLES

pytestmark = [pytest.mark.server, pytest.mark.slow]
ARGUMENTS = {
    "uuid": "'{node}'", "uuid[]": "ARRAY['{node}', '{passage}', '{edge}']::uuid[]", "text": "'{word}'",
    "text[]": "ARRAY['{word}']", "integer": "5", "smallint": "1::smallint", "bigint": "5", "boolean": "true",
    "jsonb": "'[]'", "timestamp with time zone": "'2030-01-01'", "double precision": "0.5", "interval": "'1 day'",
    "real": "0.5", "time without time zone": "'12:00'", "bytea": "sha256('x')",
}  # fmt: skip
NAMED = {
    "p_user_id": "'{user}'", "p_source_id": "'{source}'", "p_passage_id": "'{passage}'", "p_edge_id": "'{edge}'",
    "p_second_id": "'{second}'", "p_language": "'english'", "p_time_zone": "'UTC'", "p_zone": "'UTC'",
}  # fmt: skip
CALLABLE = """
SELECT p.proname, p.provolatile = 'v', p.prosecdef AND p.proowner = 'memsvc_owner'::regrole,
  coalesce(p.proargnames[:p.pronargs], '{}'), ARRAY(SELECT format_type(t, NULL) FROM unnest(p.proargtypes) AS t)
FROM pg_proc AS p
WHERE p.pronamespace = 'memsvc'::regnamespace AND p.prorettype <> 'trigger'::regtype AND p.provolatile <> 'i'
  AND has_function_privilege(%s, p.oid, 'EXECUTE')
ORDER BY p.oid::regprocedure::text
"""
DIFFERING = {
    "user_is_here": "says whether an id is a user's; nobody guesses an id, which has 74 random bits",
    "whereabouts": "the same, and whether the user is here",
    "job_message": "puts its arguments into a message, with the moment",
}
BOBS_ROWS = " UNION ALL ".join(
    f"SELECT '{table}', count(*), md5(string_agg(md5(t::text), '' ORDER BY t::text)) FROM memsvc.{table} AS t"
    for table in sorted(set(USER_TABLES))
)


@dataclass(frozen=True, slots=True)
class Call:
    """A function and its call with names of what is Bob's; whether it may write; if it keeps accounts for the app."""

    function: str
    statement: str
    writes: bool
    keeps_accounts: bool


def calls(scene: Scene, login: str) -> Iterator[Call]:
    """One call of each function that a login may call."""
    texts = function_texts()
    with psycopg.connect(scene.logins.admin_url) as admin:
        for function, writes, of_owner, names, types in admin.execute(CALLABLE, [login]).fetchall():
            given = [
                f"{NAMED.get(name) or ARGUMENTS.get(sort, 'NULL')}::{sort}"
                for name, sort in zip(names or [""] * len(types), types, strict=True)
            ]
            bound = BINDING.search(texts[function])
            statement = f"SELECT * FROM memsvc.{function}({', '.join(given)})"
            yield Call(function, statement, writes=writes, keeps_accounts=of_owner and not bound)


@pytest.mark.parametrize("login", [APP, READER, CYPHER, ANALYST])
def test_no_function_gives_or_changes_what_is_bobs(login: str, scene: Scene, record_property: Record) -> None:
    tried, telling = 0, []
    with scene.logins.enter(APP, scene.world.token(scene.world.bob)) as connection:
        before = said_by(connection, BOBS_ROWS)
    for call in calls(scene, login):
        if call.function in DIFFERING or (login == APP and call.keeps_accounts):
            continue
        heard = []
        for told in (scene.bobs, scene.nobodys):
            with scene.logins.enter(login, scene.token) as connection:
                said = said_by(connection, call.statement.format(**told))
                assert scene.leaked(said, told) is None, f"{login}: {call.statement}: {said[:500]}"
                if login == APP and call.writes and told is scene.bobs and not said.startswith("ERROR"):
                    connection.execute("SELECT set_config('memsvc.identity', %s, true)", [scene.bobs_token])
                    assert said_by(connection, BOBS_ROWS) == before, f"{call.statement} changes rows of Bob's"
            heard.append(sorted(re.findall(r"[\w<>.]+", comparable(said, told))))  # some give ids back, in their order
        if heard[0] != heard[1]:
            telling.append((call.statement, heard))
        tried += 1
    assert telling == [], f"{login} can tell Bob from nobody"
    record_property("functions of memsvc called with Bob's ids, by some login", tried)


def test_functions_that_keep_accounts_stand_in_the_threat_model(scene: Scene) -> None:
    """They trust the app's login; which they are, and what stops them, is written down for people."""
    told = (folder("sql").parent / "docs" / "threat-model.md").read_text()
    assert [
        call.function for call in calls(scene, APP) if call.keeps_accounts and f"`{call.function}`" not in told
    ] == []
