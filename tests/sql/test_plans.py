"""Plans as the application's role gets them: one user with 20,001 passages beside twenty small ones.

``auto_explain`` shows the plans of statements inside functions; it is loaded by the administrator, who then becomes the
application's login for the rest of the connection.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

from memsvc.db.files import query
from memsvc.db.identity import Signer
from memsvc.settings import Settings
from tests.sql.bulk import fill
from tests.sql.conftest import Scratch
from tests.sql.world import APP, READER, Logins, append_rows, message, recall_rows, value

pytestmark = [pytest.mark.server, pytest.mark.slow]
DIALECT = PGDialect_psycopg()  # type: ignore[no-untyped-call]
BIG, SMALL, SMALL_USERS = 20_001, 50, 20
# A point on a circle for each passage of the small ones, and for each of the big one's.
VECTORS = """
INSERT INTO memsvc.embeddings (user_id, model_id, passage_id, vector)
SELECT p.user_id, 1, p.passage_id, format('[%s,%s,0]', cos(p.ordinal), sin(p.ordinal))::halfvec
FROM memsvc.passages AS p
"""
TOKENS = """
INSERT INTO memsvc.token_vectors (user_id, model_id, passage_id, tokens)
SELECT p.user_id, 1, p.passage_id, ARRAY[p.ordinal::bit(128)] FROM memsvc.passages AS p
"""
NEAR = "SELECT matched_id, similarity FROM memsvc.match_vectors(%s, 1::smallint, '[1,0,0]', 10)"

Node = dict[str, Any]


@dataclass(slots=True)
class Plans:
    """A connection whose statements' plans are collected."""

    connection: psycopg.Connection
    users: list[UUID]
    signer: Signer
    seen: list[Node] = field(default_factory=list)

    def act_for(self, user_id: UUID) -> None:
        """Begin to collect the plans of this user's statements."""
        self.connection.execute("SELECT set_config('memsvc.identity', %s, false)", [self.signer.token(user_id)])
        self.seen.clear()

    def note(self, notice: psycopg.errors.Diagnostic) -> None:
        """Keep the plan that a message of auto_explain shows."""
        _, found, plan = (notice.message_primary or "").partition("plan:\n")
        if found:
            self.seen.append(json.loads(plan)["Plan"])

    def scans(self, table: str) -> list[Node]:
        """Collected scans of a table and of its indexes."""
        nodes = [node for plan in self.seen for node in walk(plan)]
        return [
            node
            for node in nodes
            if node.get("Relation Name") == table
            or (node["Node Type"] == "Bitmap Index Scan" and node["Index Name"].startswith(f"{table}_"))
        ]

    def indexes(self, table: str) -> dict[str, str]:
        """Indexes of the table that were used, with their last condition; Seq Scan counts as one."""
        return {
            str(node.get("Index Name", node["Node Type"])): node.get("Index Cond", "") for node in self.scans(table)
        }


def walk(node: Node) -> Iterator[Node]:
    """A plan's nodes."""
    yield node
    for inner in node.get("Plans", []):
        yield from walk(inner)


