"""The capacity model and the simulated year of ``bench.scale``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.scale import (
    FULL,
    OWN_SHARE,
    SOURCES,
    Growth,
    Habits,
    Machine,
    Use,
    capacity,
    measured,
    message_cost_ms,
    simulate,
)

SHORT = Growth(mean_passages=1_000, days=30)


def test_every_measured_figure_is_in_a_result_file() -> None:
    found = measured()
    assert set(SOURCES) == set(found.__slots__)
    assert all(getattr(found, name) > 0 for name in SOURCES)
    assert found.bytes_per_passage > found.vector_bytes + found.token_vector_bytes


def test_twice_the_machine_bears_twice_as_much() -> None:
    m, habits, use = measured(), Habits(), Use()
    one = capacity(m, Machine(cores=4, memory_gib=16, disk_gib=100), habits, use)
    two = capacity(m, Machine(cores=8, memory_gib=32, disk_gib=200), habits, use)
    assert two.passages == pytest.approx(2 * one.passages)
    assert two.messages_per_day == pytest.approx(2 * one.messages_per_day)
    unread = message_cost_ms(m, replace(habits, read=False))
    assert message_cost_ms(m, habits)[1] - unread[1] == pytest.approx(m.read_ms)
    # No more processor time is used in a day than there is.
    asking, behind = message_cost_ms(m, habits)
    assert one.messages_per_day * (asking + behind) <= 4 * use.processors * 86_400_000 * 1.0001


@pytest.mark.parametrize("seed", range(3))
def test_in_a_year_everybody_has_one_cell_and_no_shared_cell_is_over_its_limit(seed: int) -> None:
    year = simulate(2e6, 50_000, SHORT, seed)
    assert year.sizes.sum() == pytest.approx(2e6)
    assert ((year.cell_of >= 0) & (year.cell_of < year.cells)).all()
    assert year.overfull_days == 0
    loads = np.bincount(year.cell_of, weights=year.sizes, minlength=year.cells)
    alone = np.bincount(year.cell_of, minlength=year.cells) == 1
    assert (loads[~alone] <= FULL * 50_000 * 1.05).all()  # what grew on the last day
    large = np.flatnonzero(year.sizes > OWN_SHARE * 50_000)
    assert len(large) > 0
    assert len(set(year.cell_of[large])) == len(large), "the largest have their own cells"
    assert year.own_cells == len(large)
    assert year.moves.sum() >= len(large)
    assert year.moved.sum() > 0


def test_a_year_is_the_same_for_the_same_seed_and_a_small_service_is_one_cell() -> None:
    one, two = (simulate(2e6, 50_000, SHORT, 5) for _ in range(2))
    assert (one.cells, one.moves.tolist()) == (two.cells, two.moves.tolist())
    small = simulate(10_000, 50_000, SHORT)
    assert (small.cells, small.moves.sum()) == (1, 0)
