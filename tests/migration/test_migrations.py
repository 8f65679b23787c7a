"""Migrations: one straight line; from every revision to head nothing is lost, and nobody is kept waiting for long."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import psycopg
import pytest
from alembic.script import ScriptDirectory

from memsvc.db import files
from memsvc.db.files import head_revision
from memsvc.db.identity import Signer
from memsvc.errors import ConfigurationError, DatabaseUnavailableError
from memsvc.server import objects
from memsvc.server import upgrade as upgrading
from memsvc.server.migrations import alembic_config
from memsvc.server.objects import object_files
from memsvc.server.schema_dump import schema_of, schema_of_head
from memsvc.server.upgrade import is_current
from memsvc.settings import Settings
from tests.migration.conftest import Upgrader
from tests.migration.samples import SAMPLES, THING, USER, all_rows, insert_samples, lost
from tests.sql.world import APP, login_url, make_world, recall_rows, value

pytestmark = [pytest.mark.server, pytest.mark.slow]
REVISIONS = [script.revision for script in ScriptDirectory.from_config(alembic_config()).walk_revisions()][::-1]


@pytest.fixture
def sql_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of sql/ that upgrades use from now on."""
    copy = tmp_path / "sql"
    shutil.copytree(files.folder("sql"), copy)
    monkeypatch.setattr(objects, "folder", lambda name: copy if name == "sql" else files.folder(name))
    return copy


# One straight line --------------------------------------------------------------------------------------------------


def test_migrations_form_one_straight_line_of_numbered_files() -> None:
    script = ScriptDirectory.from_config(alembic_config())
    assert script.get_heads() == [REVISIONS[-1]] == [head_revision()]
    assert script.get_bases() == ["0001"]
    assert [f"{number:04}" for number in range(1, len(REVISIONS) + 1)] == REVISIONS
    for number, revision in enumerate(REVISIONS):
        found = script.get_revision(revision)
        assert found.down_revision == (REVISIONS[number - 1] if number else None)
        assert not found.branch_labels
        assert not found.dependencies
        assert re.fullmatch(rf"{revision}_[a-z_]+\.py", Path(found.path).name)
    paths = (files.folder("alembic") / "versions").glob("*.py")
    assert sorted(path.name[:4] for path in paths) == REVISIONS


def test_what_was_there_before_an_upgrade_is_recalled_after_it(
    empty: str, run_upgrade: Upgrader, settings: Settings
) -> None:
    run_upgrade(empty, "0004")
    with psycopg.connect(empty, autocommit=True) as admin:
        insert_samples(admin, "0004")
    run_upgrade(empty)
    token = Signer(settings.secret("identity_secret").encode(), 60)
    with psycopg.connect(login_url(empty, APP, settings)) as app:
        user_id = value(app, "SELECT %s::uuid", [USER])
        app.execute("SELECT set_config('memsvc.identity', %s, true)", [token.token(user_id)])
        assert len(recall_rows(app, user_id, "heron")) == 5
        assert value(app, "SELECT count(*) FROM memsvc.messages WHERE source_id = %s", [THING]) == 5


def test_blocks_that_were_archived_before_get_a_job(empty: str, run_upgrade: Upgrader) -> None:
    run_upgrade(empty, "0033")
    archived = (
        "INSERT INTO memsvc.profile_versions (user_id, version, name, kind, text, tokens, token_limit, asserted_by) "
        "VALUES (%s, 1, 'boat', 'archival', 'Her keel is of oak.', 5, 500, 'user')"
    )
    asked = "SELECT state FROM memsvc.jobs WHERE user_id = %s AND kind = 'tidy' AND subject_id = user_id"
    with psycopg.connect(empty, autocommit=True) as admin:
        insert_samples(admin, "0033")
        assert admin.execute(asked, [USER]).fetchall() == []
        admin.execute(archived, [USER])
        run_upgrade(empty)
        assert admin.execute(asked, [USER]).fetchall() == [("pending",)]
        lifted = "SELECT relname FROM pg_class WHERE relrowsecurity AND NOT relforcerowsecurity"
        assert admin.execute(lifted).fetchall() == []


