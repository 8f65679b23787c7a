"""``python -m bench.worth``: could sentences themselves be kept as facts? How well it can be told which are worth it.

A statement (``bench.statements``) is a sentence about somebody as it stands by itself, with names for "I" and "she".
Readers graded 960 of them, from our own chats: false, trivial or useful (``bench/gold/graded``). Two logistic
regressions over what the parse shows learn which are right and which are useful; each chat is judged by weights that
have not seen it. Printed is how many of the best tenth, and of more, are right and useful, and for the talk of
``bench/gold/life`` how many of the facts worth keeping any statement says, and how many the extractor's facts say.
docs/adr/0045 has what follows from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench.direct import SURE, Memory, windows_of
from bench.gold import Conversation
from bench.graded import graded, our_chats
from bench.harness import Outcome, figures_table, progress, report, run
from bench.life import says, talks
from bench.logistic import Examples, unseen
from bench.statements import Statement, statements
from memsvc.extract.offline.calibration import by_gold
from memsvc.extract.offline.cast import Cast
from memsvc.extract.offline.clauses import Clause, clauses
from memsvc.extract.offline.extractor import read, read_turns
from memsvc.extract.offline.traits import of_clause, of_end, of_sentence

GOLD = Path(__file__).resolve().parent / "gold"
GRADED = GOLD / "graded" / "statements.jsonl"
FOLDS, RIDGE, LEAST = 6, 8.0, 3
"""Parts of the chats, penalty, and statements that a trait must stand in."""
SHARES = (0.05, 0.1, 0.15, 0.2, 0.3)
"""Of the statements, the likeliest first."""
LENGTHS = (5, 7, 9, 12, 16, 22)
"""Words that a statement may be longer than."""
CLOSED = frozenset({"AUX", "PRON", "DET", "SCONJ", "ADP", "PART", "CCONJ", "INTJ"})
"""Parts of speech whose words are traits of their own."""


def said_in(conversation: Conversation) -> Iterator[tuple[str, Statement, Clause | None]]:
    """Each statement of a conversation with its turn and the clause of its main verb."""
    memory = Memory()
    for turns, window in windows_of(conversation, memory):
        for reading in read_turns(window, Cast(window)):
            if reading.index >= 0:
                by_verb = {clause.verb.i: clause for clause in clauses(reading)}
                for statement in statements(reading):
                    yield turns[reading.index].turn_id, statement, by_verb.get(statement.root.i)


def facts_in(conversation: Conversation) -> Iterator[tuple[str, str]]:
    """The sentence of each fact that the extractor is sure enough of, with its turn."""
    memory = Memory()
    for turns, window in windows_of(conversation, memory):
        extraction = read(window, by_gold)
        memory.learn(turns, extraction)
        yield from ((turns[fact.turn].turn_id, fact.sentence) for fact in extraction.facts if fact.confidence >= SURE)


def traits(statement: Statement, clause: Clause | None) -> Iterator[str]:
    """What the parse shows of a statement."""
    root, retold = statement.root, statement.retold
    yield from retold.traits
    yield from (f"tag={root.tag_}", f"people {min(len(retold.people), 3)}")
    if clause is not None:
        yield from (*of_clause(clause), *of_sentence(clause), f"status={clause.status.value}")
        yield from (f"about {trait}" for trait in of_end(clause, statement.subject))
    count = len(retold.text.split())
    yield from (f"longer than {words}" for words in LENGTHS if count > words)
    if any(sign.isdigit() for sign in retold.text):
        yield "number"
    for token in statement.tokens:
        yield f"is {token.pos_}"
        if token.pos_ in CLOSED:
            yield f"word={token.lower_}"
        elif token.pos_ in {"NOUN", "VERB", "ADJ", "ADV"}:
            yield f"lemma={token.lemma_.lower()}"
        if token.ent_type_:
            yield f"entity={token.ent_type_}"


def judge(outcome: Outcome) -> None:
    """How well it can be told which statements are right and useful, by chats that the weights have not seen."""
    gold = graded(GRADED)
    seen: list[dict[str, float]] = []
    grades: list[str] = []
    folds: list[int] = []
    conversations = list(our_chats())
    with progress("reading chats", len(conversations)) as done:
        for number, conversation in enumerate(conversations):
            for turn, statement, clause in said_in(conversation):
                grade = gold.get((f"{conversation.name}:{turn}", statement.retold.text))
                if grade is not None:
                    seen.append(dict.fromkeys(traits(statement, clause), 1.0))
                    grades.append(grade)
                    folds.append(number % FOLDS)
            done(1)
    right, useful = np.array([grade != "false" for grade in grades]), np.array([grade == "useful" for grade in grades])
    chances = np.ones(len(grades))
    for wanted in (right, useful):
        chances *= unseen(Examples.of(seen, wanted.tolist(), [1.0] * len(seen)), folds, RIDGE, least=LEAST)
    best = np.argsort(-chances, kind="stable")
    outcome.figures |= {"graded": len(grades), "right": float(right.mean()), "useful": float(useful.mean())}
    for share in SHARES:
        among = best[: int(len(best) * share)]
        outcome.figures |= {
            f"best_{share}.right": float(right[among].mean()), f"best_{share}.useful": float(useful[among].mean()),
            f"best_{share}.found": float(useful[among].sum() / useful.sum()),
        }  # fmt: skip


def cover(outcome: Outcome) -> None:
    """How many of the facts worth keeping any statement says, wherever it might be left out."""
    worth = said = there = typed = 0
    for talk in talks("life/open"):
        conversation, people, facts = talk.conversation, talk.people, talk.worth
        told = list(said_in(conversation))
        read_as = list(facts_in(conversation))
        worth, there = worth + len(facts), there + len(told)
        typed += sum(any(turn in fact.turns and says(one, fact, people) for turn, one in read_as) for fact in facts)
        said += sum(
            any(turn in fact.turns and says(one.retold.text, fact, people) for turn, one, _ in told) for fact in facts
        )
    outcome.figures |= {"life.worth": worth, "life.statements": there, "life.said": said / worth}
    outcome.figures["life.said_by_facts"] = typed / worth


def main() -> None:
    """Measure and print."""

    def bench_worth() -> None:
        outcome = Outcome("worth")
        judge(outcome)
        cover(outcome)
        figures_table("worth", outcome, ("",))
        report(outcome)

    run(bench_worth)


if __name__ == "__main__":
    main()
