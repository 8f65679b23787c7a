"""A log of erasures is carried out again on those whom it means, and on nobody else."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from memsvc.access.users import Owner, add_user
from memsvc.db.engine import Database
from memsvc.erasing.again import Erased, erase_again
from memsvc.erasing.users import erase_user


async def test_a_user_who_has_the_id_of_an_erased_one_as_external_id_stays(
    db: Database, app: UUID, owner: Owner
) -> None:
    line = Erased(at=datetime.now(UTC), kind="user", subject=str(owner.user_id), app_id=app)
    await erase_user(db, app, str(owner.user_id), requested_by="tests")
    heir = (await add_user(db, app, name="Heir", external_id=str(owner.user_id))).owner
    done = await erase_again(db, [line])
    assert (done.erased, done.absent) == (0, 1)
    async with db.transaction(heir.user_id):
        pass  # would be refused for somebody who is being erased
