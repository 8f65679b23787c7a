"""Messages that call a plan off change what was said of it."""

from __future__ import annotations

import pytest

from memsvc.recall.changes import may_have_moved


@pytest.mark.parametrize(
    ("earlier", "later", "changed"),
    [
        ("Lena is moving to Vienna in May.", "Lena is not moving to Vienna after all.", True),
        ("Lena is moving to Vienna in May.", "She isn't moving to Vienna after all.", True),
        ("Lena is moving to Vienna in May.", "Lena likes Vienna after all.", False),
        ("The picnic is at noon.", "We called the picnic off.", True),
        ("Das Picknick ist um zwölf.", "Das Picknick ist ins Wasser gefallen.", True),
        ("Die Reise nach Rom ist im Mai.", "Die Reise ist geplatzt.", True),
        ("Die Reise nach Rom ist im Mai.", "Die Reise ist bezahlt.", False),
    ],
)
def test_a_plan_that_is_called_off(earlier: str, later: str, changed: bool) -> None:
    assert may_have_moved(earlier, later) == changed
