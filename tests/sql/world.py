"""Two users with the same words, one of another app, their keys and tokens; and the doors by which logins come in.

Probes enter through ``Doors``: ``Logins`` opens real connections with the roles' own passwords, ``Disguise`` takes on a
role inside one administrator's transaction, so that a test can break something, look, and roll everything back.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

import psycopg
from psycopg import sql
from sqlalchemy import make_url

from memsvc.db.identity import Signer
from memsvc.settings import Settings
from tests.through import CURRENT, Between

APP, READER, CYPHER, OWNER = "memsvc_app", "memsvc_reader", "memsvc_cypher", "memsvc_owner"
ANALYST, ERASER, WATCHDOG = "memsvc_analyst", "memsvc_eraser", "memsvc_watchdog"
PASSWORDS = {APP: "app_password", READER: "reader_password", CYPHER: "cypher_password", ANALYST: "analyst_password"}
Row = tuple[Any, ...]

# Every table whose rows belong to a user and which the application may read.
USER_TABLES = (
    "users", "nodes", "node_versions", "aliases", "sources", "passages", "tombstones", "corpora", "terms",
    "term_deltas", "jobs", "outbox", "embeddings", "token_vectors", "schedules", "changes", "edges",
    "edge_versions", "merges", "source_links", "erasures",
    "recall_events", "memory_signals", "extractions", "fact_reviews", "model_calls", "duplicate_candidates",
    "sleep_runs", "rereadings", "cards_compared", "profile_versions", "profile_evidence", "used_tickets",
    "answered_requests", "analysis_runs", "analysis_results",
    "locations", "ingests", "ingest_files", "document_versions", "vaults", "feeds",
    "turns", "tool_calls", "node_salience", "proposals",
)  # fmt: skip
ACCOUNT_TABLES = (
    "apps", "api_keys", "audit_log", "key_days", "identity_keys", "cells", "moves", "anonymous_figures", "budgets",
)  # fmt: skip

PARTITIONS = tuple(f"embeddings_{number}" for number in range(8))
MODEL, UNUSED_MODEL = "tests:three-dimensions", "tests:gave-no-vector"

FOLDED = ("The heron stood in the shallow water.", "A heron, again a heron!", "Nobody saw the otter.")
UNFOLDED = ("Two herons flew over the mill.", "The otter swam to the mill.", "Water under the mill.")
QUESTION = "Where did the heron stand in the water of the mill?"


class Doors(Protocol):
    """Ways into a database: each visit is one transaction that is rolled back when it ends."""

    def enter(self, role: str, token: str = "") -> AbstractContextManager[psycopg.Connection]:
        """Come in as a role with an identity token."""
        ...


@dataclass(frozen=True, slots=True)
class Logins:
    """Real connections, each role by its own password; those who cannot log in, by the administrator."""

    admin_url: str
    settings: Settings

    @contextmanager
    def enter(self, role: str, token: str = "") -> Iterator[psycopg.Connection]:
        if role in PASSWORDS and CURRENT:
            with self._enter_through(CURRENT[0], role, token) as connection:
                yield connection
            return
        url = login_url(self.admin_url, role, self.settings) if role in PASSWORDS else self.admin_url
        with closing(psycopg.connect(url)) as connection:  # no ROLLBACK: see memsvc/db/liveness.py
            # The read-only setting of a login is a courtesy that anybody may take off: privileges must do.
            connection.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE")
            if role not in PASSWORDS:
                connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(role)))
            connection.commit()
            connection.execute("SELECT set_config('memsvc.identity', %s, true)", [token])
            yield connection

    @contextmanager
    def _enter_through(self, between: Between, role: str, token: str) -> Iterator[psycopg.Connection]:
        """Come in through a pooler, whose sessions others have had and will have, or to a standby."""
        url = between.divert(login_url(self.admin_url, role, self.settings))
        with closing(psycopg.connect(url, prepare_threshold=None)) as connection:
            if between.pooler is not None:
                connection.read_only = False
            [left] = connection.execute("SELECT current_setting('memsvc.identity', true)").fetchone() or ()
            assert not left, "the identity of whoever had the session before"
            connection.execute("SELECT set_config('memsvc.identity', %s, true)", [token])
            yield connection
            connection.rollback()
            if between.pooler is not None:  # a way may have left prepared statements and kept cursors of its own
                connection.autocommit = True
                connection.execute("DISCARD ALL")


@dataclass(frozen=True, slots=True)
class Disguise:
    """One administrator's connection that takes on the role for each visit, inside a savepoint."""

    connection: psycopg.Connection

    @contextmanager
    def enter(self, role: str, token: str = "") -> Iterator[psycopg.Connection]:
        with self.connection.transaction(force_rollback=True):
            self.connection.execute(sql.SQL("SET LOCAL SESSION AUTHORIZATION {}").format(sql.Identifier(role)))
            self.connection.execute("SELECT set_config('memsvc.identity', %s, true)", [token])
            yield self.connection


