"""An explained answer as a table, for a person who has never seen the system.

First what the question was understood as; then each memory with its points and what gave them, best first; then what
was left out and why; then what each part counts. Texts, names and times are what anybody ever wrote: they reach the
terminal as one line without control signs, never as markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from memsvc.graph.draw import one_line
from memsvc.recall.asks_said import NOTHING_THEN, asks_of_a_time
from memsvc.recall.options import FACTORS
from memsvc.recall.query_words import NOTHING_TO_LOOK_FOR
from memsvc.recall.reasons import AT_THE_TIME
from memsvc.recall.results import AmbiguousName, Cut, Explanation, Memory, Recalled, RecalledFact
from memsvc.times.untold import span_in_words

TEXT_CHARS, CUT_CHARS, NAME_CHARS = 240, 80, 60
WORDS_SHOWN, CUT_SHOWN, MEANINGS_SHOWN, EVIDENCE_SHOWN = 20, 5, 5, 2
LEAST_POINTS = 0.005
"""Shown with two decimals, less is nothing."""
SURE = 0.9995
DOT, ARROW = " · ", " → "
HOW_TO_READ = (
    "A memory's points are the sum of what they are made of; a part below 0 is below the average of the candidates. "
    "“found” has the place in each way of looking and, in brackets, the score there: scores of two ways do not compare."
)
WAYS: Mapping[str, str] = {
    "candidates": "in all",
    "words": "by words",
    "vector": "by meaning",
    "late": "word by word",
    "names": "by name",
    "place": "by place",
    "time": "by time",
    "facts": "facts",
}
"""What each arm is called for people."""


def _line(text: str, most: int | None = None) -> str:
    return one_line(text, most)


def _clock(moment: datetime, zone: tzinfo) -> str:
    """A moment on the reader's clock; a day where it is one's begin."""
    local = moment.astimezone(zone)
    return f"{local:%Y-%m-%d}" if (local.hour, local.minute, local.second) == (0, 0, 0) else f"{local:%Y-%m-%d %H:%M}"


def span(fact: RecalledFact, zone: tzinfo) -> str:
    """When a fact is true, for people: "since 2026-03-01", "2019-01-01 to 2026-03-01", "until 2026-03-01"."""
    begin, end = (None if moment is None else _clock(moment, zone) for moment in (fact.valid_from, fact.valid_to))
    words = span_in_words(begin, end, begin_untold=not fact.begin_is_told, end_untold=not fact.end_is_told)
    return words or "no dates known"


def _called(name: str) -> str:
    return FACTORS[name].label if name in FACTORS else name


def breakdown(factors: Mapping[str, float]) -> list[str]:
    """Points by what gave them, the most first: "+1.20 own words", "-0.30 out of date"."""
    told = sorted((item for item in factors.items() if abs(item[1]) >= LEAST_POINTS), key=lambda item: -abs(item[1]))
    return [f"{points:+.2f} {_called(name)}" for name, points in told]


def _cell(value: Any, zone: tzinfo) -> str:
    return _clock(value, zone) if isinstance(value, datetime) else _line(str(value), NAME_CHARS)


def _time(time: Mapping[str, Any], zone: tzinfo) -> str:
    """A time that the question names; whatever the arm tells of it, its words first."""
    words = [f"“{_line(str(time[key]), NAME_CHARS)}”" for key in ("text", "phrase", "words") if key in time]
    ends = [_cell(time[key], zone) for key in ("from", "to") if time.get(key) is not None]
    known = {"text", "phrase", "words", "from", "to"}
    more = [f"{key} {_cell(value, zone)}" for key, value in time.items() if key not in known and value is not None]
    return " ".join([*words[:1], *(["="] if words and (ends or more) else []), " to ".join(ends), *more]).strip()


def _understood(found: Explanation, zone: tzinfo) -> Iterator[tuple[str, str]]:
    if found.words:
        shown = DOT.join(_line(word, NAME_CHARS) for word in found.words[:WORDS_SHOWN])
        yield "words it knows", shown + (" …" if len(found.words) > WORDS_SHOWN else "")
    else:
        yield "words", "none that a message holds"
    for name in found.names:
        nearly = "" if name.similarity >= SURE else f" (nearly: {name.similarity:.0%} alike)"
        yield "a name", f"“{_line(name.name, NAME_CHARS)}” is {_line(name.label, NAME_CHARS)}{nearly}"
    for time in found.times:
        yield "a time", _time(time, zone)
    candidates = DOT.join(f"{count:,} {told}" for way, told in WAYS.items() if (count := found.found.get(way)))
    if candidates:
        yield "candidates", candidates


def ambiguous_lines(found: Sequence[AmbiguousName]) -> Iterator[str]:
    """For each name that fits several nodes a question, and what tells them apart."""
    for name in found:
        labels = ", ".join(f"{_line(meaning.label, NAME_CHARS)} ({meaning.type})" for meaning in name.meanings)
        yield f"{_line(name.name, NAME_CHARS)} can be: {labels}. Which one?"
        for meaning in name.meanings[:MEANINGS_SHOWN]:
            evidence = DOT.join(_line(line, CUT_CHARS) for line in meaning.evidence[:EVIDENCE_SHOWN])
            yield f"  {_line(meaning.label, NAME_CHARS)}{': ' + evidence if evidence else ''}  [{meaning.node_id}]"


def who_and_when(memory: Memory, zone: tzinfo) -> str:
    """Who said it and when; of a fact, since when it is true."""
    if memory.fact is not None:
        ended = " (ended)" if memory.stale else ""
        return f"fact, {span(memory.fact, zone)}{ended}"
    speaker = memory.document.in_words if memory.document is not None else memory.speaker or memory.role
    return f"{_line(speaker, NAME_CHARS)}, {memory.said_at:%Y-%m-%d %H:%M}"


def source(memory: Memory) -> str:
    """Where a memory comes from, in words."""
    if memory.passage_id is None:
        return "written by hand"
    if memory.kind == "block":
        return f"block of the archive, version {memory.ordinal}"
    if (document := memory.document) is not None:
        gone = ", gone" if document.gone else ""
        return f"{_line(document.path, NAME_CHARS)}, version {document.version}{gone}"
    if memory.node_id is not None:
        return f"{memory.kind} of a node of type {_line(memory.node_type or '', NAME_CHARS)}"
    session = f", session {_line(memory.session, NAME_CHARS)}" if memory.session else ""
    message = _line(memory.message_id or str(memory.ordinal), NAME_CHARS)
    return f"{_line(memory.conversation, NAME_CHARS)}{session}, message {message}"


def found_by(arms: Mapping[str, Any]) -> list[str]:
    """How a memory was found: "by words #1 (7.20)", "by meaning #3 (0.61)"; names and times have no places."""
    told = []
    for way in WAYS:
        arm = arms.get(way)
        if not isinstance(arm, Mapping) or (way == "time" and arm.get("score", 1) < AT_THE_TIME):
            continue
        place = f" #{arm['rank']}" if "rank" in arm else ""
        if way == "vector" and not place:
            place = ", not among the best"
        score = f" ({arm['metres']:,} m)" if "metres" in arm else f" ({arm['score']:.2f})" if "score" in arm else ""
        told.append(f"{WAYS[way]}{place}{score}")
    return told


def _told(memory: Memory, zone: tzinfo) -> Text:
    """The middle column: who and when, what, why, and from where."""
    told = Text(who_and_when(memory, zone), style="bold")
    told.append(f"\n“{_line(memory.text, TEXT_CHARS)}”", style="not bold")
    if memory.caption:
        told.append(f"\npicture: {_line(memory.caption, CUT_CHARS)}", style="not bold")
    told.append(f"\nwhy: {_line(memory.reason)}", style="not bold italic")
    if len(memory.path) > 1:
        told.append(f"\npath: {ARROW.join(_line(step, NAME_CHARS) for step in memory.path)}", style="not bold")
    if found := found_by(memory.arms):
        told.append(f"\nfound: {DOT.join(found)}", style="not bold")
    told.append(f"\nfrom: {source(memory)}", style="not bold dim")
    return told


def _points(memory: Memory) -> Text:
    """The last column: one factor a line, the most first; and the reranker's word, which is not in points."""
    lines = breakdown(memory.factors)
    again = memory.arms.get("reranker")
    if again:
        lines.append(f"reranker: from place {again['was']} to {again['rank']}")
    return Text("\n".join(lines))


