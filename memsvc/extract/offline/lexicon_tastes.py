"""Words for what people like and do gladly; and what they only praise, out of politeness."""

from __future__ import annotations

from memsvc.extract.offline.lexicon_things import words
from memsvc.extract.offline.lexicon_verbs import lemmas

SPANS = words("""
    monday tuesday wednesday thursday friday saturday sunday weekend morning winter summer spring autumn christmas
    halloween eid diwali easter january february november december
""")
GLADLY = frozenset({"like", "love", "enjoy", "prefer", "hate", "adore"})
LOOSE_LIKES = frozenset({"get", "fall", "warm", "live", "heart", "obsess", "delight", "revel"})
"""These mean that something is liked only with a preposition: "get into", "live for"."""
PASSING = words("""
    news weather idea timing deadline pic pics picture pictures photo photos shot view views energy enthusiasm feeling
    goal goals attitude words support advice story response reaction moment graphics experience result results offer
    plan suggestion question answer message job work progress dedication thanks passion memory memories smile outfit
""")
"""What is praised politely."""
GREETINGS = words("hear see know meet have think say be get idea way sound look thought luck job stuff")
HABITUAL = 0.55
HOBBIES = lemmas("""
    read, watch, collect, knit, crochet, sew, paint, draw, bake, brew, garden, follow, support, eat, drink, swim, run,
    jog, cycle, climb, sing, dance, hike, fish, ski, surf, sail, skate, row, listen, play, carve, quilt, meditate,
    box, bird, grow, keep bees
""")
TASTES = lemmas("read, watch, collect, eat, drink, follow, support, listen, play, grow")
OUTRIGHT = dict(
    pair.split(":")
    for pair in words("""
        read:reading knit:knitting crochet:crochet sew:sewing paint:painting draw:drawing bake:baking brew:brewing
        garden:gardening swim:swimming run:running jog:jogging cycle:cycling climb:climbing sing:singing dance:dancing
        hike:hiking fish:fishing ski:skiing surf:surfing sail:sailing skate:skating row:rowing box:boxing
        meditate:meditation boulder:bouldering pot:pottery birdwatch:birdwatching kayak:kayaking embroider:embroidery
        quilt:quilting weave:weaving
    """)
)
"""Hobbies by their verbs."""
PASTIMES = words("""
    yoga pilates karate judo aikido taekwondo ballet crossfit gymnastics archery fencing zumba tai-chi parkour
    athletics origami pottery ceramics calligraphy woodwork sudoku crosswords capoeira salsa tango bouldering spinning
    swimming climbing hiking running cycling fishing dancing skating surfing birding birdwatching
""")
HOBBY = words("hobby passion pastime hobbies")
JUDGED = words("place person guy woman man girl friend boss neighbour neighbor teacher team town city food")
SHOWN = words("""
    life sunset signature taste time sound look smell quote point success future way reminder mindset spirit
    combination
""")
"""What one praises or blames without liking or disliking it for good."""
REPORTED = frozenset({"say", "tell", "think", "reckon", "claim", "believe", "swear", "insist", "ask", "write"})
