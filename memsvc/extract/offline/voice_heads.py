"""What announces that the words behind it are not their author's: tasks, examples, "Anna wrote:".

A head is what stands in a sentence before its colon. Where it tells of the author's own words ("Update:", "My plan:",
"I told her:"), or of nothing that is known here, the words stay the author's.
"""

from __future__ import annotations

import re
from enum import Enum

from memsvc.extract.offline.voice_labels import AUTHOR, NOBODY, Known, is_person, is_time, names_person

_ASIDE = re.compile(r"<[^<>\n]*>|\([^()\n]*\)")
LEAD = (
    r"(?:(?:hi|hey|hello|ok|okay|now|so|and|then|also|but|please|pls|well|right|great|thanks|perhaps|maybe|could|can"
    r"|would|will|you|help|me|us|(?<=help )to|(?<=\bme )to|(?<=\bus )to"
    r"|let's|lets|let|try|just|quickly|kindly|task|next|first|good|morning"
    r"|evening)\b[,.!: ]*)*"
)
LANGUAGE_WORK = (
    r"(?:translate|rephrase|reword|rewrite|paraphrase|proofread|proof-read|summari[sz]e|transcribe|spell-?check"
    r"|transliterate|copy-?edit)"
)
"""Tasks that work on words whatever they say."""
THIS = (
    r"(?:this|these|that|those|it|the (?:following|above|below|text|sentences?|paragraphs?|message|rest)|what follows"
    r"|everything (?:below|above)|my (?:text|sentences?|english|grammar|words|paragraphs?|draft|writing))"
)
LANGUAGE = r"(?:[a-z]{3,12}(?:ish|ese|ian)|french|dutch|german|greek|arabic|hebrew|hindi|urdu|thai|czech|icelandic)"
_TEXT = (
    r"(?:texts?|sentences?|paragraphs?|phrases?|wording|grammar|english|spelling|tense|drafts?|writing|essays?|poems?"
    r"|haikus?|limericks?|songs?|lyrics|verses?|raps?|stor(?:y|ies)|tales?|bios?|biograph(?:y|ies)|profiles?|posts?"
    r"|tweets?|captions?|headlines?|slogans?|taglines?|titles?|letters?|e-?mails?|mails?|messages?|speech(?:es)?"
    r"|toasts?|jokes?|riddles?|dialogues?|conversations?|chats?|scripts?|scenes?|characters?|personas?|backstor(?:y|ies)"
    r"|monologues?|reviews?|comments?|descriptions?|articles?|statements?|introductions?|summar(?:y|ies)|abstracts?"
    r"|quotes?|cv|résumés?|transcripts?|translations?|flashcards?|examples?|repl(?:y|ies)|answers?|responses?|adverts?"
    r"|announcements?|invitations?|prompts?|templates?)"
)
_SOME_TEXT = (
    r"(?:(?:me|us) )?(?:(?:a|an|the|some|my|our|his|her|their|one|two|three|another|any|[\w-]+['’]s?) )?"
    rf"(?:[\w-]+ ){{0,3}}?{_TEXT}\b"
)
"""What a task makes or works on, where it is a text: "me a short bio"."""
WORK = re.compile(
    rf"(?<!\bi )(?<!\bwe )\b{LANGUAGE_WORK}\b|(?:^\W{{0,9}}{LEAD}|\byou to )"
    r"(?:write\b(?!-| (?:me |us )?(?:back|soon)\b)|(?:say|repeat) after me\b"
    r"|(?:turn|convert|put|format|render|express|say|adapt|extend|repeat|finish|complete|change|make|title|caption)"
    r" (?:into|to|as)\b|(?:put|render|express|say|repeat) in (?:your|the|past|present|passive|active|third|first)\b"
    r"|give me (?:your |some |a )?(?:feedback|opinion|thoughts|title|headline)\b"
    r"|(?:answer|respond|reply|react)(?: to)? (?:this|these|that|those|the|it|him|her|them|my|our|his|their|an?)\b"
    r"|(?:sum up|shorten|condense|polish|simplify|parse|classify|annotate|anonymi[sz]e|analy[sz]e|critique|punctuate"
    r"|improve|expand|continue|elaborate|edit|correct|fix|check|turn|convert|change|put|make|extend|format|repeat|say"
    r"|finish|complete|adapt|render|express|caption|title|draft|compose|formulate|word|invent|make up|come up with"
    rf"|generate|create|explain)(?: on)? (?:{_SOME_TEXT}|(?!it (?:short|quick|brief|this|that)\b){THIS}(?! out\b)\b)"
    r"|(?:sum up|shorten|condense|polish|simplify|parse|classify|annotate|anonymi[sz]e|analy[sz]e|critique|punctuate"
    r"|improve|expand|continue|elaborate|edit|correct)(?:,? please)?$"
    rf"|(?:read|rate|review|consider|cut|tidy up|clean up|look at) (?:up )?{THIS}(?! out\b)\b)"
    rf"|\b(?:in|into|to) (?!(?:fin|accompl|establ|publ)ish\b){LANGUAGE}(?:,? please)?$",
    re.IGNORECASE,
)
"""A task on words, where it is a head; only the base form asks for one."""
OWN_WORK = re.compile(
    r"^\W{0,9}(?:(?:hi|hey|hello|ok|okay|now|so|and|but|well|right|thanks|please|or)\b[,.!: ]*)*(?:to"
    r"|(?:just )?let me(?: just)?|i(?:['’]ll| will| can| should| must| may)(?: just| also)?) "
    r"(?!translate|transcribe|transliterate|proof-?read|copy-?edit|spell-?check)[a-z]",
    re.IGNORECASE,
)
"""A task that the author sets out to do: "To sum up:", "Let me rephrase that:"."""
KIND = re.compile(
    r"\b(?:(?<!for )examples?|samples?|sentences?|phrases?|paragraphs?|quote|lyrics|captions?|headlines?"
    r"|slogans?|prompts?"
    r"|templates?|transcripts?|excerpts?|passages?|poems?|dialogues?|scripts?|scenarios?|tweets?|haiku|limericks?"
    r"|taglines?|riddles?|proverbs?|translations?|placeholders?|dummy|role-?plays?|hypothetical(?:ly)?|fictional"
    r"|text to \w+|source text|original text|flashcards?|dictation|monologues?|copied|pasted"
    r"|thought experiment|(?:sample|dummy|example|input|source|placeholder|customer) (?:text"
    r"|input|data|review))"
    r" ?(?:\d+|#\d+|(?:of|for|from|by|in|needed|please|below|here|this)\b.*)?$"
    r"|^\W{0,9}(?:(?:this is |just |only )*a? ?(?:test|testing)(?:(?: \d){1,4}| (?:message|text|sentence|input"
    r"|data|case|one))?"
    r"|(?:(?:here|this|that) is |here's |meet )?(?:(?:my|the|a|our) )?(?:new )?(?:character|persona|backstory|player"
    r"|alter ego)(?: sheet| description)?"
    r"|text|input|bio|draft|prompt|story|letter|essay|joke|song|verse|rap|rp"
    r"|(?:for|in|from) (?:my|a|the|our|this) (?:\w+ )?(?:novel|story|screenplay|film|game|campaign|role-?play"
    r"|homework|play))"
    r"(?: ?#?\d+)?$"
    r"|\b(?:for (?:the )?sake of (?:the )?(?:argument|example|illustration)|for argument's sake|(?:pretend"
    r"|imagine|suppose"
    r"|assume|picture|consider) (?:this|that|the following)|let's (?:say|pretend|imagine|assume|suppose))$"
    r"|^(?:what|how|is|are|does|do|which|why|would|can|could)\b.*\b(?:"
    rf"(?:this|these|the following|my)(?: following)? {_TEXT}\b.*"
    r"|(?:this|these|the following|it) (?:sounds?|correct|right|mean|wrong|read|grammatical"
    r"|(?:good|proper) english)\b.*"
    r"|(?:(?:you|one|we) (?:say|write|spell|word|phrase)|wrong with|mean by|think of) (?:this|these|the following)"
    rf"(?: in {LANGUAGE})?)$",
    re.IGNORECASE,
)
"""Heads that announce words for their own sake."""
FICTION = re.compile(
    r"\b(?:novel|story|screenplay|film|game|campaign|role-?play|homework|play|character|persona|backstory|alter ego)$",
    re.IGNORECASE,
)
OWN = re.compile(r"\b(?:my|our|mine|not|no|without|never|isn't|aren't)\b", re.IGNORECASE)
SAID = re.compile(
    r"\b(?:wrote|writes|writing|told|tells|said|says|texted|texts|messaged|messages|emailed|e-mailed|replied|replies"
    r"|answered|answers|asked|asks|tweeted|posted|posts|explained|explains|claims|claimed|goes|reads|went like"
    r"|quoted|shouted"
    r"|whispered|commented|announced|declared|confessed|admitted|dictated|put it|(?:was|is|'s) like|(?:sent"
    r"|sends|left|gave)"
    r" (?:me|us|him|her|them|it)|(?<=they )(?:say|write)|(?<=people )(?:say|write))"
    r"(?:,? (?:me|us|him|her|them|you|it|this|that|so|back|once|again|then|here|there|out loud|(?:yesterday"
    r"|this)(?: (?:evening|morning|night|afternoon))?|today|just now|(?:last"
    r"|this|the other)"
    r" [\w-]+|(?:to|in|on|via|by|at|over|from) (?:(?:the|a|an|her|his|my|our|their) )?(?:\w+ )?[\w'’-]+"
    r"|(?-i:[A-Z])[\w'’-]+)){0,4}$",
    re.IGNORECASE,
)
BETWEEN = re.compile(
    r"(?:\b(?:just|also|then|once|has|had|have|did|already|recently|always|actually|later|often|still|only|even|today"
    r"|yesterday|simply|literally|who|finally|again)\b|['’](?:s|ve|d)\b|[ ,])+$",
    re.IGNORECASE,
)
"""Between a subject and its verb."""
BY_AUTHOR = re.compile(r"(?:^|\W)(?:i|we|me|that|all|be|to|being|having|needless)$", re.IGNORECASE)
LAST_NAME = re.compile(r"(?P<joined>\band |& )?(?P<name>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*){0,2})$")
WORDS_OF = (
    r"(?:messages?|texts?|mails?|e-?mails?|letters?|notes?|repl(?:y|ies)|answers?|words|posts?|tweets?|status|bio|story"
    r"|voicemails?|voice message|statement|reviews?|comments?|quotes?|profile|postcard|dm|speech|blog|diary|testimonial"
    r"|version|response|cv|résumé|introduction)"
)
POSSESSED = re.compile(
    rf"(?<!\bto )(?<!\banswer )(?<!\babout )(?:\b(?P<name>[A-Z][\w-]+(?: [A-Z][\w-]+)?)['’]s"
    rf"|\b(?i:his|her|their|(?<!\bfor )your)|(?<!\w)(?!(?:it|that|there|here"
    rf"|what|let|who|s?he)['’])"
    r"[\w-]+['’]s?)"
    rf"(?: [\w-]+){{0,3}} {WORDS_OF}(?: (?:today|yesterday|to me|to us|was|is|says|reads))?$"
)
FROM = re.compile(
    rf"^\W{{0,9}}(?:(?:this is |here(?:'s| is) |got |just |received )*(?:a |an |the )?(?:\w+ )?(?P<kind>{WORDS_OF}"
    rf"|forwarded|fwd?)"
    r" (?:i got |that came )?)?(?:from"
    r"|by) (?:my \w+ )?(?P<name>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*){0,2})(?: (?:today|yesterday"
    r"|just now))?$",
    re.IGNORECASE,
)
INTRODUCED = re.compile(
    r"(?:\b(?:[Tt]his is|[Ii]t['’]?s|I['’]m|I am)(?: me,)? (?P<name>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)?)"
    r"|(?P<here>[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)?) (?:here|speaking))(?: again)?$"
)
ACCORDING = re.compile(r"^\W{0,9}(?:according to|in the words of|to quote|quoting) (?P<name>[^:]*)$", re.IGNORECASE)
POLITE = (
    r"^\W{0,9}(?:(?:hi|hey|hello|ok|okay|now|so|and|please|pls|can|could|would|will|you|just|then|help|me)\b[,.! ]*)*"
    r"(?:i(?:['’]d| would)? (?:want|need|like) you to )?"
)
WORKED_IN = re.compile(
    rf"{POLITE}(?:{LANGUAGE_WORK}\b|how (?:do|would|can) (?:i|you|we) (?:say|write|spell)\b"
    r"|(?:write|draft|compose|generate|create|make up)\b[^.!?]*\b(?:saying|that says|stating|explaining that"
    r"|in which|pretending|telling"
    r" \w+ that)\b)",
    re.IGNORECASE,
)
"""A task that holds in its own sentence what it works on."""


