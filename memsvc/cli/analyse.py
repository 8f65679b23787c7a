"""``memsvc analyse``: analyses of the whole graph and history, as tables and small charts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from memsvc.cli.common import AppName, AsJson, UserRef, for_owner, note, print_json, print_table
from memsvc.text.counts import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memsvc.access.users import Owner
    from memsvc.analysis.runs import AnalysisResult, AnalysisRun
    from memsvc.db.engine import Database

BLOCKS = "▁▂▃▄▅▆▇█"
BAR = 20
"""Characters of the longest bar."""
MEMBERS = 6
"""Most members of a community that its line lists."""


def analyse(
    kind: str = typer.Argument(
        "", help="hubs, communities, orphans, anomalies, habits or pagerank.", metavar="KIND", show_default=False
    ),
    from_node: list[str] = typer.Option(
        [],
        "--from",
        help="For pagerank: start at this name, label or id; repeatable. Default: the user.",
        metavar="NODE",
    ),
    limit: int = typer.Option(20, "--limit", min=1, max=1_000, help="Most results to show."),
    runs: bool = typer.Option(False, "--runs", help="List past runs, newest first, instead."),
    user: str | None = UserRef,
    app: str = AppName,
    as_json: bool = AsJson,
) -> None:
    """Analyse the whole graph now.

    hubs: nodes with the strongest facts. communities: groups of closely linked nodes. orphans: nodes without facts.
    anomalies: facts that exclude each other, impossible dates, days with unusually many messages. habits: events that
    recur every week, people who are mentioned together. pagerank: nodes close to the user, or to --from. The last 3
    runs of each analysis are kept.
    """
    if runs:
        _show_runs(for_owner(user, app, _runs), as_json=as_json)
        return
    if not kind:
        raise typer.BadParameter("Name an analysis: hubs, communities, orphans, anomalies, habits or pagerank.")

    async def act(db: Database, owner: Owner) -> tuple[AnalysisRun, list[AnalysisResult]]:
        from memsvc.analysis.runs import analyse, results
        from memsvc.graph.find import find_nodes

        seeds = await find_nodes(db, owner, from_node) if from_node else []
        run = await analyse(db, owner, kind, seeds)
        return run, (await results(db, owner.user_id, run.run_id, limit=limit)).items

    run, found = for_owner(user, app, act)
    if as_json:
        print_json({"run": run, "results": found})
        return
    columns, rows = _table(found)
    if rows:
        print_table(columns, rows)
    numbers = "".join(f", {name} {value:,}" for name, value in run.figures.items())
    more = f"; {len(found)} are shown" if len(found) < run.found else ""
    note(f"{run.found:,} found{more} (run {run.run_id}, {run.seconds:.1f} s{numbers}).")


async def _runs(db: Database, owner: Owner) -> list[AnalysisRun]:
    from memsvc.analysis.runs import list_runs

    return (await list_runs(db, owner.user_id)).items


def _show_runs(done: list[AnalysisRun], *, as_json: bool) -> None:
    if as_json:
        print_json(done)
        return
    print_table(
        ["run", "kind", "state", "found", "seconds", "began"],
        [
            [
                run.run_id, run.kind, run.error_code or run.state, f"{run.found:,}", f"{run.seconds:.1f}",
                f"{run.started_at:%Y-%m-%d %H:%M}",
            ]
            for run in done
        ],
    )  # fmt: skip


def _table(found: Sequence[AnalysisResult]) -> tuple[list[str], list[list[Any]]]:
    """Return the columns and rows for results of one kind."""
    most = max((one.score for one in found), default=0.0)
    match found[0].what if found else "":
        case "hub":
            return ["what", "strength", "", "facts", "neighbours"], [
                [
                    _named(one),
                    f"{one.score:.1f}",
                    _bar(one.score, most),
                    one.figures["facts"],
                    one.figures["neighbours"],
                ]
                for one in found
            ]
        case "near":
            return ["what", "of 1,000", ""], [[_named(one), f"{one.score:.2f}", _bar(one.score, most)] for one in found]
        case "orphan":
            return ["what", "messages"], [[_named(one), f"{one.score:.0f}"] for one in found]
        case "community":
            return ["size", "", "within", "who and what"], [
                [
                    one.figures["size"], _bar(one.score, most), f"{one.figures['within']:.0%}",
                    ", ".join(_labels(one)[:MEMBERS]) + (" …" if one.figures["size"] > MEMBERS else ""),
                ]
                for one in found
            ]  # fmt: skip
        case "weekly" | "together":
            return ["habit", "score", "", "days", "since", "what"], [_habit(one) for one in found]
        case _:
            return ["anomaly", "score", "when", "", "what"], [_anomaly(one) for one in found]


def _habit(one: AnalysisResult) -> list[Any]:
    """Return the row of a habit, with a chart of its week from Monday to Sunday."""
    figures, labels = one.figures, _labels(one)
    if one.what == "together":
        return ["together", f"{one.score:.1f}", "", figures["days"], figures["first"], " and ".join(labels)]
    days = ",".join(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"][day - 1] for day in figures["weekdays"])
    what = f" {figures['type']} ".join(labels)
    return [days, f"{one.score:.1f}", _spark(figures["by_weekday"]), figures["days"], figures["first"], what]


def _anomaly(one: AnalysisResult) -> list[Any]:
    """Return the row of an anomaly; a busy day has a chart of the two weeks around it."""
    figures = one.figures
    when = figures.get("day") or figures.get("first")
    what = " / ".join(one.sentences) or ", ".join(_labels(one))
    if "messages" in figures:
        what = f"{what} {counted(figures['messages'], 'message')}, usually {figures['usual']}".strip()
    return [one.what, f"{one.score:.2f}", when, _spark(figures.get("around", [])), what or f"message {one.passages[0]}"]


def _labels(one: AnalysisResult) -> list[str]:
    return [node.label or str(node.node_id) for node in one.nodes]


def _named(one: AnalysisResult) -> str:
    [label] = _labels(one)
    return f"{label} ({one.nodes[0].type})" if one.nodes[0].type else label


def _bar(value: float, most: float) -> str:
    return "█" * max(round(BAR * value / most), 1) if most else ""


def _spark(counts: Sequence[int]) -> str:
    """Draw counts as a line of blocks; 0 is a dot."""
    most = max(counts, default=0)
    return "".join(BLOCKS[(count * len(BLOCKS) - 1) // most] if count else "·" for count in counts)
