"""Facts over time: what a new fact does to those that are known. Pure: operations of ``memsvc.graph.operations``.

The rules stand in docs/adr/0019-facts-from-text.md. In short: what is known already gets the evidence and stays as it
is; a begin that nobody tells is unknown, and counts from the time said, which is marked, where a type has one value at
a time or something else held; what was said later is never undone by what was said before it, in whatever order the
two are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

from memsvc.extract.compared_facts import (
    LONG_AGO,
    KnownFact,
    NewFact,
    earlier,
    ending,
    holds_from,
    lies_in,
    newer,
    retold,
    stays,
    with_mark,
    with_untold_begin,
)
from memsvc.extract.comparing import Relation, opposite, turned
from memsvc.graph.operations import BESIDE, MAX_EVIDENCE, Correct, Edge, Evidence, Operation, Retract, Thread
from memsvc.times.untold import TIMES, by, marked, unmarked

Fate = Literal["new", "known", "changes", "superseded"]
"""new; known: it was known, evidence was added; changes: something known ended or was replaced; superseded: what is
known was said later and says otherwise, so nothing was written."""


class _Draft(msgspec.Struct, kw_only=True):
    """An edge that is to be asserted."""

    fact: NewFact
    begin: datetime | None
    end: datetime | None
    data: dict[str, Any]
    evidence: list[Evidence]
    places: list[int]
    told: bool
    """Its begin was told, not taken from the time said."""


class Timeline:
    """Takes new facts in the order in which they were said, and gives the operations for all of them."""

    def __init__(self, known: Sequence[KnownFact]) -> None:
        """Begin with what is known."""
        self._known = list(known)
        self._drafts: list[_Draft] = []
        self._before: list[tuple[Operation, int]] = []
        """What ends or is taken back, and evidence for what is known; with the fact that says so."""
        self._refined: dict[UUID, int] = {}
        """Known versions of which the window says more, and where: once, for a version can be corrected once."""
        self._begun: dict[UUID, list[Operation]] = {}
        """Known versions of which the window tells the begin, by what: a correction after it would undo it."""
        self.fates: dict[int, Fate] = {}
        """What becomes of each fact, by its place."""

    def add(self, fact: NewFact) -> None:
        """Take a fact."""
        if fact.change == "ended":
            self.fates[fact.place] = self._never(fact) if fact.never else self._end(fact)
        else:
            since, until = self._correct(fact) if fact.change == "corrects" else (None, None)
            changed = fact.change == "corrects" and self._replaced(fact)
            told = fact.since is not None or fact.until is not None or fact.functional
            fate = self._hold(
                msgspec.structs.replace(fact, since=fact.since or since, until=fact.until if told else until)
            )
            self.fates[fact.place] = "changes" if changed and fate == "new" else fate

    def operations(self) -> list[tuple[Operation, int]]:
        """Operations in their order, each with the place of the fact that it is for."""
        asserted: list[tuple[Operation, int]] = [
            (
                Edge(
                    from_node=draft.fact.from_node, type=draft.fact.type, to_node=draft.fact.to_node,
                    key=BESIDE if draft.fact.beside else "", fact=draft.fact.sentence, data=draft.data,
                    confidence=draft.fact.confidence,
                    valid_from=draft.begin, valid_to=draft.end,
                    evidence=tuple(dict.fromkeys(draft.evidence))[:MAX_EVIDENCE],
                ),
                draft.places[0],
            )
            for draft in self._drafts
        ]  # fmt: skip
        return self._before + asserted

    # What is known ------------------------------------------------------------------------------------------------

    def _same(self, fact: NewFact) -> list[KnownFact]:
        return [known for known in self._known if known.relation == fact.relation]

    def _turned(self, fact: NewFact) -> list[KnownFact]:
        """The same, said the other way round."""
        same = turned(*fact.relation)
        return [known for known in self._known if known.relation == same]

    def _rivals(self, fact: NewFact) -> list[KnownFact]:
        """Those that cannot hold at the same time."""
        denied = opposite(*fact.relation)
        others = [
            known
            for known in self._known
            if fact.functional
            and (known.from_node, known.type) == (fact.from_node, fact.type)
            and known.to_node != fact.to_node
        ]
        mains = [known for known in others if known.key != BESIDE]
        goes_on = [known for known in others if known.valid_to is None and not newer(known, fact)]
        left = goes_on if fact.moved and not any(known.key != BESIDE for known in goes_on) else []
        return [known for known in self._known if known.relation == denied or known in mains or known in left]

    def _draft_of(self, fact: NewFact, wanted: Relation) -> _Draft | None:
        """What the same window says of the same; the last of it, where another value came between."""
        for draft in reversed(self._drafts):
            if draft.fact.relation == wanted:
                return draft
            same_line = (draft.fact.from_node, draft.fact.type) == (fact.from_node, fact.type)
            if fact.functional and draft.fact.functional and same_line:
                return None
        return None

    # What is said -------------------------------------------------------------------------------------------------

    def _hold(self, fact: NewFact) -> Fate:
        draft = self._draft_of(fact, fact.relation)
        moment = fact.since or fact.said_at
        if draft is not None and (draft.end is None or moment < draft.end):
            return self._again(draft, fact)
        same = [known for known in self._same(fact) if not self._becomes_main(known, fact, moment)]
        holding = next((known for known in same if known.holds_at(moment)), None)
        if holding is not None and fact.until is None:
            return self._confirm(holding, fact)
        turned = next((known for known in self._turned(fact) if known.holds_at(moment)), None)
        if turned is not None and not fact.data.get("relation"):
            return self._confirm(turned, fact)
        return self._assert(fact, same)

    def _becomes_main(self, known: KnownFact, fact: NewFact, moment: datetime) -> bool:
        """Whether somebody moves to what was a second home so far: then it is no longer that, but the home."""
        if not (fact.moved and fact.functional and known.key == BESIDE and known.holds_at(moment)):
            return False
        if known.valid_from is None or known.valid_from >= moment or newer(known, fact):
            return False
        self._before.append((ending(known, (moment, known.valid_to), fact.evidence), fact.place))
        return True

    @staticmethod
    def _again(draft: _Draft, fact: NewFact) -> Fate:
        """The same window said so already."""
        draft.evidence.append(fact.evidence)
        draft.places.append(fact.place)
        draft.data = {**fact.data, **draft.data}
        if fact.since is not None and not draft.told:
            draft.begin, draft.told = fact.since, True
            draft.data = retold(draft.data, fact)
        if fact.until is not None and draft.end is None:
            draft.end = fact.until
        return "known"

    def _confirm(self, known: KnownFact, fact: NewFact) -> Fate:
        """It is known: more evidence, and what else is said of it; its begin, where nobody knew it."""
        if not known.supported:
            return "known"
        begin = known.valid_from
        if begin is not None or fact.since is None:  # how exact a begin is that is not taken
            fact = msgspec.structs.replace(fact, data={key: fact.data[key] for key in fact.data if key != TIMES})
        told: list[Operation] = [] if begin is not None or fact.since is None else [
            Retract(thread=Thread(edge=known.edge_id), valid_to=fact.since, evidence=(fact.evidence,))
        ]  # fmt: skip
        now = known
        if told:
            self._begun[known.version_id] = told
        says_more = fact.data.keys() - known.data.keys() and known.version_id not in self._refined
        if says_more:  # in its own words
            more = {"fact": fact.sentence, "data": {**fact.data, **known.data}}
            said: list[Operation] = [
                Correct(version=known.version_id, content=more, refines=True, evidence=(fact.evidence,)),
                *self._begun.get(known.version_id, []),
            ]  # fmt: skip
            self._refined[known.version_id] = len(self._before)
            now = msgspec.structs.replace(known, fact=fact.sentence, data={**fact.data, **known.data})
        elif known.version_id in self._refined:  # an edge of its own would not be made of what is known
            place = self._refined[known.version_id]
            correct, first = self._before[place]
            evidence = tuple(dict.fromkeys((*correct.evidence, fact.evidence)))[:MAX_EVIDENCE]
            self._before[place] = msgspec.structs.replace(correct, evidence=evidence), first
            said = [*told]
        else:
            said = [
                *told,
                Edge(
                    from_node=known.stored_from, type=known.type, to_node=known.stored_to, key=known.key,
                    fact=known.fact, data=known.data, weight=known.weight, confidence=known.confidence,
                    valid_from=fact.since if told else begin, valid_to=known.valid_to, evidence=(fact.evidence,),
                ),
            ]  # fmt: skip
        if told:
            now = msgspec.structs.replace(now, valid_from=fact.since)
        self._known[self._known.index(known)] = now  # what the window says next is compared with that
        self._before += [(operation, fact.place) for operation in said]
        return "known"

    def _assert(self, fact: NewFact, same: Sequence[KnownFact]) -> Fate:
        """It is not known at its time."""
        rivals = self._rivals(fact)
        begin = self._begin(fact, same, rivals)
        if fact.earlier and fact.functional and fact.until is None:
            room = self._room(fact, None)
            fits = room is not None and (room[1] is None or room[1] > fact.said_at)
            if not fits and not fact.lasts:
                return "superseded"
            begin = room[0] if room is not None and fits else fact.said_at  # what goes on is so by now at the latest
        relation = opposite(*fact.relation)
        denied = None if relation is None else self._draft_of(fact, relation)
        if denied is not None:
            begin = begin or fact.said_at
            if denied.begin is None or denied.begin < begin:
                denied.end = begin
        end = self._bound(fact, begin, [*same, *(rival for rival in rivals if stays(rival, fact))])
        said_again = [
            rival.said_after(fact.said_at) for rival in rivals if newer(rival, fact) and holds_from(rival, begin)
        ]
        untold_end = min((moment for moment in said_again if moment is not None), default=None)
        last = earlier(end, untold_end)
        if None in said_again or (begin is not None and last is not None and last <= begin):
            return "superseded"
        data = with_mark(fact, begin)
        if last is not None and last != end:  # by then it was otherwise again, and the rest of that begins untold, too
            end, data = last, marked(data, "until", last)
        wrong = [rival for rival in rivals if not stays(rival, fact) and lies_in(rival, begin, end)]
        if wrong:
            data["contradicts"] = str(wrong[-1].version_id)
        changed = [rival for rival in rivals if self._give_way(rival, fact, begin, end)]
        later = with_untold_begin(same, fact, end)
        if later is not None:
            self._correct_known(later, fact, retold(later.data, fact), begins=fact.since)
            return "changes" if changed else "known"
        self._drafts.append(
            _Draft(
                fact=fact, begin=begin, end=end, data=data, evidence=[fact.evidence], places=[fact.place],
                told=fact.since is not None,
            )
        )  # fmt: skip
        return "changes" if changed else "new"

    def _correct_known(
        self, known: KnownFact, fact: NewFact, data: dict[str, Any], *, begins: datetime | None = None
    ) -> None:
        """Correct a known version's data, and when it began: it can be corrected once, so all in one.

        What says that it is over is no evidence for it.
        """
        if known.version_id not in self._refined:
            self._refined[known.version_id] = len(self._before)
            self._before.append((Correct(version=known.version_id, content={}, refines=True), fact.place))
        place = self._refined[known.version_id]
        said, first = self._before[place]
        assert isinstance(said, Correct)  # noqa: S101 - _refined says where the corrections are
        evidence = said.evidence if fact.change == "ended" else (*said.evidence, fact.evidence)
        self._before[place] = (
            msgspec.structs.replace(
                said, content={**said.content, "data": data}, begins=begins or said.begins,
                evidence=tuple(dict.fromkeys(evidence))[:MAX_EVIDENCE],
            ),
            first,
        )  # fmt: skip
        now = msgspec.structs.replace(known, data=data, valid_from=begins or known.valid_from)
        self._known[self._known.index(known)] = now  # what the window says next is compared with that

    @staticmethod
    def _bound(fact: NewFact, begin: datetime | None, following: Sequence[KnownFact]) -> datetime | None:
        """Until when it holds: as told, and at most until something else does."""
        end = fact.until
        for known in following:
            if known.valid_from is not None and (begin is None or known.valid_from > begin):
                end = earlier(end, known.valid_from)
        return end

    def _begin(self, fact: NewFact, same: Sequence[KnownFact], rivals: Sequence[KnownFact]) -> datetime | None:
        """From when on it holds: as told; else unknown, where nothing speaks against that."""
        if fact.since is not None:
            return fact.since
        if fact.until is not None:
            return None
        ends = [known.valid_to for known in same]
        draft = self._draft_of(fact, fact.relation)
        if draft is not None:
            ends.append(draft.end)
        over = any(end is not None and end <= fact.said_at for end in ends)
        against = any(rival.holds_at(fact.said_at) for rival in rivals)
        one_at_a_time = (fact.functional or fact.beside) and not fact.earlier
        return fact.said_at if one_at_a_time or over or against else None

    def _give_way(self, rival: KnownFact, fact: NewFact, begin: datetime | None, end: datetime | None) -> bool:
        """End what cannot hold at the same time; True: it did until now. A functional type's line does so by itself."""
        if begin is None or not rival.holds_at(begin):
            return False
        same_line = rival.type == fact.type and rival.stored_from == fact.from_node
        on_line = fact.functional and same_line and rival.key != BESIDE
        if not on_line:
            span = (begin, earlier(end, rival.valid_to))
            self._before.append((ending(rival, span, fact.evidence), fact.place))
        return True

    def _never(self, fact: NewFact) -> Fate:
        """It was planned and is off: what had not begun, and was not said again since, is taken back."""
        draft = self._draft_of(fact, fact.relation)
        if draft is not None and draft.fact.change != "ended" and (draft.begin or fact.said_at) >= draft.fact.said_at:
            self._drafts.remove(draft)
            self.fates.update(dict.fromkeys(draft.places, "superseded"))
            self._before = [each for each in self._before if each[1] not in draft.places]
            return "superseded"
        same = [known for known in self._same(fact) if not newer(known, fact)]
        plans = [known for known in same if known.valid_from is not None and known.valid_from >= known.last_said]
        for known in plans:
            self._before += [(operation, fact.place) for operation in self._taken_back(known, fact)]
            self._known.remove(known)
        if plans:
            return "changes"
        held = draft is not None or any(known.holds_at(fact.said_at) for known in same)
        return self._end(fact) if held else "superseded"

    def _taken_back(self, known: KnownFact, fact: NewFact) -> Iterator[Operation]:
        """What takes a plan back, and lets what it would have replaced go on."""
        yield Retract(
            thread=Thread(edge=known.edge_id), valid_from=known.valid_from, valid_to=known.valid_to,
            evidence=(fact.evidence,),
        )  # fmt: skip
        for old in self._rivals(fact):
            if known.key != BESIDE and old.type == known.type and old.supported and old.valid_to == known.valid_from:
                yield Edge(
                    from_node=old.stored_from, type=old.type, to_node=old.stored_to, key=old.key, fact=old.fact,
                    data=unmarked(old.data, "until"), weight=old.weight, confidence=old.confidence,
                    valid_from=known.valid_from, valid_to=known.valid_to, evidence=(fact.evidence,),
                )  # fmt: skip
                break

    def _end(self, fact: NewFact) -> Fate:
        """It is over."""
        moment = fact.until or fact.said_at
        draft = self._draft_of(fact, fact.relation)
        if draft is not None:
            draft.evidence.append(fact.evidence)
            draft.places.append(fact.place)
            if draft.begin is not None and draft.begin >= moment:
                draft.begin = fact.since
            draft.end = moment
            draft.data = unmarked(draft.data, "until") if fact.until else marked(draft.data, "until", moment)
            return "changes"
        same = self._same(fact) or self._turned(fact)
        holding = [known for known in same if known.holds_at(moment)]
        if any(known.last_said > fact.said_at for known in holding):
            return "superseded"
        for known in holding:
            self._end_known(known, fact, moment)
        if holding:
            return "changes"
        over = next((known for known in same if known.valid_to is not None and known.valid_to <= moment), None)
        if over is not None:
            return self._confirm(over, msgspec.structs.replace(fact, since=None))
        begun = [known.valid_from for known in same if known.valid_from is not None and known.valid_from >= moment]
        if begun:
            return "superseded"
        begin, end, times = fact.since, moment, dict(fact.data.get(TIMES, {}))
        if fact.until is None:
            room = self._room(fact, moment) if fact.functional else (begin, moment)
            if room is None:  # the other home began who knows when: both were, and neither ends the other
                fact = msgspec.structs.replace(fact, functional=False, beside=True)
            begin, end = (room[0], room[1] or moment) if room is not None else (begin, moment)
            times["until"] = by(end)
        self._drafts.append(
            _Draft(
                fact=fact, begin=begin, end=end, data=fact.data | ({TIMES: times} if times else {}),
                evidence=[fact.evidence], places=[fact.place], told=fact.since is not None,
            )
        )  # fmt: skip
        return "new"

    def _end_known(self, known: KnownFact, fact: NewFact, moment: datetime) -> None:
        """End a version; an end that nobody told is marked."""
        if fact.until is None and known.supported:
            self._correct_known(known, fact, marked(known.data, "until", moment))
        self._before.append((ending(known, (moment, known.valid_to), fact.evidence), fact.place))

    def _room(self, fact: NewFact, end: datetime | None) -> tuple[datetime | None, datetime | None] | None:
        """When a value of a functional type can have held that was over, or had begun, at a time that nobody told.

        The last time before ``end`` (None: without end) for which no other value is known; None: there is none.
        """
        taken = [(known.valid_from, known.valid_to) for known in self._rivals(fact) if known.type == fact.type]
        taken += [
            (draft.begin, draft.end)
            for draft in self._drafts
            if (draft.fact.from_node, draft.fact.type) == (fact.from_node, fact.type)
            and draft.fact.to_node != fact.to_node
        ]
        for begin, over in sorted(taken, key=lambda span: span[0] or LONG_AGO, reverse=True):
            if (begin is None or end is None or begin < end) and (over is None or (end is not None and over >= end)):
                if begin is None:
                    return None
                end = begin
        begins = [over for _, over in taken if over is not None and (end is None or over <= end)]
        begin = fact.since or max(begins, default=None)
        return None if begin is not None and end is not None and begin >= end else (begin, end)

    def _replaced(self, fact: NewFact) -> bool:
        return any(place == fact.place and isinstance(operation, Retract) for operation, place in self._before)

    def _correct(self, fact: NewFact) -> tuple[datetime | None, datetime | None]:
        """Take back what this conversation said last of the same relation; from when until when that was to hold."""
        drafts = [
            draft
            for draft in self._drafts
            if (draft.fact.from_node, draft.fact.type) == (fact.from_node, fact.type)
            and draft.fact.to_node != fact.to_node
        ]
        if drafts:
            self._drafts.remove(drafts[-1])
            self.fates.update(dict.fromkeys(drafts[-1].places, "superseded"))
            return drafts[-1].begin, drafts[-1].end
        wrong = [
            known
            for known in self._known
            if (known.from_node, known.type) == (fact.from_node, fact.type)
            and known.to_node != fact.to_node
            and known.here is not None
            and known.last_said <= fact.said_at
        ]
        if not wrong:
            return None, None
        last = max(wrong, key=lambda known: (known.last_said, str(known.here)))
        taken = Retract(
            thread=Thread(edge=last.edge_id), valid_from=last.valid_from, valid_to=last.valid_to,
            evidence=(fact.evidence,),
        )  # fmt: skip
        self._before.append((taken, fact.place))
        self._known.remove(last)
        return last.valid_from, last.valid_to