def test_of_several_models_that_were_being_built_the_newest_goes_on(empty: str, run_upgrade: Upgrader) -> None:
    run_upgrade(empty, "0006")
    with psycopg.connect(empty, autocommit=True) as admin:
        insert_samples(admin, "0006")
        admin.execute(
            "INSERT INTO memsvc.embedding_models (name, dimensions, state) VALUES ('first', 3, 'active'), "
            "('second', 3, 'building'), ('third', 3, 'building')"
        )
        run_upgrade(empty)
        states = "SELECT name, state, paused FROM memsvc.embedding_models ORDER BY model_id"
        assert admin.execute(states).fetchall() == [
            ("a model", "retired", False), ("first", "active", False), ("second", "retired", False),
            ("third", "building", False),
        ]  # fmt: skip
        forced = "SELECT relforcerowsecurity FROM pg_class WHERE oid = 'memsvc.embedding_models'::regclass"
        assert value(admin, forced) is True


def test_the_samples_reach_every_table_of_head(at_head: str) -> None:
    with psycopg.connect(at_head, autocommit=True) as admin:
        insert_samples(admin, head_revision())


def test_an_upgrade_of_what_is_at_head_changes_nothing(at_head: str, run_upgrade: Upgrader, settings: Settings) -> None:
    make_world(at_head, settings, "upgrade")
    with psycopg.connect(at_head, autocommit=True) as admin:
        before, schema = all_rows(admin), schema_of(at_head)
        done = run_upgrade(at_head)
        assert (done.from_revision, done.to_revision, done.applied) == (head_revision(), head_revision(), ())
        assert all_rows(admin) == before
    assert schema_of(at_head) == schema


def test_an_index_that_a_killed_build_left_behind_is_built_again(empty: str, run_upgrade: Upgrader) -> None:
    run_upgrade(empty, "0004")
    valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('memsvc.passages_words')"
    with psycopg.connect(empty, autocommit=True) as admin:
        insert_samples(admin, "0004")
        # A build that dies half-way leaves an index that is kept up, but not read. An empty one would find nothing.
        admin.execute("CREATE INDEX passages_words ON memsvc.passages USING gin (user_id, tsv, tsv_simple) WHERE false")
        admin.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'memsvc.passages_words'::regclass")
        assert value(admin, valid) is False
        run_upgrade(empty)
        assert value(admin, valid) is True
        whole = "SELECT indpred IS NULL FROM pg_index WHERE indexrelid = 'memsvc.passages_words'::regclass"
        assert value(admin, whole) is True


def test_a_database_upgraded_step_by_step_with_data_is_the_one_built_at_once(
    empty: str, at_head: str, run_upgrade: Upgrader
) -> None:
    built_at_once = schema_of(at_head)
    with psycopg.connect(empty, autocommit=True) as admin:
        for revision in REVISIONS:
            if revision == REVISIONS[-1]:
                assert schema_of(empty) != built_at_once
            before = all_rows(admin) if revision != REVISIONS[0] else {}
            before.pop("applied_sql", None)
            run_upgrade(empty, revision)
            assert lost(before, all_rows(admin)) == [], revision
            admin.execute(SAMPLES.get(revision, "").encode())
        assert before["users"], "there is nothing to lose"
    assert schema_of(empty) == built_at_once


def test_make_schema_shows_what_an_upgrade_builds_on_every_server(at_head: str) -> None:
    """It builds on a server of its own, the embedded one: here the other may have more extensions."""
    shown = schema_of_head()
    assert shown == schema_of(at_head)
    assert shown.startswith("-- The schema of memsvc")
    for part in ("TABLE memsvc.passages ", "FUNCTION memsvc.recall(", "POLICY own_rows ON memsvc."):
        assert f"CREATE {part}" in shown


# Functions, views and policies --------------------------------------------------------------------------------------


