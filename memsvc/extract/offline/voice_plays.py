"""Role-play, suppositions, and tasks on text: sentences that take those behind them, or before them, from the author.

A play begins where the assistant is told to be somebody in earnest ("act as …"), or where it gets a part and the author
takes one. What stands before it is the author's, unless the author spoke in a part there already.
"""

from __future__ import annotations

import re

from memsvc.extract.offline.voice_heads import LANGUAGE, LANGUAGE_WORK, LEAD, POLITE

_A = r"(?:a|an|the|my|our|your)"
_AM = r"\bi(?:['’]m| am|['’]ll be| will be|['’]ll play| will play| play)"
_ARE = r"\byou(?:['’]re| are|['’]ll be| will be|['’]ll play| will play| play| be)"
PLAY = re.compile(
    rf"^\W{{0,9}}{LEAD}(?:act|behave|pose|respond|answer|speak|talk|write) (?:(?:as|like) (?:if|though) you"
    r"(?:['’]re| are| were)\b)"
    rf"|^\W{{0,9}}{LEAD}(?:act|behave|pose) as (?:a |an |the |my |our |(?-i:[A-Z]))"
    rf"|^\W{{0,9}}{LEAD}pretend(?: that)? (?:to be|you(?:['’]re| are| were))\b"
    rf"|^\W{{0,9}}{LEAD}(?:imagine|suppose|assume)(?: that)? you(?:['’]re| are| were) (?:{_A} |(?-i:[A-Z]))"
    rf"|^\W{{0,9}}{LEAD}play (?:the (?:role|part) of|pretend|dungeons|dnd|d&d)\b"
    rf"|^\W{{0,9}}{LEAD}(?:take on|assume|adopt) the (?:role|persona|character|voice)\b"
    rf"|^\W{{0,9}}{LEAD}simulate (?:a|an|the)\b"
    rf"|^\W{{0,9}}{LEAD}(?:play|start|run|begin) (?:a|an|the|our) (?:[\w-]+ )?text adventure\b"
    r"|\byou (?:(?:should|must|will|are to|have to) |['’]ll |to )(?:(?:act|behave|pose) as (?:a|an|the|my|our)\b"
    r"|play the (?:role|part)\b|pretend (?:to be|that|you)\b)"
    r"|^\W{0,9}you(?:['’]re| are) now (?:(?:a|an|the|my) |(?-i:[A-Z]))"
    r"|\bfrom now on,? you(?:['’]re| are) (?:(?:a|an|the|my) |(?-i:[A-Z]))"
    r"|(?:^|[\[(*])\W{0,9}role-?play(?:ing)?\b|\b(?:let['’]?s|let us|you to|do a|start a"
    r"|(?:want|['’]d (?:like|love)|would (?:like|love)) to|(?:continue|resume) (?:our|this|the)) role-?play\b"
    r"|\bstay in character\b",
    re.IGNORECASE,
)
"""What begins a play; the words behind it belong to it."""
PART_GIVEN = re.compile(
    rf"^\W{{0,9}}{LEAD}(?:act|behave|pose|respond|answer|speak|talk|write) (?:as|like) "
    rf"|^\W{{0,9}}{LEAD}be {_A} \w|^\W{{0,9}}{LEAD}play (?:a game|my|along)\b"
    rf"|{_ARE} {_A} \w|\byou (?:should|must|are to|have to) play {_A} \w",
    re.IGNORECASE,
)
"""What gives the assistant a part, or asks for a service or a manner: a play where the author takes a part."""
PART_TAKEN = re.compile(
    rf"{_AM} (?:a|an|the) (?:[\w-]+ ){{1,3}}(?:named|called) \w|{_AM} your \w+\W*(?:[.!?,;\n]| and\b|$)",
    re.IGNORECASE,
)
"""The author speaks as somebody: "I am an elf named Sylra", "I'm your patient."."""
_NOUN = r"[\w-]+(?: [\w-]+)?"
PARTS = re.compile(
    rf"\s*{_ARE} {_A} {_NOUN}(?:,| and|, and| while) (?:{_AM} (?:a|an|the|your) {_NOUN}\W*(?:[.!?,;\n]|$)"
    r"|i(?:['’]ll be| will be|['’]ll play| will play| play) (?:a|an|the|your)\b)"
    rf"|\s*{_AM} (?:a|an|the|your) {_NOUN}(?:,| and|, and| while)"
    rf" you(?:(?:['’]re| are) (?:the|my)|(?:['’]ll be| will be|['’]ll play| will play| play| be) {_A})"
    rf" {_NOUN}\W*(?:[.!?,;\n]|$)",
    re.IGNORECASE,
)
"""A sentence that gives both parts: "You are the wizard and I am the knight"."""
ROLE_PLAY = re.compile(r"\brole-?play", re.IGNORECASE)
IN_A_PART = re.compile(rf"{_AM} (?:a|an|the|your)\b", re.IGNORECASE)
_SOMEBODY = r"(?:(?:i|we|you|he|she|they|someone|somebody)\b|my \w+ (?:is|was|were|has|had|lives|works)\b)"
FRAME = re.compile(
    r"\bfor (?:the )?sake of (?:the |this )?(?:argument|example|illustration|discussion)\b|\bfor argument['’]s sake\b"
    r"|^\W{0,9}(?:(?:and|so|but|ok|okay|well|now|just)\W+)*(?:hypothetically\b"
    r"|let['’]?s (?:just )?(?:pretend|imagine|assume|suppose|say(?=,? (?:that|for|there|my|our|i|we|you|he|she|they"
    r"|someone|somebody)\b))"
    r"|(?:just |please )?(?:suppose|supposing|assume|assuming)[ ,]+(?:for a (?:moment|second|minute)[ ,]+)?(?:that )?"
    rf"{_SOMEBODY}"
    r"|(?:just |please )?(?:imagine|pretend|picture|say(?= (?:that )?(?:i|we)\b))"
    rf" (?:for a (?:moment|second|minute)[ ,]+)?(?:that )?{_SOMEBODY}"
    r"|in (?:this|that|the|my|our|a) (?:\w+ )?(?:scenario|role-?play|hypothetical|example|fantasy)"
    r"(?=,? (?:i|we|you|he|she|my|our|the|there|where)\b)"
    r"|in an? (?:\w+ )?(?:perfect|ideal|fantasy|fictional|imaginary|alternate|parallel|different) (?:world|universe)\b"
    r"|in (?:this|my|our) (?:\w+ )?(?:story|novel),? i\b"
    rf"|in (?:this|that|the|my|our|a) (?:\w+ )?(?:game|book|campaign|world|story|novel),? {_AM[2:]} (?:a|an|the)\b"
    r"|as an (?:example|illustration)\b|(?:e\.g\.|example)[ ,])",
    re.IGNORECASE,
)
"""What makes a sentence, and those behind it, a supposition; "Imagine, I got the job!" is none."""
_PLAIN = (
    r"(?:texts?|sentences?|paragraphs?|phrases?|wording|grammar|spelling|english|messages?|words|drafts?|writing|lines?"
    r"|above|following)"
)
WORKED_ON = re.compile(
    rf"{POLITE}(?:{LANGUAGE_WORK} (?P<work>(?:this|these|that|those|the|my) [^\W\d_]+|(?:this|these|that|those|it)\b"
    r"|what follows|everything (?:below|above))"
    rf"|{LANGUAGE_WORK}(?:,? please)?\W*$"
    rf"|(?:correct|fix|improve|check|polish) (?P<mend>(?:this|these|the|my)(?: following| above)? {_PLAIN})\b"
    r"|(?:correct|fix|improve|check|turn|convert|polish) (?:this|these|it|that) into\b)"
    rf"|{POLITE}(?:in|into|to) {LANGUAGE},? please\W*$"
    r"|\b(?:this|these|the following|(?:is|are|does|with|of|rate) my) (?:sentence|text|paragraph|phrase|wording|grammar"
    r"|draft)s?\b[^.!?\n]{0,60}\?\s*$",
    re.IGNORECASE,
)
"""A task on what stands before or behind it."""
_OTHER_TEXT = re.compile(
    rf"(?:this|these|that|those|the|my) (?!{_PLAIN}\b|(?:in|into|to|for|please|as|so|with|from|up|a|an|and)\b)",
    re.IGNORECASE,
)
"""Names a text that is not what was just said: "this article"."""
_BELOW = re.compile(r"\b(?:following|below|follows)\b", re.IGNORECASE)
_STANDING = re.compile(
    r"\b(?:from now on|always|(?:if|when(?:ever)?) (?:i|you)|as we|while we|in (?:the )?future|(?:each|every) time"
    r"|going forward)\b",
    re.IGNORECASE,
)
"""A task that is none yet: "fix my grammar from now on"."""
_TEXT_NAMED = re.compile(
    r"\b(?:articles?|e-?mails?|letters?|essays?|poems?|songs?|story|books?|posts?|tweets?|cv|résumé|resume|documents?"
    r"|reports?|speech|paper|thesis|blog|novel|abstract|reviews?|lyrics|script)\b",
    re.IGNORECASE,
)
"""What "it" means rather than what the author just said."""
NEAR = 2_000
"""Characters before and behind a sentence in which a text that it may mean, or a part, is looked for."""


