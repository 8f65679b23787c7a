"""Words around a name that tell what it names, and nouns by the node type of what they mean."""

from __future__ import annotations

from memsvc.extract.offline.lexicon_things import words

PERSON_VERBS = words("""
    say tell ask think know love like hate want live work study marry call text phone email laugh cry smile cook
    bake teach learn visit invite help move retire graduate propose sing dance swim agree believe forget remember
    suggest promise insist joke argue apologise apologize hope wish feel snore sleep eat drink wear bring borrow
    lend pick join reckon swear mention explain show send drive come leave meet turn play run paint write quit get
    go have make do die keep
""")
"""What people do."""
MEETING = words("""
    meet call text phone email ask tell see visit marry date invite thank help hug kiss miss know love join ring
    message adopt bring pick drop introduce teach trust
""")
"""What is done to people."""
WORKING = words("""
    work intern volunteer study teach train apprentice enrol enroll job shift role position year degree phd masters
    course student professor lecturer term semester engineer nurse manager developer teacher colleague start gig
""")
"""Before "at", they make what follows an organisation."""
SHOUTING = words("look shout laugh yell smile stare mad angry annoyed swear scream furious wave bark")
"""Before "at", they let a person follow."""
DEALING = words("start interview sign bank work insure apply be")
"""Before "with", they make what follows an organisation."""
JOINING = words("join quit leave support found")
READING = words("read watch rewatch stream finish reread binge listen see hear")
USING = words("""
    use install download try open run drive buy sell ride play wear charge fix repair learn code write
""")
TAKING = words("take swallow prescribe")
"""What is done to medicines."""
REACHING = words("land reach")
"""What is done to places."""
EMPLOYED = words("work volunteer play drive sell freelance consult intern code")
"""Before "for", they make what follows an organisation."""
FOLLOWING = words("watch support follow beat play see")
"""What is done to teams."""
MOVING = words("""
    live move go travel fly drive be come return relocate head stay visit arrive land bear grow settle trip flight
    journey train holiday weekend way transfer commute ride excursion
""")
"""Before "in", "to" or "from", they make what follows a place."""
AWAY = words("off back over down up")
PLACING = words("in from near to around towards through outside across into off within via")
FROM = words("work my the school church uni next accounts hr upstairs downstairs across down")
"""Behind "from" behind a name, they make it a person's: "Priti from work"."""
DEALT = words("""
    sell lend give call text tell ask help teach invite show send owe hire phone email message visit pay drive pick meet
    offer introduce train rent borrow promise ring
""")
"""What people do to each other who know each other: "Tom Rudd sold me the boat"."""
COMPANY = words("""
    sit talk speak chat work live play eat share walk train drink study watch row sing cook climb dance garden commute
    practise practice rehearse
""")
"""What people do with those whom they know."""
SHARED = words("""
    work class school church uni college course team office gym choir firm job building street training club practice
    unit ward flats gym hospital clinic pub estate block floor next upstairs downstairs crew squad section
    department lab shift band playgroup nursery reception accounts hr it sales
""")
"""Where people are known from: "Oksana from my maths class"."""
CALLING = words("call name christen dub nickname")

PERSONS = words("""
    man woman guy lady girl boy person he she bloke chap lad lass kid fella gentleman human dude someone somebody
    author singer artist newborn
""")
TOWNS = words("""
    city town village country island suburb neighbourhood neighborhood region place hometown district street area
    beach mountain lake river state county province hamlet parish quarter barrio borough valley
""")
FIRMS = words("""
    outfit employer chain retailer publisher label supplier contractor firm startup start-up brand corporation
    manufacturer airline startup nonprofit non-profit organisation organization union federation institution
    franchise consultancy magazine newspaper broadcaster station seminary madrasa creche crèche playgroup
    kindergarten sixth-form polytechnic gymnasium lyceum lycée orphanage
""")
TOOLS = words("""
    app tool software program phone language framework editor brand website site boat ship car model it gadget
    console plant sourdough starter pill tablet medicine medication drug antihistamine painkiller thinner inhaler
    ointment antibiotic statin antidepressant vaccine
""")
PROJECTS = words("project startup")
"""Nouns that say what a name is: "a town called Poole", "the app Anki"."""