def test_a_changed_file_is_applied_again_and_grants_survive(
    at_head: str, run_upgrade: Upgrader, sql_copy: Path, settings: Settings
) -> None:
    world = make_world(at_head, settings, "objects")
    schema = schema_of(at_head)
    changed = sql_copy / "functions" / "queue" / "30_jobs.sql"
    changed.write_text(changed.read_text().replace("Ids of due jobs of all users", "Due jobs of all users", 2))
    done = run_upgrade(at_head)
    assert done.applied == ("functions/queue/30_jobs.sql",)
    assert run_upgrade(at_head).applied == ()
    assert schema_of(at_head) == schema.replace("'Ids of due jobs of all users", "'Due jobs of all users")
    with psycopg.connect(login_url(at_head, APP, settings)) as app:
        app.execute("SELECT set_config('memsvc.identity', %s, true)", [world.token(world.ada)])
        assert [row[:2] for row in recall_rows(app, world.ada.user_id)] == world.found


def test_a_new_function_is_nobodys_until_it_is_granted(at_head: str, run_upgrade: Upgrader, sql_copy: Path) -> None:
    (sql_copy / "functions" / "projection" / "99_new.sql").write_text(
        "CREATE FUNCTION memsvc.brand_new() RETURNS integer LANGUAGE sql RETURN 1;"
    )
    run_upgrade(at_head)
    with psycopg.connect(at_head) as admin:
        for role in (
            "memsvc_app",
            "memsvc_reader",
            "memsvc_cypher",
            "memsvc_analyst",
            "memsvc_recall",
            "memsvc_eraser",
        ):
            assert not value(admin, "SELECT has_function_privilege(%s, 'memsvc.brand_new()', 'EXECUTE')", [role])
        noted = "SELECT count(*) FROM memsvc.applied_sql WHERE path = 'functions/projection/99_new.sql'"
        assert value(admin, noted) == 1
        (sql_copy / "functions" / "projection" / "99_new.sql").unlink()
        (sql_copy / "views" / "messages.sql").write_text(
            (sql_copy / "views" / "messages.sql").read_text() + "-- changed\n"
        )
        admin.rollback()
        run_upgrade(at_head)
        assert value(admin, noted) == 0
        assert value(admin, "SELECT to_regprocedure('memsvc.brand_new()')") is None, "no file makes it any more"


def test_a_function_whose_result_changes_is_replaced_with_what_stands_on_it(
    at_head: str, run_upgrade: Upgrader, sql_copy: Path, settings: Settings
) -> None:
    world = make_world(at_head, settings, "result")
    matching = sql_copy / "functions" / "recall" / "10_match_words.sql"
    matching.write_text(
        matching.read_text()
        .replace("matched_form text)", "matched_form text, more integer)")
        .replace(", used_form\n  FROM unnest(found_ids", ", used_form, 1\n  FROM unnest(found_ids")
    )
    run_upgrade(at_head)
    with psycopg.connect(login_url(at_head, APP, settings)) as app:
        app.execute("SELECT set_config('memsvc.identity', %s, true)", [world.token(world.ada)])
        assert [row[:2] for row in recall_rows(app, world.ada.user_id)] == world.found
        result = value(app, "SELECT pg_get_function_result('memsvc.match_words'::regproc)")
        assert str(result).endswith("more integer)")


def test_a_broken_file_changes_nothing(at_head: str, run_upgrade: Upgrader, sql_copy: Path) -> None:
    schema = schema_of(at_head)
    (sql_copy / "functions" / "queue" / "50_work.sql").write_text("DROP FUNCTION memsvc.backlog();")
    (sql_copy / "views" / "messages.sql").write_text("CREATE VIEW memsvc.messages AS SELEKT;")
    with pytest.raises(psycopg.errors.SyntaxError):
        run_upgrade(at_head)
    assert schema_of(at_head) == schema
    assert not is_current(at_head)


