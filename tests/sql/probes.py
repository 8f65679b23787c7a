"""What isolation means, as probes: each enters through the doors as a login and asserts what it sees and can do.

``test_isolation`` runs them through real logins; ``test_mutations`` breaks one policy or check after the other and
expects at least one of them to fail. So each asserts both sides: what is foreign stays hidden, what is one's own is
there.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import UUID

import psycopg
from psycopg import errors, sql

from memsvc.db.identity import Signer
from tests.sql.probe_rows import CHANGES, INSERTS, OWNER_CHANGES
from tests.sql.world import (
    ACCOUNT_TABLES,
    APP,
    CYPHER,
    ERASER,
    FOLDED,
    MODEL,
    OWNER,
    PARTITIONS,
    QUESTION,
    READER,
    UNFOLDED,
    UNUSED_MODEL,
    USER_TABLES,
    Doors,
    Tenant,
    World,
    append_rows,
    message,
    recall_rows,
    value,
)

Probe = Callable[[Doors, World], None]
PROBES: dict[str, Probe] = {}


def probe(function: Probe) -> Probe:
    """Add a probe to the list."""
    PROBES[function.__name__] = function
    return function


def rows(connection: psycopg.Connection, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
    """All rows of a statement."""
    return connection.execute(statement.encode(), parameters or None).fetchall()


def refused(
    doors: Doors,
    role: str,
    token: str,
    statement: str,
    parameters: dict[str, object] | None = None,
    *,
    error: type[psycopg.Error] = errors.InsufficientPrivilege,
) -> None:
    """Assert that the database refuses a statement, for this reason and no other."""
    try:
        with doors.enter(role, token) as connection:
            connection.execute(statement.encode(), parameters)
    except error:
        return
    raise AssertionError(f"{role} was not refused: {statement}")


def ids(tenant: Tenant) -> dict[str, object]:
    """What ``INSERTS`` need."""
    return {
        "user": tenant.user_id, "node": tenant.node_id, "source": tenant.source_id, "passage": tenant.passage_id,
        "second": tenant.second_id, "edge": tenant.edge_id,
    }  # fmt: skip


# Reading ------------------------------------------------------------------------------------------------------------


def _sees_own_rows_only(table: str) -> Probe:
    count = f"SELECT user_id, count(*) FROM memsvc.{table} GROUP BY user_id"

    def own_rows(doors: Doors, world: World) -> None:
        for role in (APP,) if table == "tombstones" else (APP, READER):
            for tenant in (world.ada, world.bob):
                with doors.enter(role, world.token(tenant)) as connection:
                    seen, truth = dict(rows(connection, count)), world.counts[table][tenant.user_id]
                assert seen == {tenant.user_id: truth}, f"{role} sees {seen} in {table}, not {truth} own rows"
            with doors.enter(role) as connection:
                assert rows(connection, count) == [], f"{role} without identity sees rows in {table}"
        refused(doors, CYPHER, world.token(world.ada), count)

    return own_rows


for _table in USER_TABLES:
    PROBES[f"each user sees just the own rows of {_table}"] = _sees_own_rows_only(_table)


@probe
def views_show_own_rows_only(doors: Doors, world: World) -> None:
    for role in (APP, READER):
        for tenant in (world.ada, world.bob):
            with doors.enter(role, world.token(tenant)) as connection:
                messages = rows(connection, "SELECT user_id, text FROM memsvc.messages")
                conversations = rows(connection, "SELECT user_id, source_id, messages FROM memsvc.conversations")
            assert {row[0] for row in messages} == {tenant.user_id}, f"messages shows {messages}"
            assert len(messages) == len(FOLDED) + len(UNFOLDED), f"messages shows {messages}"
            assert conversations == [(tenant.user_id, tenant.source_id, len(messages))], f"{conversations}"
        with doors.enter(role) as connection:
            seen = rows(
                connection, "SELECT user_id FROM memsvc.messages UNION SELECT user_id FROM memsvc.conversations"
            )
        assert seen == [], "views show rows without identity"


@probe
def everybody_reads_the_ontology(doors: Doors, world: World) -> None:
    for role in (APP, READER):
        with doors.enter(role) as connection:
            assert value(connection, "SELECT count(*) FROM memsvc.node_types") >= 15
            assert value(connection, "SELECT count(*) FROM memsvc.edge_types") >= 15


@probe
def everybody_reads_the_list_of_models(doors: Doors, world: World) -> None:
    for role in (APP, READER):
        with doors.enter(role) as connection:
            known = {row[0] for row in rows(connection, "SELECT name FROM memsvc.embedding_models")}
            assert {MODEL, UNUSED_MODEL} <= known, f"{role} reads {known}"


@probe
def the_app_changes_models_and_reaches_vectors_of_retired_ones_alone(doors: Doors, world: World) -> None:
    vectors = sum(world.counts["embeddings"].values())
    model = "(SELECT model_id FROM memsvc.embedding_models WHERE name = %s)"
    drop = f"SELECT coalesce(sum(dropped), 0) FROM memsvc.drop_vectors({model}, %s, 1000000)"
    nobody = UUID(int=0)
    with doors.enter(APP) as connection:
        totals = {row[0]: row[1:] for row in rows(connection, "SELECT * FROM memsvc.embedding_totals()")}
        counted = totals.get(value(connection, f"SELECT {model}", [MODEL]), (0, 0))[0]
        assert counted >= vectors, f"counts are {totals}"
        assert totals[None][1] >= sum(world.counts["passages"].values()), f"counts are {totals}"
        assert value(connection, "SELECT memsvc.pause_model(%s, true)", [MODEL]) == 0
        assert value(connection, "SELECT memsvc.pause_model(%s, false)", [MODEL]) == 0  # nobody lacks its vectors
        assert value(connection, "SELECT became FROM memsvc.switch_model(%s, false)", [MODEL]) == MODEL
        behind, jobs = rows(connection, "SELECT behind, jobs FROM memsvc.switch_model(NULL, true)")[0]
        assert behind >= vectors, f"{behind} vectors are behind"
        assert jobs >= len(world.counts["embeddings"]), f"{jobs} users have a job"
        assert value(connection, drop, [MODEL, nobody]) == 0, "vectors of a model in use were deleted"
        connection.execute("SELECT memsvc.drop_model_index(memsvc.retire_model(%s))", [MODEL])
        assert value(connection, drop, [UNUSED_MODEL, nobody]) == 0
        assert value(connection, drop, [MODEL, nobody]) >= vectors, "vectors of a retired model stay"
        connection.execute("SELECT set_config('memsvc.identity', %s, true)", [world.token(world.ada)])
        assert value(connection, "SELECT count(*) FROM memsvc.token_vectors") == 0, "token vectors stay"
        assert value(connection, "SELECT state FROM memsvc.build_model('probe', 2)") == "building"
        assert value(connection, "SELECT state FROM memsvc.ensure_model('probe', 2)") == "building"
        try:
            connection.execute("SELECT memsvc.ensure_model('a second first one', 2)")
        except psycopg.DatabaseError as error:
            assert error.sqlstate == "MS001", f"refused with {error.sqlstate}"  # noqa: PT017 - an error of ours is meant
    with doors.enter(OWNER) as connection:
        assert connection.execute("DELETE FROM memsvc.embeddings").rowcount == 0, "the owner deletes vectors"
        assert connection.execute("DELETE FROM memsvc.token_vectors").rowcount == 0, "the owner deletes token vectors"


@probe
def vectors_find_own_passages(doors: Doors, world: World) -> None:
    call = (
        "SELECT matched_id, similarity FROM memsvc.match_vectors(%s, "
        "(SELECT model_id FROM memsvc.embedding_models WHERE name = %s), '[1,0,0]', 3)"
    )
    for role in (APP, READER):
        for tenant in (world.ada, world.bob):
            with doors.enter(role, world.token(tenant)) as connection:
                found = rows(connection, call, tenant.user_id, MODEL)
                own = {row[0] for row in rows(connection, "SELECT passage_id FROM memsvc.passages")}
            assert [row[1] for row in found] == [1, 1, 1], f"{role} is shown {found}"  # as many herons as there are
            assert {row[0] for row in found} <= own, "vectors show a passage that their user cannot read"
        for token in (world.token(world.ada), ""):
            refused(
                doors, role, token, "SELECT * FROM memsvc.match_vectors(%(user)s, 1::smallint, '[1,0,0]', 3)",
                {"user": world.bob.user_id},
            )  # fmt: skip


@probe
def progress_counts_own_messages(doors: Doors, world: World) -> None:
    call = "SELECT embedded, lacking FROM memsvc.embedding_progress(%s) WHERE name = %s"
    messages_and_fact = len(FOLDED) + len(UNFOLDED) + 1
    for role in (APP, READER):
        with doors.enter(role, world.token(world.ada)) as connection:
            assert rows(connection, call, world.ada.user_id, MODEL) == [(messages_and_fact, 0)]
            assert rows(connection, call, world.ada.user_id, UNUSED_MODEL) == [(0, messages_and_fact)]
            assert rows(connection, call, world.bob.user_id, MODEL) == [(0, 0)]


@probe
def partitions_are_reached_through_their_table_alone(doors: Doors, world: World) -> None:
    for table in PARTITIONS:
        for role in (APP, READER, CYPHER):
            refused(doors, role, world.token(world.ada), f"SELECT FROM memsvc.{table}")
        with doors.enter(OWNER) as connection:  # they have no policy, so nobody sees a row in them
            assert value(connection, "SELECT row_security_active(%s)", [f"memsvc.{table}"]), f"{table} is open"


@probe
def recall_finds_own_passages_with_their_scores(doors: Doors, world: World) -> None:
    for role in (APP, READER):
        seen: set[UUID] = set()
        for tenant in (world.ada, world.bob):
            with doors.enter(role, world.token(tenant)) as connection:
                found = recall_rows(connection, tenant.user_id)
                own = {row[0] for row in rows(connection, "SELECT passage_id FROM memsvc.passages")}
            assert [row[:2] for row in found] == world.found, f"recall found {found}, not {world.found}"
            passages = {row[2] for row in found}
            assert passages <= own, "recall shows a passage that its user cannot read"
            assert not passages & seen, "two users were shown the same passage"
            seen |= passages


@probe
def nobody_recalls_for_another_user(doors: Doors, world: World) -> None:
    tokens = {"Ada's": world.token(world.ada), "no": ""}
    for token in tokens.values():
        for role in (APP, READER):
            for asked in (world.bob.user_id, None):
                call = "SELECT * FROM memsvc.match_words(%(user)s, %(question)s, 10)"
                refused(doors, role, token, call, {"user": asked, "question": QUESTION})
                try:  # row security may leave the join nothing to ask match_words for
                    with doors.enter(role, token) as connection:
                        found = recall_rows(connection, asked)
                except errors.InsufficientPrivilege:
                    continue
                assert found == [], f"{role} recalls for another user"
    for function in ("recall", "match_words"):
        call = f"SELECT * FROM memsvc.{function}(%(user)s, 'heron', 10)"
        refused(doors, CYPHER, world.token(world.ada), call, {"user": world.ada.user_id})


@probe
def statistics_of_the_planner_are_hidden(doors: Doors, world: World) -> None:
    for role in (APP, READER):
        with doors.enter(role, world.token(world.ada)) as connection:
            seen = rows(
                connection,
                "SELECT most_common_vals FROM pg_stats WHERE schemaname = 'memsvc' AND tablename = 'passages'",
            )
        assert seen == [], "pg_stats shows words of everybody's passages"


@probe
def errors_tell_nothing_of_foreign_rows(doors: Doors, world: World) -> None:
    for role in (APP, READER):
        with doors.enter(role) as connection:  # a cast of a foreign text would fail and quote it
            assert rows(connection, "SELECT 1 FROM memsvc.passages WHERE text::integer = 1") == []


# Writing ------------------------------------------------------------------------------------------------------------


def _inserts_own_rows_only(table: str) -> Probe:
    insert = f"INSERT INTO memsvc.{table} {INSERTS[table]}"

    def own_inserts(doors: Doors, world: World) -> None:
        with doors.enter(APP, world.token(world.ada)) as connection:
            assert connection.execute(insert.encode(), ids(world.ada)).rowcount == 1
        refused(doors, APP, world.token(world.ada), insert, ids(world.bob))
        refused(doors, APP, "", insert, ids(world.ada))
        refused(doors, READER, world.token(world.ada), insert, ids(world.ada))

    return own_inserts


def _changes_own_rows_only(table: str) -> Probe:
    def own_changes(doors: Doors, world: World) -> None:
        for tenant in (world.ada, world.bob):
            with doors.enter(APP, world.token(tenant)) as connection:
                changed = connection.execute(CHANGES[table].encode()).rowcount
            assert changed == world.counts[table][tenant.user_id], f"{changed} rows of {table} changed"
        with doors.enter(APP, world.token(world.ada)) as connection:
            foreign = connection.execute(f"{CHANGES[table]} WHERE user_id = %s".encode(), [world.bob.user_id])
            assert foreign.rowcount == 0, f"foreign rows of {table} changed"
        with doors.enter(APP) as connection:
            assert connection.execute(CHANGES[table].encode()).rowcount == 0, f"{table} changed without identity"
        refused(doors, READER, world.token(world.ada), CHANGES[table])

    return own_changes


for _table in INSERTS:
    PROBES[f"each user adds just own rows to {_table}"] = _inserts_own_rows_only(_table)
for _table in CHANGES:
    PROBES[f"each user changes just own rows of {_table}"] = _changes_own_rows_only(_table)


@probe
def no_row_points_across_users(doors: Doors, world: World) -> None:
    across = ids(world.bob) | {"user": world.ada.user_id}
    for table in (
        "node_versions", "aliases", "passages", "embeddings", "edges", "edge_versions", "merges", "source_links",
        "profile_versions", "profile_evidence",
    ):  # fmt: skip
        insert = f"INSERT INTO memsvc.{table} {INSERTS[table]}"
        refused(doors, APP, world.token(world.ada), insert, across, error=errors.ForeignKeyViolation)


@probe
def messages_are_appended_and_folded_for_oneself(doors: Doors, world: World) -> None:
    with doors.enter(APP, world.token(world.ada)) as connection:
        [stored] = append_rows(connection, world.ada.user_id, [message("A kingfisher dived.", 20)])
        assert stored[1] == "created", f"append says {stored}"
        assert [row[0] for row in recall_rows(connection, world.ada.user_id, "kingfisher")] == ["A kingfisher dived."]
        assert value(connection, "SELECT memsvc.fold_statistics(%s)", [world.ada.user_id]) > 0
        assert [row[0] for row in recall_rows(connection, world.ada.user_id, "kingfisher")] == ["A kingfisher dived."]
        requests = value(connection, "SELECT requests FROM memsvc.jobs WHERE job_id = %s", [stored[6]])
        finish = "SELECT memsvc.finish_job(%s, %s, %s, false, NULL)"
        assert value(connection, finish, [world.ada.user_id, stored[6], requests - 1]) == "again"
        assert value(connection, finish, [world.ada.user_id, stored[6], requests]) == "done"


@probe
def nobody_appends_folds_or_works_for_another_user(doors: Doors, world: World) -> None:
    append = "SELECT * FROM memsvc.append_messages(%(user)s, %(rows)s)"
    words: dict[str, object] = {"rows": json.dumps([message("x", 20)])}
    refused(doors, APP, world.token(world.ada), append, words | {"user": world.bob.user_id})
    refused(doors, APP, "", append, words | {"user": world.ada.user_id})
    with doors.enter(APP, world.token(world.ada)) as connection:
        assert value(connection, "SELECT memsvc.fold_statistics(%s)", [world.bob.user_id]) == 0
        for user_id, job_id, _kind in rows(connection, "SELECT * FROM memsvc.due_jobs(10000)"):
            if user_id == world.bob.user_id:
                finish = "SELECT memsvc.finish_job(%s, %s, NULL, false, NULL)"
                assert value(connection, finish, [user_id, job_id]) == "gone"
    ask = "SELECT memsvc.ask_job(%(user)s, 'process', gen_random_uuid())"
    refused(doors, APP, world.token(world.ada), ask, {"user": world.bob.user_id})


# Identity -----------------------------------------------------------------------------------------------------------


def bad_tokens(world: World) -> dict[str, str]:
    """Tokens that prove nothing, by what is wrong with them."""
    good = world.token(world.ada)
    user, expiry, key, mac = good.split(".")
    stranger = Signer(b"a secret that the database never knew.", 3600)
    return {
        "empty": "",
        "a bare user id": user,
        "garbled": "not a token",
        "dots only": "...",
        "forged mac": f"{user}.{expiry}.{key}.{'0' * 64}",
        "empty mac": f"{user}.{expiry}.{key}.",
        "no mac": f"{user}.{expiry}.{key}",
        "a field too many": f"{good}.x",
        "a field before": f"x.{good}",
        "another user's id": f"{world.bob.user_id}.{expiry}.{key}.{mac}",
        "later expiry": f"{user}.{int(expiry) + 3600}.{key}.{mac}",
        "expired": world.signer.token(world.ada.user_id, now=0),
        "a retired key": world.retired.token(world.ada.user_id),
        "an unknown key": stranger.token(world.ada.user_id),
        "a retired key's name on a good secret": misnamed(world, world.retired.key_id),
        "an unknown key's name on a good secret": misnamed(world, "0" * 16),
        "upper-case mac": f"{user}.{expiry}.{key}.{mac.upper()}",
    }


def misnamed(world: World, key_id: str) -> str:
    """A token that is rightly signed, but names another key."""
    claim = f"{world.ada.user_id}.9999999999.{key_id}"
    return f"{claim}.{hmac.new(world.signer.secret, claim.encode(), hashlib.sha256).hexdigest()}"


@probe
def a_good_token_proves_its_user_to_every_login(doors: Doors, world: World) -> None:
    for role in (APP, READER, CYPHER):
        for tenant in (world.ada, world.bob, world.eve):
            with doors.enter(role, world.token(tenant)) as connection:
                assert value(connection, "SELECT memsvc.current_user_id()") == tenant.user_id


@probe
def a_bad_token_proves_nothing(doors: Doors, world: World) -> None:
    for wrong, token in bad_tokens(world).items():
        with doors.enter(APP, token) as connection:
            assert value(connection, "SELECT memsvc.current_user_id()") is None, f"{wrong}: the token was believed"
            assert value(connection, "SELECT count(*) FROM memsvc.passages") == 0, f"{wrong}: the token shows rows"


@probe
def settings_and_roles_are_no_way_around(doors: Doors, world: World) -> None:
    mine = {world.ada.user_id}
    seen = "SELECT DISTINCT user_id FROM memsvc.passages"
    for role in (APP, READER):
        with doors.enter(role, world.token(world.ada)) as connection:
            for setting, wanted in (
                ("memsvc.user_id", str(world.bob.user_id)), ("role", "none"), ("session.user", "memsvc_owner"),
            ):  # fmt: skip
                connection.execute("SELECT set_config(%s, %s, true)", [setting, wanted])
            assert {row[0] for row in rows(connection, seen)} == mine
            # Functions that run a statement given as text.
            herons = value(
                connection, "SELECT ndoc FROM ts_stat('SELECT tsv FROM memsvc.passages') WHERE word = 'heron'"
            )
            assert herons == sum("heron" in text for text in FOLDED + UNFOLDED), f"ts_stat shows {herons} passages"
            with suppress(errors.FeatureNotSupported), connection.transaction():  # a server may lack libxml
                table = value(connection, "SELECT query_to_xml(%s, true, true, '')::text", [seen])
                assert str(world.ada.user_id) in table, "query_to_xml does not show own rows"
                assert str(world.bob.user_id) not in table, "query_to_xml shows foreign rows"
            connection.execute("SELECT set_config('memsvc.identity', %s, true)", [str(world.bob.user_id)])
            assert rows(connection, seen) == []
        refused(doors, role, world.token(world.ada), "SET LOCAL row_security = off; " + seen)
        for other in (OWNER, "memsvc_recall", ERASER):
            refused(doors, role, world.token(world.ada), f"SET LOCAL ROLE {other}")
    refused(doors, CYPHER, world.token(world.ada), "SELECT * FROM ts_stat('SELECT tsv FROM memsvc.passages')")


@probe
def not_even_the_owner_reads_memories(doors: Doors, world: World) -> None:
    for table in set(USER_TABLES) - {"users", "jobs", "term_deltas", "outbox", "schedules", "feeds", "model_calls"}:
        with doors.enter(OWNER, world.token(world.ada)) as connection:
            statement = sql.SQL("SELECT count(*) FROM memsvc.{}").format(sql.Identifier(table))
            assert connection.execute(statement).fetchone() == (0,), f"the owner reads {table}"


@probe
def not_even_the_owner_changes_statistics_or_the_ontology(doors: Doors, world: World) -> None:
    for table, change in OWNER_CHANGES.items():
        with doors.enter(OWNER, world.token(world.ada)) as connection:
            assert connection.execute(change.encode()).rowcount == 0, f"the owner changes {table}"


@probe
def no_login_reads_account_tables(doors: Doors, world: World) -> None:
    for role in (APP, READER, CYPHER):
        for table in ACCOUNT_TABLES:
            refused(doors, role, world.token(world.ada), f"SELECT FROM memsvc.{table}")
