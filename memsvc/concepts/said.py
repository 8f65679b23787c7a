"""What texts themselves say that something is: "X is a Y", "Ys such as X and Z", "X and other Ys", "our dog Rex".

Patterns after Hearst, "Automatic Acquisition of Hyponyms from Large Text Corpora" (1992). A word counts where the table
has it as a kind; any other only where texts say it of several things (``memsvc.concepts.grouping``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memsvc.concepts.lexicon import Lexicon
from memsvc.concepts.words import folded, singular

PHRASE = r"(?P<phrase>[a-z][a-z'-]*(?: [a-z][a-z'-]*){0,4})"
IS = re.compile(
    rf"\s*,?\s*(?:is|are|was|were)\s+(?:just |really |still |only |also )?(?:an?|my|our|one of (?:the|my|our)) {PHRASE}"
)
BESIDE = re.compile(rf"\s*[,(]\s*(?:an?|our|my|his|her|their) {PHRASE}\s*[,.;)!]")
OTHER = re.compile(rf"[^.;:!?]{{0,60}}?(?:\band|\bor) (?:other|another) {PHRASE}")
BRIEF = r"(?P<phrase>[a-z][a-z'-]*(?: [a-z][a-z'-]*){0,2})"
SUCH = re.compile(rf"{BRIEF},? (?:such as|including|especially) [^.;:!?]{{0,80}}?$")
OWN = re.compile(rf"\b(?:my|our|his|her|their) {BRIEF},? (?:called |named )?$")
_STOP = """
    that which who whom whose with for in on of from and or but to is are was were at by as because so than then when
    where while the my our does do did says said she he it they we i you has have had can will not now again too today
    yesterday a an
"""
STOP = re.compile(rf" (?:{'|'.join(_STOP.split())})(?= |$).*")
_EMPTY = """
    thing things one ones lot kind sort type part way bit problem idea person people man woman men women friend reason
    day time place fact must disaster joke mess pain dream shame pity surprise success failure lie choice question
    answer favourite favorite present gift good best better great nice new old first last year week month must-have
    example mistake story name word member stuff item object concept topic subject group other nightmare hit winner
    bargain treat pleasure while little few couple half relief fan must
"""
EMPTY = frozenset(_EMPTY.split())
"""Words that do not say what something is."""
SHORT = 2
"""Letters of a word that says nothing."""
AROUND = 100
"""Characters in front of a name that are read."""


def phrases_about(name: str, text: str) -> Iterator[tuple[str, bool]]:
    """Yield what a text says that something is: folded words, whose last is the noun; whether that word may be new."""
    low = folded(text)
    wanted = folded(name)
    if not wanted:
        return
    for match in re.finditer(rf"(?<!\w){re.escape(wanted)}(?!\w)", low):
        behind, before = low[match.end() :], low[max(0, match.start() - AROUND) : match.start()]
        found = [
            (IS.match(behind), True), (OTHER.match(behind), True), (BESIDE.match(behind), True),
            (SUCH.search(before), True), (OWN.search(before), False),
        ]  # fmt: skip
        for said, may_be_new in found:
            whole = said["phrase"] if said is not None else ""
            phrase = STOP.sub("", f" {whole}").strip()
            goes_on = said is not None and said.re in {IS, OTHER}  # behind the noun more may follow
            if phrase and phrase.split()[-1] not in EMPTY and (goes_on or phrase == whole):
                yield phrase, may_be_new


def word_in(phrase: str, lexicon: Lexicon) -> tuple[str, bool] | None:
    """Return the word that a phrase gives, and whether the table has it as a kind; None: it gives none."""
    words = phrase.split()
    for begin in range(len(words)):
        known = lexicon.kind_of(" ".join(words[begin:]))
        if known is not None:
            return (known, True) if known in lexicon.kinds else None
        senses = lexicon.member(words[begin:])
        if len(senses) == 1 and not senses[0].needs_cue:
            return senses[0].kind, True
    last = singular(words[-1])
    return (last, False) if len(last) > SHORT and last.isalpha() and EMPTY.isdisjoint((*words, last)) else None