def test_a_policy_that_somebody_changed_comes_back_with_the_next_change(
    at_head: str, run_upgrade: Upgrader, sql_copy: Path
) -> None:
    schema = schema_of(at_head)
    with psycopg.connect(at_head, autocommit=True) as admin:
        admin.execute("ALTER POLICY own_rows ON memsvc.passages USING (true)")
        admin.execute("GRANT DELETE ON memsvc.passages TO memsvc_app")
        admin.execute("DROP POLICY candidate_rows ON memsvc.terms")
    assert schema_of(at_head) != schema
    for path in (sql_copy / "policies").glob("*.sql"):
        path.write_text(path.read_text() + "-- changed\n")
    run_upgrade(at_head)
    assert schema_of(at_head) == schema


# What an upgrade refuses --------------------------------------------------------------------------------------------


def test_another_identity_secret_is_refused_before_anything_changes(
    at_head: str, run_upgrade: Upgrader, settings: Settings, sql_copy: Path
) -> None:
    """Passwords too: else the running service would be locked out by somebody's mistake."""
    changed = sql_copy / "functions" / "queue" / "30_jobs.sql"
    changed.write_text(changed.read_text() + "-- changed\n")
    before = schema_of(at_head)
    stranger = Settings.model_validate(
        {
            "data_dir": settings.data_dir,
            "identity_secret": "somebody else's secret of 32 signs",
            "app_password": "somebody else's password",
        }
    )
    with pytest.raises(ConfigurationError, match="another identity secret"):
        run_upgrade(at_head, with_settings=stranger)
    with psycopg.connect(login_url(at_head, APP, settings)) as app:
        assert value(app, "SELECT 1") == 1
    assert schema_of(at_head) == before
    with psycopg.connect(at_head) as admin:
        assert value(admin, "SELECT count(*) FROM memsvc.identity_keys") == 1


def test_an_older_server_is_refused(empty: str, run_upgrade: Upgrader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrading, "MINIMUM_VERSION", 990_000)
    with pytest.raises(ConfigurationError, match="this server is 18"):
        run_upgrade(empty)
    with psycopg.connect(empty) as admin:
        assert value(admin, "SELECT to_regnamespace('memsvc')") is None


def test_a_server_that_is_down_is_said_so(empty: str, run_upgrade: Upgrader, tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailableError):
        run_upgrade(f"postgresql://nobody@/nothing?host={tmp_path}")
    assert not is_current(empty)


def test_every_file_below_sql_is_applied_or_named(at_head: str) -> None:
    """Nothing lies about that looks as if it had an effect."""
    top = files.folder("sql")
    known = set(object_files()) | {"prepare.sql"}
    named = {"queries", "analytics", "projection"}
    stray = [name for path in top.rglob("*.sql") if not named & {(name := str(path.relative_to(top))).split("/")[0]}]
    assert set(stray) == known


