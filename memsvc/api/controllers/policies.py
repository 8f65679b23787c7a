"""What happens to secrets in text: a user's own choice, and that of the app."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import Controller, get, put
from litestar.di import NamedDependency
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg

from memsvc.access.policies import Policies, app_policies, set_app_policy, set_user_policy, user_policies
from memsvc.api.callers import ADMINISTRATOR, READER, WRITER, Administrator, Caller
from memsvc.api.problems import documented
from memsvc.text.policy import Treatment


class PolicyIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A policy on secrets in text."""

    kinds: Annotated[dict[str, Treatment], msgspec.Meta(max_length=20)]
    """keep, mask or refuse for key, private_key, password, card, iban and national_id; all stands for those that are
    not named. Replaces the policy before."""


class OwnPolicyController(Controller):
    """A user's own policy."""

    path = "/me/policy"
    tags = ("account",)

    @get(
        operation_id="getPolicy",
        summary="Get what happens to secrets in text",
        description="Returns which kinds of secrets are masked in what the user stores, or refused: what the service "
        "and the app demand, what the user wants, and what counts.",
        response_description="The policies.",
        responses=documented(400, 401, 403, 404, 503),
        dependencies=READER,
    )
    async def find(self, reader: NamedDependency[Caller]) -> Policies:
        """Look."""
        return await user_policies(reader.db, reader.owner)

    @put(
        operation_id="setPolicy",
        summary="Have secrets masked or refused",
        description="Replaces the user's own policy. Of each kind the strictest of the service, the app and the user "
        "counts; a kind that is named must not be laxer than the app demands (policy_laxer). Requests with keys obey "
        "it at once, those with tokens within some minutes. What is stored already stays as it is. Needs the scope "
        "write.",
        response_description="The policies.",
        responses=documented(400, 401, 403, 404, 409, 413, 415, 503),
        dependencies=WRITER,
    )
    async def set(
        self,
        data: Annotated[PolicyIn, BodyKwarg(examples=[Example(value={"kinds": {"card": "mask"}})])],
        writer: NamedDependency[Caller],
    ) -> Policies:
        """Set it."""
        return await set_user_policy(
            writer.db, writer.principal.app_id, writer.owner, data.kinds, directory=writer.home
        )


class AppPolicyController(Controller):
    """The policy of an app."""

    path = "/policy"
    tags = ("administration",)
    dependencies = ADMINISTRATOR

    @get(
        operation_id="getAppPolicy",
        summary="Get what happens to secrets in the text of all users",
        description="Returns which kinds of secrets are masked or refused in what the app's users store. Needs the "
        "scope admin.",
        response_description="The policies; own is null.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def find(self, administrator: NamedDependency[Administrator]) -> Policies:
        """Look."""
        return await app_policies(administrator.db, administrator.app_id)

    @put(
        operation_id="setAppPolicy",
        summary="Have secrets of all users masked or refused",
        description="Replaces the app's policy. Users may be stricter, never laxer. Requests with keys obey it at "
        "once, those with tokens within some minutes. What is stored already stays as it is. Needs the scope admin.",
        response_description="The policies.",
        responses=documented(400, 401, 403, 404, 413, 415, 503),
    )
    async def set(
        self,
        data: Annotated[PolicyIn, BodyKwarg(examples=[Example(value={"kinds": {"key": "mask", "card": "refuse"}})])],
        administrator: NamedDependency[Administrator],
    ) -> Policies:
        """Set it."""
        cells = [database for cell, database in await administrator.cells.all() if cell is not None]
        return await set_app_policy(administrator.db, administrator.app_id, data.kinds, cells=cells)
