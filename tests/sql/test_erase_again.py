"""A log of erasures is carried out again on those whom it means, and on nobody else."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from memsvc.access.users import Owner, add_user
from memsvc.db.engine import Database
from memsvc.erasing.again import Erased, erase_again, without
from memsvc.erasing.users import erase_user
from memsvc.errors import BadFileError


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


def test_a_mistake_is_left_out_by_its_own_id_and_a_wrong_id_is_refused() -> None:
    mistaken, meant, message = (str(uuid4()) for _ in range(3))
    log = [
        Erased(at=datetime.now(UTC), kind="message", subject=message, user_id=UUID(mistaken)),
        Erased(at=datetime.now(UTC), kind="user", subject=mistaken, app_id=uuid4()),
        Erased(at=datetime.now(UTC), kind="user", subject=meant, app_id=uuid4()),
    ]
    assert [line.subject for line in without(log, [f" {mistaken.upper()}"])] == [message, meant]
    assert without(log, []) == log
    for wrong in (str(uuid4()), mistaken[:-1], ""):
        with pytest.raises(BadFileError, match="Nothing was erased"):
            without(log, [mistaken, wrong])
