"""The web page: its files, and its sessions. They are its own door and no part of the documented API."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any

import msgspec
from litestar import Controller, Request, Response, delete, get, post
from litestar.params import BodyKwarg, FromPath

from memsvc.access import keys
from memsvc.access.page import key_for_link
from memsvc.api.callers import service_of
from memsvc.api.page import page_files
from memsvc.api.sessions import Session, begin, cookie_of, credential_of, is_linked
from memsvc.db.acting import act_as
from memsvc.errors import InvalidRequestError, NotFoundError, UnauthenticatedError

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=5_000)]


class SignIn(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Either a key or token, or the ticket of a link."""

    key: Text | None = None
    user: Text | None = None
    """Id or external id of the user, for a key that may act for several."""
    ticket: Text | None = None


def _file(request: Request[Any, Any, Any], name: str) -> Response[bytes]:
    found = page_files().get(name)
    if found is None:
        raise NotFoundError("The web page has no such file.", hint="Load the page again.")
    body, headers = found.answer(request.headers.get("accept-encoding", ""))
    return Response(body, media_type=found.media_type, headers=headers)


class PageController(Controller):
    """The page at ``/``."""

    include_in_schema = False

    @get("/", sync_to_thread=False)
    def index(self, request: Request[Any, Any, Any]) -> Response[bytes]:
        """The page itself."""
        return _file(request, "index.html")

    @get("/assets/{name:str}", sync_to_thread=False)
    def asset(self, request: Request[Any, Any, Any], name: FromPath[str]) -> Response[bytes]:
        """A script, style or picture of the page."""
        return _file(request, name if name != "index.html" else "")

    @post("/page/session")
    async def sign_in(self, request: Request[Any, Any, Any], data: Annotated[SignIn, BodyKwarg()]) -> Response[Session]:
        """Begin a session.

        Raises:
            UnauthenticatedError: the key or token is wrong.
            LinkInvalidError: the ticket is.
            UserRequiredError, UserUnknownError: the key may act for several users, and none or no such one is named.
            ForbiddenError: the key may not read.
        """
        service = service_of(request)
        if (data.key is None) == (data.ticket is None):
            raise InvalidRequestError("Send either key or ticket.", field="key")
        act_as("page")
        if data.key is not None:
            credential, user = data.key, data.user
        else:
            credential, user_id = await key_for_link(service.db, data.ticket or "", service.cells.find)
            user = str(user_id)
        (await keys.authenticate(service.db, credential, user)).require_owner("read")
        public = service.settings.public_url or str(request.url)
        session, cookie = begin(credential, linked=data.key is None, secure=public.startswith("https:"), user=user)
        return Response(session, cookies=[cookie], headers={"Cache-Control": "no-store"})

    @delete("/page/session")
    async def sign_out(self, request: Request[Any, Any, Any]) -> Response[None]:
        """End the session. A key that was made for it is revoked; a wrong one needs no answer."""
        credential, linked, cookie = credential_of(request), is_linked(request), cookie_of(request)
        answer: Response[None] = Response(None, headers={"Cache-Control": "no-store"})
        answer.delete_cookie(cookie)
        if credential and linked:
            service = service_of(request)
            with suppress(UnauthenticatedError, NotFoundError):  # it has expired, or another tab was faster
                principal = await keys.authenticate(service.db, credential, None)
                act_as("page", principal.key_id)
                await keys.revoke_key(service.db, principal.app_id, credential)
        return answer
