"""Each secret of a service is replaced as docs/configuration.md says: the new one works, and the old one no longer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from pydantic import SecretStr

from memsvc.access.keys import Principal, authenticate, create_key, issue_jwt, revoke_key
from memsvc.access.users import Owner, add_user, app_id
from memsvc.db.engine import Database, role_url
from memsvc.errors import DatabaseUnavailableError, UnauthenticatedError
from memsvc.feeds.feeds import push_secret
from memsvc.server import embedded
from memsvc.server.locate import located
from memsvc.server.upgrade import rotate_identity_key, upgrade
from memsvc.settings import Settings
from tests.acceptance.test_embedded import FAST, folder_for_all
from tests.sql.conftest import Scratch
from tests.sql.world import APP, PASSWORDS, login_url

pytestmark = pytest.mark.slow


@pytest.fixture
def data() -> Iterator[Path]:
    """A data folder that the server's user can reach."""
    with folder_for_all() as base:
        yield base / "data"


def test_passwords_of_all_logins_are_replaced_and_open_connections_go_on(
    data: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a server of its own, because logins belong to a whole server."""
    monkeypatch.setattr(Settings, "embedded_options", FAST)
    old = settings.model_copy(update={"data_dir": data, "database_url": None})
    new = old.model_copy(update={name: SecretStr(f"another-{name}") for name in PASSWORDS.values()})
    with located(old) as url:
        upgrade(url, old)
        held = {login: psycopg.connect(login_url(url, login, old), autocommit=True) for login in PASSWORDS}
        upgrade(url, new)
        for login, connection in held.items():
            assert connection.execute("SELECT session_user").fetchone() == (login,)
            connection.close()
            with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
                psycopg.connect(login_url(url, login, old))
            with psycopg.connect(login_url(url, login, new)) as again:
                assert again.execute("SELECT session_user").fetchone() == (login,)


async def test_with_the_identity_secret_what_is_derived_from_it_is_replaced(
    scratch: Scratch, settings: Settings
) -> None:
    url = scratch("rotated")
    fresh = settings.model_copy(update={"identity_secret": SecretStr("a new identity secret, which is long enough")})
    password = settings.secret("app_password")
    before, after = (Database(role_url(url, APP, password), one) for one in (settings, fresh))
    try:
        app = await app_id(before, "rotations")
        user = (await add_user(before, app, name="Ada")).owner
        key = await create_key(before, app, user_id=user.user_id)
        token = issue_jwt(before, Principal(app, frozenset({"read"}), user), user, 900)
        with pytest.raises(Exception, match="identity tokens"):
            await write(after, user)
        rotate_identity_key(url, fresh, fresh.secret("identity_secret"), retire_others=False)
        for service in (before, after):  # while both are valid, processes with either go on
            await write(service, user)
            assert (await authenticate(service, key, None)).owner is not None
        with pytest.raises(UnauthenticatedError):
            await authenticate(after, token, None)
        assert (await authenticate(before, token, None)).owner is not None
        feed, salt = uuid4(), b"salt"
        assert push_secret(before, feed, salt) != push_secret(after, feed, salt)
        rotate_identity_key(url, fresh, fresh.secret("identity_secret"), retire_others=True)
        await write(after, user)
        assert (await authenticate(after, key, None)).owner is not None, "keys do not depend on it"
        with pytest.raises(Exception, match="identity tokens"):
            await write(before, user)
    finally:
        await before.close()
        await after.close()


async def write(db: Database, user: Owner) -> None:
    async with db.transaction(user.user_id):
        pass


async def test_a_key_is_replaced_without_a_moment_in_which_none_works(db: Database) -> None:
    app = await app_id(db, f"keys-{uuid4()}")
    user = await add_user(db, app, name="Ada")
    old = await create_key(db, app, user_id=user.user_id)
    new = await create_key(db, app, user_id=user.user_id)
    for key in (old, new):
        assert (await authenticate(db, key, None)).bound_user_id == user.user_id
    await revoke_key(db, app, old)
    assert (await authenticate(db, new, None)).bound_user_id == user.user_id
    with pytest.raises(UnauthenticatedError):
        await authenticate(db, old, None)


def test_the_administrator_of_an_embedded_server_gets_a_new_password(data: Path) -> None:
    with embedded.running(data, options=FAST) as server:
        old = server.conninfo()
        with psycopg.connect(old, autocommit=True) as admin:
            verifier = admin.pgconn.encrypt_password(b"another one", server.superuser.encode(), b"scram-sha-256")
            admin.execute(
                sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(server.superuser), verifier.decode())
            )
        secret = data / "superuser.secret"
        owner = secret.stat()
        secret.write_text("another one")
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(old)
    assert (secret.stat().st_mode & 0o777, secret.stat().st_uid) == (0o600, owner.st_uid)
    with embedded.running(data, options=FAST) as server, psycopg.connect(server.conninfo()) as admin:
        assert admin.execute("SELECT 1").fetchone() == (1,)


async def test_a_process_with_an_old_password_is_told_and_loses_nothing(scratch: Scratch, settings: Settings) -> None:
    service = Database(role_url(scratch("wrong"), APP, "an old password"), settings)
    try:
        with pytest.raises(DatabaseUnavailableError, match="refuses memsvc's login"):
            async with service.transaction():
                pass
    finally:
        await service.close()
