"""The learnt order: what each factor of recall counts, depending on what kind of query and memory it is.

``order.json`` is made by ``make train-order`` (``bench/order.py``) from our own texts, MADial and BEAM; it holds none.
A factor has a list of numbers: what it weighs, and what is added to that for each of ``TRAITS`` that holds. So points
are still value times weight, and their sum is the score.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import structlog

from memsvc.recall.options import FACTORS, Weights
from memsvc.recall.presets import HEAVIEST

FILE = Path(__file__).with_name("order.json")
FORMAT = 1
TRAITS = ("apart", "long", "plain", "wordy")
"""Traits of a query, as ``memsvc.recall`` finds them: its candidates stand alone, not in conversations; it is longer
than 200 characters; nothing is compared by meaning; the candidates are paragraphs rather than turns, with more than
40 words on average."""
log = structlog.get_logger()


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A learnt order, as the file has it."""

    format: int
    version: str
    """Which training made it; explanations name it."""
    traits: list[str]
    weights: dict[str, list[float]]
    """Factor -> what it weighs, and what each trait adds."""
    card: dict[str, Any]
    """What it was trained on, how, and what it is worth."""


def _fault(order: Order) -> str | None:
    if order.format != FORMAT or order.traits != list(TRAITS):
        return "it is of another version of memsvc"
    if unknown := order.weights.keys() - FACTORS.keys():
        return f"there is no factor {min(unknown)!r}"
    numbers = [number for row in order.weights.values() for number in row]
    rows = all(len(row) == 1 + len(TRAITS) for row in order.weights.values())
    if not rows or not all(math.isfinite(number) and abs(number) <= HEAVIEST for number in numbers):
        return "its weights are not valid"
    return None


def read(path: Path) -> Order | None:
    """An order file; None, with a warning, where it is missing or cannot be used: then the linear order counts."""
    try:
        order = msgspec.json.decode(path.read_bytes(), type=Order)
    except (OSError, msgspec.DecodeError) as error:
        log.warning("no learnt order", file=path.name, error=type(error).__name__)
        return None
    if fault := _fault(order):
        log.warning("no learnt order", file=path.name, error=fault)
        return None
    return order


@cache
def shipped() -> Order | None:
    """The order that comes with memsvc."""
    return read(FILE)


def counting(chosen: Weights) -> str:
    """Which learnt order counts beside what a caller chose; empty: none, as all is chosen or there is no order."""
    order = shipped()
    return order.version if order is not None and order.weights.keys() - chosen.keys() else ""


def weights(chosen: Weights, order: Order | None) -> Mapping[str, float | Sequence[float]]:
    """What ``memsvc.recall`` is given as weights: what a caller chose, and what was learnt for all else."""
    return {**(order.weights if order else {}), **chosen}
