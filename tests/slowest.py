"""Prints which tests took longest, from pytest's JUnit files: ``python -m tests.slowest FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree as ET

SHOWN = 20


def table(reports: list[tuple[str, str]], shown: int = SHOWN) -> str:
    """The slowest tests of some runs, and how many seconds the tests of each run took together.

    Args:
        reports: the name and the JUnit XML of each run.
        shown: how many tests are listed.
    """
    took: list[tuple[float, str, str]] = []
    lines = []
    for run, xml in reports:
        tests = list(ET.fromstring(xml).iter("testcase"))
        seconds = [float(test.get("time", "0")) for test in tests]
        lines.append(f"{run}: {len(tests)} tests, {sum(seconds):.0f} s of all workers")
        named = (f"{test.get('classname', '').replace('.', '/')}.py::{test.get('name')}" for test in tests)
        took += zip(seconds, [run] * len(tests), named, strict=True)
    lines += [f"{seconds:7.1f} s  {run:<12} {name[:150]}" for seconds, run, name in sorted(took, reverse=True)[:shown]]
    return "\n".join(lines)


if __name__ == "__main__":
    files = sorted(Path(sys.argv[1]).glob("*.xml"))
    sys.stdout.write(table([(file.stem, file.read_text(encoding="utf-8")) for file in files]) + "\n")