def login_url(admin_url: str, role: str, settings: Settings) -> str:
    """The same database under one of memsvc's logins."""
    url = make_url(admin_url).set(username=role, password=settings.secret(PASSWORDS[role]))
    return url.render_as_string(hide_password=False)


@dataclass(frozen=True, slots=True)
class Tenant:
    """A user of the world."""

    user_id: UUID
    app_id: UUID
    external_id: str
    node_id: UUID
    source_id: UUID
    passage_id: UUID
    second_id: UUID
    """A node that is merged into the first."""
    edge_id: UUID


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key and its secret's hash."""

    key_id: str
    hash: bytes


@dataclass(frozen=True, slots=True)
class World:
    """What the probes know about the database."""

    signer: Signer
    retired: Signer
    ada: Tenant
    bob: Tenant
    eve: Tenant
    """Of another app than Ada and Bob."""
    keys: Mapping[str, ApiKey]
    counts: Mapping[str, Mapping[UUID, int]]
    """Rows of each table by user, as the administrator counts them."""
    found: list[Row]
    """What recall finds for Ada: text and score."""

    def token(self, tenant: Tenant) -> str:
        """A good token."""
        return self.signer.token(tenant.user_id)


def message(text: str, place: int, **more: object) -> dict[str, object]:
    """A row of ``append_messages``."""
    return {
        "message": place, "part": 0, "conversation": "pond", "session": "", "ordinal": None, "client_id": f"m{place}",
        "speaker": "", "role": "user", "text": text, "caption": None, "said_at": f"2026-03-{place + 1:02}T09:00:00Z",
        "said_offset": 0, "language": "english", "metadata": {}, **more,
    }  # fmt: skip


def vector_of(text: str) -> str:
    """A vector of length 1 that says whether a text is about herons, otters or neither."""
    return "[1,0,0]" if "heron" in text.lower() else "[0,1,0]" if "otter" in text.lower() else "[0,0,1]"


def append_rows(connection: psycopg.Connection, user_id: UUID, rows: list[dict[str, object]]) -> list[Row]:
    """``append_messages`` in the connection's transaction: message, outcome, ids, place, job."""
    call = "SELECT * FROM memsvc.append_messages(%s, %s::jsonb)"
    return connection.execute(call, [user_id, json.dumps(rows)]).fetchall()


def history_rows(connection: psycopg.Connection, user_id: UUID, operations: list[dict[str, object]]) -> list[Row]:
    """``write_history`` in the connection's transaction: outcome, node, edge, change."""
    call = "SELECT outcome, node_id, edge_id, change_id FROM memsvc.write_history(%s, 'user', %s::jsonb)"
    numbered = [{"position": place, **operation} for place, operation in enumerate(operations)]
    return connection.execute(call, [user_id, json.dumps(numbered, default=str)]).fetchall()


def recall_rows(connection: psycopg.Connection, user_id: UUID | None, question: str = QUESTION) -> list[Row]:
    """What recall finds: owner-independent columns first, the passage's id last."""
    call = (
        "SELECT p.text, round(r.score::numeric, 9), r.memory_id FROM memsvc.recall(%s, %s, 10) AS r "
        "LEFT JOIN memsvc.passages AS p ON p.passage_id = r.memory_id ORDER BY r.score DESC, r.memory_id"
    )
    return connection.execute(call, [user_id, question]).fetchall()


def value(connection: psycopg.Connection, statement: str, parameters: Mapping[str, object] | list[object] = ()) -> Any:  # type: ignore[assignment]
    """The one value that a statement yields."""
    row = connection.execute(statement.encode(), parameters or None).fetchone()
    assert row is not None, f"no row: {statement}"
    return row[0]


