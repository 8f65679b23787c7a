"""What happened, in order, for clients that ask; and tickets for those that listen."""

from __future__ import annotations

import time
from typing import Annotated, Any

from litestar import Controller, Request, get, post
from litestar.di import NamedDependency
from litestar.params import QueryParameter

from memsvc.access.tickets import Ticket, issue_ticket
from memsvc.api.callers import READER, Caller
from memsvc.api.live import Hub
from memsvc.api.parameters import PageSize
from memsvc.api.problems import documented
from memsvc.graph.events import EventPage, end_of, page_behind, place_of

LONGEST_WAIT_S = 30


class EventsController(Controller):
    """Events."""

    path = "/events"
    tags = ("live",)
    dependencies = READER

    @get(
        operation_id="listEvents",
        summary="Read what happened",
        description="Events of the user's memory behind a cursor, oldest first: ids of what came in, changed, was "
        "erased or was recalled, never texts. A cursor is always given, so that one goes on from there: nothing is "
        "left out and nothing comes twice. What a writer stores who commits late is told when it commits. With `wait`, "
        "an empty answer is held back until something happens. `/ws` sends the same as it happens, with what it means "
        "for the graph.",
        response_description="Events.",
        responses=documented(400, 401, 403, 404, 410, 429, 503),
    )
    async def list(
        self,
        *,
        request: Request[Any, Any, Any],
        reader: NamedDependency[Caller],
        cursor: Annotated[
            str | None,
            QueryParameter(
                description="next_cursor of the page before, or a cursor of an event; 'now' for what comes from here "
                "on. Left out: from the beginning of what is kept."
            ),
        ] = None,
        limit: PageSize = 100,
        wait: Annotated[
            int, QueryParameter(ge=0, le=LONGEST_WAIT_S, description="Seconds to wait where nothing is there.")
        ] = 0,
    ) -> EventPage:
        """Read them."""
        db, user_id, hub = reader.db, reader.owner.user_id, request.app.state["live"]
        assert isinstance(hub, Hub)  # noqa: S101 - put there when the app begins
        place = await place_of(db, cursor, reader.settings.keep_events_days)
        found = await page_behind(db, user_id, place, limit)
        over = time.monotonic() + wait
        if found.items or not wait:
            return found
        with hub.present(), hub.listening(user_id, place, await end_of(db)) as subscription:
            while not found.items and time.monotonic() < over:
                async for _ in hub.messages(user_id, subscription, over - time.monotonic()):
                    break
                found = await page_behind(db, user_id, place, limit)
        return found


class LiveController(Controller):
    """Tickets."""

    path = "/live"
    tags = ("live",)
    dependencies = READER

    @post(
        "/ticket",
        status_code=200,
        operation_id="makeTicket",
        summary="Make a ticket for a socket",
        description="A ticket opens `/ws?ticket=…` once, within half a minute, for this user: browsers cannot send a "
        "key with a WebSocket, and a key does not belong into an address. The connection lasts as long as a token "
        "would.",
        response_description="The ticket.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def ticket(self, reader: NamedDependency[Caller]) -> Ticket:
        """Make it."""
        return issue_ticket(reader.db, reader.owner)
