"""Forms of words that mean the same: "learning" and "learn", "cities" and "city", "children" and "child".

PostgreSQL's Snowball stemmers cut the words of a language down to their stems; ``memsvc.extract.irregular`` has the
English words that no stemmer leads back. Of a text in a language without a stemmer, or one that is not the user's,
words are compared by how they begin.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

from sqlalchemy.ext.asyncio import AsyncConnection

from memsvc.db.files import query
from memsvc.extract.extraction import Extraction
from memsvc.extract.irregular import bases
from memsvc.extract.names import telling, words_of
from memsvc.extract.offline.language import is_english
from memsvc.extract.window import Turn, Window

ENGLISH = "english"
Stems = Mapping[tuple[str, str], str]
"""By language and folded word; a word that is missing is its own stem."""
SAME_BEGINNING, MOST_ENDING = 4, 3
"""Letters that two forms of a word share at least, and that each may have after them."""


async def stems_for(connection: AsyncConnection, window: Window, extraction: Extraction) -> Stems:
    """The stems of all words that a check of this extraction compares."""
    said = {word for turn in (*window.before, *window.turns) for word in words_of(all_of(turn))}
    named = {word for text in _texts(window, extraction) for word in words_of(text)}
    forms = sorted({base for word in said | named for base in bases(word)})
    languages = {language for turn in (*window.before, *window.turns) for language in languages_of(turn)}
    asked = list(product(sorted(languages), forms))
    if not asked:
        return {}
    values = {"languages": [language for language, _ in asked], "words": [word for _, word in asked]}
    rows = await connection.execute(query("stems"), values)
    return {(row.language, row.word): row.stem for row in rows}


def _texts(window: Window, extraction: Extraction) -> Iterable[str]:
    for entity in extraction.entities:
        yield f"{entity.name} {entity.relation} {' '.join(entity.aliases)}"
    for fact in extraction.facts:
        yield fact.sentence
    for card in window.candidates:
        yield f"{card.label} {' '.join(card.aliases)} {' '.join(card.relations)}"


def all_of(turn: Turn) -> str:
    """All words of a turn: what was said, the caption, and who says it."""
    return f"{turn.text} {turn.caption} {turn.speaker}"


def languages_of(turn: Turn) -> frozenset[str]:
    """The languages whose stemmers fit a turn: its own, and English where the text may be English."""
    return frozenset({turn.language, ENGLISH}) if is_english(turn.text) else frozenset({turn.language})


class Vocabulary:
    """The words of some turns, in all their forms."""

    def __init__(self, turns: Iterable[Turn], stems: Stems) -> None:
        """Take the words of turns; those of a text that is not English are also compared by their beginnings."""
        self._stems = stems
        self.words: set[str] = set()
        """As they stand there, folded."""
        self._forms: set[tuple[str, str]] = set()
        self._languages: set[str] = set()
        loose: set[str] = set()
        spoken = list(turns)
        english = is_english("\n".join(turn.text for turn in spoken))
        for turn in spoken:
            words = set(words_of(all_of(turn)))
            self.words |= words
            languages = languages_of(turn)
            self._languages |= languages
            self._forms |= {form for word in words for form in self._forms_of(word, languages)}
            if not english or ENGLISH not in languages:
                loose |= words
        self._loose = frozenset(word for word in loose if len(word) >= SAME_BEGINNING)

    def has(self, word: str) -> bool:
        """Whether a folded word stands there in some form, or its parts: "brother in law" is a brother-in-law."""
        if "-" in word and all(map(self.has, filter(None, word.split("-")))):
            return True
        if word in self.words or not self._forms.isdisjoint(self._forms_of(word, self._languages)):
            return True
        return any(_akin(word, other) for other in self._loose)

    def has_part(self, word: str) -> bool:
        """Whether a word stands in another one, as names of texts without spaces do."""
        return not word.isascii() and any(word in other for other in self.words)

    def share(self, name: str) -> float:
        """The share of a name's telling words that stand there, from 0 to 1; 0 where it has no words."""
        words = telling(name)
        return sum(map(self.has, words)) / len(words) if words else 0.0

    def _forms_of(self, word: str, languages: Iterable[str]) -> set[tuple[str, str]]:
        return {
            (language, self._stems.get((language, base), base))
            for language in languages
            for base in (bases(word) if language == ENGLISH else (word,))
        }


def _akin(one: str, other: str) -> bool:
    """Whether two words begin alike and may differ by their endings: "Warszawa" and "Warszawie"."""
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) < SAME_BEGINNING or len(longer) - len(shorter) > MOST_ENDING:
        return False
    least = max(SAME_BEGINNING, len(longer) - MOST_ENDING)
    return shorter[:least] == longer[:least]
