"""The directory: which cell has a user's memory, and the databases of all cells, as one process sees them.

The home (``MEMSVC_DATABASE_URL``) has all keys, and a row for each user. The row says in which cell the user's memory
is. Every request with a key reads its key there anyway, and the same statement says where the user is, so nothing is
cached that could be wrong. A JWT says where its user was when it was made; if there are several cells, the directory is
asked, and if it does not answer, the token is believed. The cell refuses a user who has left it, by the epoch in the
identity token. Without other cells all of this costs nothing but a look at the list of cells now and then.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import Context
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text

from memsvc.access.keys import Principal
from memsvc.access.users import HOME, Place
from memsvc.db.engine import Database, role_url
from memsvc.db.epochs import at_epoch
from memsvc.errors import (
    DatabaseTooOldError,
    DatabaseUnavailableError,
    InvalidRequestError,
    MemsvcError,
    OverloadedError,
    UserMovingError,
    UserUnknownError,
)
from memsvc.settings import Settings

PLACE = text("SELECT cell_id, epoch, moving FROM memsvc.place_of_user(:user_id)")
CELLS = text("SELECT cell_id, name, url, weight FROM memsvc.all_cells()")
FRESH_S = 10.0
"""How long a process goes by the list of cells that it has read."""
LOOK_EVERY_S = 0.05
"""How often a request of a moving user asks whether the move is over."""
PATIENCE_S = 10.0
"""How long transactions in a cell that is gone, or at another address, may go on."""
NO_ANSWER = (DatabaseUnavailableError, OverloadedError)


@dataclass(frozen=True, slots=True)
class Cell:
    """A database of this deployment."""

    cell_id: int
    """0: the home."""
    name: str
    url: str
    """Without a login; empty: the home."""
    weight: int
    """Its share of new users, relative to the other cells."""


THE_HOME = Cell(HOME.cell_id, "home", "", 1)


def open_cell(
    cell: Cell, settings: Settings, *, home: Database | None = None, pool_size: int | None = None
) -> Database:
    """The database of a cell with the application's login, which all cells share; nothing connects yet.

    A cell has no pooler and no replicas of the home's settings; a pooler may stand in the cell's URL.

    Args:
        cell: not the home.
        settings: the secrets.
        home: has the keys, and stays open longer than the result; None: nothing is counted.
        pool_size: the most connections; None: as the settings say.
    """
    own = settings.model_copy(update={"pooler_url": None, "replica_urls": None, "home_url": None})
    opened = Database(role_url(cell.url, "memsvc_app", settings.secret("app_password")), own, pool_size=pool_size)
    if home is not None:
        opened.accounts = home.accounts
    return opened


async def list_cells(home: Database) -> list[Cell]:
    """All cells, the home first.

    Raises:
        DatabaseUnavailableError, OverloadedError: the directory does not answer.
    """
    async with home.statement() as connection:
        return [Cell(**row) for row in (await connection.execute(CELLS)).mappings()]


async def find_place(home: Database, user_id: UUID) -> tuple[Place, bool]:
    """Where a user is, and whether the user is moving.

    Raises:
        UserUnknownError: there is no such user.
        DatabaseUnavailableError, OverloadedError: the directory does not answer.
    """
    async with home.statement() as connection:
        row = (await connection.execute(PLACE, {"user_id": user_id})).one_or_none()
    if row is None:
        raise UserUnknownError
    return Place(row.cell_id, row.epoch), row.moving


@asynccontextmanager
async def at_place_of(home: Database, settings: Settings, user_id: UUID) -> AsyncIterator[Database]:
    """The database with a user's memory, for one command.

    Raises:
        UserUnknownError: there is no such user.
        UserMovingError: the user is on the way to another cell.
        DatabaseUnavailableError: the directory does not know the cell, or does not answer.
    """
    place, moving = await find_place(home, user_id)
    if moving:
        raise UserMovingError
    at_epoch(user_id, place.epoch)
    if place.cell_id == HOME.cell_id:
        yield home
        return
    opened = open_cell(_named(await list_cells(home), place.cell_id), settings, home=home, pool_size=3)
    try:
        yield opened
    finally:
        await opened.close()


def _named(cells: Sequence[Cell], cell_id: int) -> Cell:
    found = next((cell for cell in cells if cell.cell_id == cell_id), None)
    if found is None:
        raise DatabaseUnavailableError("The directory does not know this user's cell.", hint="See 'memsvc cells list'.")
    return found


@contextmanager
def naming(cell: Cell | None, *, hint: str = "") -> Iterator[None]:
    """Say which cell (None: the home) does not answer, if it does not in this block.

    Raises:
        DatabaseUnavailableError: it does not.
    """
    name = "home" if cell is None else cell.name
    try:
        yield
    except NO_ANSWER as error:
        raise DatabaseUnavailableError(f"The cell {name} does not answer.", hint=hint, cell=name) from error


class Cells:
    """The databases of all cells, each opened when the first of its users comes. Belongs to one event loop."""

    def __init__(self, home: Database, settings: Settings, now: Callable[[], float] = time.monotonic) -> None:
        """Begin with the home alone; nothing is read yet. ``now`` counts seconds."""
        self.home = home
        self._settings = settings
        self._now = now
        self._cells: list[Cell] = []
        self._read_at = -FRESH_S
        """When the last try to read the list began."""
        self._known_at = -FRESH_S
        """When the list was last read."""
        self._reading: asyncio.Task[None] | None = None
        self._open: dict[int, tuple[str, Database]] = {}
        self._closing: dict[asyncio.Task[None], Database] = {}

    async def database(self, principal: Principal) -> Database:
        """The database with the memory of the user for whom somebody acts; without a user, the home.

        From then on the running task's identity tokens say the user's epoch. A user who is moving is waited for.

        Raises:
            UserMovingError: the move takes longer than ``MEMSVC_MOVE_PATIENCE_S``.
            DatabaseUnavailableError: the directory does not know the cell.
            OverloadedError: the directory does not answer.
        """
        self._read_soon()
        owner, place = principal.owner, principal.place
        if owner is None:
            return self.home
        moving = principal.moving
        if principal.by_token and self.are_several:
            with suppress(*NO_ANSWER):
                place, moving = await find_place(self.home, owner.user_id)
        if moving:
            place = await self._arrived(owner.user_id)
        return await self.at(owner.user_id, place)

    async def find(self, user_id: UUID) -> Database:
        """The database with a user's memory, as ``database`` does it.

        Raises:
            UserUnknownError: there is no such user.
            UserMovingError, DatabaseUnavailableError, OverloadedError: as ``database``.
        """
        _, db = await self.find_with_place(user_id)
        return db

    async def find_with_place(self, user_id: UUID) -> tuple[Place, Database]:
        """Where a user is, and the database with the user's memory; raises what ``find`` raises."""
        place = await self.place_of(user_id)
        return place, await self.at(user_id, place)

    async def place_of(self, user_id: UUID, believed: Place | None = None) -> Place:
        """Where a user is. A user who is moving is waited for.

        Args:
            user_id: the user.
            believed: where the user was lately, which is believed of another cell than the home if the directory does
                not answer.

        Raises:
            UserUnknownError: there is no such user.
            UserMovingError, DatabaseUnavailableError, OverloadedError: as ``database``.
        """
        self._read_soon()
        try:
            place, moving = await find_place(self.home, user_id)
        except NO_ANSWER:
            if believed is None or believed.cell_id == HOME.cell_id:
                raise
            return believed
        return await self._arrived(user_id) if moving else place

    async def for_new_user(self) -> Cell | None:
        """The cell of the next new user, by the cells' weights; None: the home.

        Raises:
            DatabaseUnavailableError, OverloadedError: the directory does not answer.
        """
        await self.read()
        weights = [cell.weight for cell in self._cells]
        if not self.are_several or not any(weights):
            return None
        chosen = random.choices(self._cells, weights)[0]  # noqa: S311 - no secret
        return chosen if chosen.cell_id != HOME.cell_id else None

    async def all(self) -> list[tuple[Cell | None, Database]]:
        """All databases, the home (None) first.

        Raises:
            DatabaseUnavailableError, OverloadedError: the directory does not answer.
        """
        others = [cell for cell in await self.known() if cell.cell_id != HOME.cell_id]
        return [(None, self.home), *((cell, self.opened(cell)) for cell in others)]

    async def known(self) -> Sequence[Cell]:
        """All cells, the home first.

        Raises:
            DatabaseUnavailableError, OverloadedError: the directory does not answer.
        """
        if self._now() - self._known_at >= FRESH_S:
            await self.read()
        return self._cells or [THE_HOME]

    async def named(self, name: str) -> Database:
        """The database of a cell.

        Args:
            name: of the cell; home: the database with the keys.

        Raises:
            InvalidRequestError: there is no such cell.
            DatabaseUnavailableError, OverloadedError: the directory does not answer.
        """
        if all(cell.name != name for cell in await self.known()):
            await self.read()  # it may be new
        cell = next((cell for cell in await self.known() if cell.name == name), None)
        if cell is None:
            raise InvalidRequestError(f"There is no cell {name[:40]!r}.", hint="'memsvc cells list'.", field="cell")
        return self.home if cell.cell_id == HOME.cell_id else self.opened(cell)

    @property
    def are_several(self) -> bool:
        """Whether there is another cell than the home, as far as is known."""
        return len(self._cells) > 1

    async def at(self, user_id: UUID, place: Place) -> Database:
        """The database of a place. From then on the running task's identity tokens say the user's epoch.

        Raises:
            DatabaseUnavailableError, OverloadedError: the directory does not know the cell, or does not answer.
        """
        at_epoch(user_id, place.epoch)
        if place.cell_id == HOME.cell_id:
            return self.home
        if all(cell.cell_id != place.cell_id for cell in self._cells):
            await self.read()
        return self.opened(_named(self._cells, place.cell_id))

    async def _arrived(self, user_id: UUID) -> Place:
        """Wait until a user's move is over; where the user is then."""
        until = self._now() + self._settings.move_patience_s
        while True:
            place, moving = await find_place(self.home, user_id)
            if not moving:
                return place
            if self._now() >= until:
                raise UserMovingError(retry_after=1)
            await asyncio.sleep(LOOK_EVERY_S)

    def opened(self, cell: Cell) -> Database:
        """The database of a cell other than the home."""
        url, db = self._open.get(cell.cell_id, ("", None))
        if db is not None and url == cell.url:
            return db
        self._leave(cell.cell_id)
        opened = open_cell(cell, self._settings, home=self.home)
        self._open[cell.cell_id] = cell.url, opened
        return opened

    def _leave(self, cell_id: int) -> None:
        """Close a cell's database, and what was opened for it, in the background."""
        _, db = self._open.pop(cell_id, ("", None))
        if db is not None:
            task = asyncio.create_task(db.close(patience_s=PATIENCE_S), context=Context())
            self._closing[task] = db
            task.add_done_callback(self._closing.pop)

    def _read_soon(self) -> None:
        """Read the list of cells again in the background, if it is old."""
        if self._now() - self._read_at >= FRESH_S and (self._reading is None or self._reading.done()):
            self._read_at = self._now()
            self._reading = asyncio.create_task(self._try_to_read())

    async def _try_to_read(self) -> None:
        with suppress(MemsvcError):
            await self.read()

    async def read(self) -> None:
        """Read the list of cells now. What was opened for a cell that is gone, or is at another address, is closed.

        Raises:
            DatabaseUnavailableError, OverloadedError: the directory does not answer.
        """
        try:
            self._cells = await list_cells(self.home)
        except DatabaseTooOldError:  # a database that knows no cells, for as long as an upgrade takes
            self._cells = []
        else:
            urls = {cell.cell_id: cell.url for cell in self._cells}
            for cell_id in [one for one, (url, _) in self._open.items() if urls.get(one) != url]:
                self._leave(cell_id)
        self._read_at = self._known_at = self._now()

    async def close(self) -> None:
        """Close the databases of all cells but the home, which its opener closes."""
        if self._reading is not None:
            self._reading.cancel()
            with suppress(asyncio.CancelledError):
                await self._reading
        for _, db in self._open.values():
            await db.close()
        for task, db in list(self._closing.items()):
            await db.close()  # ends the task's patience
            await task


class Followed:
    """The database of one user, for a process that acts for that user as long as it lives."""

    def __init__(self, cells: Cells, user_id: UUID) -> None:
        """Ask nothing yet."""
        self._cells = cells
        self._user_id = user_id
        self._place: Place | None = None

    async def __call__(self) -> Database:
        """Ask the directory where the user is now; the database that has the user's memory.

        A user who is moving is waited for. If the directory does not answer, a user of another cell is where the user
        was before.

        Raises:
            UserUnknownError: there is no such user any more.
            UserMovingError, DatabaseUnavailableError, OverloadedError: as ``Cells.database``.
        """
        self._place = await self._cells.place_of(self._user_id, self._place)
        return await self._cells.at(self._user_id, self._place)
