"""The audit log, the use of keys by day, and what a key may do: for the administrator of an app."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated
from uuid import UUID

import msgspec
from litestar import Controller, get, put
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg, FromPath, QueryParameter

from memsvc.access.audit import MAX_DAYS, Act, ActFilters, KeyDay, key_use, list_acts
from memsvc.access.keys import Key, Scope, get_key, rescope_key
from memsvc.api.callers import ADMINISTRATOR, Administrator
from memsvc.api.parameters import CursorParameter, PageSize, begin_of
from memsvc.api.problems import documented
from memsvc.db.paging import Page


class ScopesIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What a key may do."""

    scopes: Annotated[tuple[Scope, ...], msgspec.Meta(min_length=1, max_length=5)]
    """Any of read, write, forget, enroll and admin."""


class AuditController(Controller):
    """The audit log."""

    path = "/audit"
    tags = ("administration",)
    dependencies = ADMINISTRATOR

    @get(
        operation_id="listActs",
        summary="List the audit log",
        description="Lists who did what, newest first: users added and erased, keys made, changed and revoked, "
        "memories erased, exports and imports, jobs retried, schedules set, and what was done to the whole service "
        "(models, secrets, restores). The log has ids and counts, and no text. Needs the scope admin.",
        response_description="One page of acts.",
        responses=documented(400, 401, 403, 503),
    )
    async def list(
        self,
        administrator: NamedDependency[Administrator],
        *,
        actor: Annotated[
            str | None,
            QueryParameter(description="Only acts by this key (its id), or through this door: api, page, cli."),
        ] = None,
        action: Annotated[
            str | None, QueryParameter(description="Only this action, such as key.revoke, or its first word: key.")
        ] = None,
        user: Annotated[UUID | None, QueryParameter(description="Only acts on the user with this id.")] = None,
        since: Annotated[date | None, QueryParameter(description="The first day (UTC).")] = None,
        until: Annotated[date | None, QueryParameter(description="The last day (UTC).")] = None,
        cursor: CursorParameter = None,
        limit: PageSize = 50,
    ) -> Page[Act]:
        """Return one page."""
        filters = ActFilters(
            actor=actor, action=action, user_id=user, since=_midnight(since), until=_midnight(until, days=1)
        )
        before = begin_of(cursor, None)
        return await list_acts(administrator.db, administrator.app_id, filters, before=before, limit=limit)


def _midnight(day: date | None, *, days: int = 0) -> datetime | None:
    """The moment at which a day (UTC) begins, or one some days later; None if there is none."""
    if day is None:
        return None
    try:
        return datetime.combine(day + timedelta(days=days), time(), UTC)
    except OverflowError:  # after the last day that there is
        return None


class KeyUseController(Controller):
    """The use of keys, and their scopes."""

    path = "/keys"
    tags = ("administration",)
    dependencies = ADMINISTRATOR

    @get(
        "/use",
        operation_id="listKeyUse",
        summary="List the use of keys",
        description="Returns how many requests the app's keys made on each day (UTC), with their tokens, newest first. "
        "Each process writes down what it counted once a minute. Needs the scope admin.",
        response_description="Days and keys with requests.",
        responses=documented(400, 401, 403, 503),
    )
    async def use(
        self,
        administrator: NamedDependency[Administrator],
        key: Annotated[str | None, QueryParameter(description="Only the key with this id.")] = None,
        days: Annotated[int, QueryParameter(ge=1, le=MAX_DAYS, description="How many days, today included.")] = 30,
    ) -> Page[KeyDay]:
        """Write down what this process counted, then look."""
        if administrator.use is not None:
            await administrator.use.flush()
        found = await key_use(administrator.db, administrator.app_id, key_id=key, days=days)
        return Page(items=found, next_cursor=None)

    @put(
        "/{key_id:str}/scopes",
        operation_id="setKeyScopes",
        summary="Set what a key may do",
        description="Sets the scopes of a key, with immediate effect. Tokens made from it keep theirs for some "
        "minutes. Needs the scope admin.",
        response_description="The key.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
    )
    async def rescope(
        self,
        data: Annotated[ScopesIn, BodyKwarg(examples=[Example(value={"scopes": ["read"]})])],
        administrator: NamedDependency[Administrator],
        key_id: FromPath[str],
    ) -> Key:
        """Set them."""
        await rescope_key(administrator.db, administrator.app_id, key_id, data.scopes)
        return await get_key(administrator.db, administrator.app_id, key_id)