NOTED = re.compile(
    rf"^\W{{0,9}}{LEAD}(?:(?:remember|memori[sz]e|note|keep|bear|don['’]t forget|do not forget|save|store|record"
    rf"|guess|listen|look|know"
    r"|take note|make a note|make a mental note|(?:write|jot|note) (?:this|it|that)? ?down)\b[^:]{0,40}"
    r"|(?:add|put) [^:]{1,40}\b(?:memory|mind|notes?|profile))$",
    re.IGNORECASE,
)
"""Asks to be heard or remembered; what stands behind it is the author's."""


GOES_ON = re.compile(
    r"\b(?-i:[Ii]|[Mm]y|[Mm]e|[Mm]ine|[Mm]yself|[Ww]e|[Oo]urs?|us|im|ive)\b|^\W*(?:hi|hey|hello|hiya|dear|good \w+"
    r"|great|big|happy|merry|congrat\w+|thanks|thank|sorry|greetings|guess|you know|news|update|ok|okay|well|oh|wow"
    r"|so)\b|^\W*(?:(?:just|finally|already|still|also) )?(?:\w{2,}ed|\w{2,}ing|got|am|was|have|had|went|came|made|met"
    r"|bought|found|lost|left|love|miss|can't|can’t)\b"
    r"|^(?!.*\b(?:you|your|you're|she|he|they|it|her|his|him|their|no|not|never|don't)\b)[^!]*!",
    re.IGNORECASE,
)
"""Reported words behind which the reported one may speak on: of "I", of nobody who is named, or before the news."""


