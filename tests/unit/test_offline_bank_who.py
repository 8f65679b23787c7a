"""How people in chats name people, places and the rest, and say who is whose what: a bank of ways, and of near misses.

One line each: the text; the named entities with their types (P person, L place, O organisation, X object, E event,
M media, J project); who is family (=) or acquainted (~), "I" being the speaker. The share that is found may not fall.
"""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime

import pytest

from memsvc.extract.offline import pipeline
from memsvc.extract.offline.clean import clean
from memsvc.extract.offline.extractor import read
from memsvc.extract.offline.status import status_of
from memsvc.extract.window import Candidate, EdgeType, Ontology, Turn, Window

pytestmark = pytest.mark.slow
KINDS = {
    "P": {"Person"}, "L": {"Place", "Organization"}, "O": {"Organization", "Place"}, "X": {"Object"}, "E": {"Event"},
    "M": {"Media", "Object", "Project"}, "J": {"Project", "Media", "Object"},
}  # fmt: skip
NODES = frozenset(
    {"Person", "Organization", "Place", "Event", "Object", "Concept", "Project", "Document", "Task", "Emotion", "Media"}
)
SAID = """
uncle rob is out on the boat | Rob/P | I=Rob
Callum is Brigid's boy | Callum/P Brigid/P | Callum=Brigid
me and my cousin Brenna share Comet | Brenna/P | I=Brenna
My girls are Maeve and Molly | Maeve/P Molly/P | I=Maeve I=Molly
there's a lad, Abdi, from the flats | Abdi/P | I~Abdi
I have one patient, Mr. Dawes, a retired miner | Mr. Dawes/P | I~Mr. Dawes
She takes Zyrtec for now | Zyrtec/X |
I work at St. Brendan's Villa in Leeds | St. Brendan's Villa/O Leeds/L |
I live on 9th Street in Calgary | 9th Street/L Calgary/L |
he watches the Mariners | Mariners/O |
we entered Battle of the Bakers | Battle of the Bakers/E |
my sister Jolene got the flat in Leeds | Jolene/P Leeds/L | I=Jolene
My brother, Anselm, is a plumber | Anselm/P | I=Anselm
my mum's name is Bernadette | Bernadette/P | I=Bernadette
Her name is Odile, she's my cousin | Odile/P | I=Odile
me and my wife Tomasina moved to Ghent | Tomasina/P Ghent/L | I=Tomasina
the wife, Doreen, hates it | Doreen/P | I=Doreen
wife's called Marguerite | Marguerite/P | I=Marguerite
husband is from Porto, Duarte | Duarte/P Porto/L | I=Duarte
our Kev got the job at Tesco | Kev/P Tesco/O | I=Kev
our daughter Saskia is three now | Saskia/P | I=Saskia
my eldest, Piotr, starts school | Piotr/P | I=Piotr
I've got two kids, Zuri and Malik | Zuri/P Malik/P | I=Zuri I=Malik
we have a son called Casper | Casper/P | I=Casper
had a baby girl in May, we named her Wilhelmina | Wilhelmina/P | I=Wilhelmina
auntie Bisi is staying with us | Bisi/P | I=Bisi
Uncle Ray fixed the boiler | Uncle Ray/P | I=Uncle Ray
cousin Fergus flew in from Perth | Fergus/P Perth/L | I=Fergus
grandma lives with us | | I=grandma
my mother-in-law is ninety | | I=mother-in-law
my nonna taught me that | | I=nonna
abuela Carmen makes it better | Carmen/P | I=Carmen
my stepdad Graham drives for DHL | Graham/P DHL/O | I=Graham
my ex Damian has the kids this week | Damian/P | I=Damian
my boyfriend Yusuf works at Bosch | Yusuf/P Bosch/O | I=Yusuf
I'm married to Henrike | Henrike/P | I=Henrike
Imre proposed to me in Vienna | Imre/P Vienna/L | I=Imre
Leonie and I got engaged in July | Leonie/P | I=Leonie
I've been dating a guy called Marlon since June | Marlon/P | I=Marlon
Tamsin is my niece | Tamsin/P | I=Tamsin
that's Greta, my godmother | Greta/P | I=Greta
my twin brother Kwabena is in Accra | Kwabena/P Accra/L | I=Kwabena
Nina's dad is a judge | Nina/P | Nina=dad
Ottoline's sister Perpetua is a nun | Ottoline/P Perpetua/P | Ottoline=Perpetua
my sister's husband Rolf is Danish | Rolf/P | sister=Rolf I=sister
Anton's girlfriend is called Mei | Anton/P Mei/P | Anton=Mei
my wife and her sister Loretta went to Lisbon | Loretta/P Lisbon/L | I=wife wife=Loretta
Harriet and her son Dougal came over | Harriet/P Dougal/P | Harriet=Dougal
Felix and his wife Ingeborg live in Graz | Felix/P Ingeborg/P Graz/L | Felix=Ingeborg
my boss Rashid is leaving | Rashid/P | I~Rashid
my manager is called Philippa | Philippa/P | I~Philippa
boss is called Stelios | Stelios/P | I~Stelios
my director Encarna said yes | Encarna/P | I~Encarna
my best friend Lucjan plays the oboe | Lucjan/P | I~Lucjan
a friend of mine, Thandi, runs a bakery | Thandi/P | I~Thandi
Aurelio is a good mate of mine | Aurelio/P | I~Aurelio
my flatmate's called Solveig | Solveig/P | I~Solveig
I share an office with Bartek | Bartek/P | I~Bartek
the neighbour, Mrs Oduya, took the parcel in | Mrs Oduya/P | I~Mrs Oduya
I met Clementine at the climbing gym | Clementine/P | I~Clementine
bumped into Declan at Aldi | Declan/P Aldi/O | I~Declan
I play squash with Emeka on tuesdays | Emeka/P | I~Emeka
went for a beer with jonas last night | Jonas/P | I~Jonas
I work with a woman called Noor | Noor/P | I~Noor
there's a new guy on my team, Viktor | Viktor/P | I~Viktor
a lady from Peru, Maritza, cleans with me | Maritza/P Peru/L | I~Maritza
my old teacher Mr Bramwell wrote to me | Mr Bramwell/P | I~Mr Bramwell
Dr Haverkamp is my dentist | Dr Haverkamp/P | I~Dr Haverkamp
the art director, Glenn, likes my sketches | Glenn/P | I~Glenn
my tutor is Ffion Rees and she is strict | Ffion Rees/P | I~Ffion Rees
my physio, a bloke named Radek, says rest | Radek/P | I~Radek
Anouk from work lent me her tent | Anouk/P | I~Anouk
my colleague Sunniva and I run the desk | Sunniva/P | I~Sunniva
her friend Makena lives in Mombasa | Makena/P Mombasa/L |
my daughter's teacher is Ms Abara | Ms Abara/P | I=daughter daughter~Ms Abara I~Ms Abara
I moved to Wrocław for a job at Capgemini | Wrocław/L Capgemini/O |
i live in utrecht now but im from osaka | Utrecht/L Osaka/L |
we flew to new york via reykjavik | New York/L Reykjavik/L |
moved from cape town to galway in 2019 | Cape Town/L Galway/L |
She lives in a village, Oberhausen am See | Oberhausen/L |
we go to Lake Bled every summer | Lake Bled/L |
he is at the University of Tartu | University of Tartu/O |
I study at TU Delft | TU Delft/O |
she got into Trinity College Dublin | Trinity College Dublin/O |
I volunteer at the Red Cross shop | Red Cross/O |
i work at lidl on weekends | Lidl/O |
just got fired from nandos | Nandos/O |
I joined a choir, the Riverside Singers | Riverside Singers/O |
she plays in a band called Velvet Anchor | Velvet Anchor/O |
I work for a startup, Plumline | Plumline/O |
my firm is called Hexley & Sons | Hexley & Sons/O |
we drink at Whelan's on fridays | Whelan's/O |
I teach at St Brigid's Primary | St Brigid's Primary/O |
our dog Biscuit ate a sock | Biscuit/X |
I have a cat called Mochi | Mochi/X |
we adopted a greyhound, his name is Bolt | Bolt/X |
her hens, Mavis and Doris, escaped | Mavis/X Doris/X |
my parrot Kiki swears | Kiki/X |
i drive an old volvo | Volvo/X |
I use Obsidian for my notes | Obsidian/X |
we write everything in Rust and Postgres | Rust/X Postgres/X |
i tracked it on strava | Strava/X |
I ran the Lisbon Half Marathon | Lisbon Half Marathon/E |
we're going to Electric Picnic in August, the festival | Electric Picnic/E |
I'm reading Middlemarch | Middlemarch/M |
we watched "The Long Goodbye" again | The Long Goodbye/M |
I'm writing a novel called The Salt Road | Salt Road/M |
Project Heron ships in May | Project Heron/J |
zeynep and tariq are coming to dinner | Zeynep/P Tariq/P |
saw ngozi yesterday, she looks great | Ngozi/P | I~Ngozi
Jean-Luc and Mei-Ling are here | Jean-Luc/P Mei-Ling/P |
Anneke van der Weij called | Anneke van der Weij/P |
Old Tom Rudd sold me the boat | Tom Rudd/P | I~Tom Rudd |
"""
NEAR_MISSES = """
he left me the old man's ute | |
my niece said grandpa just talk to it | | I=niece
it's a Newfoundland | |
Sister Agnes works days at the hospice | Sister Agnes/P | I~Sister Agnes
Is Marek your brother? | Marek/P |
do you have a sister called Ana? | Ana/P |
I don't have a brother | |
I have no kids | |
if I had a daughter she would be called Iris | Iris/P |
I wish I had a husband like that | |
he is not my boyfriend, he is a friend | |
Tom isn't my boss | Tom/P |
my sister wants to meet Keanu Reeves | Keanu Reeves/P | I=sister
I love Taylor Swift | Taylor Swift/P |
the singer Nina Simone was great | Nina Simone/P |
the president met Angela Merkel | Angela Merkel/P |
Elon Musk bought Twitter | Elon Musk/P Twitter/X |
mother nature is cruel | |
she is like a sister to me | |
he looks like a Ken doll | |
boys will be boys | |
the kids at school are loud | |
a friend would not do that | |
thanks mate | |
hey girl, how are you | |
oh brother, not again | |
he went to the boss of the company | |
the doctor said I should rest | |
I need a new dentist | |
looking for a flatmate | |
maybe I'll marry one day | |
I may go, or not | |
I will ask on Monday | |
Turns out March was better than April | |
LOL THAT IS SO FUNNY | |
Honestly I Can't Even | |
Merhaba! | |
WOW. Just WOW. | |
the ICT teacher is off | |
it failed the MOT again | |
my GP sent me for an MRI | | I~gp
he is German and she is Dutch | |
the Latinas in my course are fun | |
I speak Norwegian and some Czech | |
we had turkey and apples | |
what a nice reading from the book | |
she works from home with the flu | |
i have a mac and a surface | |
tell me a joke about cats | |
I'm meeting a client tomorrow | |
grace under pressure, that's her | |
the art of war | |
it was a rose garden, may be in bloom | |
Hope you feel better! | |
Mark my words, it will rain | |
my start-ups always fail | |
Good Morning everyone, Happy Easter | |
I have a Netflix account and a Visa card | |
she was born on a Sunday in May | |
we ate at a Thai place | |
God knows why | |
Dear Sir or Madam | |
what would Jesus do | |
"""
STATUSES = """
I never lived in Rome|lived|not
I haven't been to Japan yet|been|not
I don't really like cilantro|like|not
I no longer work at Tesco|work|was
I'm not working at Tesco any more|working|was
I used to live in Leeds|live|was
I quit smoking last year|smoking|was
we were living in Oslo back then|living|was
I wouldn't say I love it|love|open not
I'm thinking of moving to Ghent|moving|open
I'm considering buying a van|buying|open
might get a dog|get|open
I could live in Lisbon|live|open
maybe I'll sell the car|sell|open
I was going to move to Cork but it fell through|move|open
I nearly bought a boat|bought|open
I almost moved to Spain|moved|open
I should join a gym|join|open
if I won the lottery I'd buy a house|buy|open
I'd buy a house if I won|buy|open
I wish I had a garden|had|open
imagine I lived in Paris|lived|open
do you live in Leeds?|live|open
so you work at Lidl|work|so
you work at Lidl?|work|open
did I tell you I moved to Leeds?|moved|so open
guess who got a dog|got|so open
I don't think I love him|love|open not
I doubt she works there|works|open
he claims he owns a castle|owns|open
my sister says she lives in Bonn now|lives|so
I heard Tom moved to Bonn|moved|so open
I'm supposed to start at Lidl in May|start|open
I start at Lidl in May|start|so
I'll be moving to Ghent in June|moving|so
we're moving to Ghent in June|moving|so
I'm gonna get a cat|get|so
I want to get a cat|get|open
I'd love to live in Rome|love|so
I'd love to live in Rome|live|open
I decided to move to Rome|move|open so
we ended up buying the house|buying|so
I managed to sell the van|sell|so
I failed to sell the van|sell|open not
I can't stand my boss|stand|not so
nobody here likes it|likes|not
I've got no car|got|not
neither of us drives|drives|not
not that I own a car|own|not open
as if I owned a boat|owned|open
yeah right, I love mondays|love|open
I live in Rome, kidding, in Leeds|live|open
unless I move to Rome|move|open
once I move to Rome I'll call|move|open
when I lived in Rome I had a cat|lived|was so
as a kid I lived in Rome|lived|was
I wonder if she works there|works|open
tell Ana I moved to Rome|moved|so open
I hope to finish the book|finish|open
I forgot to buy milk|buy|open
I finally finished the book|finished|so
I just started at Bosch|started|so
they offered me a job at Bosch|offered|so
I turned down the job at Bosch|turned|so
it's not like I hate it|hate|not open
I'm not sure I want it|want|open not
probably moving to Leeds|moving|open
pretty sure he works at Bosch|works|so
he apparently owns a yacht|owns|open
I bet he lives in Rome|lives|open
rumour has it she moved to Rome|moved|open
we were supposed to go to Rome|go|open
had I known I'd have stayed|stayed|open
what if I moved to Rome|moved|open
how about I move to Rome|move|open
would you ever live in Rome?|live|open
why don't we get a dog|get|open
let's get a dog|get|open
I refuse to live in Rome|live|open not
I can't afford to live in Rome|live|open not
I stopped seeing Ana|seeing|was
I gave up smoking|smoking|was
I'm done working there|working|was open
I left my job at Bosch|left|so
I don't have a car but I have a bike|have|not
"""
"""A text, a verb of it, and whether what the verb says is so: one of these will do."""


