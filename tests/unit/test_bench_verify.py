"""The claims of the bench fit their histories, and their figures say what they are worth; no database."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import msgspec
import pytest

from bench.days import OPEN, read
from bench.harness import Outcome
from bench.verify import OPEN_CLAIMS, GoldClaim, Judged, add_figures, check_claims, read_claims, stems
from memsvc.errors import ConfigurationError

CLAIM = GoldClaim("01-leipzig-autumn", "2026-10-25T20:30:00+01:00", "Emil is allergic.", "supported", ["01-t003"])


def test_the_open_claims_fit_their_histories() -> None:
    claims, histories = read_claims(OPEN_CLAIMS), dict(zip(stems(OPEN), read(OPEN), strict=True))
    check_claims(claims, histories)
    assert Counter(one.verdict for one in claims) == {"supported": 10, "contradicted": 10, "unknown": 10}


@pytest.mark.parametrize(
    "wrong",
    [{"evidence": []}, {"evidence": ["01-t999"]}, {"verdict": "unknown"}, {"asked_at": "2026-10-18T00:00:00+02:00"}],
)
def test_claims_that_cannot_be_right_are_refused(wrong: dict[str, object]) -> None:
    histories = dict(zip(stems(OPEN), read(OPEN), strict=True))
    check_claims([CLAIM], histories)
    with pytest.raises(ConfigurationError):
        check_claims([msgspec.structs.replace(CLAIM, **wrong)], histories)


def test_to_know_nothing_has_its_accuracy_and_decides_nothing() -> None:
    silent = [
        Judged(CLAIM, "unknown", 1.0),
        Judged(msgspec.structs.replace(CLAIM, verdict="unknown", evidence=[]), "unknown", 1.0),
    ]
    outcome = Outcome("verify")
    add_figures(silent, outcome)
    assert outcome.figures["accuracy"] == outcome.figures["base.accuracy"] == 0.5
    assert (outcome.figures["decided"], outcome.figures["given.supported"]) == (0, 0)
    wrong = Outcome("verify")
    add_figures([silent[0], replace(silent[1], verdict="supported")], wrong)
    assert (wrong.figures["given.supported"], wrong.figures["wrong.supported"]) == (1, 1)