def _answer(memories: Sequence[Memory], zone: tzinfo) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_lines=False, pad_edge=False, expand=False, leading=1)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("memory", overflow="fold", ratio=3)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("made of", overflow="fold", max_width=34)
    for rank, memory in enumerate(memories, 1):
        table.add_row(str(rank), _told(memory, zone), f"{memory.score:.2f}", _points(memory))
    return table


def _left_out(cut: Sequence[Cut], zone: tzinfo) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="Left out, in their order", title_justify="left")
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("memory", overflow="fold")
    table.add_column("why not", overflow="fold")
    for left in cut[:CUT_SHOWN]:
        what = f"{who_and_when(left.memory, zone)}: “{_line(left.memory.text, CUT_CHARS)}”"
        table.add_row(
            f"{left.memory.score:.2f}", Text(what), Text("\n".join([left.reason, *breakdown(left.memory.factors)]))
        )
    if len(cut) > CUT_SHOWN:
        table.add_row("…", f"{len(cut) - CUT_SHOWN:,} more", "")
    return table


def verdict(recalled: Recalled, query: str = "") -> str | None:
    """What stands before memories that do not answer; None where they may."""
    if not recalled.relevant and recalled.confidence is None and asks_of_a_time(query):
        return f"{NOTHING_THEN} What else is known of that time:" if recalled.memories else NOTHING_THEN
    if not recalled.memories:
        return NOTHING_TO_LOOK_FOR if "words" in recalled.degraded else "No memory matches."
    return None if recalled.relevant else "Nothing in memory answers this; the nearest are:"


