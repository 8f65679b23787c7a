"""What a service does with its process."""

from __future__ import annotations

import gc
from unittest.mock import AsyncMock

from memsvc.cli.service import warm


async def test_what_the_start_made_is_not_looked_through_for_garbage() -> None:
    models = AsyncMock()
    models.ready.side_effect = lambda _: model.append([])
    model: list[list[object]] = []
    assert gc.get_freeze_count() == 0
    try:
        await warm(AsyncMock(), models)
        assert gc.get_freeze_count() > 0
        assert not any(one is model for one in gc.get_objects())
    finally:
        gc.unfreeze()
