"""Events in order, for clients that poll, and tickets for clients that listen on a socket."""

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
from memsvc.graph.events import EventPage, end_of, page_after, position_of

LONGEST_WAIT_S = 30


class EventsController(Controller):
    """Events."""

    path = "/events"
    tags = ("live",)
    dependencies = READER

    @get(
        operation_id="listEvents",
        summary="List events",
        description="Lists the events of the user's memory after a cursor, oldest first: ids of what was stored, "
        "changed, erased or recalled, never texts. Each answer has a next_cursor, even without events. Continue from "
        "it: no event is missing and none comes twice. Events of a transaction that commits late appear when it "
        "commits. With `wait`, an empty answer is delayed until an event occurs. `/ws` sends the same events as they "
        "occur, with the changed nodes and edges.",
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
                description="next_cursor of the last page, the cursor of an event, or 'now' for only new events. Left "
                "out: from the oldest event that is kept."
            ),
        ] = None,
        limit: PageSize = 100,
        wait: Annotated[
            int, QueryParameter(ge=0, le=LONGEST_WAIT_S, description="How many seconds to wait if there are no events.")
        ] = 0,
    ) -> EventPage:
        """Read them."""
        db, user_id, hub = reader.db, reader.owner.user_id, request.app.state["live"].of(reader.db)
        assert isinstance(hub, Hub)  # noqa: S101 - set when the app starts
        position = await position_of(db, cursor, reader.settings.keep_events_days, user_id)
        found = await page_after(db, user_id, position, limit)
        over = time.monotonic() + wait
        if found.items or not wait:
            return found
        with hub.present(), hub.listening(user_id, position, await end_of(db)) as subscription:
            while not found.items and time.monotonic() < over:
                async for _ in hub.messages(user_id, subscription, over - time.monotonic()):
                    break
                found = await page_after(db, user_id, position, limit)
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
        description="Makes a ticket that opens `/ws?ticket=…` once, within 30 seconds, for this user. Browsers cannot "
        "send a key with a WebSocket, and a key does not belong in a URL. The connection lasts as long as a token "
        "would.",
        response_description="The ticket.",
        responses=documented(400, 401, 403, 404, 503),
    )
    async def ticket(self, reader: NamedDependency[Caller]) -> Ticket:
        """Make it."""
        return issue_ticket(reader.db, reader.owner)
