"""Words for what people make, and for what they only seem to: "make a mistake", "draw the curtains"."""

from __future__ import annotations

from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline.lexicon_things import words
from memsvc.extract.offline.lexicon_tools import PROGRAMMING
from memsvc.extract.offline.lexicon_verbs import lemmas

MADE = (
    things.MEDIA
    | things.GROUPS
    | things.WORKPLACES
    | words("""
        cake bread loaf sourdough pie cookies biscuits jam soup stew curry wine beer cider mead cheese pickles kimchi
        jumper sweater scarf hat socks mittens blanket quilt cushion cushions dress shirt costume table chair shelf
        shelves bench bookcase shed treehouse fence deck pond garden greenhouse website app site bot script program
        tool library package plugin model map database dashboard spreadsheet budget playlist mix track beat drawing
        painting portrait sketch mural sculpture pot pots bowl bowls mug mugs vase card cards poster logo flyer zine
        business company startup charity club group channel blog podcast newsletter course workshop campaign petition
        fund prototype robot drone boat canoe guitar kite dollhouse birdhouse nest-box hive oven wall house cabin
        extension kitchen game level mod film video documentary short series collection exhibition concert festival
        party event conference meetup tournament dish recipe lasagne lasagna tart muffins brownies pancakes dumplings
        pasta sauce sausage candle candles soap jewellery jewelry earrings necklace bracelet bag basket rug tapestry
        cookbook ep single lp furniture music letter toy toys puppet doll speech lecture thesis proposal report paper
        poem novel book story song album tune piece symphony sonata opera play script screenplay comic sours stouts
        cordial syrup chutney marmalade granola fudge
    """)
)
NOT_MADE = (
    things.EMPTY
    | PROGRAMMING
    | things.LANGUAGES
    | words("""
        sense decision money mistake noise progress friend friends plan plans trouble effort difference change changes
        call choice appointment fun excuse mess point sure bed job career life living move peace progress dent
        comeback debut way family home conversation relationship day work start list note notes message email letter
        dinner lunch breakfast coffee tea promise deal deposit payment pact living fool habit routine step use profit
        impression jokes mistakes calls offers suggestions comments excuses things ends amends sounds memories
        recommendations recommendation models connections adjustments improvements rules demands efforts payments
        arrangements reservations cuts waves
    """)
)
SEEMING = words("team couple pair duo match companion leader friend father mother teacher")
"""What one only is where one makes "a good" one."""
START = lemmas("start, open, form, launch, establish, begin, set up, run")
AUTHORS = words("""
    author writer founder cofounder co-founder creator designer inventor composer maker builder architect editor
    producer co-author coauthor illustrator
""")
OWN_WORKS = words("""
    novel blog podcast thesis dissertation memoir newsletter startup screenplay zine painting paintings sculpture poem
    poems album ep manuscript webcomic
""")
OTHERS_WORKS = words("painting paintings sculpture poem poems novel blog podcast thesis dissertation memoir album")
"""What "my", and what "Rosa's", makes a work of that person."""
RUN_WORKS = words("blog podcast newsletter zine vlog webshop webcomic")
CRAFTED = words("""
    quilt jumper sweater scarf hat blanket painting portrait sculpture mural novel thesis dissertation manuscript
    screenplay cardigan socks shed deck treehouse boat canoe dollhouse puzzle tapestry rug model poem song album
""") - words("puzzle album song novel")
WRITTEN = words("novel book album song play script game app paper memoir screenplay website zine podcast ep comic")
NOT_GROWN = words("""
    hair beard moustache mustache business company audience nails impatient interest love confidence balls pair
    following list up part tail
""")
NOT_BUILT = words("""
    confidence relationship relationships trust muscle muscles team rapport career life habit habits reputation bond
    bonds strength stamina skills skill knowledge wall walls bridge bridges network future case tolerance immunity
""")
DRAWN_SHUT = words("""
    curtain curtains blind blinds line lines conclusion conclusions attention breath crowd bath gun
""")
FOUNDED = (
    things.GROUPS
    | things.WORKPLACES
    | things.MEDIA
    | words("business company startup club channel garden project campaign petition shop charity webshop")
)
"""What is founded by starting or opening it."""
OF_ONE = frozenset({"a", "an", "our", "my", "his", "her", "their", "own", "the", "this"})