@pytest.fixture(scope="module")
def plans(scratch: Scratch, settings: Settings) -> Iterator[Plans]:
    url = scratch("plans")
    signer = Signer(settings.secret("identity_secret").encode(), 3600)
    with psycopg.connect(url, autocommit=True) as admin:
        app_id = value(admin, "SELECT memsvc.ensure_app('plans')")
        make = "SELECT memsvc.create_user(%s, %s, 'Ada', 'UTC', 'english')"
        users = [value(admin, make, [app_id, f"user {n}"]) for n in range(SMALL_USERS + 1)]
        index = value(admin, "SELECT pg_get_indexdef('memsvc.passages_words'::regclass)")
        admin.execute("DROP INDEX memsvc.passages_words")  # three times as fast as filling it row by row
        fill(admin, users[0], BIG, conversations=50, lead="common usual")
        for user in users[1:]:
            fill(admin, user, SMALL)
        admin.execute(index)
        admin.execute("INSERT INTO memsvc.embedding_models (name, dimensions) VALUES ('plans', 3)")
        admin.execute(VECTORS)
        admin.execute(TOKENS)
        admin.execute(
            "CREATE INDEX embeddings_near_1 ON memsvc.embeddings USING hnsw ((vector::halfvec(3)) halfvec_ip_ops) "
            "WHERE model_id = 1"
        )
        admin.execute("VACUUM ANALYZE")
    with psycopg.connect(url, autocommit=True) as connection:
        collected = Plans(connection, users, signer)
        connection.execute("LOAD 'auto_explain'")
        for setting, wanted in (
            ("auto_explain.log_min_duration", "0"), ("auto_explain.log_nested_statements", "on"),
            ("auto_explain.log_level", "notice"), ("auto_explain.log_format", "json"),
            ("auto_explain.log_analyze", "off"), ("plan_cache_mode", "force_custom_plan"),
            ("jit", "off"), ("search_path", "memsvc, public"),
        ):  # fmt: skip
            connection.execute("SELECT set_config(%s, %s, false)", [setting, wanted])
        connection.execute("SET SESSION AUTHORIZATION memsvc_app")
        connection.add_notice_handler(collected.note)
        yield collected


@pytest.mark.parametrize("question", ["w17 and w170 with n77", "w5", "common w3 n1 w9 w11 w400"])
def test_the_word_arm_reads_its_inverted_index(plans: Plans, question: str) -> None:
    plans.act_for(plans.users[0])
    assert len(recall_rows(plans.connection, plans.users[0], question)) == 10
    used = plans.indexes("passages")
    assert "Seq Scan" not in used
    assert "@@" in used["passages_words"], "the index gives the user's passages, but not by word"
    assert "passages_pkey" in used, "recall does not fetch its passages by key"


def test_the_word_arm_does_not_look_on_for_more_than_it_may_give(plans: Plans) -> None:
    looks = []
    for rows in (200, 260):  # as a deliberate recall asks for what stands behind its list
        plans.act_for(plans.users[0])
        call = "SELECT count(*) FROM memsvc.recall(%s, 'common usual w3 n1 w9', %s, p_candidates => 200)"
        assert value(plans.connection, call, [plans.users[0], rows]) >= 200
        looks.append(sum(scan.get("Index Name") == "passages_words" for scan in plans.scans("passages")))
    assert looks[0] == looks[1]
    assert looks[0] > 0


def test_what_one_arm_finds_is_not_compared_with_all_that_others_find(plans: Plans) -> None:
    plans.act_for(plans.users[0])
    recall_rows(plans.connection, plans.users[0], "common w3 n1 w9 w11 w400")
    nodes = [node for plan in plans.seen for node in walk(plan)]
    arms = {"other", "known"}
    assert {node.get("CTE Name") for node in nodes} >= arms
    pairs = [node["Plans"] for node in nodes if node["Node Type"] == "Nested Loop"]
    assert not [inner for pair in pairs for inner in pair if inner.get("CTE Name") in arms]


def test_token_vectors_are_read_by_key(plans: Plans) -> None:
    user = plans.users[0]
    some = "SELECT array_agg(passage_id) FROM (SELECT passage_id FROM memsvc.passages WHERE user_id = %s LIMIT 50) AS p"
    plans.act_for(user)
    passages = value(plans.connection, some, [user])
    plans.act_for(user)
    call = "SELECT count(*) FROM memsvc.late_scores(%s, 1::smallint, ARRAY[1::bit(128)], %s)"
    assert value(plans.connection, call, [user, passages]) == 50
    used = plans.indexes("token_vectors")
    assert list(used) == ["token_vectors_pkey"]
    assert all(f"({column} = " in used["token_vectors_pkey"] for column in ("user_id", "model_id", "passage_id"))


def test_a_word_of_all_passages_is_sought_among_the_users_only(plans: Plans) -> None:
    """Any index that leads with the user will do; the table holds everybody's."""
    plans.act_for(plans.users[0])
    assert len(recall_rows(plans.connection, plans.users[0], "common")) == 10
    used = plans.indexes("passages")
    assert "Seq Scan" not in used
    assert all("user_id = " in condition for name, condition in used.items() if name != "Bitmap Heap Scan")


