"""How people type in chats, and verbs that they begin a sentence with when they mean themselves."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SPELLINGS = {
    "i": "I", "im": "I'm", "i'm": "I'm", "ive": "I've", "i've": "I've", "i'd": "I'd", "i'll": "I'll", "u": "you",
    "ur": "your", "r": "are", "ya": "you", "y'all": "you all", "dont": "don't", "doesnt": "doesn't",
    "didnt": "didn't", "isnt": "isn't", "wasnt": "wasn't", "werent": "weren't", "arent": "aren't", "cant": "can't",
    "couldnt": "couldn't", "wont": "won't", "wouldnt": "wouldn't", "shouldnt": "shouldn't", "havent": "haven't",
    "hasnt": "hasn't", "hadnt": "hadn't", "aint": "isn't", "ain't": "isn't", "youre": "you're", "theyre": "they're",
    "hes": "he's", "shes": "she's", "thats": "that's", "whats": "what's", "theres": "there's", "lets": "let's",
    "weve": "we've", "youve": "you've", "gonna": "going to", "gunna": "going to", "wanna": "want to",
    "gotta": "have to", "hafta": "have to", "kinda": "kind of", "sorta": "sort of", "lotta": "lot of",
    "outta": "out of", "dunno": "don't know", "lemme": "let me", "gimme": "give me", "cuz": "because",
    "coz": "because", "cos": "because", "'cause": "because", "bc": "because", "tho": "though", "thru": "through",
    "w/": "with", "w": "with", "w/o": "without", "b4": "before", "ppl": "people", "pls": "please", "plz": "please",
    "rn": "right now",
    "atm": "at the moment", "tmrw": "tomorrow", "tmr": "tomorrow", "tomoz": "tomorrow", "2moro": "tomorrow",
    "yday": "yesterday", "meself": "myself", "hubs": "husband", "bday": "birthday", "b-day": "birthday",
    "uni": "uni", "gf": "girlfriend", "bf": "boyfriend", "bestie": "best friend", "fav": "favourite",
    "fave": "favourite", "luv": "love", "thx": "thanks", "cya": "bye", "n": "and", "anymore": "any more",
    "cant wait": "can't wait", "id love": "I'd love", "id like": "I'd like", "id rather": "I'd rather",
    "id prefer": "I'd prefer", "id say": "I'd say", "ill be": "I'll be", "ill have": "I'll have", "ill go": "I'll go",
    "wed love": "we'd love", "wed like": "we'd like",
}  # fmt: skip
NOISE = (
    "tbh", "lol", "lmao", "lmfao", "rofl", "haha+", "hehe+", "ngl", "imo", "imho", "btw", "smh", "fyi", "omg", "tbf",
    "xx+", "xo+",
    "ikr", "afaik", "iirc", "lolol",
)  # fmt: skip
"""Between a sentence's words these say nothing, and parsers take them for objects."""
ONLY_LOWER = _words("r n u w id ill wed ur cos")
"""Written in capitals these are something else."""
CAPITALISED = (
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "april",
    "june", "july", "august", "september", "october", "november", "december", "christmas", "easter", "ramadan",
)  # fmt: skip
SMALL = _words("a an the of and or to in on at for with from by as is my your")
FILLERS = (
    "and", "but", "so", "oh", "ok", "okay", "yes", "yeah", "yep", "no", "nope", "nah", "well", "anyway", "hey", "hi",
    "hello", "lol", "haha", "hehe", "ah", "aw", "aww", "ugh", "wow", "omg", "btw", "fyi", "right", "cool", "great",
    "thanks", "guess what", "update", "news", "also", "plus", "then", "sorry", "honestly", "tbh", "morning", "evening",
    "yay", "hmm", "hm", "um", "uh", "good morning", "good evening", "me again", "sure", "turns out", "mostly",
    "speaking of which", "by the way", "today", "yesterday", "otherwise", "apart from that", "in the end",
)  # fmt: skip
ADVERBS = (
    "just", "still", "also", "finally", "recently", "really", "already", "currently", "actually", "never", "always",
    "only", "even", "even", "absolutely", "totally", "literally", "usually", "mostly", "sometimes", "often", "now",
    "officially", "accidentally", "definitely", "probably", "maybe", "almost", "nearly", "secretly", "kind of",
    "sort of", "so", "only just", "then", "once", "genuinely", "proper", "properly", "simply", "barely",
)  # fmt: skip
PAST = _words("""
    got went had bought sold moved started finished made met saw took gave left lost found quit tried visited joined
    adopted baked cooked built wrote read ran ate drank slept woke came drove flew rode walked cycled swam hiked
    climbed played watched listened booked ordered paid spent saved won passed failed graduated retired married
    divorced broke hurt sprained fell signed applied interviewed accepted turned decided picked grabbed painted
    sewed knitted planted grew repaired fixed replaced installed downloaded switched used worked lived studied
    taught learned learnt enrolled registered attended celebrated hosted invited organised organized planned
    cancelled canceled postponed missed loved hated liked enjoyed felt thought knew wanted needed hoped wished
    forgot remembered told said asked called phoned texted emailed sent brought borrowed lent rented leased became
    stayed returned travelled traveled landed arrived dropped stopped gave began was didn't hadn't wasn't couldn't
    wouldn't launched released published founded opened closed shut submitted handed cleaned tidied washed mowed
    unpacked packed assembled 've've treated scored tore dumped ditched unsubscribed upgraded traded swapped caught
""")
PRESENT = _words("""
    love hate enjoy miss hope prefer wish adore dislike loathe despise want need can't cannot own suppose
""")
AUXILIARIES = _words("am haven't don't won't can't couldn't didn't wouldn't hadn't shouldn't mightn't")
IMPERATIVE = re.compile(
    r"(?:don't|do not) (?:\w+ )?(?:worry|tell|forget|be|get|ask|say|do|you|start|even|let|judge|laugh|make|mind|think"
    r"|bother|know why)\b|miss [A-Z]|love(?:,|$)|need(?: any| a hand)?\?|want (?:me|to) |hope (?:so|not)|wish me",
)
GERUNDS = _words("""
    working living going thinking planning looking learning feeling moving trying studying heading hoping visiting
    staying getting having making starting training teaching saving waiting flying driving reading writing watching
    playing building cooking baking painting knitting selling buying renting considering loving enjoying missing
    running practising practicing volunteering doing taking preparing celebrating packing sitting travelling
    traveling dreaming struggling recovering coming leaving cycling walking using switching expecting seeing dating
""")
STATES = _words("""
    back off stuck home married engaged pregnant single divorced retired vegan vegetarian allergic addicted obsessed
    tired exhausted happy sad excited nervous proud scared worried stressed glad sick ill bored knackered gutted
    devastated thrilled delighted lonely homesick furious relieved afraid terrified busy unemployed self-employed
    originally based
""")
STATE_FOLLOWED = re.compile(
    r"(?: (?:at|in|from|to|on|about|of|with|for|since|that|now|again|here|there|home|today|by|because|as|after)\b"
    r"|\s*$|,)", re.IGNORECASE)  # fmt: skip
FINITE = re.compile(
    r"\b(?:is|was|are|were|isn't|wasn't|aren't|will|would|won't|makes?|made|takes?|took|has|helps?|helped|sounds?|feels?"
    r"|seems?|gets|got|can|could|keeps?|kept|means?|meant|gives?|gave|brings?|remains?|requires?|costs?|'s)\b",
    re.IGNORECASE)  # fmt: skip
SUBJECT = re.compile(r" (?:I|you|he|she|it|we|they|the|your|my)\b", re.IGNORECASE)
"""Behind an auxiliary: a question."""
HAS_SUBJECT = re.compile(
    r" (?:I|you|he|she|we|they)\b(?! (?:love|like|know|met|saw|had|got|was|were|bought|made|think|said))", re.IGNORECASE
)
"""Behind a verb: an inverted order ("Love you" is none)."""
