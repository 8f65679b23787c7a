"""Where sentences end: one way for all that reads or shows sentences, in English and German, Chinese and Japanese.

A full stop behind an abbreviation, initials or a German ordinal ends none: "the vet, Dr. Rosenow, heard it", "T.K.
drives us", "am 3. Dezember". Where initials may also end a sentence ("I lent it to T.K. He was glad"), a word that
often begins one decides. The pieces are exactly the text when joined.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LOOK_BACK, LOOK_AHEAD = 24, 24
"""Characters before and after a full stop that tell whether it ends a sentence."""

# The end of a sentence and the white space after it: closing punctuation or a line's end, never inside a number.
# Each run of punctuation is tried once, from its start and as a whole: 200,000 dots take no longer than letters.
_SIGNS = r"""
      (?<![.!?…]) [.!?…]++ ["'”’)\]]*+ (?: \s++ | \Z )   # Latin sentence end
    | [。！？]++ [」』”）]*+ \s*+                         # Chinese and Japanese sentence end
"""
_LINE = r"(?<!\s) [^\S\n]*+ \n \s*+"
_PARAGRAPH = r"(?<!\s) [^\S\n]*+ \n (?= \s | [-*•–] | \Z ) \s*+"
_ENDS = {
    False: re.compile(rf"{_SIGNS} | {_LINE}", re.VERBOSE),
    True: re.compile(rf"{_SIGNS} | {_PARAGRAPH}", re.VERBOSE),
}
_IN_A_PARAGRAPH = re.compile(r"\n(?!\s|[-*•–]|\Z)")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MONTH = (
    r"(?:jan(?:uar|uary)?|feb(?:ruar|ruary)?|mar(?:ch)?|märz|mrz|apr(?:il)?|ma[iy]|june?|juni|july?|juli|aug(?:ust)?"
    r"|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)"
)
_NUMBER_ENDS = re.compile(r"(?:^|\W)\d+$")
_OF_A_DATE = re.compile(rf"{_MONTH}\b|\d", re.IGNORECASE)
_ORDINAL = re.compile(r"\b(?:im|der|dem|den|des|zum|zur|vom|beim|das) \d{1,2}$", re.IGNORECASE)
"""Before the full stop of a German ordinal: "im 3. Stock", "der 2. Versuch"."""
_ON_THE = re.compile(r"\bam \d{1,2}$", re.IGNORECASE)
_DAY_OF_MANY = re.compile(r"(?:\w*tag|Advent|Abend|Morgen|Spieltag|\w*termin)\b")
_WORD = re.compile(r"[^\W\d_]+(?:\.[^\W\d_]+)*$")
_MONTH_ENDS = re.compile(rf"{_MONTH}$", re.IGNORECASE)
_TITLES = _words("dr mr mrs prof st ca bzw vs vgl evtl ggf inkl exkl bspw approx e.g i.e z.b d.h")
"""They stand before something, however they are written."""
_CAPITAL_TITLES = _words("""
    Ms Mx Fr Hr Rev Hon Capt Lt Sgt Col Gen Gov Sen Mt Dipl Dipl.-Ing Ing Mag Bgm Frl Med Phil Hl Fam
""")
_MIDST = _words("etc usw inc ltd co corp jr sr est max min std dept ave rd blvd al a.m p.m u.a o.ä tel sog")
"""They may end a sentence, and do not where a small letter or a number follows."""
_BEFORE_A_NUMBER = _words("""
    no nr fig vol p pp ch s bd kap art abs str mo di mi do sa so mon tue tues wed thu thur thurs fri sat sun
""")
_SPACED = re.compile(r"\b(?:z\. ?b|d\. ?h|u\. ?a|u\. ?u|o\. ?ä|v\. ?a|m\. ?e|e\. ?g|i\. ?e)$", re.IGNORECASE)
_SPACED_BEGINS = re.compile(r"(?:b|h|a|u|ä|e|g)\.", re.IGNORECASE)
_INITIALS = re.compile(r"[A-ZÄÖÜ](?:\.[A-ZÄÖÜ])+|Ph\.D|M\.?Sc|B\.?Sc")
_BEFORE_INITIAL = re.compile(r"(?:^|(?P<word>\S+)\s+)\(?\S$")
_LETTERED = _words("""
    plan vitamin hepatitis grade type typ class klasse gate terminal option block line linie room zimmer team
    group gruppe
""")
"""A single letter after them is no initial: "plan B"."""
_BEGINS = _words("""
    he she it they we you i i'm i've i'll he's she's it's we're they're the a an this that these those there here
    my his her our their your but and so or then what who how why where when if in on at for after before now
    today tomorrow yesterday yes no maybe not also both as to with nobody everyone er sie es wir ich ihr du der
    die das dem den ein eine einen dann danach aber und oder so wenn weil was wer wie wo warum im am um nach vor
    jetzt heute morgen gestern ja nein vielleicht nicht auch mein meine sein seine unser unsere da hier dort
    später zum beim mit bei
""")
"""Words that often begin a sentence, and are no names."""


def sentences(text: str, *, wrapped: bool = False) -> Iterator[str]:
    """Yield a text's sentences and lines, each with the white space after it; joined, they are the text.

    Args:
        text: any text.
        wrapped: a line may end within a sentence, unless an empty line, an indented one or a point of a list follows.
    """
    begin = 0
    for found in _ENDS[wrapped].finditer(text):
        line = text.find("\n", found.start(), found.end())
        on = line < 0 or (wrapped and _IN_A_PARAGRAPH.match(text, line) is not None)
        if on and _is_one_stop(text, found) and is_within(text, found.start()):
            continue
        yield text[begin : found.end()]
        begin = found.end()
    if begin < len(text):
        yield text[begin:]


def _is_one_stop(text: str, found: re.Match[str]) -> bool:
    at = found.start()
    return text[at] == "." and (at + 1 == len(text) or text[at + 1].isspace())


def is_within(text: str, at: int) -> bool:
    """Whether the full stop at a place, which white space follows, stands within a sentence.

    3. November, Nov. 3, 9 a.m. tomorrow, Dr. Kim, T.K. drives, and im 3. Stock end no sentence.
    """
    before = text[max(0, at - LOOK_BACK) : at]
    after = text[at + 1 : at + 1 + LOOK_AHEAD].lstrip()
    if not after:
        return False
    if before[-1:].isdecimal():
        return _is_number_within(before, after)
    word = _WORD.search(before)
    if word is None:
        return False
    said, small = word[0], word[0].lower()
    goes_on = not after[0].isupper()
    if small in _TITLES or said in _CAPITAL_TITLES or _SPACED.search(before):
        return small not in {"u.a", "o.ä"} or goes_on
    if small in _MIDST:
        return goes_on
    if _MONTH_ENDS.fullmatch(said):
        return _OF_A_DATE.match(after) is not None
    if small in _BEFORE_A_NUMBER and after[0].isdecimal():
        return True
    if _INITIALS.fullmatch(said):
        return goes_on or not _may_begin(after)
    if len(said) == 1:
        return _is_initial(before, after)
    return False


def _is_number_within(before: str, after: str) -> bool:
    if _NUMBER_ENDS.search(before) and _OF_A_DATE.match(after):
        return True
    if _may_begin(after) or not after[0].isupper():
        return False
    return _ORDINAL.search(before) is not None or (
        _ON_THE.search(before) is not None and _DAY_OF_MANY.match(after) is not None
    )


def _is_initial(before: str, after: str) -> bool:
    """Whether a single letter is short for a name, or for a word of "z. B."."""
    if before[-1].islower():
        return _SPACED_BEGINS.match(after) is not None and _SPACED.search(f"{before[-1]}. {after[0]}") is not None
    if before[-1] == "I" or not after[0].isupper() or _may_begin(after):
        return False
    found = _BEFORE_INITIAL.search(before)
    word = (found["word"] or "") if found is not None else ""
    return not word or word[-1] in ",;:.!?–-" or (word[0].isupper() and word.lower() not in _LETTERED)


def _may_begin(after: str) -> bool:
    """Whether the word that follows often begins a sentence."""
    return re.split(r"[\s,.!?:;]", after, maxsplit=1)[0].lower().replace("’", "'") in _BEGINS
