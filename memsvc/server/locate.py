"""Locates the database: the embedded server, which runs while a process needs it, or the configured one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from memsvc.db.engine import role_url
from memsvc.errors import ConfigurationError
from memsvc.server import embedded
from memsvc.server.before_upgrade import backed_up, settle
from memsvc.server.upgrade import is_current, upgrade
from memsvc.settings import Settings

DATABASE = "memsvc"


@contextmanager
def located(settings: Settings) -> Iterator[str]:
    """The administrator's URL of memsvc's database.

    The embedded server runs (at least) until the block ends, and its database is made on first use.

    Raises:
        EmbeddedServerError: the embedded server is missing or does not start.
        ConfigurationError: MEMSVC_DATABASE_URL is not a URL.
    """
    if settings.database_url is not None:
        yield _checked(settings.database_url.get_secret_value())
        return
    with embedded.running(settings.data_dir, options=settings.embedded_options) as server:
        with psycopg.connect(server.conninfo(), autocommit=True) as connection:
            if connection.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
                connection.execute("CREATE DATABASE memsvc TEMPLATE template0")
        yield server.conninfo(database=DATABASE)


def _checked(url: str) -> str:
    """The URL, if both libraries that use it can read it; their own errors would show the password."""
    try:
        make_url(url)
        conninfo_to_dict(url)
    except (ValueError, ArgumentError, psycopg.ProgrammingError):
        raise ConfigurationError(
            "MEMSVC_DATABASE_URL cannot be read as a URL.",
            hint="It looks like postgresql://login:password@host:5432/database; signs such as @ and / in the password "
            "are written as %40 and %2F.",
        ) from None
    return url


@contextmanager
def ready(settings: Settings, report: Callable[[str], None] = lambda _line: None) -> Iterator[str]:
    """Like ``located``, but also upgrades the embedded database if necessary, after a backup if its tables change.

    An external database is never upgraded implicitly: its operator runs 'memsvc db upgrade'.
    """
    with located(settings) as admin_url:
        if settings.embedded and is_current(admin_url, settings):
            settle(settings)
        elif settings.embedded:
            with backed_up(admin_url, settings, report):
                upgrade(admin_url, settings, report=report)
        yield admin_url


def app_url(admin_url: str, settings: Settings) -> URL:
    """The URL of the same database with the application's login."""
    return role_url(admin_url, "memsvc_app", settings.secret("app_password"))
