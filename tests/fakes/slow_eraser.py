"""Erases a conversation in batches of 40: a process for a test to kill. Arguments: user, conversation."""

from __future__ import annotations

import asyncio
import sys
from uuid import UUID

from memsvc.access.users import Owner
from memsvc.db.engine import Database
from memsvc.erasing import memories as erase
from memsvc.server.locate import app_url
from memsvc.settings import settings


async def main() -> None:
    """Erase until the end."""
    erase.BATCH = 40
    chosen = settings()
    assert chosen.database_url is not None
    db = Database(app_url(chosen.database_url.get_secret_value(), chosen), chosen)
    owner = Owner(UUID(sys.argv[1]), "Ada", "UTC", "english")
    await erase.erase(db, owner, "source", UUID(sys.argv[2]), requested_by="tests")
    await db.close()


if __name__ == "__main__":
    asyncio.run(main())