def test_words_of_signs_are_made_again_and_the_statistics_follow(
    empty: str, run_upgrade: Upgrader, settings: Settings
) -> None:
    """Revision 0019. Passages are as its predecessor wrote them: each sign a word, C++ read as C."""
    before = ScriptDirectory.from_config(alembic_config()).get_revision("0019").down_revision
    assert isinstance(before, str)
    run_upgrade(empty, before)
    insert = (
        "INSERT INTO memsvc.passages (user_id, source_id, kind, session, ordinal, role, text, said_at, said_offset, "
        "language, tsv, tsv_simple, length, length_simple) SELECT %s, %s, 'message', "
        "'signs ' || length(%s), n, 'user', %s, now(), 0, "
        "'english', %s, %s, 3, 3 FROM generate_series(1, %s) AS n"
    )
    counted = (
        "WITH p AS (SELECT * FROM memsvc.passages WHERE user_id = %(user)s AND kind = 'message'), "
        "d AS (SELECT * FROM memsvc.term_deltas WHERE user_id = %(user)s AND kind = 'message' AND form = 'stemmed') "
        "SELECT (SELECT jsonb_object_agg(t.term, t.held) FROM ("
        "SELECT u.term, count(*) AS held FROM p CROSS JOIN unnest(tsvector_to_array(p.tsv)) AS u (term) GROUP BY 1"
        ") AS t), (SELECT jsonb_object_agg(t.term, t.held) FROM (SELECT u.term, sum(u.change) AS held "
        "FROM d CROSS JOIN unnest(d.terms, d.changes) AS u (term, change) GROUP BY 1 HAVING sum(u.change) <> 0"
        ") AS t), (SELECT sum(length) FROM p), (SELECT sum(length) FROM d), "
        "(SELECT count(*) FROM p), (SELECT sum(passages) FROM d)"
    )
    with psycopg.connect(empty, autocommit=True) as admin:
        insert_samples(admin, before)
        admin.execute("DELETE FROM memsvc.term_deltas")
        for text, words, many in (
            ("去北京", "'北':2 '京':3 '去':1", 600),
            ("Use C++", "'c':2 'use':1", 1),
        ):
            admin.execute(insert.encode(), [USER, THING, text, text, words, words, many])
        for form, column, length in (("stemmed", "tsv", "length"), ("simple", "tsv_simple", "length_simple")):
            admin.execute(
                "INSERT INTO memsvc.term_deltas (user_id, kind, form, passages, length, terms, changes) "
                f"SELECT %s, 'message', %s, 1, p.{length}, tsvector_to_array(p.{column}), "
                f"array_fill(1, ARRAY[coalesce(length(p.{column}), 0)]) "
                "FROM memsvc.passages AS p WHERE user_id = %s",
                [USER, form, USER],
            )
        for _ in range(2):  # again, as after a kill: what is done counts once
            run_upgrade(empty, "0019")
            admin.execute("UPDATE memsvc.schema_version SET version_num = %s", [before])
            admin.execute("DELETE FROM memsvc.applied_sql")  # sql/ comes after all migrations
        run_upgrade(empty)
        held, told, length, length_told, passages, passages_told = (
            admin.execute(counted, {"user": USER}).fetchone() or []
        )
        assert {"去北", "北京", "京", "c++", "c"} <= set(held)
        assert (held, length, passages) == (told, length_told, passages_told)
        assert value(admin, "SELECT count(*) FROM pg_policy WHERE polname = 'words_again'") == 0
    token = Signer(settings.secret("identity_secret").encode(), 60)
    with psycopg.connect(login_url(empty, APP, settings)) as app:
        user_id = value(app, "SELECT %s::uuid", [USER])
        app.execute("SELECT set_config('memsvc.identity', %s, true)", [token.token(user_id)])
        assert [row[0] for row in recall_rows(app, user_id, "C++ programmer")] == ["Use C++"]


