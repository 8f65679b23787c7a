"""A bank of wordings: where people live, go, work and take part, since when, and what changed.

Each line of a table is a text that Sam types on Saturday, 6 September 2025, and what it says. The offline extractor
has to find nearly all of it, and must not be tempted by the near misses; no rule may be made for a single line.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import uuid4

from memsvc.extract.extraction import Extraction, Fact
from memsvc.extract.offline.extractor import read
from memsvc.extract.validation import DOUBTFUL
from memsvc.extract.window import Candidate, EdgeType, Ontology, Turn, Window

SAID_AT = datetime(2025, 9, 6, 10, 15, tzinfo=UTC)
TYPES = "KNOWS FAMILY_OF WORKS_AT LIVES_IN LOCATED_AT PARTICIPATED_IN OWNS LIKES WANTS CREATED USES PART_OF RELATED_TO"
ONTOLOGY = Ontology(node_types=frozenset(), edge_types={name: EdgeType(name=name) for name in TYPES.split()})
FOUND, TEMPTED, TIMES, CHANGES = 0.85, 0.05, 0.85, 0.85

WORDINGS = """
I live in Utrecht | Sam LIVES_IN Utrecht
living in Utrecht these days | Sam LIVES_IN Utrecht
been in Utrecht for six years now | Sam LIVES_IN Utrecht
I'm based in Gothenburg | Sam LIVES_IN Gothenburg
we've been living in a tiny flat in Gothenburg since spring | Sam LIVES_IN Gothenburg
we just moved into a two bed in Headingley | Sam LIVES_IN Headingley
I moved out to Whitby when the kids left | Sam LIVES_IN Whitby
relocated to Oslo for the job in 2021 | Sam LIVES_IN Oslo
we settled in Whitby after the army | Sam LIVES_IN Whitby
my brother Kasper lives just outside Exeter | Kasper LIVES_IN Exeter
my brother Kasper, who lives in Exeter, is visiting | Kasper LIVES_IN Exeter
Kasper moved back to Exeter in June | Kasper LIVES_IN Exeter
Hanna and Joost live in Delft now | Hanna LIVES_IN Delft; Joost LIVES_IN Delft
my parents are still in Cluj | parents LIVES_IN Cluj
Mum's in Cardiff, so we don't see her much | Mum LIVES_IN Cardiff
my daughter's place in Bristol is lovely | daughter LIVES_IN Bristol
I rent a room in Neukölln | Sam LIVES_IN Neukölln
I share a flat in Neukölln with two nurses | Sam LIVES_IN Neukölln
signed the lease on a flat in Leith | Sam LIVES_IN Leith
our house in Leith needs a new roof | Sam LIVES_IN Leith
home is Tampere for now | Sam LIVES_IN Tampere
I call Tampere home these days | Sam LIVES_IN Tampere
I'm from Tampere originally | no longer: Sam LIVES_IN Tampere
born and raised in Tampere | no longer: Sam LIVES_IN Tampere
I grew up in a village near Tampere | no longer: Sam LIVES_IN Tampere
I used to live in Bergen | no longer: Sam LIVES_IN Bergen
we lived in Bergen for three years before the kids | no longer: Sam LIVES_IN Bergen
moved from Bergen to Trondheim in 2019 | Sam LIVES_IN Trondheim; no longer: Sam LIVES_IN Bergen
i live in bergen | Sam LIVES_IN Bergen
she's living with her dad in Antwerp, my niece Lotte | Lotte LIVES_IN Antwerp
a friend of mine, Goran, lives in Split | Goran LIVES_IN Split
Goran's flat in Split has a sea view | Goran LIVES_IN Split
Been a Londoner for ten years, well, I live in Hackney | Sam LIVES_IN Hackney
I work at Carlsberg | Sam WORKS_AT Carlsberg
I work for a small law firm | Sam WORKS_AT law firm
working for Siemens since March | Sam WORKS_AT Siemens
been with Siemens for nine years | Sam WORKS_AT Siemens
I've been at Siemens since 2016 | Sam WORKS_AT Siemens
I got a job at Ikea!! | Sam WORKS_AT Ikea
I got the job at Ikea | Sam WORKS_AT Ikea
I've started at Ikea on Monday | Sam WORKS_AT Ikea
starting at Ikea next week | Sam WORKS_AT Ikea
I got hired by Spotify | Sam WORKS_AT Spotify
Spotify hired me in May | Sam WORKS_AT Spotify
Spotify offered me a job and I took it | Sam WORKS_AT Spotify
I joined Spotify last autumn | Sam WORKS_AT Spotify
my wife Greta works as a midwife at Whipps Cross Hospital | Greta WORKS_AT Whipps Cross Hospital
Greta is a midwife at Whipps Cross Hospital | Greta WORKS_AT Whipps Cross Hospital
Greta, a midwife at Whipps Cross Hospital, is on nights | Greta WORKS_AT Whipps Cross Hospital
I'm a plumber with Henderson Brothers | Sam WORKS_AT Henderson Brothers
I'm an intern at Deloitte | Sam WORKS_AT Deloitte
doing an internship at Deloitte | Sam WORKS_AT Deloitte
I teach maths at a secondary school | Sam WORKS_AT school
I teach at Hillcrest Primary | Sam WORKS_AT Hillcrest Primary
I'm studying law at Leiden University | Sam WORKS_AT Leiden University
second year physics at Durham University | Sam WORKS_AT Durham University
I go to Durham University | Sam WORKS_AT Durham University
my son Eddie got into Durham University | Eddie WORKS_AT Durham University
Eddie goes to Oakfield School | Eddie WORKS_AT Oakfield School
Eddie starts at Oakfield School on Monday | Eddie WORKS_AT Oakfield School
I volunteer at an animal shelter on Sundays | Sam WORKS_AT animal shelter
I help out at the food bank every Thursday | Sam WORKS_AT food bank
volunteering with the Red Cross | Sam WORKS_AT Red Cross
I run a small bakery | Sam WORKS_AT bakery
my shifts at the hospital are brutal | Sam WORKS_AT hospital
my job at Aldi is boring | Sam WORKS_AT Aldi
my boss at Aldi is a pain | Sam WORKS_AT Aldi
I do the accounts for a brewery | Sam WORKS_AT brewery
I'm doing my PhD at ETH | Sam WORKS_AT ETH
I drive a van for DHL | Sam WORKS_AT DHL
I'm employed by the city council | Sam WORKS_AT city council
I work part time in a bookshop | Sam WORKS_AT bookshop
I worked at Nokia for twelve years | no longer: Sam WORKS_AT Nokia
I used to work for Nokia | no longer: Sam WORKS_AT Nokia
I left Nokia in 2019 | no longer: Sam WORKS_AT Nokia
I got laid off from Nokia | no longer: Sam WORKS_AT Nokia
handed in my notice at Nokia | no longer: Sam WORKS_AT Nokia
I retired from Nokia last spring | no longer: Sam WORKS_AT Nokia
I graduated from Aalto University in June | no longer: Sam WORKS_AT Aalto University
I don't work at Nokia any more | no longer: Sam WORKS_AT Nokia
Going to Vienna next weekend | Sam LOCATED_AT Vienna
we're off to Vienna on Friday | Sam LOCATED_AT Vienna
I'm in Vienna until Sunday | Sam LOCATED_AT Vienna
just got back from Vienna | no longer: Sam LOCATED_AT Vienna
back in Vienna for a week | Sam LOCATED_AT Vienna
we spent a week in Vienna | Sam LOCATED_AT Vienna
I went to Vienna with Klara in May | Sam LOCATED_AT Vienna; Klara LOCATED_AT Vienna
I took Klara to Vienna for her birthday | Sam LOCATED_AT Vienna
driving up to Inverness tomorrow | Sam LOCATED_AT Inverness
flew to Seville last Tuesday | Sam LOCATED_AT Seville
my flight to Seville leaves at six | Sam LOCATED_AT Seville
booked flights to Seville for October | Sam LOCATED_AT Seville
our honeymoon in Madeira was perfect | Sam LOCATED_AT Madeira
we went hiking in Madeira | Sam LOCATED_AT Madeira
we had lunch in Porto with my aunt | Sam LOCATED_AT Porto
visited Porto twice this year | Sam LOCATED_AT Porto
Klara is in Porto this week | Klara LOCATED_AT Porto
Klara's away in Porto till Thursday | Klara LOCATED_AT Porto
I saw Klara in Porto | Sam LOCATED_AT Porto
stuck at Heathrow for five hours | Sam LOCATED_AT Heathrow
the boat is moored in Falmouth | boat LOCATED_AT Falmouth
my allotment is behind the station | allotment LOCATED_AT station
the party is at Klara's place in Porto | party LOCATED_AT Porto
the office is in Zug | office LOCATED_AT Zug
there's a great ramen place in Zug | ramen place LOCATED_AT Zug
the conference takes place in Zug this year | conference LOCATED_AT Zug
I keep my van at the farm | van LOCATED_AT farm
I'm running the Berlin marathon in two weeks | Sam PARTICIPATED_IN Berlin marathon
did a first aid course last month | Sam PARTICIPATED_IN first aid course
I'm taking a pottery class on Wednesdays | Sam PARTICIPATED_IN pottery class
signed up for a welding course | Sam PARTICIPATED_IN welding course
we got married in Siena last June | Sam PARTICIPATED_IN wedding
went to my cousin's wedding on Saturday | Sam PARTICIPATED_IN wedding
we went to a Radiohead gig | Sam PARTICIPATED_IN Radiohead gig
I have a job interview on Tuesday | Sam PARTICIPATED_IN job interview
got an MRI scan on Monday | Sam PARTICIPATED_IN MRI scan
my knee surgery is on the 14th | Sam PARTICIPATED_IN knee surgery
I failed my driving test again | Sam PARTICIPATED_IN driving test
Mila has her piano recital on Friday | Mila PARTICIPATED_IN piano recital
Mila's piano recital is on Friday | Mila PARTICIPATED_IN piano recital
Mila came third in the regional chess tournament | Mila PARTICIPATED_IN chess tournament
we threw a surprise party for Mila | Sam PARTICIPATED_IN surprise party
my sister Jo is running the London marathon | Jo PARTICIPATED_IN London marathon
off to a stag do in Riga this weekend | Sam PARTICIPATED_IN stag do
we had a picnic in the park for my birthday | Sam PARTICIPATED_IN picnic
I gave a talk at PyCon | Sam PARTICIPATED_IN PyCon
I'm speaking at a conference in Malta | Sam PARTICIPATED_IN conference
I played in the cup final on Sunday | Sam PARTICIPATED_IN cup final
got tickets for Glastonbury! going with Jo | Sam PARTICIPATED_IN Glastonbury
I'm doing the Camino in April | Sam PARTICIPATED_IN Camino
first day of my yoga retreat | Sam PARTICIPATED_IN yoga retreat
back from a school trip to York | Sam PARTICIPATED_IN school trip
my graduation is in July | Sam PARTICIPATED_IN graduation
the kids and i did the santa run | Sam PARTICIPATED_IN santa run
"""
NEAR_MISSES = """
Would you live in Utrecht? | LIVES_IN
I'd never live in Utrecht | LIVES_IN
we almost moved to Utrecht | LIVES_IN
I could live in Utrecht one day | LIVES_IN
We're thinking about moving to Utrecht | LIVES_IN
houses in Utrecht are so expensive | LIVES_IN LOCATED_AT
The rents in Utrecht are mad | LIVES_IN
If we buy a house in Leith I'm getting a dog | LIVES_IN
we looked at a flat in Leith but it was damp | LIVES_IN
we viewed a house in Leith on Sunday | LIVES_IN
my sister wants me to move to Leith | LIVES_IN
Do your parents still live in Leith? | LIVES_IN
I don't live in Leith | LIVES_IN
the chapter where he lives in Leith made me cry | LIVES_IN
the film is set in Leith | LIVES_IN
people from Leith are funny | LIVES_IN
I got a parcel from Leith | LIVES_IN LOCATED_AT
my hotel in Leith was awful | LIVES_IN
we stayed in a flat in Leith for the weekend | LIVES_IN
I'm in Leith this weekend | LIVES_IN
lol imagine me living on a farm in Wales | LIVES_IN
I live in hope | LIVES_IN LOCATED_AT
I live in my wellies at the moment | LIVES_IN LOCATED_AT
she moved in slow motion | LIVES_IN
we moved the meeting to Thursday | LIVES_IN LOCATED_AT
I'd love to work at Spotify | WORKS_AT
I applied to Spotify but no reply | WORKS_AT
I have an interview at Spotify | WORKS_AT
Spotify turned me down | WORKS_AT
I didn't get the job at Spotify | WORKS_AT
Does she work at Spotify? | WORKS_AT
you'd be great working at a library | WORKS_AT
I bought milk at Aldi | WORKS_AT
I was at Aldi this morning | WORKS_AT
we met at Ikea of all places | WORKS_AT
left the pub at nine | WORKS_AT
left my keys at the gym | WORKS_AT
I had surgery at the hospital | WORKS_AT
I go to the gym a lot | WORKS_AT
the yoga class at the gym works for me | WORKS_AT
the app works at night | WORKS_AT
I left school early today to see the dentist | WORKS_AT
The people at the council were rude | WORKS_AT
Should I go to Vienna? | LOCATED_AT
We wanted to go to Vienna but it was full | LOCATED_AT
we never made it to Vienna | LOCATED_AT
I'd go to Vienna if I had money | LOCATED_AT
Vienna would be nice | LOCATED_AT
read a book about Vienna | LOCATED_AT
I'm in a bad mood | LOCATED_AT
it's in the oven | LOCATED_AT
going to bed | LOCATED_AT
I'm on my way | LOCATED_AT
going through a rough patch | LOCATED_AT
my friends are going without me | LOCATED_AT PARTICIPATED_IN
We skipped the party | PARTICIPATED_IN
the course was cancelled | PARTICIPATED_IN
I missed the concert | PARTICIPATED_IN
Can't make it to the wedding | PARTICIPATED_IN
thinking about doing a pottery course | PARTICIPATED_IN
Are you going to the gig? | PARTICIPATED_IN
I heard about a marathon in Leeds | PARTICIPATED_IN
I might sign up for a course | PARTICIPATED_IN
watched a documentary about the war | PARTICIPATED_IN
If I do the course I can get a raise | PARTICIPATED_IN
The cat had a party with the curtains | PARTICIPATED_IN
I had a hard time | PARTICIPATED_IN
We went for it | PARTICIPATED_IN
"""
DATED = """
I've lived in Utrecht since 2018 | LIVES_IN 2018 -
we moved to Utrecht in March | LIVES_IN 2025-03 -
we moved to Utrecht last November | LIVES_IN 2024-11 -
we're moving to Utrecht in October | LIVES_IN 2025-10 -
we moved here to Utrecht two years ago | LIVES_IN 2023 -
been living in Utrecht for two years | LIVES_IN 2023 -
I've been in Utrecht since last summer | LIVES_IN 2025-06 -
we lived in Utrecht until 2015 | LIVES_IN - 2015
I lived in Utrecht from 2010 to 2015 | LIVES_IN 2010 2015
back in 2012 I lived in Utrecht | LIVES_IN 2012 -
I left Utrecht in 2015 and moved to Ghent | LIVES_IN 2015 -
I started at Siemens in January | WORKS_AT 2025-01 -
I start at Siemens on Monday | WORKS_AT 2025-09-08 -
I'm starting at Siemens on 1 October | WORKS_AT 2025-10-01 -
I've been at Siemens for four years | WORKS_AT 2021 -
I've worked at Siemens since I was 20, so since 1999 | WORKS_AT 1999 -
I left Siemens in May | WORKS_AT - 2025-05
I worked at Siemens until last year | WORKS_AT - 2024
I worked at Siemens from 2003 till 2011 | WORKS_AT 2003 2011
my last day at Siemens was yesterday | WORKS_AT - 2025-09-05
I quit Siemens three weeks ago | WORKS_AT - 2025-08
going to Vienna next Friday | LOCATED_AT 2025-09-12 -
we're in Vienna until Tuesday | LOCATED_AT - 2025-09-09
we were in Vienna last week | LOCATED_AT 2025-08-2 -
I was in Vienna yesterday | LOCATED_AT 2025-09-05 -
flying to Vienna on the 20th | LOCATED_AT 2025-09-20 -
we went to Vienna in 2022 | LOCATED_AT 2022 -
off to Vienna tomorrow | LOCATED_AT 2025-09-07 -
I went to Vienna at Easter 2024 | LOCATED_AT 2024 -
I have a job interview on Tuesday | PARTICIPATED_IN 2025-09-09 -
the wedding's on 11 October, we're both going to the wedding | PARTICIPATED_IN 2025-10-11 -
I ran the Oslo marathon in 2019 | PARTICIPATED_IN 2019 -
my pottery course starts on 15th September | PARTICIPATED_IN 2025-09-15 -
did a first aid course last weekend | PARTICIPATED_IN 2025-08-30 -
we got married in June 2011 | PARTICIPATED_IN 2011-06 -
I'm doing a half marathon this Sunday | PARTICIPATED_IN 2025-09-07 -
my exam is on the 3rd of November | PARTICIPATED_IN 2025-11-03 -
I got a dog in July | OWNS 2025-07 -
we've had our dog for five years | OWNS 2020 -
I've known Mila since 2008 | KNOWS 2008 -
I bought a van last week | OWNS 2025-08-2 -
sold the van in August | OWNS - 2025-08
"""
CHANGED = """
I live in Leeds // sorry, York | Sam LIVES_IN York | LIVES_IN Leeds
I live in Leeds // no, York actually | Sam LIVES_IN York | LIVES_IN Leeds
we're flying to Rome on Friday // oops I meant Milan | Sam LOCATED_AT Milan | LOCATED_AT Rome
I work at Aldi // *Lidl | Sam WORKS_AT Lidl | WORKS_AT Aldi
I work at Aldi // wait no, it's Lidl | Sam WORKS_AT Lidl | WORKS_AT Aldi
I live in Leeds. Actually no, I mean York. | Sam LIVES_IN York | LIVES_IN Leeds
I work at Aldi // I quit Aldi | no longer: Sam WORKS_AT Aldi | -
I work at Aldi // I quit last week | no longer: Sam WORKS_AT Aldi | -
I work at Aldi // I don't work there any more | no longer: Sam WORKS_AT Aldi | -
I work at Aldi // they let me go yesterday | no longer: Sam WORKS_AT Aldi | -
I work at Aldi // got fired | no longer: Sam WORKS_AT Aldi | -
I work at Aldi // I've handed in my notice | no longer: Sam WORKS_AT Aldi | -
I work at Aldi // new job! I'm at Lidl now | Sam WORKS_AT Lidl | -
I live in Leeds // we moved to York in August | Sam LIVES_IN York | -
I live in Leeds // I don't live there any more | no longer: Sam LIVES_IN Leeds | -
my brother Kasper works at Aldi // Kasper got a job at Lidl instead | Kasper WORKS_AT Lidl | -
I signed up for a welding course // the course got cancelled | no longer: Sam PARTICIPATED_IN welding course | -
I signed up for a welding course // I dropped out of the course | no longer: Sam PARTICIPATED_IN welding course | -
we're flying to Rome on Friday // Rome is off, my back went | no longer: Sam LOCATED_AT Rome | -
I'm going to Rome in May // the trip to Rome fell through | no longer: Sam LOCATED_AT Rome | -
I live in Leeds // I've left Leeds for good | no longer: Sam LIVES_IN Leeds | -
Moved from Leeds to York | no longer: Sam LIVES_IN Leeds; Sam LIVES_IN York | -
"""


def rows(table: str) -> list[list[str]]:
    """The lines of a table, split."""
    return [[part.strip() for part in line.split("|")] for line in table.strip().splitlines()]


def extraction(text: str) -> Extraction:
    """What is read of the turns of a text, which slashes part."""
    turns = tuple(
        Turn(passage_id=uuid4(), speaker="Sam", role="user", text=part.strip(), said_at=SAID_AT)
        for part in text.split("//")
    )
    owner = Candidate(number=0, node_id=uuid4(), label="Sam", type="Person")
    return read(Window(turns=turns, candidates=(owner,), speakers={"Sam": 0}, ontology=ONTOLOGY))


class Said(NamedTuple):
    """A fact in words."""

    start: str
    type: str
    end: str
    over: bool

    def answers(self, wanted: Said) -> bool:
        """Whether it is the one that was looked for; the name of its end may say more than need be."""
        same = (self.type, self.over) == (wanted.type, wanted.over) and self.start.endswith(wanted.start)
        return same and (self.end == wanted.end or self.end.endswith(" " + wanted.end))


def facts(text: str) -> list[tuple[Said, Fact]]:
    """What is told for sure in a text."""
    found = extraction(text)
    names = {entity.key: entity.name.casefold() for entity in found.entities}
    return [
        (Said(names[fact.subject], fact.type, names[fact.object], fact.change == "ended"), fact)
        for fact in found.facts
        if fact.confidence >= DOUBTFUL
    ]


def wanted(words: str) -> list[Said]:
    """The facts of a column: "no longer: Sam WORKS_AT Aldi; Sam WORKS_AT Lidl"."""
    found = []
    for one in words.split(";"):
        parts = re.fullmatch(r"(no longer: )?(.+?) ([A-Z_]{4,}) (.+)", one.strip())
        if parts:
            found.append(Said(parts[2].casefold(), parts[3], parts[4].casefold(), bool(parts[1])))
    return found


def share(failing: Sequence[str], cases: int) -> float:
    """How much of a table failed; those lines are shown where a test fails."""
    sys.stdout.write("\n".join(failing))
    return len(failing) / cases


def test_wordings_are_found() -> None:
    cases = [(text, one) for text, column in rows(WORDINGS) for one in wanted(column)]
    told = {text: [said for said, _ in facts(text)] for text, _ in cases}
    missing = [f"{text} -> {one}" for text, one in cases if not any(said.answers(one) for said in told[text])]
    assert share(missing, len(cases)) <= 1 - FOUND


def test_near_misses_are_not_said() -> None:
    cases = rows(NEAR_MISSES)
    said = [
        f"{text} -> {one.start} {one.type} {one.end}"
        for text, types in cases
        for one, _ in facts(text)
        if one.type in types.split() and not one.over
    ]
    assert share(said, len(cases)) <= TEMPTED


def test_times_are_read() -> None:
    cases = rows(DATED)
    failing = []
    for text, column in cases:
        type_, since, until = column.split()
        spans = [(fact.since, fact.until) for one, fact in facts(text) if one.type == type_]
        if not any(begins(span[0], since) and begins(span[1], until) for span in spans):
            failing.append(f"{text} -> {[(str(span[0])[:10], str(span[1])[:10]) for span in spans]}")
    assert share(failing, len(cases)) <= 1 - TIMES


def begins(moment: datetime | None, date: str) -> bool:
    """Whether a time is the one of a table: "-" is none; the first moment after is the end of a day, month or year."""
    if date == "-" or moment is None:
        return date == "-"
    return any(each.isoformat().startswith(date) for each in (moment, moment - timedelta(microseconds=1)))


def test_changes_are_understood() -> None:
    cases = rows(CHANGED)
    failing = []
    for text, column, replaced in cases:
        found = facts(text)
        said = [one for one, _ in found]
        right = all(any(each.answers(one) for each in said) for one in wanted(column))
        corrected = replaced == "-" or any(fact.change == "corrects" for _, fact in found)
        if not (right and corrected):
            failing.append(f"{text} -> {[(one, fact.change) for one, fact in found]}")
    assert share(failing, len(cases)) <= 1 - CHANGES