def embed(app: psycopg.Connection, user_id: UUID) -> None:
    """Give all that lacks them vectors of the model that is being built."""
    model_id = value(app, "SELECT model_id FROM memsvc.ensure_model(%s, 3)", [MODEL])
    lacking = app.execute("SELECT * FROM memsvc.unembedded(%s, %s, NULL, NULL, 100)", [user_id, model_id]).fetchall()
    app.execute(
        "SELECT memsvc.store_embeddings(%s, %s, %s, %s::public.halfvec[], %s)",
        [
            user_id,
            model_id,
            [row[0] for row in lacking],
            [vector_of(row[1]) for row in lacking],
            [f"{{x{'0' * 32}}}"] * len(lacking),
        ],
    )


def _tenant(app: psycopg.Connection, token: Callable[[UUID], str], app_id: UUID, external_id: str) -> Tenant:
    """A user with a node, a version, an alias and messages, some of them folded into the statistics."""
    made = "SELECT memsvc.create_user(%s, %s, 'Ada', 'UTC', 'english')"
    with app.transaction():
        user_id = value(app, made, [app_id, external_id])
    with app.transaction():
        app.execute("SELECT set_config('memsvc.identity', %s, true)", [token(user_id)])
        node_id = value(app, "INSERT INTO memsvc.nodes (user_id) VALUES (%s) RETURNING node_id", [user_id])
        app.execute(
            "INSERT INTO memsvc.node_versions (user_id, node_id, type, label) VALUES (%s, %s, 'Person', 'Ada')",
            [user_id, node_id],
        )
        app.execute(
            "INSERT INTO memsvc.aliases (user_id, node_id, alias, normal_form, asserted_by) "
            "VALUES (%s, %s, 'Ada', 'ada', 'user')",
            [user_id, node_id],
        )
        stored = append_rows(app, user_id, [message(text, i) for i, text in enumerate(FOLDED)])
        # One message is erased, which folds the statistics, too: a receipt, a tombstone, an event.
        gone = append_rows(app, user_id, [message("Gone.", len(FOLDED) + len(UNFOLDED))])
        app.execute("SELECT memsvc.erase(%s, 'message', %s, 'user', 10)", [user_id, gone[0][3]])
        append_rows(app, user_id, [message(text, i + len(FOLDED)) for i, text in enumerate(UNFOLDED)])
        embed(app, user_id)
        # One of two recalls is folded: an event of each sort, and signals of a passage.
        for recalled in ([stored[1][3]], [stored[0][3], stored[1][3]]):
            app.execute("SELECT memsvc.fold_recalls(%s, 10)", [user_id])
            app.execute("SELECT memsvc.append_recall(%s, uuidv7(), 'recall', 'eager', %s)", [user_id, recalled])
        judged = "UPDATE memsvc.memory_signals SET importance = 7 WHERE user_id = %s AND memory_id = %s"
        app.execute(judged, [user_id, stored[1][3]])
        app.execute("SELECT memsvc.begin_reading(%s, %s, 'tests/1', 'tests')", [user_id, stored[0][2]])
        app.execute(
            "INSERT INTO memsvc.fact_reviews (user_id, passage_id, extractor, state, reason, proposal, digest) "
            "VALUES (%s, %s, 'tests/1', 'doubtful', 'doubtful', '{\"type\": \"KNOWS\"}', sha256('knows'))",
            [user_id, stored[0][3]],
        )
        version_id = value(
            app,
            "INSERT INTO memsvc.profile_versions "
            "(user_id, version, name, kind, text, tokens, token_limit, asserted_by) "
            "VALUES (%s, 1, 'preferences', 'core', 'Likes herons.', 3, 500, 'user') RETURNING version_id",
            [user_id],
        )
        app.execute(
            "INSERT INTO memsvc.profile_evidence (user_id, version_id, passage_id, lines) VALUES (%s, %s, %s, '{1}')",
            [user_id, version_id, stored[1][3]],
        )
        app.execute("INSERT INTO memsvc.sleep_runs (user_id, task) VALUES (%s, 'duplicates')", [user_id])
        app.execute(
            "INSERT INTO memsvc.rereadings (user_id, extractor, backend) VALUES (%s, 'tests/1', 'tests')", [user_id]
        )
        ingest_id = value(app, "INSERT INTO memsvc.ingests (user_id) VALUES (%s) RETURNING ingest_id", [user_id])
        app.execute(
            "INSERT INTO memsvc.ingest_files (user_id, ingest_id, number, name, content) VALUES (%s, %s, 0, 'a', 'x')",
            [user_id, ingest_id],
        )
        app.execute(
            "INSERT INTO memsvc.feeds (user_id, kind, identifier, name, rule) VALUES (%s, 'url', 'a', 'a', %s)",
            [user_id, "every day"],
        )
        app.execute("INSERT INTO memsvc.cards_compared VALUES (%s, 1, now(), uuidv7())", [user_id])
        run_id = value(
            app, "INSERT INTO memsvc.analysis_runs (user_id, kind) VALUES (%s, 'hubs') RETURNING run_id", [user_id]
        )
        app.execute(
            "INSERT INTO memsvc.analysis_results (user_id, run_id, place, what, score) VALUES (%s, %s, 0, 'hub', 1)",
            [user_id, run_id],
        )
        app.execute(
            "INSERT INTO memsvc.answered_requests (user_id, request_key, digest, answer) "
            "VALUES (%s, sha256('a key'), sha256('a note'), '{}')",
            [user_id],
        )
        app.execute("INSERT INTO memsvc.used_tickets VALUES (%s, uuidv7(), 'infinity')", [user_id])
        app.execute(
            "INSERT INTO memsvc.model_calls (user_id, task, model, prompt_version, outcome, tokens_in, tokens_out, ms, "
            "tries) VALUES (%s, 'facts', 'a model', '1', 'answered', 900, 120, 800, 1)",
            [user_id],
        )
        evidence = [{"passage_id": stored[0][3], "span_from": 4, "span_to": 9}]
        second = value(app, "SELECT uuidv7()")
        written = history_rows(
            app,
            user_id,
            [
                {"op": "node", "node_id": second, "fresh": True, "type": "Person", "label": "Ada L."},
                {
                    "op": "edge", "from_node": node_id, "type": "KNOWS", "to_node": second,
                    "fact": "Ada knows Ada L.", "evidence": evidence,
                },
                {"op": "merge", "node_id": second, "canonical_id": node_id},
                {
                    "op": "place", "node_id": node_id, "latitude": 52.5, "longitude": 13.4,
                    "valid_from": "2026-01-01", "valid_to": "2126-01-01",
                },
            ],
        )  # fmt: skip
        third = value(app, "SELECT uuidv7()")  # so that the pair of the other two can be added by a probe
        history_rows(app, user_id, [{"op": "node", "node_id": third, "fresh": True, "type": "Person", "label": "Eda"}])
        app.execute("SELECT memsvc.decide_duplicates(%s, %s, %s, 'rejected', 'user')", [user_id, node_id, third])
        app.execute("SELECT memsvc.note_salience(%s, ARRAY[%s::uuid], '{0.5}', 0.05)", [user_id, third])
        split = json.dumps([{"key": str(third), "node_id": str(third), "score": 0.5}])
        app.execute("SELECT memsvc.note_proposals(%s, 'split', %s, 5)", [user_id, split])
        embed(app, user_id)
    return Tenant(user_id, app_id, external_id, node_id, stored[0][2], stored[0][3], second, written[1][2])


