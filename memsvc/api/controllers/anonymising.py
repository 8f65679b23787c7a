"""Anonymise users, and the numbers that stay of them: for the administrator of an app."""

from __future__ import annotations

from typing import Annotated

from litestar import Controller, get, post
from litestar.di import NamedDependency
from litestar.params import PathParameter

from memsvc.api.callers import ADMINISTRATOR, Administrator
from memsvc.api.problems import documented
from memsvc.cells.people import anonymise_user_anywhere, figures_of_app_everywhere, preview_anonymising_anywhere
from memsvc.db.paging import Page
from memsvc.erasing.anonymising import Anonymised, Figure

SECONDS = 20.0
"""Longest work of a request; workers do the rest."""
UserParameter = Annotated[
    str, PathParameter(description="The user's id or external id. If that contains a slash, use the id.")
]


class AnonymisingController(Controller):
    """Anonymising users."""

    path = "/users"
    tags = ("administration", "forgetting")
    dependencies = ADMINISTRATOR

    @get(
        "/{user:str}/figures",
        operation_id="previewAnonymising",
        summary="Preview what stays of an anonymised user",
        description="Returns the numbers by month that anonymising the user would add to those of the app. Everything "
        "else would be erased. Needs the scope admin.",
        response_description="The numbers.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def preview(self, administrator: NamedDependency[Administrator], user: UserParameter) -> Page[Figure]:
        """Count."""
        found = await preview_anonymising_anywhere(administrator.cells, administrator.app_id, user)
        return Page(items=found, next_cursor=None)

    @post(
        "/{user:str}/anonymise",
        status_code=200,
        operation_id="anonymiseUser",
        summary="Anonymise a user",
        description="Erases a user of the key's app with names, texts, vectors, documents and ids, as forgetUser does, "
        "and adds numbers by month that name nobody to those of the app. The rest of a large user is erased in the "
        "background (the receipt is pending); repeating the request continues, and adds nothing again. Needs the scope "
        "admin.",
        response_description="The receipt, and how many numbers were added.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def anonymise(self, administrator: NamedDependency[Administrator], user: UserParameter) -> Anonymised:
        """Anonymise the user."""
        return await anonymise_user_anywhere(
            administrator.cells, administrator.app_id, user, requested_by="api", seconds=SECONDS
        )


class FiguresController(Controller):
    """Numbers of anonymised users."""

    path = "/figures"
    tags = ("administration",)
    dependencies = ADMINISTRATOR

    @get(
        operation_id="listFigures",
        summary="List what stayed of anonymised users",
        description="Returns sums by month and kind over all users of the app who were anonymised, oldest first. Needs "
        "the scope admin.",
        response_description="The numbers.",
        responses=documented(400, 401, 403, 503),
    )
    async def list(self, administrator: NamedDependency[Administrator]) -> Page[Figure]:
        """Return them."""
        found = await figures_of_app_everywhere(administrator.cells, administrator.app_id)
        return Page(items=found, next_cursor=None)