def play_begins(text: str, at: int, end: int) -> int | None:
    """Where the play begins that the sentence from ``at`` to ``end`` of a text belongs to; None: to none.

    What stands before the sentence belongs to it only where the author said it in a part.
    """
    said = text[at:end]
    if PLAY.search(said) is not None:
        before = max(0, at - NEAR)
        taken = (IN_A_PART if ROLE_PLAY.search(said) else PART_TAKEN).search(text, before, at)
        return at if taken is None else taken.start()
    if PARTS.match(said) is not None:
        return at
    return at if PART_GIVEN.search(said) is not None and PART_TAKEN.search(text, at, at + NEAR) is not None else None


def worked_on(text: str, at: int, end: int) -> int | None:
    """Where the words begin on which the sentence from ``at`` to ``end`` asks to work; None: it asks for no such thing.

    "This article" and "the following" stand behind the task; "this", "my text", and what is not named, may stand
    before it.
    """
    said = text[at:end]
    match = WORKED_ON.search(said)
    if match is None or _STANDING.search(said, match.end()):
        return None
    named = match["work"] or match["mend"] or ""
    if _OTHER_TEXT.match(named) is not None:
        return at if named.lower().startswith("th") else None
    before = _TEXT_NAMED.search(text, max(0, at - NEAR), at)
    return at if _BELOW.search(match[0]) or (before is not None and match["mend"] is None) else 0
