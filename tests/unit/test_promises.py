"""Open loops: which words promise something, and which end it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from memsvc.lessons.promises import Said, open_loops

BEGIN = datetime(2026, 3, 2, 18, tzinfo=UTC)
PROMISE = "I'll send the signed lease to Bettina tomorrow."


def _loops(*texts: str | tuple[str, str], days: float = 30) -> list[str]:
    """What is left open of what was said, a message each day."""
    said = [("Marcel", one) if isinstance(one, str) else one for one in texts]
    messages = [
        Said(UUID(int=place + 1), speaker, text, BEGIN + timedelta(days=place))
        for place, (speaker, text) in enumerate(said)
    ]
    return [one.promise for one in open_loops(messages, BEGIN + timedelta(days=days), ZoneInfo("UTC"))]


@pytest.mark.parametrize(
    "text",
    [
        PROMISE, "I have to renew the passport before the trip.", "Remind me to call the plumber about the boiler.",
        "We need to order new tyres for the van.", "Ich muss noch die Steuererklärung für Oma abgeben.",
        "Nice evening! I'm going to repaint the garden fence this spring. See you.",
    ],
)  # fmt: skip
def test_a_promise_is_open_until_somebody_says_that_it_was_done(text: str) -> None:
    assert len(_loops(text, "The weather is lovely here.")) == 1
    assert _loops(text, "The weather is lovely here.")[0] in text or "(" in _loops(text)[0]


@pytest.mark.parametrize(
    "text",
    [
        "I'll be at the station.", "Will you send the lease to Bettina?", "I have to say the lease looks fine.",
        "I'll let you know about the lease tomorrow.", "If it rains I'll cancel the barbecue with Jonas.",
        "She sends the lease to Bettina.", "I'll see.", "",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_promise_is_none(text: str) -> None:
    assert _loops(text) == []


@pytest.mark.parametrize(
    ("later", "left"),
    [
        ("I sent the lease to Bettina, signed twice.", 0), ("The lease for Bettina is done and posted.", 0),
        ("I still need to send the signed lease to Bettina.", 2), ("Bettina's lease is on the table.", 1),
        (("Ines", "I sent the lease to Bettina."), 1),
    ],
)  # fmt: skip
def test_only_words_of_doing_by_the_same_person_end_it(later: str | tuple[str, str], left: int) -> None:
    assert len(_loops(PROMISE, later)) == left


def test_a_promise_for_a_day_is_open_after_that_day_and_has_its_date() -> None:
    assert _loops(PROMISE, days=1) == []
    assert _loops(PROMISE, days=3) == ["I'll send the signed lease to Bettina tomorrow (3 March)."]
