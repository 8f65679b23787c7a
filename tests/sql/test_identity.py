"""Who asks is proved by a signed token, for one transaction; without a right one nothing is seen, and nothing fails."""

from __future__ import annotations

import hashlib
import string
import time
from collections.abc import Iterator

import psycopg
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st
from sqlalchemy import text

from memsvc.access.users import Owner
from memsvc.db.engine import Database, role_url
from memsvc.db.identity import Signer
from memsvc.errors import ConfigurationError
from memsvc.server.upgrade import rotate_identity_key
from memsvc.settings import Settings
from tests.cluster import Cluster
from tests.examples import some_of
from tests.sql.conftest import Scratch
from tests.sql.probes import bad_tokens
from tests.sql.world import APP, CYPHER, READER, Logins, World, login_url, make_world, value

pytestmark = pytest.mark.server
COUNT = "SELECT count(*) FROM memsvc.passages"
BELIEVED = "SELECT memsvc.current_user_id()"


@pytest.fixture(scope="module")
def app_login(logins: Logins) -> Iterator[psycopg.Connection]:
    """One connection of memsvc_app for many tokens."""
    with psycopg.connect(login_url(logins.admin_url, APP, logins.settings), autocommit=True) as connection:
        yield connection


def seen_with(connection: psycopg.Connection, token: str | None) -> tuple[object, int]:
    """Whom the database believes the token to prove, and how many passages it shows; None: the setting is unset."""
    with connection.transaction():
        if token is not None:
            connection.execute("SELECT set_config('memsvc.identity', %s, true)", [token])
        return value(connection, BELIEVED), value(connection, COUNT)


def test_a_right_token_shows_its_users_rows(app_login: psycopg.Connection, world: World) -> None:
    for tenant in (world.ada, world.bob, world.eve):
        own = world.counts["passages"][tenant.user_id]
        assert seen_with(app_login, world.token(tenant)) == (tenant.user_id, own)


def test_an_unset_identity_shows_nothing(logins: Logins, world: World) -> None:
    for role in (APP, READER):
        with psycopg.connect(login_url(logins.admin_url, role, logins.settings)) as fresh:
            assert seen_with(fresh, None) == (None, 0)
    with psycopg.connect(login_url(logins.admin_url, CYPHER, logins.settings)) as fresh:
        assert value(fresh, BELIEVED) is None


@pytest.mark.parametrize(
    "wrong",
    [
        "empty", "a bare user id", "garbled", "dots only", "forged mac", "empty mac", "no mac", "a field too many",
        "a field before", "another user's id", "later expiry", "expired", "a retired key", "an unknown key",
        "a retired key's name on a good secret", "an unknown key's name on a good secret", "upper-case mac",
    ],
)  # fmt: skip
def test_a_bad_token_shows_nothing_and_is_no_error(wrong: str, app_login: psycopg.Connection, world: World) -> None:
    assert seen_with(app_login, bad_tokens(world)[wrong]) == (None, 0)


def test_all_bad_tokens_are_tested(world: World) -> None:
    [mark] = [mark for mark in test_a_bad_token_shows_nothing_and_is_no_error.pytestmark if mark.name == "parametrize"]  # type: ignore[attr-defined]
    assert set(mark.args[1]) == set(bad_tokens(world))


