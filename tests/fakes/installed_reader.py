"""An extractor that real processes find by its entry point, as they find one from a package that somebody installed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from memsvc.extract.registry import ENTRY_POINTS
from memsvc.settings import Settings
from tests.fakes.extractors import SayingExtractor

NAME = "saying"
SLOW = "SAYING_SLOW_S"
VERSION, WITHOUT = "SAYING_VERSION", "SAYING_WITHOUT"
REPOSITORY = Path(__file__).resolve().parents[2]


def reader(_settings: Settings) -> SayingExtractor:
    """What the entry point names; of that version, blind to that type and as slow as the environment says."""
    made = SayingExtractor(f"saying/{os.environ.get(VERSION, '1')}", slow_s=float(os.environ.get(SLOW, "0")))
    made.without = frozenset(os.environ.get(WITHOUT, "").split())
    return made


def install(folder: Path, *, slow_s: float = 0.0) -> Mapping[str, str]:
    """Make a package that has nothing but the entry point; the variables with which a process finds it."""
    package = folder / "saying-1.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: saying\nVersion: 1\n")
    (package / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\n{NAME} = {__name__}:reader\n")
    return {"PYTHONPATH": os.pathsep.join([str(folder), str(REPOSITORY)]), SLOW: str(slow_s)}
