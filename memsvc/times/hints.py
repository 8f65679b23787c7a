"""Hints of order in a text: whether it asks for the first or the last of something."""

from __future__ import annotations

import re
from typing import Literal

Order = Literal["first", "last"]

STRONG: dict[str, Order] = {
    **dict.fromkeys(("first", "earliest", "originally", "initially", "zuerst", "erstmals", "anfangs"), "first"),
    **dict.fromkeys(("erste", "ersten", "erstes"), "first"),
    **dict.fromkeys(
        ("last", "latest", "newest", "most", "zuletzt", "neueste", "neuesten", "neuester", "neuestes"), "last"
    ),
    **dict.fromkeys(("letzte", "letzten", "letztes"), "last"),
}
WEAK: dict[str, Order] = dict.fromkeys(
    (
        "currently",
        "current",
        "now",
        "still",
        "nowadays",
        "presently",
        "aktuell",
        "derzeit",
        "momentan",
        "jetzt",
        "noch",
    ),
    "last",
)
"""They ask for what is true now; a strong hint has priority."""
HINTS = STRONG.keys() | WEAK.keys()

_NAMELY = (
    "name|names|aid|of all|class|place|floor|grade|prize|person|lady|language|sight|hand|degree|rate|come|drafts?|"
    "thing in the morning"
)
_LASTING = (
    "long|longer|for|until|till|forever|more|less|about|only|through|into|over|as|name|names|minute|resort|straw|but|"
    "season|second|seconds|a|an|all|nights?|weeks?|weekends?|months?|quarter|years?|\\w{3,6}days?|may|june|july|august|"
    "september|october|november|december|january|february|march|april|spring|summer|autumn|winter|fall"
)
NOT_SO = {
    "first": re.compile(rf" (?:{_NAMELY})\b"),
    "last": re.compile(rf"(?! [^\W\d_])| (?:{_LASTING})\b"),
    "most": re.compile(r"(?! recent(?:ly)?\b)"),
    "now": re.compile(r" (?:that|and then|and again)\b"),
    "still": re.compile(r" (?:life|lifes|water)\b"),
    **dict.fromkeys(("erste", "ersten", "erstes", "letzte", "letzten", "letztes"), re.compile(r"(?! mal\b)")),
}
"""What follows these words if they mean something else."""
NOT_AFTER = {
    "last": {"at", "to", "will", "would", "can", "could", "second"},
    "now": {"", "by", "until", "till", "from", "just"},
    "still": {"stand", "sit", "keep", "hold", "lie", "stay", "standing", "sitting"},
    "most": {"at"},
}
"""What precedes them in that case; "": nothing."""

FIRST_SIGNS = re.compile(r"第一次|最初|首次|初めて|はじめて")
LAST_SIGNS = re.compile(r"最后一次|最後一次|最近一次|最新|目前|现在|現在|最後に|最後の")


def order_at(low: str, word: str, stop: int, front: str) -> tuple[Order, bool] | None:
    """Return what a word that ends at ``stop`` asks for, and whether it is a strong hint."""
    order = STRONG.get(word) or WEAK.get(word)
    pattern = NOT_SO.get(word)
    if order is None or (pattern and pattern.match(low, stop)) or front in NOT_AFTER.get(word, ()):
        return None
    if word == "latest" and low.startswith("at the ", max(stop - len("at the latest"), 0)):
        return None
    if word == "noch" and front != "immer":
        return None
    return order, word in STRONG


def order_of_signs(text: str) -> Order | None:
    """Return the order that a Chinese or Japanese text asks for."""
    if FIRST_SIGNS.search(text):
        return "first"
    return "last" if LAST_SIGNS.search(text) else None
