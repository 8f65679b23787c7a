"""The report of a night as Markdown, for people. Texts of the user are escaped: they make no heading, list or link."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from memsvc.recall.agenda import AgendaItem
from memsvc.recall.dated import without_dates
from memsvc.recall.times_in_words import clock, day, on_clock_of
from memsvc.sleep.report import SHOWN, Ended, SleepReport
from memsvc.text.counts import counted
from memsvc.text.markdown import inline

LONGEST = 300
"""Characters of a text that a report shows."""


def markdown(report: SleepReport, zone: ZoneInfo, *, asked: bool = False) -> str:
    """Return a report as Markdown: a heading, a sentence or two, and sections for what there is.

    Args:
        report: the report.
        zone: the user's time zone.
        asked: whether somebody asked for this day; it may be another one than that of the last night.
    """
    sections = list(_sections(report, zone))
    lines = [
        f"# Night of {report.date:%A}, {day(_noon(report))}",
        "",
        _summary(report, zone, asked=asked, empty=not sections),
    ]
    for heading, items in sections:
        lines += ["", f"## {heading}", "", *(f"- {item}" for item in items)]
    return "\n".join(lines) + "\n"


def _noon(report: SleepReport) -> datetime:
    return datetime(report.date.year, report.date.month, report.date.day, 12)  # noqa: DTZ001 - only its day is told


def _summary(report: SleepReport, zone: ZoneInfo, *, asked: bool, empty: bool) -> str:
    """Say in a sentence what the night brought."""
    if report.until is None:
        return "Sleep did not run on this day, or on any day before it." if asked else "Sleep has not run yet."
    told = [
        _count(report.learnt, "new fact"),
        _count(report.ended, "change of mind", "changes of mind"),
        _count(report.summarised, "summary", "summaries"),
        _count(report.merged, "merge"),
        _count(report.archived, "archived memory", "archived memories"),
    ]
    since = f" since {day(on_clock_of(report.since, zone))}" if report.since is not None else ""
    done = _listed([one for one in told if one])
    if done:
        return f"{done}{since}."
    return f"Nothing new{since}{', and nothing is due or waits for you' if empty else ''}."


def _count(number: int, one: str, more: str | None = None) -> str:
    return counted(number, one, more or "") if number else ""


def _listed(parts: Sequence[str]) -> str:
    return ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else "".join(parts)


def _sections(report: SleepReport, zone: ZoneInfo) -> Iterator[tuple[str, list[str]]]:
    """Yield headings with their items; none without items."""
    archived = _count(report.archived, "memory", "memories")
    for heading, items in (
        ("Due today", [_due(item) for item in report.due]),
        ("Learnt", _with_rest([f"{_quoted(one.fact)} [{one.id}]" for one in report.facts], report.learnt)),
        ("Changed its mind", _with_rest([_ended(one, zone) for one in report.changes_of_mind], report.ended)),
        ("Summarised", _with_rest([_quoted(one.text) for one in report.summaries], report.summarised)),
        ("Merged", _with_rest(list(_merges(report)), report.merged)),
        ("Archived", [f"{archived} that nobody recalled"] if archived else []),
        ("Done besides", [f"{one.task}: {one.number:,} {one.kind.replace('_', ' ')}" for one in report.other]),
        ("Waits for you", list(_waiting(report))),
        ("Went wrong", [_failed(one.task, one.error_code) for one in report.failed]),
    ):
        if items:
            yield heading, items


def _with_rest(items: list[str], number: int) -> list[str]:
    """Say how many more there are than are named."""
    left = number - len(items)
    if not left:
        return items
    return [*items, f"and {left:,} more" if items else f"{number:,}, not named here"]


def _quoted(text: str) -> str:
    shown = " ".join(text.split())
    return inline(shown if len(shown) <= LONGEST else shown[: LONGEST - 1].rstrip() + "…")


def _ended(one: Ended, zone: ZoneInfo) -> str:
    how = "it was never so" if one.ended_at is None else f"until {day(on_clock_of(one.ended_at, zone))}"
    now = f" Now: {_quoted(one.now.fact)} [{one.now.id}]" if one.now is not None else ""
    return f"{_quoted(one.fact)} ({how}) [{one.id}]{now}"


def _merges(report: SleepReport) -> Iterator[str]:
    for one in report.merges[:SHOWN]:
        undo = f"undo: `memsvc sleep --undo {one.run_id}`"
        if one.label == one.canonical_label:
            yield f"Two of the name {_quoted(one.label)} are one; {undo}"
        else:
            yield f"{_quoted(one.label)} is {_quoted(one.canonical_label)}; {undo}"


def _waiting(report: SleepReport) -> Iterator[str]:
    if report.facts_to_review:
        yield f"{_count(report.facts_to_review, 'doubtful fact')}: `memsvc review list`"
    if report.duplicates_to_review:
        yield f"{_count(report.duplicates_to_review, 'pair')} that may be the same: `memsvc duplicates list`"
    if report.lessons_to_review:
        yield f"{_count(report.lessons_to_review, 'lesson')}: `memsvc lessons list`"
    if report.proposals_to_review:
        yield f"{_count(report.proposals_to_review, 'proposal')}: `memsvc proposals list`"


def _due(item: AgendaItem) -> str:
    at = f"{clock(item.begins)} " if item.timed else ""
    return f"{at}{_quoted(without_dates(item.what))} [{item.id}]"


def _failed(task: str, code: str | None) -> str:
    if code is None:
        return f"{task}: its budget was used up before its work was done; the next run goes on."
    return f"{task}: {code}; the next night tries again."
