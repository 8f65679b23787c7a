"""Two years of somebody's life, drawn by lot, with anomalies and habits hidden in it; for ``bench.analysis``.

What is usual is uneven on purpose, for that is what a search must not take for news: weekends, quiet and loud weeks,
names that are on everybody's lips, topics that come in waves, trips on which the same people are met for days, things
done every day, weekend errands without a fixed day, homes and tastes that change, plans, forebears.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

FIRST, DAYS = date(2024, 1, 1), 730  # a Monday
PEOPLE, PLACES, THINGS, EVENTS = 60, 30, 160, 50
A_DAY = 6.0
"""Messages of a usual day."""
WAVE = 6
"""How often more each topic of a week is told of in it."""
SELF = "I"
LOUDEST = 0.85
"""Thing n of a kind is told of with a weight of (n + 1) ** -LOUDEST."""


class Told(NamedTuple):
    """A fact as it is told: two names, a type, and when it held."""

    start: str
    type: str
    end: str
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    data: tuple[tuple[str, str], ...] = ()


class Plant(NamedTuple):
    """Something hidden: what, and by which names or day it is known."""

    what: str
    about: frozenset[str]


@dataclass(slots=True)
class History:
    """What was said, and what is hidden in it."""

    lot: random.Random
    names: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    """Type and properties of each thing."""
    days: list[int] = field(default_factory=list)
    """Of each message its day, from 0."""
    facts: dict[Told, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Messages that tell each fact; none: entered by hand."""
    merges: list[tuple[str, str]] = field(default_factory=list)
    zero: bool = False
    """One message says that it was said in 1970."""
    anomalies: set[Plant] = field(default_factory=set)
    habits: set[Plant] = field(default_factory=set)

    def make(self, type_: str, name: str, **data: str) -> str:
        """A thing, under a name that is its label."""
        self.names[name] = (type_, data)
        return name

    def say(self, day: int, *told: Told) -> None:
        """A message that tells facts."""
        for one in told:
            self.facts[one].append(len(self.days))
        self.days.append(day)


def history(seed: int) -> History:
    """Draw one by lot."""
    made = History(random.Random(seed))
    folk = [made.make("Person", f"Person {n}") for n in range(PEOPLE)]
    places = [made.make("Place", f"Place {n}") for n in range(PLACES)]
    things = [made.make(("Concept", "Object", "Media")[n % 3], f"Thing {n}") for n in range(THINGS)]
    events = [made.make("Event", f"Event {n}") for n in range(EVENTS)]
    _usual(made, folk, places, things, events)
    _rhythms(made, folk, events, things)
    _lives(made, folk, places)
    _contradictions(made, folk, places, things)
    _dates(made, places)
    _volume(made, folk, things)
    _weekly(made)
    _together(made, events)
    return made


def _day(number: int) -> date:
    return FIRST + timedelta(days=number)


def _moment(number: int) -> datetime:
    return datetime.combine(_day(number), datetime.min.time(), UTC)


def _weights(count: int) -> list[float]:
    return list(itertools.accumulate((n + 1) ** -LOUDEST for n in range(count)))


# What is usual -------------------------------------------------------------------------------------------------------


def _loudness(lot: random.Random) -> Iterator[float]:
    """How much is said on each day: more on weekends, in waves, some weeks twice as loud, some nearly silent."""
    wave, week = 1.0, 1.0
    for number in range(DAYS):
        if number % 7 == 0:
            wave = min(max(wave * lot.uniform(0.8, 1.25), 0.5), 1.8)
            week = lot.choices((1.0, 2.0, 0.15), (10, 1, 1))[0]
        weekend = 1.4 if _day(number).isoweekday() > 5 else 1.0
        yield A_DAY * wave * week * weekend * lot.gammavariate(4, 0.25)


def _usual(made: History, folk: list[str], places: list[str], things: list[str], events: list[str]) -> None:
    """Everyday talk; each week has topics of its own that come up up to ``WAVE`` times more."""
    lot = made.lot
    weights = {id(some): _weights(len(some)) for some in (folk, places, things, events)}
    shapes = (
        ("LIKES", things, 3), ("USES", things, 3), ("WANTS", things, 2), ("OWNS", things, 1), ("LOCATED_AT", places, 3),
        ("PARTICIPATED_IN", events, 3), ("KNOWS", folk, 1),
    )  # fmt: skip
    topics: list[str] = []
    for number, loud in enumerate(_loudness(lot)):
        if number % 7 == 0:
            topics = [topic for some in (folk, places, things, events) for topic in [lot.choice(some)] * WAVE]
        for _ in range(_poisson(lot, loud)):
            told = []
            for _ in range(lot.choices((0, 1, 2), (3, 5, 2))[0]):
                type_, ends, _share = lot.choices(shapes, [share for *_, share in shapes])[0]
                end = lot.choices(ends, cum_weights=weights[id(ends)])[0]
                wave = next((topic for topic in topics if topic in ends), None)
                if wave is not None and lot.random() < 0.15:
                    topics.remove(wave)
                    end = wave
                start = SELF if lot.random() < 0.4 else lot.choices(folk, cum_weights=weights[id(folk)])[0]
                if start != end:
                    told.append(Told(start, type_, end))
            made.say(number, *told)


