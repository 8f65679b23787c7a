"""Histories drawn by lot in which things are somewhere, for ``bench.recall_places``: no labelled set has places.

Somebody notes what was eaten, heard, seen and bought in the venues of three towns. A note names its venue, never the
landmark around the corner nor the town; questions name the landmark. Beside them stand notes about the landmarks, about
friends (who live somewhere, too) and about nothing that has a place. A quarter of the notes led to no fact, and a tenth
of the venues has no coordinates, for nobody knows everything.

What counts as near is a matter of taste: evidence is what happened within 700 m, while recall looks 1 km far.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bench.datasets import DataSet, Form, Question, Turn, made

NEAR_M = 700.0
CHANGED = ("near", "near_otherwise")
"""Questions that ask for what is near; ``near_otherwise`` in words that memsvc does not list."""
SAME = ("landmark", "landmark_word", "venue", "plain")
"""Questions that want nothing near: about a landmark, the same with a word such as "around", about a venue, others."""
FORM = Form(groups={"changed": frozenset(CHANGED), "same": frozenset(SAME)}, main="changed")
PEOPLE = ("Bea", "Odile", "Marcel", "Ruth", "Tomasz", "Ines", "Yusuf", "Greta")
FIRST = ("Old", "Copper", "Glass", "Heron", "Clock", "Salt", "Winter", "Lantern", "Falcon", "Marble", "Rope", "Linden")
SECOND = (
    "Mill",
    "Bridge",
    "Pier",
    "Fountain",
    "Gate",
    "Tower",
    "Lock",
    "Chapel",
    "Market",
    "Stairs",
    "Granary",
    "Arsenal",
)
OWN = (
    "Lund", "Karo", "Vesper", "Brandt", "Mirabel", "Osten", "Tamsin", "Quill", "Ferro", "Adele", "Noor", "Pascal",
    "Juniper", "Halden", "Iris", "Corvo", "Selma", "Bruno", "Wren", "Dagny", "Estel", "Folke", "Gitte", "Hektor",
)  # fmt: skip
ABOUT_LANDMARKS = {
    "Who made a drawing of the {place}?": "{who} made a charcoal drawing of the {place} for the school fair.",
    "When was the {place} built?": "The guide said that the {place} was built in {year}, after the great fire.",
    "What did {who} tell about the {place}?": "{who} told the story of the ghost in the {place} again.",
}
WITH_A_WORD = {
    "What was repaired at the {place} around Easter?": "The roof of the {place} was repaired over Easter, at last.",
    "How close to the end is the book about the {place}?": "{who} has two chapters left of the book about the {place}.",
    "Which neighbour owned the {place}?": "Grandfather's neighbour owned the {place} before the war.",
}
WHOLE = {
    "landmark": "What do we know about the {place}?",
    "landmark_word": "What have people around here said about the {place}?",
}
"""Asked for all the notes about a landmark at once."""
OF_FRIENDS = {
    "How is the new job of {who}?": "{who} is glad of the new job at the archive, but for the early mornings.",
    "What instrument does {who} learn?": "{who} learns the accordion now and practises at night.",
    "What is {who} allergic to?": "{who} turned out to be allergic to hazelnuts.",
    "Where will {who} spend the summer?": "{who} will spend the summer on a sailing boat off Norway.",
}
CHATTER = (
    "The boiler makes that noise again, the plumber comes on Friday.", "I finally finished the tax forms.",
    "Slept badly, the wind rattled the shutters all night.", "Ordered new running shoes, half a size larger.",
    "The tomatoes on the balcony have blight.", "Watched two episodes and fell asleep.", "Meeting moved to Thursday.",
    "The bus was late, so I walked.", "Ate too much cake at the office.", "The neighbour's dog barked till midnight.",
)  # fmt: skip
OTHERWISE = ("a stone's throw from the {place}", "in the streets by the {place}", "two minutes from the {place}")
NEARLY = ("near the {place}", "around the {place}", "close to the {place}", "in the neighbourhood of the {place}")


@dataclass(frozen=True, slots=True)
class Kind:
    """What one does in a sort of venue."""

    names: Sequence[str]
    question: str
    notes: Sequence[str]
    """One that has a word of the question, and one that has none."""
    fact: str
    things: Sequence[str]


KINDS = (
    Kind(
        ("Café {}", "Bistro {}", "{} Kitchen"), "What did we eat",
        ("We could not stop to eat the {thing} at {venue}.", "{who} was all praise for the {thing} at {venue}."),
        "{who} ate {thing} at {venue}.",
        ("plum dumplings", "lentil soup", "grilled trout", "beetroot ravioli", "leek pie", "goulash", "pea risotto"),
    ),
    Kind(
        ("Bar {}", "{} Cellar"), "Which drinks did we try",
        ("At {venue} {who} made me try {thing}.", "{who} poured me {thing} at {venue}, never again."),
        "{who} tried {thing} at {venue}.",
        ("a smoked cider", "sloe gin", "a walnut liqueur", "barrel-aged porter", "quince brandy", "a fennel cordial"),
    ),
    Kind(
        ("Club {}", "{} Hall"), "Which concerts did we hear",
        ("The concert of {thing} at {venue} was too loud for {who}.", "{who} danced to {thing} at {venue}."),
        "{who} heard {thing} at {venue}.",
        ("a brass quintet", "a kora duo", "a surf band", "two cellists", "a tango orchestra", "a drone ensemble"),
    ),
    Kind(
        ("Galerie {}", "{} Rooms"), "Which exhibitions did we see",
        ("The exhibition of {thing} at {venue} is open till May.", "{who} was moved by the {thing} at {venue}."),
        "{who} saw {thing} at {venue}.",
        ("river maps", "glass insects", "mourning photographs", "paper cuts", "Bauhaus toys", "woven portraits"),
    ),
    Kind(
        ("{} & Sons", "Magasin {}"), "What did we buy",
        ("{who} wanted to buy {thing} at {venue}, and I did.", "{who} talked me into {thing} at {venue}."),
        "{who} bought {thing} at {venue}.",
        ("a brass lamp", "a second-hand oboe", "wool blankets", "a chess clock", "an enamel pot", "old atlases"),
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Somewhere:
    """A venue, a landmark or a friend, and where it is."""

    label: str
    type: str
    latitude: float
    longitude: float
    kind: Kind | None = None
    told: bool = True
    """Somebody gave its coordinates."""


@dataclass(frozen=True, slots=True)
class Known:
    """A fact that a note led to."""

    turn_id: str
    person: str
    about: str
    fact: str


@dataclass(slots=True)
class History:
    """One user's notes, and what was made of them."""

    name: str
    spots: list[Somewhere] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    facts: list[Known] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)