def window(text: str) -> Window:
    said_at = datetime(2025, 9, 6, 10, 15, tzinfo=UTC)
    return Window(
        turns=(Turn(passage_id=uuid.uuid4(), speaker="Sam", role="user", text=text, said_at=said_at),),
        candidates=(Candidate(number=0, node_id=uuid.uuid4(), label="Sam", type="Person"),),
        speakers={"Sam": 0},
        zone="Europe/Lisbon",
        ontology=Ontology(
            node_types=NODES, edge_types={name: EdgeType(name=name) for name in ("KNOWS", "FAMILY_OF")}
        ),
    )  # fmt: skip


def said(text: str) -> tuple[dict[str, str], set[str]]:
    """The named entities with their types, and the bonds that are not doubted."""
    found = read(window(text))
    names = {entity.key: "I" if entity.name == "Sam" else entity.name for entity in found.entities}
    bonds = {
        "".join(sorted((names[fact.subject], names[fact.object]))) + ("=" if fact.type == "FAMILY_OF" else "~")
        for fact in found.facts
        if fact.confidence >= 0.5 and fact.type in {"FAMILY_OF", "KNOWS"}
    }
    return {entity.name: entity.type for entity in found.entities if entity.named and entity.name != "Sam"}, bonds


def things_of(text: str) -> dict[str, set[str]]:
    """The entities of a line: names with the types that will do."""
    found = re.findall(r"(\S.*?)/([A-Z])(?:\s|$)", text)
    return {name: KINDS[kind] for name, kind in found}