def _poisson(lot: random.Random, mean: float) -> int:
    """A count by chance (Knuth's way, for small means)."""
    count, product, end = 0, lot.random(), math.exp(-mean)
    while product > end:
        count += 1
        product *= lot.random()
    return count


def _rhythms(made: History, folk: list[str], events: list[str], things: list[str]) -> None:
    """What recurs and is no weekly habit: daily runs, workdays, errands of some weekend day, trips with company."""
    lot = made.lot
    run, work, errand = (made.make("Event", f"Rhythm {n}") for n in range(3))
    for number in range(DAYS):
        weekday = _day(number).isoweekday()
        if lot.random() < 0.45:
            made.say(number, Told(SELF, "PARTICIPATED_IN", run))
        if weekday < 6 and lot.random() < 0.3:
            made.say(number, Told(SELF, "PARTICIPATED_IN", work), Told(SELF, "USES", things[0]))
        if weekday > 5 and lot.random() < 0.3:
            made.say(number, Told(SELF, "PARTICIPATED_IN", errand))
    for trip in range(6):
        begin, company = lot.randrange(DAYS - 10), lot.sample(folk, 2)
        where = made.make("Place", f"Far away {trip}")
        for number in range(begin, begin + lot.randint(3, 6)):
            what = lot.choice(events)
            made.say(number, *(Told(who, "PARTICIPATED_IN", what) for who in company), Told(SELF, "LOCATED_AT", where))


def _lives(made: History, folk: list[str], places: list[str]) -> None:
    """What changes in order: homes, tastes, plans, forebears, families."""
    lot = made.lot
    for who in folk[:40]:
        moved = _moment(lot.randrange(DAYS))
        one, two = lot.sample(places, 2)
        made.facts[Told(who, "LIVES_IN", one, None, moved)] = []
        made.facts[Told(who, "LIVES_IN", two, moved)] = []
    for number in range(20):
        who, thing, turned = lot.choice(folk), made.make("Concept", f"Taste {number}"), _moment(lot.randrange(DAYS))
        made.facts[Told(who, "LIKES", thing, None, turned)] = []
        made.facts[Told(who, "DISLIKES", thing, turned)] = []
    for number in range(6):
        old = made.make("Person", f"Forebear {number}", born=str(1840 + 15 * number), died=f"{1905 + 15 * number}-03")
        at = datetime(1870 + 15 * number, 5, 1, tzinfo=UTC)
        made.facts[Told(old, "LIVES_IN", lot.choice(places), at, at + timedelta(days=9_000))] = []
        made.facts[Told(SELF, "FAMILY_OF", old, data=(("relation", "grandfather"),))] = []
        made.facts[Told(old, "FAMILY_OF", SELF, data=(("relation", "grandson"),))] = []
        plan = made.make("Event", f"Plan {number}")
        made.facts[Told(SELF, "PARTICIPATED_IN", plan, datetime(2027 + 3 * number, 1, 1, tzinfo=UTC))] = []
        one, two = lot.sample(folk, 2)
        made.facts[Told(one, "FAMILY_OF", two, data=(("relation", "sister"),))] = []
        made.facts[Told(two, "FAMILY_OF", one, data=(("relation", "sister"),))] = []


# What is hidden ------------------------------------------------------------------------------------------------------