def test_two_words_of_all_passages_are_sought_together(plans: Plans) -> None:
    """They are too common to be walked through one by one."""
    plans.act_for(plans.users[0])
    found = plans.connection.execute("SELECT matched FROM memsvc.recall(%s, 'common usual', 10)", [plans.users[0]])
    assert [sorted(row[0]) for row in found] == [["common", "usual"]] * 10
    assert "Seq Scan" not in plans.indexes("passages")


def test_a_small_user_beside_a_big_one_is_found_by_index(plans: Plans) -> None:
    user = plans.users[1]
    plans.act_for(user)
    assert len(recall_rows(plans.connection, user, "common n7")) == 10
    used = plans.indexes("passages")
    assert "Seq Scan" not in used
    assert "passages_pkey" in used, "recall does not fetch its passages by key"


def test_without_its_own_role_the_word_arm_would_lose_the_index(plans: Plans) -> None:
    """The reason for match_words' SECURITY DEFINER: `@@` is not leakproof."""
    plans.act_for(plans.users[0])
    count = "SELECT count(*) FROM memsvc.passages WHERE user_id = %s AND tsv @@ 'w17'::tsquery"
    plans.connection.execute(count, [plans.users[0]])
    assert not any("@@" in condition for condition in plans.indexes("passages").values())


def partition(plans: Plans, user: UUID) -> str:
    """Where the vectors of the user are whose plans are collected; the look is not collected."""
    where = "SELECT tableoid::regclass::text FROM memsvc.embeddings WHERE user_id = %s LIMIT 1"
    found = str(value(plans.connection, where, [user]))
    plans.seen.clear()
    return found


def test_vectors_of_a_big_user_are_found_by_their_index(plans: Plans) -> None:
    plans.act_for(plans.users[0])
    table = partition(plans, plans.users[0])
    similarities = [row[1] for row in plans.connection.execute(NEAR, [plans.users[0]])]
    assert len(similarities) == 10
    assert similarities == sorted(similarities, reverse=True)
    assert f"{table}_vector_idx" in plans.indexes(table)
    # One row tells which partition is the user's; without an order a bitmap may be made of all of them first.
    [look] = [plan for plan in plans.seen if any(node.get("Relation Name") == "pg_class" for node in walk(plan))]
    assert "Merge Append" in {node["Node Type"] for node in walk(look)}


def test_a_night_finds_new_cards_by_the_time_of_their_vectors(plans: Plans) -> None:
    user = plans.users[0]
    plans.act_for(user)
    table = partition(plans, user)
    latest = value(plans.connection, "SELECT max(created_at) FROM memsvc.embeddings WHERE user_id = %s", [user])
    plans.seen.clear()
    page = "SELECT * FROM memsvc.cards_made(%s, 1::smallint, %s, '00000000-0000-0000-0000-000000000000', 100)"
    assert len(plans.connection.execute(page, [user, latest]).fetchall()) == 1
    [index] = plans.indexes(table)
    assert index == f"{table.rpartition('.')[2]}_made"
    assert "created_at" in plans.indexes(table)[index]


def test_vectors_of_a_big_user_among_many_more_are_compared_one_by_one(plans: Plans) -> None:
    """The index would walk past a thousand of others' for each of the user's."""
    plans.act_for(plans.users[0])
    table = partition(plans, plans.users[0])
    pretend = "SELECT pg_restore_relation_stats('schemaname', 'memsvc', 'relname', %s::text, 'reltuples', %s::real)"
    plans.connection.execute("RESET SESSION AUTHORIZATION")
    really = value(plans.connection, "SELECT reltuples FROM pg_class WHERE relname = %s", [table])
    plans.connection.execute(pretend, [table, 1_000 * BIG])
    plans.connection.execute("SET SESSION AUTHORIZATION memsvc_app")
    plans.act_for(plans.users[0])
    assert len(plans.connection.execute(NEAR, [plans.users[0]]).fetchall()) == 10
    plans.connection.execute("RESET SESSION AUTHORIZATION")
    plans.connection.execute(pretend, [table, really])
    plans.connection.execute("SET SESSION AUTHORIZATION memsvc_app")
    used = plans.indexes(table)
    assert f"{table}_vector_idx" not in used
    assert "Seq Scan" not in used


