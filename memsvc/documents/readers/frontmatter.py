"""Frontmatter of Markdown files: a strict subset of YAML, because the full language needs a library and has surprises.

Taken are ``key: value`` and lists (``[a, b]``, or lines that begin with "- "). Whatever else stands there is counted
and kept out of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from memsvc.documents.blocks import Reading, clean, one_line

FENCE = "---"
MOST_LINES = 200
KEY = re.compile(r"([A-Za-z][\w .-]{0,60}?)\s*:(?:\s+(.*))?")
ENTRY = re.compile(r"\s*-\s+(.+)")
NAMES = {"date": "created", "created_at": "created", "updated": "modified", "lastmod": "modified", "lang": "language"}
LISTED = {"tags": "tags", "tag": "tags", "keywords": "tags", "categories": "tags"}
MOST_VALUES = 100
MOST_CHARS = 1_000


@dataclass(slots=True)
class Frontmatter:
    """What stands in front of a text."""

    body: str
    """The text after it."""
    lines: int = 0
    """Lines before the body; 0: there is no frontmatter."""
    values: dict[str, str | list[str]] = field(default_factory=dict)
    """By keys in lower case."""
    not_understood: int = 0
    """Lines that the subset of YAML does not have."""


def take(text: str, reading: Reading) -> tuple[str, int]:
    """Take frontmatter from a text into the metadata.

    Returns:
        The text after it, and the number of lines before that.
    """
    found = split(text)
    if found.not_understood:
        reading.odd["frontmatter lines not understood"] += found.not_understood
    for name, value in list(found.values.items())[:MOST_VALUES]:
        _tell(name, value, reading)
    return found.body, found.lines


def split(text: str) -> Frontmatter:
    """Split a text from its frontmatter; what cannot be frontmatter stays in the body."""
    if not text.startswith(f"{FENCE}\n"):
        return Frontmatter(text)
    lines = text.split("\n", MOST_LINES + 2)
    ends = [number for number, line in enumerate(lines[1 : MOST_LINES + 1], 1) if line.rstrip() in {FENCE, "..."}]
    if not ends or not all(_may_stand(line) for line in lines[1 : ends[0]]):
        return Frontmatter(text)
    found = Frontmatter("\n".join(lines[ends[0] + 1 :]), ends[0] + 1)
    _keep(lines[1 : ends[0]], found)
    return found


def _may_stand(line: str) -> bool:
    """Whether a line can be of frontmatter; a rule at a text's beginning may precede prose."""
    return not line.strip() or line[0] in " \t-#" or KEY.fullmatch(line) is not None or line.startswith(("'", '"', "]"))


def _keep(lines: list[str], into: Frontmatter) -> None:
    values = into.values
    key = ""
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        entry = ENTRY.fullmatch(line)
        begun = values.get(key, "") if key else None
        if entry is not None and begun is not None and (begun == "" or isinstance(begun, list)):
            values[key] = [*(begun or []), _scalar(entry[1])]
            continue
        found = KEY.fullmatch(line)
        if found is None or not _is_simple(found[2] or ""):
            into.not_understood += 1
            key = ""
            continue
        key = found[1].strip().lower()
        values[key] = _value(found[2] or "")


def _is_simple(value: str) -> bool:
    """Whether a value is a scalar or a flat list: no block, anchor, alias, tag or mapping."""
    value = value.strip()
    return not value.startswith(("|", ">", "&", "*", "!", "{", "%", "@", "`")) and not (
        value.startswith("[") and (not value.endswith("]") or "[" in value[1:] or "{" in value)
    )


def _value(value: str) -> str | list[str]:
    value = value.strip()
    if value.startswith("["):
        return [text for part in value[1:-1].split(",") if (text := _scalar(part))]
    return _scalar(value)


def _scalar(value: str) -> str:
    value = value.strip()
    for quote in ('"', "'"):
        if len(value) > 1 and value.startswith(quote) and value.endswith(quote):
            return one_line(clean(value[1:-1]))[:MOST_CHARS]
    return one_line(clean(value.split(" #", 1)[0]))[:MOST_CHARS]


def _tell(name: str, value: str | list[str], reading: Reading) -> None:
    if name in LISTED:
        reading.tags(",".join(value) if isinstance(value, list) else value)
    elif isinstance(value, list):
        if value:
            reading.metadata.setdefault(name, value[:MOST_VALUES])
    else:
        reading.tell(NAMES.get(name, name), value)
