"""English words that bend without a rule, so no stemmer can lead them back: "children", "sold", "better".

Verbs and plurals of this kind are a closed list of the language; rare and regular forms are left out.
"""

from __future__ import annotations

FORMS = """
arise arose arisen; awake awoke awoken; bear bore born borne; beat beaten; become became; begin began begun;
bend bent; bite bit bitten; bleed bled; blow blew blown; break broke broken; breed bred; bring brought; build built;
burn burnt; buy bought; catch caught; choose chose chosen; cling clung; come came; creep crept; deal dealt; dig dug;
dive dove; draw drew drawn; dream dreamt; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen;
feed fed; feel felt; fight fought; find found; flee fled; fling flung; fly flew flown flies; forbid forbade forbidden;
forget forgot forgotten; forgive forgave forgiven; freeze froze frozen; get got gotten; give gave given;
go went gone goes; grind ground; grow grew grown; hang hung; hear heard; hide hid hidden; hold held; keep kept;
kneel knelt; know knew known; lay laid; lead led; lean leant; leap leapt; learn learnt; leave left; lend lent;
lie lain lying; light lit; lose lost; make made; mean meant; meet met; mistake mistook mistaken; pay paid;
prove proven; ride rode ridden; ring rang rung; rise rose risen; run ran; saw sawn; say said; see saw seen;
seek sought; sell sold; send sent; sew sewn; shake shook shaken; shine shone; shoot shot; show shown; shrink shrank
shrunk; sing sang sung; sink sank sunk; sit sat; sleep slept; slide slid; smell smelt; speak spoke spoken;
speed sped; spell spelt; spend spent; spill spilt; spin spun; spit spat; spoil spoilt; spring sprang sprung;
stand stood; steal stole stolen; stick stuck; sting stung; strike struck stricken; string strung; strive strove
striven; swear swore sworn; sweep swept; swell swollen; swim swam swum; swing swung; take took taken; teach taught;
tear tore torn; tell told; think thought; throw threw thrown; tread trod trodden; understand understood;
undertake undertook undertaken; wake woke woken; wear wore worn; weave wove woven; weep wept; win won; wind wound;
withdraw withdrew withdrawn; write wrote written; die dying; tie tying;
calf calves; child children; elf elves; foot feet; goose geese; half halves; hoof hooves; knife knives; leaf leaves;
life lives; loaf loaves; louse lice; man men; mouse mice; ox oxen; person people; scarf scarves; self selves;
shelf shelves; thief thieves; tooth teeth; wife wives; wolf wolves; woman women; grandchild grandchildren;
stepchild stepchildren; housewife housewives; penknife penknives; bookshelf bookshelves; fireman firemen;
policeman policemen; analysis analyses; crisis crises; thesis theses; cactus cacti; fungus fungi; nucleus nuclei;
criterion criteria; phenomenon phenomena; medium media; good better best; bad worse worst; far farther further
"""
"""A base form and what is made of it, one word a line of the language. Forms that are also a base of their own ("saw",
"found", "left", "lives") may be both; ``bases`` gives all of them."""


def _bases() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in FORMS.replace("\n", " ").split(";"):
        base, *forms = line.split()
        for form in forms:
            found.setdefault(form, set()).add(base)
    return {form: frozenset(bases) for form, bases in found.items()}


BASES = _bases()


def bases(word: str) -> frozenset[str]:
    """A folded word itself, and the words of which it may be a form: "saw" is "saw" and "see"."""
    return BASES.get(word, frozenset()) | {word}