def _sure(recalled: Recalled, found: Explanation) -> Iterator[tuple[str, str]]:
    if recalled.confidence is not None:
        limit = f"; below {found.threshold:.2f} nothing counts as an answer" if found.threshold is not None else ""
        yield "confidence", f"{recalled.confidence:.2f} of 1{limit}"
    for model in recalled.degraded:
        yield "asked without", "meaning (no vector)" if model == "vector" else model


def table(recalled: Recalled, query: str, zone: tzinfo) -> RenderableType:
    """An explained answer, for ``rich.console.Console.print``: as wide as the console, plain where it has no colour.

    Args:
        recalled: an answer, asked for with ``explain``.
        query: the question.
        zone: the reader's clock, for dates of facts and of the question; messages keep their speaker's.
    """
    found = recalled.explanation or Explanation(
        words=[], names=[], times=[], weights={}, order="", found={}, threshold=None, cut=[]
    )
    head = Table.grid(padding=(0, 2))
    head.add_column(no_wrap=True, style="dim")
    head.add_column(overflow="fold")
    for label, told in (*_understood(found, zone), *_sure(recalled, found)):
        head.add_row(label, Text(told))
    parts: list[RenderableType] = [Text(f"? {_line(query, TEXT_CHARS)}", style="bold"), head]
    parts += [Text(line) for line in ambiguous_lines(recalled.ambiguous)]
    if says := verdict(recalled, query):
        parts.append(Text(f"\n{says}", style="bold"))
    if recalled.memories:
        parts.append(_answer(recalled.memories, zone))
    if found.cut:
        parts.append(_left_out(found.cut, zone))
    counting = {name: weight for name, weight in found.weights.items() if weight}
    if counting:
        weights = DOT.join(f"{_called(name)} {weight:.2g}" for name, weight in counting.items())
        order = f"order {found.order}" if found.order else "the linear order"
        parts.append(Text(f"{HOW_TO_READ}\nWeights ({order}): {weights}; everything else is off.", style="dim"))
    return Group(*parts)
