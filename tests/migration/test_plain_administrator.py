"""Managed servers have no superuser for us: a role with CREATEROLE that owns the database is enough."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

from memsvc.server.upgrade import is_current, upgrade
from memsvc.settings import Settings
from tests.cluster import Cluster

pytestmark = [pytest.mark.server, pytest.mark.slow]

LOGIN, PASSWORD, DATABASE = "memsvc_test_plain", "plain-administrator", "memsvc_test_managed"
ROLES = (
    "memsvc_owner",
    "memsvc_recall",
    "memsvc_eraser",
    "memsvc_watchdog",
    "memsvc_app",
    "memsvc_reader",
    "memsvc_cypher",
    "memsvc_analyst",
)


@pytest.fixture
def plain_url(cluster: Cluster, template: str) -> Iterator[str]:
    """URL of a login as managed servers give it, in a database of its own with the extensions made by the provider."""
    assert template, "the roles exist: as their creator, the login below has the admin option on them"
    drop = (sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(DATABASE)),)
    for statement in (*drop, sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(LOGIN))):
        cluster.execute(statement)
    cluster.execute(
        sql.SQL("CREATE ROLE {} LOGIN CREATEROLE PASSWORD {}").format(sql.Identifier(LOGIN), sql.Literal(PASSWORD))
    )
    for role in ROLES:
        cluster.execute(sql.SQL("GRANT {} TO {} WITH ADMIN OPTION").format(sql.Identifier(role), sql.Identifier(LOGIN)))
    cluster.execute(
        sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE template0").format(*map(sql.Identifier, (DATABASE, LOGIN)))
    )
    for extension in ("vector", "pg_trgm", "btree_gin", "btree_gist", "unaccent"):
        cluster.execute(sql.SQL("CREATE EXTENSION {}").format(sql.Identifier(extension)), DATABASE)
    yield (
        make_url(cluster.admin_url(DATABASE))
        .set(username=LOGIN, password=PASSWORD)
        .render_as_string(hide_password=False)
    )
    for statement in (*drop, sql.SQL("DROP OWNED BY {}").format(sql.Identifier(LOGIN))):
        cluster.execute(statement)
    cluster.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(LOGIN)))


def test_an_administrator_without_superuser_can_upgrade(plain_url: str, settings: Settings) -> None:
    assert not is_current(plain_url)
    upgrade(plain_url, settings)
    assert is_current(plain_url)
    assert upgrade(plain_url, settings).applied == ()
    app = make_url(plain_url).set(username="memsvc_app", password=settings.secret("app_password"))
    with psycopg.connect(app.render_as_string(hide_password=False)) as connection:
        assert connection.execute("SELECT memsvc.find_app('nobody')").fetchone() == (None,)
