"""Names as the search for kinds compares them: without case, accents, articles and owners; singular and plural."""

from __future__ import annotations

import re
import unicodedata

ARTICLE = re.compile(r"(?:the|a|an|my|our|his|her|their|your|some|this|that|another|new|old) ")
OWNER = re.compile(r"[^\s].*?[a-z](?:['’]s|s['’]) (?=\w)")
"""A person in front of what belongs to them: "ida's cello"."""
BEHIND = re.compile(r" (?:of|for|in|with|from|on|at|and|or|by|to|that|which|without) |[,;:(]")
"""What follows the noun that says what something is."""
MODEL = re.compile(r"[\w+-]*\d[\w+-]*|pro|max|mini|plus|ultra|lite|se|air|series|gen|[a-z]|[ivx]+|edition|classic")
"""A word of the name of a model: "12", "s9", "pro"."""
_PRETENDS = """
    inflatable toy plastic stuffed plush rubber fake origami cuddly gummy paper ceramic porcelain cardboard lego
    wooden crocheted knitted glass stone bronze painted cartoon imaginary former model robot robotic
"""
PRETENDS = frozenset(_PRETENDS.split())
"""In front of a noun: it is no such thing."""
_UNCHANGED = """
    glasses sunglasses jeans trousers shorts pyjamas scissors pliers tweezers headphones news series species tennis
    athletics gymnastics bus gas lens chess christmas physics mathematics economics politics diabetes measles mumps
    bowls darts billiards checkers draughts is this his less always perhaps pants tights
"""
UNCHANGED = frozenset(_UNCHANGED.split())
IRREGULAR = {"mice": "mouse", "geese": "goose", "feet": "foot", "teeth": "tooth", "men": "man", "women": "woman",
             "children": "child", "people": "person", "knives": "knife", "leaves": "leaf", "loaves": "loaf",
             "shelves": "shelf", "wolves": "wolf", "scarves": "scarf", "calves": "calf", "potatoes": "potato",
             "tomatoes": "tomato", "cookies": "cookie", "movies": "movie", "pies": "pie", "ties": "tie"}  # fmt: skip
PLURALS = {one: many for many, one in IRREGULAR.items()}
ES = ("s", "x", "z", "ch", "sh")
TAKEN_WHOLE = ("ss", "us", "x", "zz", "ch", "sh")
"""Before "es" of a plural that loses both letters: "boxes", and not "cheeses"."""
LEAST = 3
"""Letters of a word that may lose its ending."""


def folded(text: str) -> str:
    """Return a text without accents, in lower case, with single spaces."""
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    return " ".join(plain.casefold().replace("’", "'").split())


def bare(name: str) -> str:
    """Return a folded name without articles and owners: "Ida's new cello" is "cello"."""
    left = OWNER.sub("", folded(name), count=1)
    while match := ARTICLE.match(left):
        left = left[match.end() :]
    return left.strip(" .!?\"'")


def singular(phrase: str) -> str:
    """Return a phrase with its last word in the singular, by the rules of English."""
    front, space, last = phrase.rpartition(" ")
    return f"{front}{space}{_singular(last)}"


def _singular(word: str) -> str:
    if word in UNCHANGED or len(word) <= LEAST or word.endswith(("ss", "us", "is", "'s")):
        return word
    if word in IRREGULAR:
        return IRREGULAR[word]
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith("es") and word[:-2].endswith(TAKEN_WHOLE):
        return word[:-2]
    return word.removesuffix("s")


def plural(phrase: str) -> str:
    """Return a phrase with its last word in the plural, by the rules of English."""
    front, space, last = phrase.rpartition(" ")
    if last in UNCHANGED or (last.endswith("s") and not last.endswith("ss")):
        return phrase
    if last in PLURALS:
        many = PLURALS[last]
    elif last.endswith("y") and last[-2:-1] not in tuple("aeiou"):
        many = f"{last[:-1]}ies"
    else:
        many = last + ("es" if last.endswith(ES) else "s")
    return f"{front}{space}{many}"


def head_of(name: str) -> list[str]:
    """Return the words of a bare name up to the noun that says what it is; empty: something only looks like it."""
    front = BEHIND.split(bare(name), maxsplit=1)[0]
    words = front.split()
    return [] if PRETENDS.intersection(words[:-1]) else words