# Passage n of the big user was said at minute n. A hundred are as near as can be told, so each broad filter leaves out
# many of them.
@pytest.mark.parametrize(
    ("wanted", "left", "by_index"),
    [
        ("p_sources => (%(sources)s::uuid[])[:1]", "p.source_id = (%(sources)s::uuid[])[1]", False),  # 400 passages
        ("p_not_sources => %(sources)s::uuid[]", "p.source_id <> ALL (%(sources)s::uuid[])", True),
        ("p_said_from => '2026-01-07 22:40Z'", "p.ordinal >= 10000", True),
        ("p_said_to => '2026-01-03 02:00Z'", "p.ordinal < 3000", True),
        ("p_said_to => '2026-01-01 16:40Z'", "p.ordinal < 1000", False),
        ("p_known_at => now()", "true", True),
        ("p_known_at => '2025-01-01Z'", "false", False),
    ],
)
def test_vectors_behind_a_filter_are_sought_by_what_it_leaves(
    plans: Plans, wanted: str, left: str, *, by_index: bool
) -> None:
    user = plans.users[0]
    plans.act_for(user)
    table = partition(plans, user)
    half = "SELECT array_agg(s.source_id) FROM (SELECT source_id FROM memsvc.sources WHERE user_id = %s LIMIT 25) AS s"
    values = {"user": user, "sources": value(plans.connection, half, [user])}
    plans.seen.clear()
    scope = f"memsvc.scope({wanted})"
    call = f"SELECT matched_id, similarity FROM memsvc.match_vectors(%(user)s, 1::smallint, '[1,0,0]', 10, {scope})"
    found = plans.connection.execute(call.encode(), values).fetchall()
    used = plans.indexes(table)
    assert (f"{table}_vector_idx" in used) is by_index
    assert "Seq Scan" not in used
    exactly = (
        "SELECT e.passage_id, (e.vector <#> '[1,0,0]') * -1 FROM memsvc.embeddings AS e "
        f"INNER JOIN memsvc.passages AS p USING (user_id, passage_id) WHERE e.user_id = %(user)s AND {left} "
        "ORDER BY 2 DESC"
    )
    allowed = plans.connection.execute(exactly.encode(), values).fetchall()
    assert {row[0] for row in found} <= {row[0] for row in allowed}
    assert [row[1] for row in found] == pytest.approx([row[1] for row in allowed[:10]], abs=1e-3)


def test_no_vector_is_read_for_kinds_that_have_none(plans: Plans) -> None:
    user = plans.users[0]
    plans.act_for(user)
    table = partition(plans, user)
    call = "SELECT * FROM memsvc.match_vectors(%s, 1::smallint, '[1,0,0]', 10, memsvc.scope('{trace,former}'))"
    assert plans.connection.execute(call.encode(), [user]).fetchall() == []
    assert not plans.indexes(table)
    assert not plans.indexes("passages")


def test_vectors_of_a_small_user_are_compared_one_by_one(plans: Plans) -> None:
    user = plans.users[1]
    plans.act_for(user)
    table = partition(plans, user)
    assert len(plans.connection.execute(NEAR, [user]).fetchall()) == 10
    used = plans.indexes(table)
    assert any("user_id = " in condition for condition in used.values())
    assert not any(name.endswith("_vector_idx") or name == "Seq Scan" for name in used)


def test_statistics_are_looked_up_by_key(plans: Plans) -> None:
    plans.act_for(plans.users[0])
    recall_rows(plans.connection, plans.users[0], "w17 and w170 with n77")
    assert set(plans.indexes("terms")) - {"Bitmap Heap Scan"} == {"terms_pkey"}


def test_appending_looks_messages_up_by_their_identity(plans: Plans) -> None:
    user = plans.users[0]
    plans.act_for(user)
    with plans.connection.transaction(force_rollback=True):
        batch = [
            message("A new one.", 0, conversation="bulk 7"),
            message("Next.", 1, client_id=None, conversation="bulk 7"),
        ]
        batch.append(message("And placed there.", 2, client_id=None, ordinal=90_000, conversation="bulk 7"))
        assert [row[1] for row in append_rows(plans.connection, user, batch)] == ["created"] * 3
    used = plans.indexes("passages")
    assert {"passages_client_id", "passages_user_id_source_id_session_ordinal_part_key"} <= set(used)
    assert "Seq Scan" not in used


