"""Two users with the same texts never see or change each other's rows, through any login; each sees its own."""

from __future__ import annotations

import pytest

from tests.sql import probes_accounts
from tests.sql.probes import PROBES
from tests.sql.world import Logins, World

assert probes_accounts.AUTHENTICATE  # its import adds its probes to the list


@pytest.mark.parametrize("name", PROBES)
def test_isolation(name: str, logins: Logins, world: World) -> None:
    PROBES[name](logins, world)
