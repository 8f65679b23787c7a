"""What people use: tools, apps, instruments, medicines, languages, vehicles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memsvc.extract.extraction import Change
from memsvc.extract.offline import lexicon_things as things
from memsvc.extract.offline import lexicon_verbs as verbs
from memsvc.extract.offline.clauses import Clause
from memsvc.extract.offline.findings import LIKELY, MAYBE, SURE, Finding, change, kind, listed, named, thing, told, word

if TYPE_CHECKING:
    from spacy.tokens import Token

RIDE = verbs.lemmas("drive, ride, sail, pilot, row, fly, pedal")
PROGRAMMING = things.words("""
    python java javascript typescript kotlin rust go golang ruby elixir haskell scala swift php perl sql r matlab c
    c++ c# react vue angular django flask rails spring docker kubernetes postgres postgresql mysql sqlite redis git
    excel notion obsidian slack zoom teams figma photoshop blender unity godot vim emacs vscode trello asana todoist
    evernote spotify duolingo anki strava whatsapp telegram signal discord linux ubuntu windows android latex word
    onenote gmail terraform ansible aws azure gcp heroku hetzner openai chatgpt claude logseq zotero scrivener ableton
    logic garageband lightroom premiere canva quickbooks ynab goodreads letterboxd headspace calm garmin fitbit revit
    autocad solidworks
""")
ORDINARY = things.words("""
    windows teams go excel calm word signal notion r c swift rust spring react rails discord zoom slack premiere logic
    ansible oracle access outlook pages numbers ruby python java git perl azure strava unity
""")
"""These are tools only with a capital."""
GAMES = things.words("""
    football soccer tennis basketball hockey rugby cricket golf chess badminton volleyball squash baseball netball
    padel darts pool poker bridge handball lacrosse frisbee bowls snooker videogames d&d dungeons go
""")


WORN = things.words(
    "aid aids glasses spectacles lenses brace braces splint orthotics pacemaker prosthesis wig dentures"
)


def read(clause: Clause) -> Iterator[Finding]:
    """Everything about use in a clause."""
    if not clause.said:
        return
    yield from used(clause)
    yield from by_preposition(clause)
    yield from languages(clause)
    yield from played(clause)
    yield from medicines(clause)


def used(clause: Clause) -> Iterator[Finding]:
    """I use Notion; we switched to Signal; he drives a Corsa; she wears hearing aids."""
    if clause.means(verbs.lemmas("use, utilise, utilize, install, subscribe, reuse, operate")) and not clause.passive:
        nouns, confidence = clause.objects, SURE
    elif clause.means(RIDE):
        nouns, confidence = (
            [noun for noun in clause.objects if listed(noun, things.VEHICLES | things.PETS) or named(noun)],
            LIKELY,
        )
    elif clause.means(
        verbs.lemmas("""
            wear, try, try out, download, adopt, run, host, set up, test, configure, learn, upgrade
        """)
    ):
        nouns, confidence = [noun for noun in clause.objects if tool(noun)
                             or (clause.lemma == "wear" and listed(noun, things.DEVICES | WORN))], LIKELY  # fmt: skip
    else:
        return
    for noun in nouns:
        if (
            listed(noun, things.NOT_OWNED | things.EMPTY)
            or noun.pos_ not in {"NOUN", "PROPN"}
            or (noun.ent_type_ in {"PERSON", "GPE"} and not listed(noun, PROGRAMMING))
        ):
            continue
        yield from found(clause, noun, confidence)


def tool(noun: Token) -> bool:
    """Whether a noun names a tool, app or programming language."""
    if noun.ent_type_ == "PRODUCT":
        return True
    return listed(noun, PROGRAMMING) and (noun.lower_ not in ORDINARY or noun.text[0].isupper())


def found(clause: Clause, noun: Token, confidence: float) -> Iterator[Finding]:
    """That the subjects use what a noun names."""
    key = thing(clause, noun, "Object", "Concept")
    over: Change = change(clause)
    if key is not None and kind(clause, key) not in {"Person", "Place", "Event", "Emotion"}:
        yield from told(clause.people, "USES", key, clause, confidence, over)


def by_preposition(clause: Clause) -> Iterator[Finding]:
    """I write in Elixir; track it with Strava; we talk on Zoom; moved to Hetzner."""
    for oblique in clause.obliques:
        noun = oblique.noun
        known = tool(noun)
        fits = (clause.lemma, oblique.prep) in verbs.USE_PREP
        switching = fits and clause.lemma in {"switch", "rely", "subscribe", "swear", "migrate"}
        brought = clause.lemma == "move" and oblique.prep == "to" and clause.objects and noun.pos_ == "PROPN"
        switching = switching or bool(brought and noun.ent_type_ not in {"GPE", "LOC", "FAC", "PERSON", "DATE"})
        if not (known or switching) or noun.pos_ not in {"NOUN", "PROPN", "X"}:
            continue
        if fits or (known and oblique.prep in {"on", "with", "in", "via", "through"}):
            yield from found(clause, noun, LIKELY)


def languages(clause: Clause) -> Iterator[Finding]:
    """She speaks Dutch; I'm learning Italian; they taught me Polish."""
    if not clause.means(verbs.SPEAK):
        return
    for noun in clause.objects:
        if word(noun) in things.LANGUAGES or noun.ent_type_ == "LANGUAGE":
            key = thing(clause, noun, "Concept")
            yield from told(clause.people, "USES", key, clause, LIKELY, change(clause))


def played(clause: Clause) -> Iterator[Finding]:
    """He plays bass; she's learning the cello; we play padel."""
    if not clause.means(verbs.PLAY):
        return
    for noun in clause.objects:
        if listed(noun, things.INSTRUMENTS):
            key = thing(clause, noun, "Object")
            yield from told(clause.people, "USES", key, clause, SURE, change(clause))
        elif clause.lemma == "play" and listed(noun, GAMES):
            key = thing(clause, noun, "Concept")
            yield from told(clause.people, "LIKES", key, clause, MAYBE, change(clause))


def medicines(clause: Clause) -> Iterator[Finding]:
    """I'm on metformin; she takes sertraline."""
    if not clause.means(verbs.TAKE_MEDICINE):
        return
    nouns = clause.objects if clause.lemma != "be" else []
    for noun in nouns + clause.at("on"):
        if listed(noun, things.MEDICINES):
            key = thing(clause, noun, "Object")
            yield from told(clause.people, "USES", key, clause, SURE if named(noun) else MAYBE, change(clause))
