"""``python -m bench.verify``: whether claims are verified rightly (``bench/gold/claims.json``); no model judges.

The claims were written by a reader who knew only the histories (``bench/gold/days``), ten of each verdict. Each is
verified at the moment that the gold names, after the histories were stored, embedded and read for facts offline. A
wrong ``supported`` or ``contradicted`` is worse than ``unknown``, so both are counted by themselves, with how many were
given at all: where none was, none can be wrong. To answer ``unknown`` always would have the accuracy ``base.accuracy``.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from uuid import UUID

import msgspec

from bench.asking import EMBEDDING_MS
from bench.datasets import as_moment
from bench.days import KEPT, OPEN, History, read, write
from bench.harness import Bench, Outcome, database, figures_table, progress, report, run, table
from memsvc.chat.verifying import When, verify
from memsvc.chat.weighing import Verdict
from memsvc.errors import ConfigurationError
from memsvc.extract.run import Extractors
from memsvc.llm.embedders.residents import Residents

OPEN_CLAIMS = OPEN.parent / "claims.json"
KEPT_CLAIMS = KEPT / "claims.json"
VERDICTS: tuple[Verdict, ...] = ("supported", "contradicted", "unknown")
BARS = {"wrong.supported": "<= 0", "wrong.contradicted": "<= 0"}


class GoldClaim(msgspec.Struct, frozen=True):
    """A claim about a history."""

    history: str
    asked_at: str
    claim: str
    verdict: Verdict
    evidence: list[str]


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of a claim."""

    claim: GoldClaim
    verdict: Verdict
    listed: float
    """Share of its evidence among the memories that were listed; 1 where it has none."""


def read_claims(path: Path) -> list[GoldClaim]:
    """The claims of a file.

    Raises:
        ConfigurationError: it is missing, or not of the format.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[GoldClaim])
    except (OSError, msgspec.DecodeError) as error:
        raise ConfigurationError(f"The claims cannot be read: {error}") from error


def stems(folder: Path) -> list[str]:
    """Names by which claims call the histories of a folder, in the order of ``bench.days.read``."""
    return [path.stem for path in sorted(folder.glob("[0-9][0-9]-*.json"))]


def check_claims(claims: Sequence[GoldClaim], histories: Mapping[str, History]) -> None:
    """See that claims can be right: they name turns of their history that were said before they are asked.

    Raises:
        ConfigurationError: one of them does not, or an unknown one has evidence, or another none.
    """
    for number, claim in enumerate(claims, 1):
        said = {turn.id: turn.at for one in histories[claim.history].conversations for turn in one.turns}
        if bool(claim.evidence) == (claim.verdict == "unknown") or any(
            turn not in said or as_moment(said[turn]) > as_moment(claim.asked_at) for turn in claim.evidence
        ):
            raise ConfigurationError(f"Claim {number} does not fit its evidence.")


async def measure(
    bench: Bench, histories: Sequence[History], names: Sequence[str], claims: Sequence[GoldClaim]
) -> list[Judged]:
    """Verify everything."""
    db = bench.connect()
    owners = dict(zip(names, await write(db, bench, histories), strict=True))
    settings = bench.settings.model_copy(update={"query_embedding_ms": EMBEDDING_MS})
    extractors = Extractors(settings)
    embedder = Residents(settings)
    await embedder.ready(db)
    with bench.admin() as admin:
        rows = admin.execute("SELECT passage_id, client_id FROM memsvc.passages").fetchall()
    turns: dict[UUID, str | None] = dict(rows)
    found: list[Judged] = []
    try:
        with progress("verifying", len(claims)) as done:
            for claim in claims:
                told = await verify(
                    db, owners[claim.history], claim.claim, settings, extractors=extractors, embedder=embedder,
                    when=When(as_of=as_moment(claim.asked_at)),
                )  # fmt: skip
                given = {turns.get(one.memory_id) for one in (*told.supporting, *told.contradicting, *told.related)}
                share = len(given & set(claim.evidence)) / len(claim.evidence) if claim.evidence else 1.0
                found.append(Judged(claim, told.verdict, share))
                done(1)
    finally:
        embedder.close()
        await db.close()
    return found


def add_figures(found: Sequence[Judged], outcome: Outcome) -> None:
    """Accuracy beside that of "unknown" for all, the share decided rightly, and how many verdicts are wrong."""
    outcome.figures["accuracy"] = fmean(one.verdict == one.claim.verdict for one in found)
    outcome.figures["base.accuracy"] = fmean(one.claim.verdict == "unknown" for one in found)
    decidable = [one for one in found if one.claim.verdict != "unknown"]
    outcome.figures["decided"] = fmean(one.verdict == one.claim.verdict for one in decidable)
    for verdict in ("supported", "contradicted"):
        given = [one for one in found if one.verdict == verdict]
        outcome.figures[f"given.{verdict}"] = len(given)
        outcome.figures[f"wrong.{verdict}"] = sum(one.claim.verdict != verdict for one in given)
    outcome.figures["evidence"] = fmean(one.listed for one in found if one.claim.evidence)


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m bench.verify", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kept", action="store_true", help="the claims that stay unopened until the end")
    parser.add_argument("--show", action="store_true", help="list every claim with its verdict; not with --kept")
    given = parser.parse_args()

    def bench_verify() -> None:
        folder = KEPT if given.kept else OPEN
        claims = read_claims(KEPT_CLAIMS if given.kept else OPEN_CLAIMS)
        histories, names = read(folder), stems(folder)
        check_claims(claims, dict(zip(names, histories, strict=True)))
        outcome = Outcome("verify", bars=dict(BARS), data_set="kept" if given.kept else None)
        outcome.configuration |= {"claims": len(claims)}
        with database() as bench:
            found = asyncio.run(measure(bench, histories, names, claims))
            add_figures(found, outcome)
            rows = [
                [
                    gold,
                    *(str(sum((one.claim.verdict, one.verdict) == (gold, made) for one in found)) for made in VERDICTS),
                ]
                for gold in VERDICTS
            ]
            table("verdicts", [["gold", *VERDICTS], *rows])
            if given.show and not given.kept:
                for one in found:
                    print(f"  {one.claim.verdict} -> {one.verdict}: {one.claim.claim}")
            figures_table("verify", outcome, ("",))
            report(outcome, bench)

    run(bench_verify)


if __name__ == "__main__":
    main()
