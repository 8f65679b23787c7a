"""Two users with the same texts never see or change each other's rows, through any login; each sees its own."""

from __future__ import annotations

import pytest

from memsvc.settings import Settings
from tests.sql import (
    probes_accounts,
    probes_audit,
    probes_erase,
    probes_erase_users,
    probes_graph,
    probes_late,
    probes_llm,
    probes_nights,
    probes_ontology,
    probes_recalls,
    probes_work,
)
from tests.sql.conftest import Scratch
from tests.sql.probes import PROBES
from tests.sql.world import Logins, World, make_world

pytestmark = [pytest.mark.server, pytest.mark.slow]

assert probes_accounts.AUTHENTICATE  # their import adds their probes to the list
assert probes_audit.ACTS
assert probes_work.DUE
assert probes_graph.READS
assert probes_ontology.TABLES
assert probes_erase.BEGIN
assert probes_erase_users.MARK
assert probes_recalls.TOP
assert probes_llm.SPENT
assert probes_late.KEEP
assert probes_nights.LOOKS


@pytest.fixture(scope="module")
def place(scratch: Scratch, settings: Settings) -> tuple[Logins, World]:
    """A database of its own: some probes count over all users, and models belong to a whole database."""
    url = scratch("isolation")
    return Logins(url, settings), make_world(url, settings, "isolation")


@pytest.mark.parametrize("name", PROBES)
def test_isolation(name: str, place: tuple[Logins, World]) -> None:
    PROBES[name](*place)
