"""Why a memory was chosen, in one line for people and prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memsvc.graph.draw import one_line
from memsvc.recall.kinds import KINDS, KNOWN, Kind

WORDS_SHOWN = 8
NAME_CHARS = 60
STRONGEST = 2
MOST_PHRASES = 4
LEAST_POINTS = 0.05
"""What gave less is no reason."""
LEAST_POINTS_AROUND = 0.25
"""The same for what stands around a memory."""
AT_THE_TIME = 0.99
NO_REASON = "among the nearest that there is"
PHRASES: Mapping[str, tuple[float, str]] = {
    "nearby": (LEAST_POINTS_AROUND, "the turns beside it speak of it"),
    "nearby_vector": (LEAST_POINTS_AROUND, "the turns beside it are near in meaning"),
    "order": (LEAST_POINTS, "stands where you asked: first or last"),
    "recency": (LEAST_POINTS, "recent"),
    "importance": (LEAST_POINTS, "important"),
    "strength": (LEAST_POINTS, "recalled not long ago"),
    "familiarity": (LEAST_POINTS, "recalled often"),
    "usefulness": (LEAST_POINTS, "was of use before"),
    "sentiment": (LEAST_POINTS, "told with feeling"),
}
"""What else speaks for a memory: the points from which on it is a reason, and how that is said."""


def _named(arms: Mapping[str, Any], arm: str) -> str:
    """The name that an arm went by, as the query writes it; empty where it does not say."""
    found = arms.get(arm)
    name = found.get("name") if isinstance(found, Mapping) else None
    return one_line(name, NAME_CHARS) if isinstance(name, str) else ""


def _words(matched: Sequence[str]) -> str:
    shown = ", ".join(f"“{one_line(word, NAME_CHARS)}”" for word in matched[:WORDS_SHOWN])
    return f"says {shown}{' …' if len(matched) > WORDS_SHOWN else ''}"


def _steps(path: Sequence[str]) -> str:
    """A path through the graph: labels and edge types in turn."""
    start, types = one_line(path[0], NAME_CHARS), list(dict.fromkeys(path[1::2]))
    if not types:
        return f"about {start}"
    steps = len(path) // 2
    return f"{steps} step{'s' if steps > 1 else ''} from {start} by {', '.join(one_line(one) for one in types)}"


def _beside(arms: Mapping[str, Any], path: Sequence[str]) -> str:
    """A path over the ground: two labels, and the metres between them."""
    there, here = one_line(path[-1], NAME_CHARS), one_line(path[0], NAME_CHARS)
    return f"{there} is {arms['place']['metres']:,} m from {here}"


def _about(arms: Mapping[str, Any], path: Sequence[str], kind: Kind) -> str:
    name = _named(arms, "names") or (one_line(path[0], NAME_CHARS) if path else "")
    if kind == "fact":
        return f"fact about {name}" if name else "fact about what you named"
    return f"tells of {name}" if name else "tells of what you named"


def _who(arms: Mapping[str, Any]) -> str:
    if (arms.get("speaker") or {}).get("asker"):
        return "you speak of yourself, and said this"
    name = _named(arms, "speaker")
    return f"you named {name}, who speaks" if name else "you named who speaks"


def _when(arms: Mapping[str, Any], kind: Kind) -> str:
    told = _named(arms, "time")
    exactly = (arms.get("time") or {}).get("score", 1) >= AT_THE_TIME
    verb, where = "true" if kind == "fact" else "said", "at" if exactly else "near"
    return f"{verb} {where} the time {f'({told})' if told else 'you asked about'}"


def _of_its_surroundings(factors: Mapping[str, float]) -> dict[str, tuple[float, str]]:
    """Points and phrase of what is not in the memory itself."""
    session = factors.get("session", 0.0) + factors.get("session_vector", 0.0)
    found = {"session": (session, "its conversation is about it")} if session >= LEAST_POINTS_AROUND else {}
    for name, (least, phrase) in PHRASES.items():
        if (points := factors.get(name, 0.0)) >= least:
            found[name] = points, phrase
    return found


def _phrases(
    matched: Sequence[str], arms: Mapping[str, Any], factors: Mapping[str, float], path: Sequence[str], kind: Kind
) -> dict[str, tuple[float, str]]:
    """Points and phrase of each reason; where there are no factors, of what the arms found."""

    def points(name: str) -> float:
        return factors.get(name, 0.0)

    found: dict[str, tuple[float, str]] = {}
    if matched:
        found["words"] = points("words"), _words(matched)
    near = points("vector") + points("late")
    if near >= LEAST_POINTS or (not factors and "rank" in (arms.get("vector") or {})):
        found["meaning"] = near, "near in meaning"
    if points("names") >= LEAST_POINTS or (not factors and "names" in arms):
        found["names"] = points("names"), _about(arms, path, kind)
    if points("speaker") >= LEAST_POINTS and kind not in KNOWN:
        found["speaker"] = points("speaker"), _who(arms)
    if points("time") >= LEAST_POINTS:
        found["time"] = points("time"), _when(arms, kind)
    if "place" in arms and path:
        found["place"] = points("place"), _beside(arms, path)
    elif len(path) > 1:
        found["distance"] = points("distance"), _steps(path)
    return found if kind in KNOWN else found | _of_its_surroundings(factors)


BRIEF = {
    "meaning": "", "speaker": "you named who speaks", "time": "of that time",
    "session": "its talk fits", "nearby": "next to what fits", "nearby_vector": "next to what fits",
    "distance": "near in the graph",
}  # fmt: skip
"""The same for one factor in a few words, where that is not short anyway. That a memory is near in meaning is the rule,
and needs no words."""
WORDS_IN_BRIEF = 2


def in_brief(
    matched: Sequence[str], arms: Mapping[str, Any], factors: Mapping[str, float], path: Sequence[str], kind: Kind
) -> str:
    """What gave a memory the most points, in a few words; arguments as of ``reason``. Empty: it is near in meaning."""
    found = _phrases(matched[:WORDS_IN_BRIEF], arms, factors, path, kind)
    if not found:
        return ""
    strongest = max(found, key=lambda name: found[name][0])
    return BRIEF.get(strongest, found[strongest][1])


def reason(
    matched: Sequence[str], arms: Mapping[str, Any], factors: Mapping[str, float], path: Sequence[str], kind: Kind
) -> str:
    """Why a memory was chosen: phrases joined by semicolons, the two that gave the most points first.

    Args:
        matched: words of the query that it holds, rarest first.
        arms: what each arm found; the arms ``names``, ``speaker`` and ``time`` may say by which ``name`` they went, the
            arm ``speaker`` that it is the ``asker``, the arm ``place`` how many ``metres`` lie between the ends of the
            path.
        factors: points by the name of the weight; may be empty.
        path: from what the query names to the memory: labels and edge types in turn; may be empty.
        kind: what it is.
    """
    found = _phrases(matched, arms, factors, path, kind)
    by_points = sorted(found, key=lambda name: -found[name][0])
    first = by_points[:STRONGEST]
    said = [found[name][1] for name in (*first, *(name for name in found if name not in first))][:MOST_PHRASES]
    if factors.get("staleness", 0.0) <= -LEAST_POINTS:
        said.append("but it has ended, or nothing has confirmed it for long")
    if kind in KNOWN and "names" not in found:
        said.insert(0, KINDS[kind].called)
    return "; ".join(said) or NO_REASON