@hypothesis(max_examples=some_of(300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_mutated_token_is_believed(data: st.DataObject, app_login: psycopg.Connection, world: World) -> None:
    good = world.token(world.ada)
    signs = st.sampled_from([*string.hexdigits, *".-+ \t\n'\"\\%;$xé\u0661\U0001f642"])
    start = data.draw(st.integers(0, len(good)))
    stop = data.draw(st.integers(start, min(len(good), start + 70)))
    mutated = good[:start] + data.draw(st.text(signs, max_size=4) | st.just(good[start:stop] * 2)) + good[stop:]
    if mutated != good:
        assert seen_with(app_login, mutated) == (None, 0)


@hypothesis(max_examples=some_of(200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(token=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=200))
def test_no_text_is_believed_and_none_is_an_error(token: str, app_login: psycopg.Connection) -> None:
    assert seen_with(app_login, token) == (None, 0)


def test_a_token_counts_until_its_expiry(app_login: psycopg.Connection, world: World) -> None:
    short = Signer(world.signer.secret, 1)
    token = short.token(world.ada.user_id, now=time.time() + 0.5)
    assert seen_with(app_login, token)[0] == world.ada.user_id
    time.sleep(max(0.0, int(token.split(".")[1]) - time.time()) + 0.01)
    assert seen_with(app_login, token) == (None, 0)


async def test_a_token_counts_for_its_transaction_only(db: Database, cluster: Cluster, world: World) -> None:
    pool = Database(
        db.engine.url, Settings.model_validate({"identity_secret": world.signer.secret.decode()}), pool_size=1
    )
    try:
        async with pool.transaction(world.ada.user_id) as connection:
            backend = (await connection.execute(text("SELECT pg_backend_pid()"))).scalar_one()
            assert (await connection.execute(text(COUNT))).scalar_one() == world.counts["passages"][world.ada.user_id]
        async with pool.transaction() as connection:
            assert (await connection.execute(text("SELECT pg_backend_pid()"))).scalar_one() == backend
            assert (await connection.execute(text(BELIEVED))).scalar_one() is None
            assert (await connection.execute(text(COUNT))).scalar_one() == 0
        with pytest.raises(ZeroDivisionError):
            async with pool.transaction(world.ada.user_id):
                raise ZeroDivisionError
        async with pool.transaction() as connection:
            assert (await connection.execute(text(COUNT))).scalar_one() == 0
    finally:
        await pool.close()


async def test_plans_are_kept_in_a_transaction_that_asks_for_it_only(
    db: Database, cluster: Cluster, world: World
) -> None:
    pool = Database(
        db.engine.url, Settings.model_validate({"identity_secret": world.signer.secret.decode()}), pool_size=1
    )
    mode = text("SHOW plan_cache_mode")
    try:
        async with pool.transaction(world.ada.user_id, keep_plans=True) as connection:
            assert (await connection.execute(mode)).scalar_one() == "force_generic_plan"
        async with pool.transaction(world.ada.user_id) as connection:
            assert (await connection.execute(mode)).scalar_one() == "force_custom_plan"
    finally:
        await pool.close()


@pytest.mark.parametrize("role", [APP, READER])
def test_naming_another_user_without_the_secret_shows_nothing(role: str, logins: Logins, world: World) -> None:
    expiry = int(time.time()) + 3600
    claim = f"{world.bob.user_id}.{expiry}.{world.signer.key_id}"
    guesses = (
        str(world.bob.user_id),
        claim,
        f"{claim}.",
        f"{claim}.{hashlib.sha256(claim.encode()).hexdigest()}",
        f"{claim}.{world.token(world.ada).rsplit('.', 1)[1]}",
    )
    with logins.enter(role, world.token(world.ada)) as connection:
        for guess in guesses:
            connection.execute("SELECT set_config('memsvc.identity', %s, true)", [guess])
            assert (value(connection, BELIEVED), value(connection, COUNT)) == (None, 0)
        connection.execute("SELECT set_config('memsvc.identity', %s, true)", [world.token(world.ada)])
        connection.execute("SELECT set_config('memsvc.user_id', %s, true)", [str(world.bob.user_id)])
        assert value(connection, BELIEVED) == world.ada.user_id


async def test_a_process_with_another_secret_is_told_so(db: Database, owner: Owner) -> None:
    stranger = Database(
        db.engine.url, Settings.model_validate({"identity_secret": "this is not the secret of this database"})
    )
    try:
        with pytest.raises(ConfigurationError, match="does not believe"):
            async with stranger.transaction(owner.user_id):
                pytest.fail("the transaction began")
    finally:
        await stranger.close()


async def test_keys_are_rotated_without_locking_anybody_out(scratch: Scratch, settings: Settings) -> None:
    url = scratch("rotation")
    world = make_world(url, settings, "rotation")
    new = Signer(b"the new secret of the database, long enough.", 60)
    old_token, new_token = world.token(world.ada), new.token(world.ada.user_id)

    def believed(connection: psycopg.Connection) -> tuple[bool, bool]:
        return tuple(seen_with(connection, token)[0] == world.ada.user_id for token in (old_token, new_token))  # type: ignore[return-value]

    with psycopg.connect(login_url(url, APP, settings), autocommit=True) as app:
        assert believed(app) == (True, False)
        assert rotate_identity_key(url, settings, new.secret.decode(), retire_others=False) == new.key_id
        assert believed(app) == (True, True)
        rotate_identity_key(url, settings, new.secret.decode(), retire_others=True)
        assert believed(app) == (False, True)
        rotate_identity_key(url, settings, world.signer.secret.decode(), retire_others=False)  # back again
        assert believed(app) == (True, True)
    with psycopg.connect(url) as admin:
        noted = admin.execute(
            "SELECT action, subject FROM memsvc.audit_log WHERE action LIKE 'identity_key.%'"
        ).fetchall()
    assert ("identity_key.add", new.key_id) in noted
    assert ("identity_key.retire", world.signer.key_id) in noted
    assert ("identity_key.retire", world.retired.key_id) not in noted  # it was retired before
    service = Database(role_url(url, APP, settings.secret("app_password")), settings)
    async with service.transaction(world.ada.user_id) as connection:
        assert (await connection.execute(text(COUNT))).scalar_one() == world.counts["passages"][world.ada.user_id]
    await service.close()
