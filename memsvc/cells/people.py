"""Users of all cells: adding them by the cells' weights, and erasing them wherever they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import reduce
from uuid import UUID

import msgspec
from sqlalchemy import text

from memsvc.access.users import User, add_user, find_user, list_users, new_user, seed
from memsvc.cells.budgets import bring_limits, take_limits
from memsvc.cells.directory import Cells, naming
from memsvc.db.acting import sign
from memsvc.db.engine import Database
from memsvc.db.epochs import at_epoch
from memsvc.db.files import query
from memsvc.db.once import Once
from memsvc.erasing.anonymising import Anonymised, Figure, begin_anonymising, figures_of_app, preview_anonymising
from memsvc.erasing.memories import Receipt
from memsvc.erasing.users import Progress, erase_user, preview_user, user_erasure
from memsvc.errors import AlreadyExistsError, NotFoundError, UserMovingError, UserUnknownError
from memsvc.text.storable import check_storable

FIRST_EPOCH = 1
"""Of a user who is added to another cell than the home: tokens without an epoch are not for such users."""
NEW_ID = text("SELECT uuidv7()")
APP = text("SELECT memsvc.name_of_app(:app), memsvc.app_policy(:app)")
MOVING = text("SELECT memsvc.is_moving(:user_id)")
VALUES = ":app, :user_id, :external, :name, :zone, :language"
SETTLE = query("settle_user")
LIST = text(f"SELECT memsvc.list_user({VALUES}, CAST(:cell AS smallint))")


async def add_user_somewhere(
    cells: Cells,
    app: UUID,
    *,
    name: str,
    external_id: str | None = None,
    aliases: Sequence[str] = (),
    time_zone: str = "UTC",
    language: str = "english",
    once: Once | None = None,
) -> User:
    """Add a user to one of the cells, by their weights; arguments and errors as ``memsvc.access.users.add_user``.

    The user is added to the cell first and to the directory then. If this is killed in between, the cell has a user
    whom nobody knows: the same request lists that user, and 'memsvc cells doctor' names it.

    Raises:
        DatabaseUnavailableError, OverloadedError: the directory or the chosen cell does not answer; nobody is known.
    """
    asked = new_user(name=name, external_id=external_id, aliases=aliases, time_zone=time_zone, language=language)
    cell = await cells.for_new_user()
    for user in await list_users(cells.home, app, ref=asked.external_id, limit=2) if cells.are_several else ():
        if user.external_id == asked.external_id:
            return await _known(await cells.find(user.user_id), user, once)
    if cell is None:
        return await add_user(
            cells.home, app, name=name, external_id=external_id, aliases=aliases, time_zone=time_zone,
            language=language, once=once,
        )  # fmt: skip
    there = cells.opened(cell)
    async with cells.home.transaction() as home, there.transaction() as connection:
        # The app's limits cannot change in the home before the cell has them, too.
        app_name, policy = (await home.execute(APP, {"app": app})).one()
        limits = await take_limits(home, app)
        await sign(connection)
        user_id: UUID = (await connection.execute(NEW_ID)).scalar_one()
        at_epoch(user_id, FIRST_EPOCH)
        values = {
            "app": app, "app_name": app_name, "user_id": user_id, "external": asked.external_id, "name": asked.name,
            "zone": asked.time_zone, "language": asked.language, "epoch": FIRST_EPOCH, "cell": cell.cell_id,
            "policy": msgspec.json.encode(policy).decode(),
        }  # fmt: skip
        settled: UUID | None = (await connection.execute(SETTLE, values)).scalar_one()
        await bring_limits(connection, app, limits)
        if settled == user_id:
            await seed(there, connection, user_id, asked, once)
    if settled is None:  # being erased
        raise AlreadyExistsError(f"This app already has a user {asked.external_id!r}.")
    async with cells.home.transaction() as connection:
        await sign(connection)
        listed: bool = (await connection.execute(LIST, {**values, "user_id": settled})).scalar_one()
    if not listed:  # somebody was faster
        known = await find_user(cells.home, app, asked.external_id)
        if known.user_id != settled == user_id:
            await erase_user(there, app, str(user_id), requested_by="cells")
        raise AlreadyExistsError(f"This app already has a user {asked.external_id!r}.")
    return await find_user(cells.home, app, str(settled))


async def _known(db: Database, user: User, once: Once | None) -> User:
    """The user, if the same request added it before.

    Raises:
        AlreadyExistsError: another request did.
    """
    if once is not None:
        async with db.transaction(user.user_id) as connection:
            if await once.answer(connection, user.user_id) is not None:
                return user
    raise AlreadyExistsError(f"This app already has a user {user.external_id!r}.")


async def preview_user_anywhere(cells: Cells, app: UUID, ref: str) -> dict[str, int]:
    """Do ``memsvc.erasing.users.preview_user`` wherever the user is."""
    check_storable(ref, "user")
    there = await cells.find((await find_user(cells.home, app, ref)).user_id)
    return await preview_user(there, app, ref)


async def erase_user_anywhere(
    cells: Cells,
    app: UUID,
    ref: str,
    *,
    requested_by: str,
    seconds: float | None = None,
    on_progress: Progress | None = None,
) -> Receipt:
    """Do ``memsvc.erasing.users.erase_user`` wherever the user is: in the user's cell first, and then in the directory.

    A cell whose rows are not all erased in time goes on by itself. If this is killed between the two, nobody can act
    for the user any more, and a repeated call finishes.

    Raises:
        UserMovingError: the user is on the way to another cell.
    """
    check_storable(ref, "user")
    with suppress(UserUnknownError):  # not in the directory, or being erased there, so it is marked in the cell, too
        user = await find_user(cells.home, app, ref)
        there = await cells.find(user.user_id)
        if there is not cells.home:
            await _check_stays(cells, user.user_id)
            ref = str(user.user_id)
            await erase_user(there, app, ref, requested_by=requested_by, seconds=seconds, on_progress=on_progress)
    receipt = await erase_user(
        cells.home, app, ref, requested_by=requested_by, seconds=seconds, on_progress=on_progress
    )
    return await user_erasure_anywhere(cells, app, receipt.subject_id)


async def _check_stays(cells: Cells, user_id: UUID) -> None:
    """Check that no move of a user is under way, not even one whose mover was killed.

    Raises:
        UserMovingError: there is one.
    """
    async with cells.home.transaction() as connection:
        if (await connection.execute(MOVING, {"user_id": user_id})).scalar_one():
            raise UserMovingError(hint="Try again when the move is over, or end it by 'memsvc user move'.")


async def preview_anonymising_anywhere(cells: Cells, app: UUID, ref: str) -> list[Figure]:
    """Do ``memsvc.erasing.anonymising.preview_anonymising`` wherever the user is."""
    check_storable(ref, "user")
    there = await cells.find((await find_user(cells.home, app, ref)).user_id)
    return await preview_anonymising(there, app, ref)


async def anonymise_user_anywhere(
    cells: Cells, app: UUID, ref: str, *, requested_by: str, seconds: float | None = None
) -> Anonymised:
    """Do ``memsvc.erasing.anonymising.anonymise_user`` wherever the user is; the numbers stay in that cell."""
    check_storable(ref, "user")
    try:
        user_id = (await find_user(cells.home, app, ref)).user_id
    except UserUnknownError:  # it may have been begun: then erasing continues
        added = 0
    else:
        there = await cells.find(user_id)
        await _check_stays(cells, user_id)
        added, ref = 0, str(user_id)
        with suppress(UserUnknownError):  # begun in the cell, and killed before it was begun in the directory
            added = await begin_anonymising(there, app, user_id, requested_by=requested_by)
    receipt = await erase_user_anywhere(cells, app, ref, requested_by=requested_by, seconds=seconds)
    return Anonymised(receipt=receipt, added=added)


async def figures_of_app_everywhere(cells: Cells, app: UUID) -> list[Figure]:
    """Return the sums over all users of an app who were anonymised, of all cells."""
    sums = Counter[tuple[date, str, str]]()
    for _, db in await cells.all():
        for one in await figures_of_app(db, app):
            sums[one.month, one.what, one.kind] += one.number
    return [
        Figure(month=month, what=what, kind=kind, number=number) for (month, what, kind), number in sorted(sums.items())
    ]


async def user_erasure_anywhere(cells: Cells, app: UUID, user_id: UUID) -> Receipt:
    """The receipts of a user's erasure in all cells, as one.

    Raises:
        NotFoundError: no user of the app with this id was ever erased.
        DatabaseUnavailableError: a cell does not answer, so nobody knows whether it is done there.
    """
    found: list[Receipt] = []
    for cell, db in await cells.all():
        with suppress(NotFoundError), naming(cell):
            found.append(await user_erasure(db, app, user_id))
    if not found:
        raise NotFoundError("No user with this id was ever erased.")
    return reduce(_together, found)


def _together(one: Receipt, other: Receipt) -> Receipt:
    done = "pending" not in (one.state, other.state)
    ends = [end for end in (one.finished_at, other.finished_at) if end is not None]
    return msgspec.structs.replace(
        one,
        state="done" if done else "pending",
        counts=_sums(one.counts, other.counts),
        created_at=min(one.created_at, other.created_at),
        finished_at=max(ends) if done else None,
        verified=bool(one.verified and other.verified) if done else None,
        leftovers=_sums(one.leftovers, other.leftovers),
    )


def _sums(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted((Counter(one) + Counter(other)).items()))
