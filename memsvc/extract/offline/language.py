"""Whether a text is English enough to be read: the share of English function words among its words."""

from __future__ import annotations

import re

from memsvc.extract.offline.lexicon_things import words

ENGLISH = words("""
    the a an and or but so if of to in on at for with from by as is are was were be been am do does did have has had
    will would can could should not no yes i i'm i've i'd you he she it we they me my your his her our their this
    that these those there here what when where who how why just very really too now then about out up all some one
    don't it's that's got get go going went like love want need think know new my he's she's we're can't didn't
""")
OTHER = (
    words("""
    der die das und ist nicht ich du wir ihr ein eine mit auf für auch aber noch schon bin hab habe war mir mich dir
    le la les des est pas je tu nous vous une avec pour sur dans mais aussi suis j'ai c'est et que qui au du el los
    las es no yo una con por para pero también muy soy estoy que y del mi tu su lo il gli non sono che di per anche
    ma ho sei è della een het van niet ik je wij op maar ook och att det som på med för jag inte är en har vi og
    ikke jeg på til nie się na jest to że z w do i mam jestem não uma com por mas eu você está
""")
    - ENGLISH
)
MIN_LATIN = 0.6
PARTICLES = re.compile(
    r"([A-ZÀ-Þ]\w+ )(?:van|von|de|da|di|del|der|la|le|las|los|el|dos|du|y) (?:der |den |la )?(?=[A-ZÀ-Þ])"
)
"""Small words of names, which tell nothing of a text's language."""


def is_english(text: str) -> bool:
    """Whether a text may be read by rules for English; short texts without function words may."""
    letters = [sign for sign in text if sign.isalpha()]
    if not letters:
        return False
    if sum(sign < "ɐ" for sign in letters) < MIN_LATIN * len(letters):
        return False
    text = PARTICLES.sub(r"\1", text)
    words = re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", text.lower())
    english = sum(word.replace("’", "'") in ENGLISH for word in words)
    other = sum(word in OTHER for word in words)
    return other <= english or (english > 0 and other - english <= 1)