def _contradictions(made: History, folk: list[str], places: list[str], things: list[str]) -> None:
    """Ten: four tastes, three people with two homes, three relations both ways."""
    lot = made.lot
    for n, who in enumerate(lot.sample(folk, 4)):
        thing = made.make("Concept", f"Torn {n}")
        made.facts[Told(who, "LIKES", thing)] = []
        made.facts[Told(who, "DISLIKES", thing, _moment(lot.randrange(DAYS)))] = []
        made.anomalies.add(Plant("opposites", frozenset({who, thing})))
    for n in range(3):
        who, twin = made.make("Person", f"Double {n}"), made.make("Person", f"Double {n}, again")
        one, two = lot.sample(places, 2)
        made.facts[Told(who, "LIVES_IN", one, _moment(lot.randrange(DAYS)))] = []
        made.facts[Told(twin, "LIVES_IN", two, _moment(lot.randrange(DAYS)))] = []
        made.merges.append((twin, who))
        made.anomalies.add(Plant("two_values", frozenset({who, one, two})))
    child, parent = (made.make("Person", f"Kin {n}") for n in range(2))
    kin: tuple[tuple[str, str], ...] = (("relation", "mother"),)
    nothing: tuple[tuple[str, str], ...] = ()
    pairs = [
        (child, parent, "FAMILY_OF", kin),
        (things[lot.randrange(20, 80)], things[lot.randrange(80, THINGS)], "PART_OF", nothing),
        (places[lot.randrange(5, 15)], places[lot.randrange(15, PLACES)], "PART_OF", nothing),
    ]
    for one, two, type_, data in pairs:
        made.facts[Told(one, type_, two, data=data)] = []
        made.facts[Told(two, type_, one, data=data)] = []
        made.anomalies.add(Plant("both_ways", frozenset({one, two})))


def _dates(made: History, places: list[str]) -> None:
    """Five dates that cannot be right."""
    lot = made.lot
    for what, born, died, year in (
        ("before_birth", "1992", "", 1985), ("after_death", "1901-02-03", "1980-05-06", 1999),
        ("long_ago", "", "", 1019), ("far_ahead", "", "", 2204),
    ):  # fmt: skip
        who = made.make("Person", f"Of {what}", **({"born": born} if born else {}), **({"died": died} if died else {}))
        place = lot.choice(places)
        made.facts[Told(who, "LOCATED_AT", place, datetime(year, 6, 1, tzinfo=UTC))] = []
        made.anomalies.add(Plant(what, frozenset({who, place})))
    made.zero = True
    made.anomalies.add(Plant("said_at_zero", frozenset({"1970-01-01"})))


def _volume(made: History, folk: list[str], things: list[str]) -> None:
    """Three days and two weeks of sudden volume."""
    lot = made.lot
    for number in lot.sample(range(60, DAYS - 60), 3):
        for _ in range(lot.randint(55, 90)):
            made.say(number, Told(lot.choice(folk), "LIKES", lot.choice(things)))
        made.anomalies.add(Plant("busy_day", frozenset({_day(number).isoformat()})))
    for n in range(2):
        who = made.make("Person", f"Sudden {n}")
        for number in lot.sample(range(DAYS), 30):
            made.say(number, Told(who, "LIKES", lot.choice(things)))
        begin = 7 * lot.randrange(20, DAYS // 7 - 20)
        for _ in range(lot.randint(14, 20)):
            made.say(begin + lot.randrange(7), Told(who, "WANTS", lot.choice(things)))
        made.anomalies.add(Plant("busy_week", frozenset({who})))


def _weekly(made: History) -> None:
    """Six things that come again on a day of the week, with weeks left out and times on other days; half as moments."""
    lot = made.lot
    for n in range(6):
        what, weekday = made.make("Event", f"Weekly {n}"), lot.randrange(7)
        weeks, kept = lot.randint(14, 60), lot.uniform(0.68, 0.95)
        begin = lot.randrange(DAYS // 7 - weeks)
        for week in range(begin, begin + weeks):
            number = 7 * week + (weekday if lot.random() > 0.12 else lot.randrange(7))
            if lot.random() > kept:
                continue
            if n % 2:  # a moment, told of on one of the days after it
                told = Told(SELF, "PARTICIPATED_IN", what, _moment(number), _moment(number + 1))
                made.say(min(number + lot.randrange(3), DAYS - 1), told)
            else:
                made.say(number, Told(SELF, "PARTICIPATED_IN", what))
        made.habits.add(Plant("weekly", frozenset({SELF, what})))


def _together(made: History, events: list[str]) -> None:
    """Four couples who come together, and are spoken of alone as well."""
    lot = made.lot
    for n in range(4):
        one, two = (made.make("Person", f"Couple {n} {side}") for side in "ab")
        begin, length = lot.randrange(DAYS - 300), lot.randint(120, 300)
        for number in lot.sample(range(begin, begin + length), lot.randint(14, 30)):
            what = lot.choice(events)
            made.say(number, Told(one, "PARTICIPATED_IN", what), Told(two, "PARTICIPATED_IN", what))
        for who in (one, two):
            for number in lot.sample(range(DAYS), 15):
                made.say(number, Told(who, "PARTICIPATED_IN", lot.choice(events)))
        made.habits.add(Plant("together", frozenset({one, two})))