def bonds_of(text: str) -> set[str]:
    """The bonds of a line, as ``said`` gives them."""
    found = re.findall(r"(\S.*?)([=~])(\S.*?)(?=\s+\S+[=~]|$)", text)
    return {"".join(sorted((one, other))) + sign for one, sign, other in found}


def score(bank: str) -> tuple[int, int, int, str]:
    """How much a bank expects, how much of it is said, how much else is said; and the lines that went wrong."""
    expected = found = more = 0
    wrong = []
    for line in bank.strip().splitlines():
        text, entities, bonds = (part.strip() for part in f"{line}||".split("|")[:3])
        things, pairs = things_of(entities), bonds_of(bonds)
        named, told = said(text)
        good = {name for name, kinds in things.items() if named.get(name) in kinds}
        extra = (named.keys() - things.keys()) | (told - pairs)
        expected += len(things) + len(pairs)
        found += len(good) + len(pairs & told)
        more += len(extra)
        if extra or len(good) < len(things) or not pairs <= told:
            wrong.append(f"{text}: {named} {sorted(told)}, expected {entities} {bonds}")
    return expected, found, more, "\n".join(wrong)


def test_what_people_say_is_found() -> None:
    expected, found, more, wrong = score(SAID)
    assert found >= 0.85 * expected, wrong
    assert more <= 0.08 * expected, wrong


def test_near_misses_are_not_said() -> None:
    _, _, more, wrong = score(NEAR_MISSES)
    assert more <= 0.05 * len(NEAR_MISSES.strip().splitlines()), wrong


def test_what_is_asked_denied_wished_or_over_is_told_from_what_is_so() -> None:
    rows = [line.split("|") for line in STATUSES.strip().splitlines()]
    docs = pipeline.parse([clean(text).text for text, _, _ in rows])
    wrong = [
        f"{text}: {verb} is {status_of(token).value}, expected {expected}"
        for (text, verb, expected), doc in zip(rows, docs, strict=True)
        for token in [next(token for token in doc if token.text == verb)]
        if status_of(token).value not in expected.split()
    ]
    assert len(wrong) <= 0.08 * len(rows), "\n".join(wrong)
