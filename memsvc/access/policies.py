"""Read and set the policy on secrets in text, of an app and of a user; ``memsvc/text/policy.py`` applies it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import TextClause, text

from memsvc.access.users import Owner, policy_for
from memsvc.db.acting import sign
from memsvc.db.engine import Database
from memsvc.db.files import query
from memsvc.errors import NotFoundError, PolicyLaxerError, UserUnknownError
from memsvc.text.policy import TREATMENTS, Policy, Treatment, policy_of

APP_POLICY = text("SELECT memsvc.app_policy(:app)")
SET_USER = text("SELECT memsvc.set_user_policy(:app, :user_id, CAST(:policy AS jsonb))")
SET_APP = text("SELECT memsvc.set_app_policy(:app, CAST(:policy AS jsonb))")


class Policies(msgspec.Struct, frozen=True, kw_only=True):
    """What happens to secrets in text, by kind: keep, mask or refuse. Of several policies the strictest counts."""

    service: dict[str, Treatment]
    """What the service demands of all apps."""
    app: dict[str, Treatment]
    """What the app demands of all its users."""
    own: dict[str, Treatment] | None
    """What the user wants; null: of an app."""
    applied: dict[str, Treatment]
    """What counts."""


async def app_policies(db: Database, app: UUID) -> Policies:
    """Return the policy of an app.

    Raises:
        NotFoundError: there is no such app.
    """
    async with db.transaction() as connection:
        stored = (await connection.execute(APP_POLICY, {"app": app})).scalar_one()
    if stored is None:
        raise NotFoundError("There is no such app.")
    return _policies(db, stored, None)


async def set_app_policy(
    db: Database, app: UUID, treatments: Mapping[str, str], *, cells: Sequence[Database] = ()
) -> Policies:
    """Replace the policy of an app; kinds that are not named are kept.

    Requests with keys obey it at once, those with tokens within ``jwt_ttl_s``, jobs from their next beginning on. What
    is stored already stays as it is.

    Args:
        db: the database with the app's keys.
        app: the app.
        treatments: keep, mask or refuse by kind.
        cells: databases of other cells, whose jobs obey it, too.

    Raises:
        InvalidRequestError: there is no such kind or treatment.
        NotFoundError: there is no such app.
    """
    written = _written(policy_of(treatments))
    if not await _set(db, SET_APP, {"app": app, "policy": written}):
        raise NotFoundError("There is no such app.")
    for cell in cells:  # the app may have no user there yet
        await _set(cell, SET_APP, {"app": app, "policy": written})
    return await app_policies(db, app)


async def user_policies(db: Database, owner: Owner) -> Policies:
    """Return the policies that count for a user."""
    async with db.transaction(owner.user_id) as connection:
        row = (await connection.execute(query("find_policies"), {"user_id": owner.user_id})).one()
    return _policies(db, row.app_policy, row.own_policy)


async def set_user_policy(
    db: Database, app: UUID, owner: Owner, treatments: Mapping[str, str], *, directory: Database | None = None
) -> Policies:
    """Replace a user's own policy; kinds that are not named are left to the app. It counts as ``set_app_policy`` says.

    Args:
        db: the database with the user's memory.
        app: the user's app.
        owner: the user.
        treatments: keep, mask or refuse by kind.
        directory: the database with the app's keys, if it is another one: requests take the policy from it.

    Raises:
        InvalidRequestError: there is no such kind or treatment.
        PolicyLaxerError: a kind that is named would be treated less strictly than the app demands.
        UserUnknownError: the app has no such user.
    """
    wanted = policy_of(treatments)
    demanded = await app_policies(directory or db, app)
    least = policy_of(demanded.service).stricter(policy_of(demanded.app)).told()
    rank = TREATMENTS.index
    laxer = [kind for kind, how in wanted.told().items() if kind in treatments and rank(how) < rank(least[kind])]
    if laxer:
        raise PolicyLaxerError(f"The app treats {', '.join(laxer)} more strictly.", kinds=laxer)
    values = {"app": app, "user_id": owner.user_id, "policy": _written(wanted)}
    for place in (db, directory) if directory is not None and directory is not db else (db,):
        if not await _set(place, SET_USER, values):
            raise UserUnknownError
    return await user_policies(db, owner)


async def _set(db: Database, statement: TextClause, values: Mapping[str, Any]) -> bool:
    async with db.transaction() as connection:
        await sign(connection)
        return bool((await connection.execute(statement, values)).scalar_one())


def _policies(db: Database, app: Mapping[str, str], own: Mapping[str, str] | None) -> Policies:
    return Policies(
        service=db.policy.told(),
        app=policy_of(app).told(),
        own=policy_of(own).told() if own is not None else None,
        applied=policy_for(db, app, own).told(),
    )


def _written(policy: Policy) -> str:
    return msgspec.json.encode({kind: how for kind, how in policy.told().items() if how != "keep"}).decode()