def metres(a: Somewhere, b: Somewhere) -> float:
    """Metres between two places of a town: on a plane, which is right to a metre there."""
    north = (a.latitude - b.latitude) * 111_195
    return math.hypot(north, (a.longitude - b.longitude) * 111_195 * math.cos(math.radians(a.latitude)))


class Drawer:
    """Draws one history."""

    def __init__(self, name: str, seed: int) -> None:
        """Equal seeds give equal histories."""
        self._lot = random.Random(f"{seed} {name}")
        self._history = History(name)
        self._notes: list[tuple[str, Known | None, str]] = []
        """Text, the fact that it leads to, and what it is evidence for."""
        self._evidence: dict[str, list[str]] = {}

    def _around(self, spot: tuple[float, float], least: float, most: float) -> tuple[float, float]:
        far, turn = self._lot.uniform(least, most), self._lot.uniform(0, 2 * math.pi)
        north, east = far * math.cos(turn) / 111_195, far * math.sin(turn) / 111_195
        return spot[0] + north, spot[1] + east / math.cos(math.radians(spot[0]))

    def _note(self, text: str, serves: str, person: str = "", about: str = "", fact: str = "") -> None:
        known = Known("", person, about, fact) if fact and self._lot.random() < 0.75 else None
        self._notes.append((text, known, serves))

    def _venues(self, towns: Sequence[tuple[float, float]], landmarks: Sequence[Somewhere]) -> list[Somewhere]:
        names = [(form.format(own), kind) for kind in KINDS for form in kind.names for own in OWN]
        self._lot.shuffle(names)
        found = []
        for number in range(120):
            label, kind = names.pop()
            middle = self._lot.choice(landmarks)
            at = (
                self._around((middle.latitude, middle.longitude), 30, 1_300)
                if number % 3
                else self._around(self._lot.choice(towns), 200, 6_000)
            )
            found.append(Somewhere(label, "Organization", *at, kind, self._lot.random() < 0.9))
        return found

    def _visits(self, venues: Sequence[Somewhere]) -> None:
        for venue in venues:
            if venue.kind is None:
                continue
            for _ in range(self._lot.randint(1, 3)):
                who, thing = self._lot.choice(PEOPLE), self._lot.choice(venue.kind.things)
                said = {"who": who, "thing": thing, "venue": venue.label}
                text = self._lot.choice(venue.kind.notes).format(**said)
                self._note(text[0].upper() + text[1:], venue.label, who, venue.label, venue.kind.fact.format(**said))

    def _ask(self, category: str, question: str, serves: Sequence[str]) -> None:
        evidence = [turn_id for one in serves for turn_id in self._evidence.get(one, ())]
        if evidence and len(evidence) <= 10:
            number = len(self._history.questions)
            self._history.questions.append(
                Question(f"{self._history.name}-{number}", self._history.name, question, category, evidence)
            )

    def _spread(self) -> None:
        """Notes over two years, some a day."""
        self._lot.shuffle(self._notes)
        name, start, session = self._history.name, datetime(2024, 1, 6, 18, tzinfo=UTC), 0
        for number, (text, known, serves) in enumerate(self._notes):
            session += self._lot.random() < 0.2
            turn_id, said = f"t{number}", start + timedelta(days=session * 3, minutes=number % 60)
            self._history.turns.append(Turn(name, turn_id, f"s{session}", said.isoformat(), "user", text))
            self._evidence.setdefault(serves, []).append(turn_id)
            if known is not None:
                self._history.facts.append(Known(turn_id, known.person, known.about, known.fact))

    def _questions(self, landmarks: Sequence[Somewhere], venues: Sequence[Somewhere]) -> None:
        for landmark in landmarks:
            for kind in KINDS:
                close = [one.label for one in venues if one.kind is kind and metres(one, landmark) <= NEAR_M]
                where = self._lot.choice(NEARLY if (near := self._lot.random() < 0.7) else OTHERWISE)
                asked = f"{kind.question} {where.format(place=landmark.label)}?"
                self._ask("near" if near else "near_otherwise", asked, close)
            for category, told in (("landmark", ABOUT_LANDMARKS), ("landmark_word", WITH_A_WORD)):
                for question in told:
                    who = next((one for one in PEOPLE if f"{question}{landmark.label}{one}" in self._evidence), "")
                    asked = question.format(place=landmark.label, who=who)
                    self._ask(category, asked, [f"{question}{landmark.label}{who}"])
                every = [one for one in self._evidence if landmark.label in one and "?" in one]
                self._ask(category, WHOLE[category].format(place=landmark.label), every)
        for venue in self._lot.sample(list(venues), 30):
            if venue.kind is not None:
                self._ask("venue", f"{venue.kind.question} at {venue.label}?", [venue.label])
        for question in OF_FRIENDS:
            for who in PEOPLE:
                self._ask("plain", question.format(who=who), [f"{question}{who}"])

    def draw(self) -> History:
        """The history."""
        lot = self._lot
        towns = [(lot.uniform(-50, 60), lot.uniform(-170, 170)) for _ in range(3)]
        landmarks = [
            Somewhere(f"{first} {second}", "Place", *self._around(towns[number % 3], 200, 4_000))
            for number, (first, second) in enumerate(zip(FIRST, lot.sample(SECOND, len(FIRST)), strict=True))
        ]
        venues = self._venues(towns, landmarks)
        homes = [Somewhere(who, "Person", *self._around(lot.choice(towns), 100, 3_000)) for who in PEOPLE]
        self._history.spots = [*landmarks, *venues, *homes]
        self._visits(venues)
        for landmark in landmarks:
            for question, note in (*ABOUT_LANDMARKS.items(), *WITH_A_WORD.items()):
                if lot.random() < 0.5:
                    continue  # nobody speaks of all of them
                who = lot.choice(PEOPLE)
                text = note.format(place=landmark.label, who=who, year=lot.randint(1400, 1900))
                self._note(text, f"{question}{landmark.label}{who}", who, landmark.label, text)
        for question, note in OF_FRIENDS.items():
            for who in PEOPLE:
                self._note(note.format(who=who), f"{question}{who}", who, "life", note.format(who=who))
        for _ in range(150):
            self._note(lot.choice(CHATTER), "")
        self._spread()
        self._questions(landmarks, venues)
        return self._history


def histories(users: int, seed: int) -> Iterator[History]:
    """Histories of so many users."""
    for number in range(users):
        yield Drawer(f"user {number}", seed).draw()


def data_set(drawn: Sequence[History]) -> DataSet:
    """The histories as a labelled set."""
    questions = [question for one in drawn for question in one.questions]
    return made("places", FORM, {one.name: one.turns for one in drawn}, questions)
