"""Words that tell how much a message matters."""

from __future__ import annotations

import re


def _any(*words: str) -> re.Pattern[str]:
    return re.compile(r"\b(?:" + "|".join(words) + r")\b")


GRAVE = (
    (9, _any("died", "passed away", "funeral", "death of", "cancer", "diagnosed", "stroke", "heart attack",
             "gave birth", "was born", "miscarriage", "pregnant", "got married", "wedding", "engaged", "divorced?",
             "suicidal", "terminal", "lost my (?:mother|father|mum|mom|dad|husband|wife|son|daughter|brother|sister)")),
    (8, _any("got the job", "new job", "lost my job", "laid off", "fired", "made redundant", "quit my job", "promoted",
             "retired?", "moved to", "moving to", "bought a (?:house|flat|home)", "mortgage", "surgery", "operation",
             "hospital", "accident", "broke up", "split up", "proposed", "graduated", "adopted", "emigrated",
             "citizenship")),
    (7, _any("allerg(?:y|ic)", "asthma", "diabet\\w+", "epilep\\w+", "depress\\w+", "anxiety", "panic attacks?",
             "medication", "prescribed", "insulin", "therapy", "vegan", "coeliac", "celiac", "passport", "visa", "debt",
             "salary", "lawyer", "court", "password", "remember", "don't forget", "keep in mind", "for the record")),
    (5, _any("work", "job", "boss", "company", "school", "university", "exam", "course", "doctor", "sister", "brother",
             "mother", "father", "mum", "mom", "dad", "wife", "husband", "girlfriend", "boyfriend", "son", "daughter",
             "kids?", "live in", "lives in", "birthday", "anniversary", "trip", "holiday", "rent", "project",
             "deadline")),
)  # fmt: skip
STRESSED = re.compile(r"!|\b(?:really important|important|never again|always|finally|biggest|best day|worst)\b")
DATED = re.compile(
    r"\b(?:january|february|march|april|june|july|august|september|october|november|december|(?:19|20)\d\d|"
    r"next (?:week|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|\d{1,2}(?:st|nd|rd|th))\b"
)
BOILERPLATE = re.compile(
    r"(?:(?:hi|hey|hello|yo|good (?:morning|evening|night|afternoon)|thanks?(?: you)?(?: so much| a lot)?|cheers|ta|ok"
    r"|okay|k|yes|yeah|yep|yup|no|nope|sure|cool|great|nice|perfect|lovely|awesome|got it|lol|haha+|hehe+|bye|see you|"
    r"see ya|good night|you too|will do|sounds good|right|alright|all good|no worries|np|wow|please|there|indeed|done)"
    r"[\s,.!?:)]*)+$|\W*$"
)