class Reach(Enum):
    """How far words behind a head go."""

    REPORT = "report"
    """A sentence, or the paragraph where that may go on; see ``GOES_ON``."""
    PARAGRAPH = "paragraph"
    MESSAGE = "message"


def voice_behind(head: str, known: Known) -> tuple[str, Reach] | None:
    """Whose words stand behind a head, without its colon, and how far; None: it does not tell."""
    head = " ".join(_ASIDE.sub(" ", head).split()).rstrip("*_ ,")
    if NOTED.search(head):
        return None
    if WORK.search(head) and not OWN_WORK.search(head):
        return NOBODY, Reach.MESSAGE
    if (said := SAID.search(head)) is not None:
        return reported(head[: said.start()], known)
    if (match := INTRODUCED.search(head)) is not None and names_person(name := match["name"] or match["here"], known):
        return name, Reach.PARAGRAPH
    for pattern in (POSSESSED, FROM, ACCORDING):
        if (match := pattern.search(head)) is not None:
            voice = announced(match, known)
            if voice != AUTHOR:
                return voice, Reach.PARAGRAPH if pattern is FROM else Reach.REPORT
    if KIND.search(head) and (FICTION.search(head) or not OWN.search(head)):
        return NOBODY, Reach.PARAGRAPH
    return None


def reported(before: str, known: Known) -> tuple[str, Reach] | None:
    """Whose words a verb of saying announces, by what stands before it."""
    before = BETWEEN.sub("", before)
    if not before or BY_AUTHOR.search(before):  # a subject that is left out is the author, too
        return None
    match = LAST_NAME.search(before)
    sure = match is not None and not match["joined"]
    return (person(match["name"], known) if match is not None and sure else NOBODY), Reach.REPORT


def announced(match: re.Match[str], known: Known) -> str:
    """Whose words "Anna's message" or "from Anna" announces; the author's, where it need not be somebody's."""
    name = match["name"] or ""
    if match.re is FROM and (not name[:1].isupper() or is_time(name, known)):
        return AUTHOR
    voice = person(name, known) if name[:1].isupper() else NOBODY
    loose = match.re is FROM and not match["kind"]  # "Greetings from Rome:"
    return AUTHOR if loose and voice == NOBODY else voice


def person(name: str, known: Known) -> str:
    """The person whom the last words of some capitalised ones name; nobody known, where that is not certain."""
    words = name.split()
    found = (" ".join(words[at:]) for at in range(len(words)) if is_person(" ".join(words[at:]), known))
    return next(found, NOBODY)