def test_words_of_folded_letters_are_made_again_and_the_statistics_follow(
    empty: str, run_upgrade: Upgrader, settings: Settings
) -> None:
    """Revision 0040. Passages are as PostgreSQL's own configurations make them, as its predecessor did."""
    mine = next(script for script in ScriptDirectory.from_config(alembic_config()).walk_revisions()
                if script.path.endswith("_words_folded.py"))  # fmt: skip
    before = mine.down_revision
    assert isinstance(before, str)
    run_upgrade(empty, before)
    texts = ["Ёлка стоит", "Grüße an José", "It cost 1,000 in March", "Herons wade."]
    words = (
        "UPDATE memsvc.passages AS p SET tsv = w.tsv, tsv_simple = w.simple, length = memsvc.word_count(w.tsv), "
        "length_simple = memsvc.word_count(w.simple) FROM (SELECT passage_id, to_tsvector('english', text) AS tsv, "
        "to_tsvector('simple', text) AS simple FROM memsvc.passages) AS w WHERE w.passage_id = p.passage_id"
    )
    recounted = (
        "SELECT f.form, u.term, sum(u.n) FROM (VALUES ('stemmed'), ('simple')) AS f (form) CROSS JOIN LATERAL ("
        "SELECT t.term, 1 AS n FROM memsvc.passages AS p CROSS JOIN unnest(tsvector_to_array("
        "CASE f.form WHEN 'simple' THEN p.tsv_simple ELSE p.tsv END)) AS t (term) WHERE p.kind = 'message' "
        "UNION ALL SELECT t.term, -t.change FROM memsvc.term_deltas AS d CROSS JOIN unnest(d.terms, d.changes) "
        "AS t (term, change) WHERE d.form = f.form AND d.kind = 'message' "
        "UNION ALL SELECT '', CASE f.form WHEN 'simple' THEN p.length_simple ELSE p.length END "
        "FROM memsvc.passages AS p WHERE p.kind = 'message' UNION ALL SELECT '', -d.length "
        "FROM memsvc.term_deltas AS d WHERE d.form = f.form AND d.kind = 'message') AS u "
        "GROUP BY 1, 2 HAVING sum(u.n) <> 0"
    )
    with psycopg.connect(empty, autocommit=True) as admin:
        insert_samples(admin, before)
        admin.execute("UPDATE memsvc.users SET language = 'english'")
        for table in ("terms", "corpora", "term_deltas"):
            admin.execute(f"DELETE FROM memsvc.{table}".encode())
        admin.execute(
            "INSERT INTO memsvc.passages (user_id, source_id, kind, session, ordinal, role, text, said_at, "
            "said_offset, language, tsv, tsv_simple, length, length_simple) SELECT %s, %s, 'message', 'old', n, "
            "'user', (%s::text[])[n %% 4 + 1], now(), 0, 'english', '', '', 0, 0 FROM generate_series(1, 1200) AS n",
            [USER, THING, texts],
        )
        admin.execute(words)
        admin.execute("SET plan_cache_mode = force_generic_plan")
        admin.execute(
            "INSERT INTO memsvc.term_deltas (user_id, kind, form, passages, length, terms, changes) "
            "SELECT p.user_id, p.kind, f.form, 1, f.length, tsvector_to_array(f.tsv), "
            "array_fill(1, ARRAY[length(f.tsv)]) FROM memsvc.passages AS p CROSS JOIN LATERAL (VALUES "
            "('stemmed', p.tsv, p.length), ('simple', p.tsv_simple, p.length_simple)) AS f (form, tsv, length)"
        )
        assert admin.execute(recounted.encode()).fetchall() == []
        untouched = "SELECT array_agg(DISTINCT xmin::text) FROM memsvc.passages WHERE text = 'Herons wade.'"
        old = value(admin, untouched)
        for _ in range(2):  # again, as after a kill: what is done counts once
            run_upgrade(empty)
            admin.execute("UPDATE memsvc.schema_version SET version_num = %s", [before])
            admin.execute("DELETE FROM memsvc.applied_sql")
        run_upgrade(empty)
        assert admin.execute(recounted.encode()).fetchall() == []
        assert value(admin, untouched) == old, "rows whose words stay are not written"
        again = "SELECT count(*) FROM memsvc.passages WHERE tsv <> memsvc.to_words('stemmed', language, text || '') "
        assert value(admin, again + "AND speaker = '' AND caption IS NULL") == 0
        assert value(admin, "SELECT count(*) FROM pg_policy WHERE polname = 'words_again'") == 0
    token = Signer(settings.secret("identity_secret").encode(), 60)
    with psycopg.connect(login_url(empty, APP, settings)) as app:
        user_id = value(app, "SELECT %s::uuid", [USER])
        app.execute("SELECT set_config('memsvc.identity', %s, true)", [token.token(user_id)])
        for query, text in (("елка", texts[0]), ("Jose", texts[1]), ("1000", texts[2])):
            assert recall_rows(app, user_id, query)[0][0] == text


def test_an_upgrade_keeps_what_it_prepared(at_head: str, run_upgrade: Upgrader) -> None:
    """Roles and their rights, on a database that is one of memsvc's already."""
    may = "SELECT has_schema_privilege('memsvc_eraser', 'memsvc', 'USAGE')"
    with psycopg.connect(at_head, autocommit=True) as admin:
        admin.execute("REVOKE USAGE ON SCHEMA memsvc FROM memsvc_eraser")
        assert value(admin, may) is False
        run_upgrade(at_head)
        assert value(admin, may) is True