def test_a_batch_of_500_looks_messages_up_by_index_too(plans: Plans) -> None:
    user = plans.users[0]
    plans.act_for(user)
    with plans.connection.transaction(force_rollback=True):
        batch = [message(f"Number {n}.", n, said_at="2026-03-01T09:00:00Z", conversation="bulk 7") for n in range(500)]
        append_rows(plans.connection, user, batch)
    assert "passages_client_id" in plans.indexes("passages")
    assert "Seq Scan" not in plans.indexes("passages")


def test_lists_never_scan_all_passages(plans: Plans) -> None:
    user = plans.users[0]
    plans.act_for(user)
    source = value(plans.connection, "SELECT source_id FROM memsvc.sources WHERE identifier = 'bulk 7'")
    for statement, parameters in (
        ("messages WHERE user_id = %s AND source_id = %s ORDER BY session, ordinal LIMIT 50", [user, source]),
        ("messages WHERE source_id = %s", [source]),
        ("conversations WHERE user_id = %s AND source_id = %s", [user, source]),
        ("passages WHERE user_id = %s AND version_id IS NULL ORDER BY said_at DESC LIMIT 20", [user]),
    ):
        plans.seen.clear()
        assert plans.connection.execute(f"SELECT * FROM memsvc.{statement}".encode(), parameters).rowcount > 0
        used = plans.indexes("passages")
        assert used
        assert "Seq Scan" not in used, statement


def test_a_key_finds_its_user_by_index_however_many_the_app_has(plans: Plans) -> None:
    app_id, user = value(plans.connection, "SELECT memsvc.ensure_app('plans')"), plans.users[7]
    make = "SELECT memsvc.create_key(%s, %s, sha256('x'), %s, '{read}', '', NULL)"
    plans.connection.execute(make, [app_id, "mk_any", None])
    plans.connection.execute(make, [app_id, "mk_bound", user])
    find = "SELECT user_id FROM memsvc.authenticate_key(%s, sha256('x'), %s)"
    for key_id, ref in (("mk_any", str(user)), ("mk_any", "user 7"), ("mk_bound", None)):
        plans.seen.clear()
        assert value(plans.connection, find, [key_id, ref]) == user
        looks = list(plans.indexes("users").values())
        assert len(looks) == 2
        assert all("(user_id = " in look or "(external_id = " in look for look in looks)


@pytest.mark.parametrize("name", ["context_spoken", "context_neighbours", "context_turns"])
def test_a_kept_plan_of_what_stands_around_memories_goes_by_the_users_indexes(plans: Plans, name: str) -> None:
    user = plans.users[0]
    values = {
        "user_id": user, "now": datetime.now(UTC), "known_at": None, "sitting": timedelta(hours=1), "limit": 5,
        "sessions": [""] * 3, "ordinals": [5, 6, 7], "first_parts": [0] * 3, "last_parts": [0] * 3, "reach": 2,
        "kinds": ["message"],
    }  # fmt: skip
    with plans.connection.transaction():
        plans.connection.execute("SELECT memsvc.act_for(%s, %s, true, false)", [user, plans.signer.token(user)])
        source = value(plans.connection, "SELECT source_id FROM memsvc.sources WHERE identifier = 'bulk 7'")
        plans.seen.clear()
        statement = str(query(name).compile(dialect=DIALECT)).encode()
        plans.connection.execute(statement, values | {"source_id": source, "sources": [source] * 3})
    used = plans.indexes("passages")
    assert used
    assert "Seq Scan" not in used
    assert all("user_id = $" in condition for condition in used.values()), "the plan is for all values"


@pytest.mark.parametrize("role", [APP, READER])
def test_the_logins_plan_each_statement_for_its_values(role: str, logins: Logins) -> None:
    with logins.enter(role) as connection:
        assert value(connection, "SHOW plan_cache_mode") == "force_custom_plan"
