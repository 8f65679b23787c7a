"""Plans that are off, said in another window than the plan: the offline extractor and the graph together."""

from __future__ import annotations

import pytest

from memsvc.extract.offline.extractor import OfflineExtractor
from memsvc.extract.run import read_source
from tests.jobs.reading import Desk


@pytest.fixture(scope="module")
def extractor() -> OfflineExtractor:
    """The real one."""
    return OfflineExtractor()


async def told(desk: Desk, extractor: OfflineExtractor, *said: tuple[str, str]) -> None:
    """Read messages one by one, each of them in a conversation of its own on its day."""
    for day, text in said:
        source = await desk.say(text, conversation=day, said=f"{day}T12:00:00Z")
        await read_source(desk.db, desk.owner, source, extractor, backend="offline")


async def test_a_cancelled_move_leaves_no_home(desk: Desk, extractor: OfflineExtractor) -> None:
    await told(
        desk, extractor,
        ("2026-10-01", "My sister Lena lives in Graz."),
        ("2026-11-02", "My sister Lena is moving to Vienna next month."),
    )  # fmt: skip
    assert ("Lena lives in Vienna.", "2026", None) in desk.history()
    await told(desk, extractor, ("2026-11-12", "Lena is not moving to Vienna after all."))
    homes = [fact for fact in desk.history() if "lives in" in fact[0]]
    assert homes == [("Lena lives in Graz.", "2026", "2026"), ("Lena lives in Graz.", "2026", None)], "it goes on"
    [(gaps,)] = desk.rows(
        "SELECT count(*) FROM memsvc.edge_versions AS e JOIN memsvc.edge_versions AS n "
        "ON n.user_id = e.user_id AND n.edge_id = e.edge_id AND n.valid_from = e.valid_to "
        "WHERE e.user_id = %s AND e.recorded_to = 'infinity' AND n.recorded_to = 'infinity'"
    )
    assert gaps == 1, "the second begins when the first ends"


async def test_a_home_that_was_lived_in_is_not_taken_back(desk: Desk, extractor: OfflineExtractor) -> None:
    await told(
        desk, extractor,
        ("2025-01-05", "My sister Lena moved to Vienna in 2024."),
        ("2026-11-12", "Lena is not moving to Vienna after all."),
    )  # fmt: skip
    assert [fact[1] for fact in desk.history() if "Vienna" in fact[0]] == ["2024"]


async def test_a_destination_put_right_keeps_its_month(desk: Desk, extractor: OfflineExtractor) -> None:
    await told(
        desk, extractor,
        ("2026-11-02", "My brother Tom is going to Spain in May. Actually no, scratch that, he's going to Greece."),
    )  # fmt: skip
    assert [fact for fact in desk.history() if " in " in fact[0]] == [("Tom is in Greece.", "2027", "2027")]
