"""``python -m bench.worth``: could clauses themselves be kept as facts? How well it can be told which are worth it.

A statement (``bench.clauses_said``) is a clause about somebody as a sentence of its own. Readers judged 2,330 of them,
from our own chats: whether the sentence is right, and whether it is worth knowing a month later
(``bench/gold/statements``). A logistic regression over what the parse shows learns both in one; each chat is judged by
weights that have not seen it. Printed is how many of the best tenth, and of more, are both, and for the talk of
``bench/gold/life`` how many of the facts worth keeping any statement says, and how many the extractor's facts say.
docs/adr/0045 has what follows from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from bench import chats
from bench.clauses_said import Statement, statements
from bench.datasets import Turn
from bench.direct import SURE, Memory, windows_of
from bench.gold import Conversation, Labels, Said
from bench.harness import Outcome, figures_table, progress, report, run
from bench.logistic import Examples, unseen
from memsvc.extract.offline.calibration import by_gold
from memsvc.extract.offline.cast import Cast
from memsvc.extract.offline.extractor import read, read_turns
from memsvc.extract.offline.traits import of_clause, of_end, of_sentence

if TYPE_CHECKING:
    from spacy.tokens import Token

GOLD = Path(__file__).resolve().parent / "gold"
JUDGED, LIFE = GOLD / "statements" / "judged.jsonl", GOLD / "life" / "open"
FOLDS, RIDGE, LEAST = 6, 3.0, 3
"""Parts of the chats, penalty, and statements that a trait must stand in."""
SHARES = (0.05, 0.1, 0.2, 0.3)
"""Of the statements, the likeliest first."""
LENGTHS = ((5, "5 words"), (8, "8 words"), (12, "12 words"), (18, "18 words"))
OBJECTS = frozenset({"dobj", "attr", "acomp", "pobj", "oprd"})


class Judged(msgspec.Struct, frozen=True):
    """A statement that somebody judged."""

    turn: str
    """Chat and turn."""
    clause: str
    """The words in question."""
    statement: str
    right: bool
    worth: bool


class Person(msgspec.Struct, frozen=True, tag_field="record", tag="person"):
    """Somebody whom a talk names."""

    id: str
    names: list[str]
    mentions: list[str]


class Fact(msgspec.Struct, frozen=True, tag_field="record", tag="fact"):
    """What a talk says."""

    about: list[str]
    keys: list[list[str]]
    turns: list[str]
    worth: bool


class NotFact(msgspec.Struct, frozen=True, tag_field="record", tag="not_fact"):
    """What a hasty reader would note."""


def said_in(conversation: Conversation) -> Iterator[tuple[str, Statement]]:
    """Each statement of a conversation with its turn."""
    memory = Memory()
    for turns, window in windows_of(conversation, memory):
        for reading in read_turns(window, Cast(window)):
            if reading.index >= 0:
                for statement in statements(reading):
                    yield turns[reading.index].turn_id, statement


def facts_in(conversation: Conversation) -> Iterator[tuple[str, str]]:
    """The sentence of each fact that the extractor is sure enough of, with its turn."""
    memory = Memory()
    for turns, window in windows_of(conversation, memory):
        extraction = read(window, by_gold)
        memory.learn(turns, extraction)
        yield from ((turns[fact.turn].turn_id, fact.sentence) for fact in extraction.facts if fact.confidence >= SURE)


def our_chats() -> Iterator[Conversation]:
    """Our own English chats, but those that are kept."""
    for path in sorted(chats.FOLDER.glob("en-*.txt")):
        if path.stem not in chats.KEPT:
            yield Conversation(path.stem, [_said(turn) for turn in chats.turns(path)], Labels([], [], []))


def _said(turn: Turn) -> Said:
    names = {"user": "Owner", "assistant": "Assistant"}
    return Said(
        turn.conversation_id, turn.session_id, datetime.fromisoformat(turn.session_time).replace(tzinfo=UTC),
        turn.turn_id, names.get(turn.speaker, turn.speaker), "assistant" if turn.speaker == "assistant" else "user",
        turn.text,
    )  # fmt: skip


def traits(statement: Statement) -> Iterator[str]:
    """What the parse shows of a statement."""
    clause, sentence = statement.clause, statement.sentence
    yield from (f"clause {trait}" for trait in of_clause(clause))
    yield from of_sentence(clause)
    yield from (f"about {trait}" for trait in of_end(clause, statement.subject))
    yield from (f"verb={clause.lemma}", f"tag={clause.verb.tag_}", f"dep={clause.verb.dep_}")
    yield from (f"modal={clause.modal}", f"open {min(sentence.open, 2)}", f"dated {sentence.dated}")
    count = len(sentence.text.split())
    yield next((name for most, name in LENGTHS if count <= most), "longer")
    yield from (f"subject={token.lower_}" for token in clause.subjects[:1] if token.pos_ in {"PRON", "DET"})
    yield from of_words(clause.own)
    if clause.verb.sent.text.rstrip().endswith("!"):
        yield "exclaimed"


def of_words(tokens: Sequence[Token]) -> Iterator[str]:
    """Names, numbers, adverbs and objects of a clause."""
    for token in tokens:
        if token.ent_type_:
            yield f"entity={token.ent_type_}"
        if token.dep_ in OBJECTS and token.pos_ in {"NOUN", "ADJ"}:
            yield f"{token.dep_}={token.lemma_.lower()}"
        elif token.dep_ in OBJECTS and token.pos_ in {"PROPN", "PRON"}:
            yield f"{token.dep_} {token.pos_}"
        elif token.pos_ == "ADV":
            yield f"adverb={token.lower_}"


def judge(outcome: Outcome) -> None:
    """How well it can be told which statements are right and worth keeping, by chats that the weights have not seen."""
    gold = {(one.turn, one.clause): one for one in map(_judged, JUDGED.read_bytes().splitlines())}
    seen: list[dict[str, float]] = []
    good: list[bool] = []
    folds: list[int] = []
    conversations = list(our_chats())
    with progress("reading chats", len(conversations)) as done:
        for number, conversation in enumerate(conversations):
            for turn, statement in said_in(conversation):
                one = gold.get((f"{conversation.name}:{turn}", statement.clause.words))
                if one is not None and one.statement == statement.sentence.text:
                    seen.append(dict.fromkeys(traits(statement), 1.0))
                    good.append(one.right and one.worth)
                    folds.append(number % FOLDS)
            done(1)
    chances = unseen(Examples.of(seen, good, [1.0] * len(good)), folds, RIDGE, least=LEAST)
    best = np.array(good)[np.argsort(-chances, kind="stable")]
    outcome.figures |= {"judged": len(good), "good": float(best.mean())}
    for share in SHARES:
        among = best[: int(len(best) * share)]
        outcome.figures |= {
            f"best_{share}.good": float(among.mean()), f"best_{share}.found": float(among.sum() / best.sum()),
        }  # fmt: skip


def _judged(line: bytes) -> Judged:
    return msgspec.json.decode(line, type=Judged)


def cover(outcome: Outcome) -> None:
    """How many of the facts worth keeping any statement says, wherever it might be left out."""
    worth = said = there = typed = 0
    for path in sorted(LIFE.glob("*.gold.jsonl")):
        name = path.name.removesuffix(".gold.jsonl")
        lines = (LIFE / f"{name}.jsonl").read_bytes().splitlines()
        conversation = Conversation(name, [msgspec.json.decode(line, type=Said) for line in lines], Labels([], [], []))
        records = [msgspec.json.decode(line, type=Person | Fact | NotFact) for line in path.read_bytes().splitlines()]
        people = {one.id: one for one in records if isinstance(one, Person)}
        facts = [one for one in records if isinstance(one, Fact) and one.worth]
        told = list(said_in(conversation))
        read_as = list(facts_in(conversation))
        worth, there = worth + len(facts), there + len(told)
        typed += sum(any(turn in fact.turns and says(one, fact, people) for turn, one in read_as) for fact in facts)
        said += sum(
            any(turn in fact.turns and says(one.sentence.text, fact, people) for turn, one in told) for fact in facts
        )
    outcome.figures |= {"life.worth": worth, "life.statements": there, "life.said": said / worth}
    outcome.figures["life.said_by_facts"] = typed / worth


def says(sentence: str, fact: Fact, people: Mapping[str, Person]) -> bool:
    """Whether a sentence names whom a fact is about first, and has a word of each group of its keys."""
    text = sentence.lower()
    if not all(any(_begins(key, text) for key in group) for group in fact.keys):
        return False
    if not fact.about:
        return True
    who = people[fact.about[0]]
    called = [*who.names, *(name.split()[0] for name in who.names), *(_bare(one) for one in who.mentions)]
    return any(re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", text) for name in called)


def _begins(key: str, text: str) -> bool:
    return re.search(rf"(?<![a-z]){re.escape(key.lower())}", text) is not None


def _bare(mention: str) -> str:
    return re.sub(r"^(?:my|our|her|his|their|your) ", "", mention)


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