def _keys(app: psycopg.Connection, ada: Tenant, eve: Tenant) -> dict[str, ApiKey]:
    """One key of each sort: any user of the app, Ada alone, expired, revoked, of the other app."""
    keys: dict[str, ApiKey] = {}
    for sort, tenant, user_id, life in (
        ("app", ada, None, None),
        ("ada", ada, ada.user_id, None),
        ("expired", ada, None, "-1 second"),
        ("revoked", ada, None, None),
        ("eve", eve, None, None),
    ):
        key = ApiKey(f"mk_{sort}_{tenant.external_id}", hashlib.sha256(f"{sort} {tenant.user_id}".encode()).digest())
        with app.transaction():
            app.execute(
                "SELECT memsvc.create_key(%s, %s, %s, %s, '{read,write}', %s, clock_timestamp() + %s::interval)",
                [tenant.app_id, key.key_id, key.hash, user_id, sort, life],
            )
        keys[sort] = key
    with app.transaction():
        app.execute("SELECT memsvc.revoke_key(%s, %s)", [ada.app_id, keys["revoked"].key_id])
    return keys


def make_world(admin_url: str, settings: Settings, name: str) -> World:
    """Make the users of a world in a database at head; committed, and nobody else's."""
    signer = Signer(settings.secret("identity_secret").encode(), 3600)
    retired = Signer(f"a secret that {name} does not accept any more".encode(), 3600)
    with psycopg.connect(login_url(admin_url, APP, settings), autocommit=True) as app:
        first = value(app, "SELECT memsvc.ensure_app(%s)", [f"first app of {name}"])
        second = value(app, "SELECT memsvc.ensure_app(%s)", [f"second app of {name}"])
        app.execute("SELECT memsvc.ensure_model(%s, 3)", [UNUSED_MODEL])  # active; the other is being built
        app.execute("SELECT memsvc.build_model(%s, 3)", [MODEL])
        ada = _tenant(app, signer.token, first, f"ada of {name}")
        bob = _tenant(app, signer.token, first, f"bob of {name}")
        eve = _tenant(app, signer.token, second, f"eve of {name}")
        keys = _keys(app, ada, eve)
        with app.transaction():  # types of somebody else, which nobody sees
            app.execute("SELECT set_config('memsvc.identity', %s, true)", [signer.token(eve.user_id)])
            for kind in ("node", "edge"):
                proposed = json.dumps({"name": "EVES", "description": "x", "reason": "", "functional": False})
                app.execute("SELECT memsvc.propose_type(%s, %s, %s, 'user')", [eve.user_id, kind, proposed])
        with app.transaction():
            app.execute("SELECT set_config('memsvc.identity', %s, true)", [signer.token(ada.user_id)])
            found = [row[:2] for row in recall_rows(app, ada.user_id)]
    with psycopg.connect(admin_url, autocommit=True) as admin:
        admin.execute(
            "INSERT INTO memsvc.identity_keys (key_id, inner_pad, outer_pad, retired_at) VALUES (%s, %s, %s, now())",
            [retired.key_id, *retired.pads()],
        )
        admin.execute("INSERT INTO memsvc.cells (cell_id, name, url) VALUES (7, 'seven', 'postgresql://127.0.0.1:1/x')")
        for tenant in (ada, bob, eve):
            admin.execute(  # in any other state, the user could not be erased
                "INSERT INTO memsvc.moves (user_id, from_cell, to_cell, state) VALUES (%s, 0, 7, 'aborting')",
                [tenant.user_id],
            )
            admin.execute(
                "INSERT INTO memsvc.tombstones (user_id, digest) VALUES (%s, sha256('gone'))", [tenant.user_id]
            )
            admin.execute(
                "INSERT INTO memsvc.document_versions (user_id, source_id, version, sha256, bytes, format, title, "
                "path, characters) VALUES (%s, %s, 1, repeat('b', 64), 7, 'md', 'A study', 'study.md', 7)",
                [tenant.user_id, tenant.source_id],
            )
            admin.execute(
                "INSERT INTO memsvc.vaults (user_id, folder, flavours) VALUES (%s, '/notes', '{markdown}')",
                [tenant.user_id],
            )
            admin.execute(
                "WITH t AS (INSERT INTO memsvc.turns (user_id, source_id, session, begun_at) "
                "VALUES (%s, %s, 'one', now()) RETURNING user_id, turn_id, source_id) "
                "INSERT INTO memsvc.tool_calls (user_id, turn_id, number, tool, arguments, told, document_id) "
                "SELECT t.user_id, t.turn_id, 0, 'READ', '{}', 'READ study.md', t.source_id FROM t",
                [tenant.user_id, tenant.source_id],
            )
        admin.execute("ANALYZE memsvc.passages")
        counts: dict[str, dict[UUID, int]] = {
            table: dict(
                admin.execute(
                    sql.SQL("SELECT user_id, count(*) FROM memsvc.{} WHERE user_id = ANY (%s) GROUP BY user_id").format(
                        sql.Identifier(table)
                    ),
                    [[ada.user_id, bob.user_id, eve.user_id]],
                ).fetchall()
            )
            for table in USER_TABLES
        }
    return World(signer, retired, ada, bob, eve, keys, counts, found)
