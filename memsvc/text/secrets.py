"""All patterns by which secrets are recognised: in what tools were given and gave back, and in what people say.

``mask`` is for tools, and always applied (docs/turns.md lists the forms): what stands beside the name of a secret is
masked even if it could be something else, because nobody remembers by it. ``find`` is for text that people write, under
a policy (docs/privacy.md): what merely could be a secret is left, because a masked word is lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, get_args

from memsvc.text.checksums import cards, ibans, national_ids

Kind = Literal["key", "private_key", "password", "card", "iban", "national_id"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LABELS: Mapping[Kind, str] = {
    "key": "API key",
    "private_key": "private key",
    "password": "password",
    "card": "card number",
    "iban": "IBAN",
    "national_id": "national id",
}
"""What a mask under a policy says, in square brackets."""
NAMES = (
    r"(?:api|access|auth|secret|private|account|client|encryption|signing|session|service)?[_-]?"
    r"(?:passwords?|passwd|pwd|secrets?|token|api[_-]?keys?|access[_-]?keys?|secret[_-]?keys?|private[_-]?keys?|"
    r"account[_-]?keys?|client[_-]?secrets?|credentials?|auth(?:orization)?|passphrase|bearer)"
)
NAMED = re.compile(rf"(?:^|[_-]|(?<=[a-z])(?=[A-Z])){NAMES}$", re.IGNORECASE)
"""Names of fields whose values are secrets."""
FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "private-key",
        re.compile(
            r"-----BEGIN (?P<what>[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?)-----.*?(?:-----END (?P=what)-----|\Z)"
            r"|\bAGE-SECRET-KEY-1[A-Z0-9]{40,}",
            re.DOTALL,
        ),
    ),
    ("memsvc", re.compile(r"\bmk_[A-Za-z0-9]+\.[A-Za-z0-9_-]{16,}")),
    ("github", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})")),
    ("gitlab", re.compile(r"\bgl(?:pat|ptt|dt|rt|cbt|ft)-[A-Za-z0-9_.-]{16,}")),
    ("anthropic", re.compile(r"\bsk-ant-[A-Za-z0-9_-]{16,}")),
    ("openai", re.compile(r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}")),
    ("stripe", re.compile(r"\b(?:[rs]k|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,}")),
    ("slack", re.compile(r"\bxox[abeprs]-[A-Za-z0-9-]{10,}|\bxapp-[A-Za-z0-9-]{10,}")),
    ("google", re.compile(r"\bAIza[A-Za-z0-9_-]{30,}|\bya29\.[A-Za-z0-9_-]{20,}")),
    ("aws", re.compile(r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b")),
    ("npm", re.compile(r"\bnpm_[A-Za-z0-9]{30,}")),
    ("pypi", re.compile(r"\bpypi-[A-Za-z0-9_-]{30,}")),
    ("hugging-face", re.compile(r"\bhf_[A-Za-z0-9]{30,}")),
    ("sendgrid", re.compile(r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}")),
    ("telegram", re.compile(r"\b\d{8,10}:AA[A-Za-z0-9_-]{30,}")),
    ("jwt", re.compile(r"(?<![\w-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*+")),
)
"""Secrets that are known by their form alone."""
BESIDE: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "header",
        re.compile(r"(?P<keep>\b(?:Bearer|Basic|Token)[ \t]+)(?P<secret>[A-Za-z0-9+/=._~-]{8,})", re.IGNORECASE),
    ),
    (
        "url",
        re.compile(
            r"(?P<keep>\b[a-z][a-z0-9+.-]{0,30}://[^\s:/@'\"]{0,200}:)(?P<secret>[^\s@/'\"]+)(?=@)", re.IGNORECASE
        ),
    ),
    (
        "value",
        re.compile(
            rf"(?P<keep>(?<!\[){NAMES}[\"']?[ \t]*[=:][ \t]*[\"']?)"
            r"(?P<secret>(?!(?:Bearer|Basic|Token|str|int|bytes|bool|string|number|none|null|true|false)\b)"
            r"[^\s\"'&;,|(){}\[\]]{3,}+)(?P<call>\(?)",
            re.IGNORECASE,
        ),
    ),
    (
        "option",
        re.compile(rf"(?P<keep>(?<!\S)--?{NAMES}[ \t]+[\"']?)(?P<secret>[^\s\"'-][^\s\"']{{2,}})", re.IGNORECASE),
    ),
)
"""Secrets that are known by what stands before them, which stays."""
REFERENCE = re.compile(
    rf"\[(?:{'|'.join(LABELS.values())})\]?"
    r"|\$\{?\w+\}?(?:(?:\.|->)[A-Za-z_]+)*-?|\{\w*\}|…|\$\([^)]*\)|<[^>]*>|\[secret:[\w-]+\]?|os\.environ\S*|process\.env\S*|\*+|\.{3}"
)
"""What stands where a secret would: a variable, a gap to fill in, a mask (whose end may be cut off)."""
EMPHASIS = "*_`"
"""Signs of Markdown around a word."""


def mask(text: str) -> str:
    """Return a text with masks in place of secrets. Masking it again changes nothing."""
    for kind, pattern in FORMS:
        text = pattern.sub(f"[secret:{kind}]", text)
    for kind, pattern in BESIDE:
        text = pattern.sub(_keeping(kind), text)
    return text


def mask_values(value: Any) -> Any:
    """Return a JSON value with masks in its texts, and in place of all that stands under the name of a secret."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {mask(key): _masked_under(key, inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [mask_values(inner) for inner in value]
    return value


def _masked_under(key: str, value: Any) -> Any:
    secret = NAMED.search(key) is not None and isinstance(value, str | int | float) and not isinstance(value, bool)
    if secret and str(value) and not REFERENCE.fullmatch(str(value)):
        return "[secret:value]"
    return mask_values(value)


def _keeping(kind: str) -> Callable[[re.Match[str]], str]:
    def one(match: re.Match[str]) -> str:
        if match.groupdict().get("call"):  # looked for here: otherwise each name before it would be tried
            return match[0]
        return match[0] if _is_reference(match["secret"]) else f"{match['keep']}[secret:{kind}]"

    return one


def _is_reference(given: str) -> bool:
    """Say whether all of a word stands for a secret, whatever emphasis and punctuation is around it."""
    return any(
        REFERENCE.fullmatch(one) for one in (given, given.strip(EMPHASIS), given.rstrip(".,;:?)").strip(EMPHASIS))
    )


# What people say -----------------------------------------------------------------------------------------------------

PASSWORDS_CALLED = (
    r"pass(?:word|phrase|code|wd)|pwd|pass[- ]?wort|kennwort|mot de passe|contraseña|wachtwoord|senha|hasło|пароль"
    r"|密码|密碼|パスワード|\bpw|(?P<pin>\bpin(?:[- ]?(?:code|number|nummer))?)"
)
KEYS_CALLED = (
    r"(?:api|access|auth|secret|private|account|client|signing|session|bearer)[ _-]?(?:key|token|secret)s?"
    r"|api[- ]?schlüssel|zugangsschlüssel|\btoken|\bsecret"
)
SAID = re.compile(
    rf"(?:(?P<password>{PASSWORDS_CALLED})|(?P<key>{KEYS_CALLED}))(?![\w-])[\"']?"
    r"(?:\s(?:for|of|to|on|at|für|zum|zur|von|de|del|du|pour|para|van|voor)\s[^\n.:=!?;\"']{1,40}?)?"
    r"\s{0,3}(?P<between>[:：](?!//)|=(?!=)|(?<=\s)(?:is|was|to|ist|lautet|auf|est|es|è|är|jest)\b:?|是|は)[ \t]{0,3}"
    r"(?:\"(?P<double>[^\"\n]{3,80})\"|'(?P<single>[^'\n]{3,80})'|`(?P<code>[^`\n]{3,80})`"
    r"|[“„](?P<curly>[^“”\n]{3,80})[“”]|(?P<angle><[^\s\"'`<>]{1,80}>[^\s\"'`“”„,;<>(){}\[\]]{1,200})"
    r"|(?P<bare>[^\s\"'`“”„,;<>(){}\[\]]{3,200})(?![(\[]|[ \t]*[=|][^=|]))",
    re.IGNORECASE,
)
"""A password or key that follows its name: with a colon, an equals sign or a verb, and perhaps what it is for."""
ENDS = re.compile(r"[ \t]*+(?:[.!?;,)}\]]++[ \t]*+)?(?:\n|\Z)")
"""The end of a line, on which a password without digits may stand."""
NO_SECRET = frozenset({
    "str", "int", "bytes", "bool", "string", "number", "none", "null", "nil", "true", "false", "undefined",
    "required", "optional", "missing", "empty", "invalid", "wrong", "correct", "unknown", "hidden", "secret",
    "password", "passwort", "expected", "value", "input", "user", "hash", "hashed", "encrypted", "text",
    "example", "changeme", "redacted", "masked", "expired", "incorrect", "falsch", "richtig", "leer", "unbekannt",
    "erforderlich", "abgelaufen", "geheim", "the", "that", "this", "not", "very", "too", "your", "yours",
    "please", "must", "should", "never", "always", "default", "forgotten", "vergessen",
})  # fmt: skip
"""What stands beside the name of a secret without being one."""
PATH_OF_NAMES = re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)+")
MEASURES = re.compile(
    r"\s*(?:digits?|characters?|chars?|letters?|times|words|ziffern|zeichen|stellen|days?|tage|minutes?)", re.IGNORECASE
)
LEAST_KEY, LEAST_PASSWORD, LEAST_PIN = 12, 4, 4
LEAST_DIGITS = 7
"""No number with a checksum has fewer."""
HINTS: Mapping[str, tuple[str, ...]] = {
    "private-key": ("PRIVATE KEY", "AGE-SECRET"), "memsvc": ("mk_",), "github": ("gh", "github_"), "gitlab": ("gl",),
    "anthropic": ("sk-ant",), "openai": ("sk-",), "stripe": ("k_", "whsec_"), "slack": ("xox", "xapp"),
    "google": ("AIza", "ya29"), "aws": ("AKIA", "ASIA", "ABIA", "ACCA"), "npm": ("npm_",), "pypi": ("pypi-",),
    "hugging-face": ("hf_",), "sendgrid": ("SG.",), "telegram": (":AA",), "jwt": ("eyJ",),
}  # fmt: skip
"""What a text must have for a form of ``FORMS`` to be in it; looked for first, as most texts have none."""


class Found(NamedTuple):
    """A secret in a text."""

    kind: Kind
    begin: int
    end: int


def find(text: str, kinds: frozenset[str] = frozenset(KINDS)) -> list[Found]:
    """Return the secrets of some kinds in a text, in its order; those that overlap are one, of the first one's kind."""
    return merged(find_each(text, kinds))


def find_each(text: str, kinds: frozenset[str] = frozenset(KINDS)) -> list[Found]:
    """Return every secret of some kinds in a text, in its order, also where they overlap."""
    found: list[Found] = []
    for form, pattern in FORMS:
        kind: Kind = "private_key" if form == "private-key" else "key"
        if kind not in kinds or not any(hint in text for hint in HINTS[form]):
            continue
        found += [Found(kind, *match.span()) for match in pattern.finditer(text) if _is_random(match[0])]
    numbered = sum(map(str.isdecimal, text)) >= LEAST_DIGITS
    if numbered and "iban" in kinds:
        found += [Found("iban", *span) for span in ibans(text)]
    if numbered and "card" in kinds:
        found += [Found("card", *span) for span in cards(text)]
    if numbered and "national_id" in kinds:
        found += [Found("national_id", *span) for span in national_ids(text)]
    if kinds & {"key", "password"}:
        found += [one for one in _beside_names(text) if one.kind in kinds]
    return sorted(found, key=lambda one: (one.begin, -one.end))


def merged(found: list[Found]) -> list[Found]:
    """Return what was found with one span for those that overlap."""
    taken: list[Found] = []
    for one in found:
        if not taken or one.begin >= taken[-1].end:
            taken.append(one)
        elif one.end > taken[-1].end:
            taken[-1] = taken[-1]._replace(end=one.end)
    return taken


def masked(text: str, found: list[Found]) -> str:
    """Return a text with masks in place of what was found, such as ``[card number]``."""
    pieces: list[str] = []
    end = 0
    for one in found:
        pieces += [text[end : one.begin], f"[{LABELS[one.kind]}]"]
        end = one.end
    return "".join([*pieces, text[end:]])


def _beside_names(text: str) -> list[Found]:
    found: list[Found] = []
    for form, pattern in BESIDE:
        for match in pattern.finditer(text) if form != "value" else ():
            given, kind = match["secret"], _kind_of(form, match["keep"])
            plain = given.strip(EMPHASIS)
            if _is_reference(given) or plain.lower() in NO_SECRET or (kind == "key" and not _is_key(plain)):
                continue
            found.append(Found(kind, *match.span("secret")))
    for match in SAID.finditer(text):
        kind = "password" if match["password"] else "key"
        group = next(name for name in ("double", "single", "code", "curly", "angle", "bare") if match[name])
        given, (begin, end) = match[group], match.span(group)
        quoted = group not in {"angle", "bare"}
        if not quoted:
            given = given.rstrip(".,;:?)")
            end = begin + len(given)
        if match["pin"] and not given.strip(EMPHASIS).isdecimal():
            continue
        if _is_said(kind, given, match["between"], text, end, quoted=quoted):
            found.append(Found(kind, begin, end))
    return found


def _kind_of(form: str, beside: str) -> Kind:
    return "password" if form == "url" or re.search("pass|pwd", beside, re.IGNORECASE) else "key"


def _is_said(kind: Kind, given: str, between: str, text: str, end: int, *, quoted: bool) -> bool:
    """Say whether what follows the name of a secret is one."""
    plain = given.strip(EMPHASIS)
    if plain.lower() in NO_SECRET or _is_reference(given) or PATH_OF_NAMES.fullmatch(plain):
        return False
    given = given if given[:-1] == plain else plain  # a single sign at the end is rather part of a password
    if kind == "key":
        return _is_key(given) or (quoted and between in {":", "="} and _is_random(given) and len(given) >= LEAST_KEY)
    if given.isdecimal():
        return len(given) >= LEAST_PIN and MEASURES.match(text, end) is None
    if len(given) < LEAST_PASSWORD:
        return False
    if quoted or _looks_chosen(given):
        return True
    return between in {":", "：", "="} and given.isalpha() and ENDS.match(text, end) is not None


def _looks_chosen(given: str) -> bool:
    """Say whether a word has what people put into passwords: digits and letters, signs, capitals inside."""
    letters = any(one.isalpha() for one in given)
    return letters and (
        any(one.isdecimal() for one in given)
        or re.search(r"[!@#$%^&*+~=\\|]", given) is not None
        or re.search(r"[a-z][A-Z]", given) is not None
    )


def _is_key(given: str) -> bool:
    """Say whether a word is long and random enough for a key."""
    return (
        len(given) >= LEAST_KEY
        and any(one.isdecimal() for one in given)
        and any(one.isalpha() for one in given)
        and "://" not in given
    )


def _is_random(given: str) -> bool:
    """Say whether a word has digits or capitals, as all keys of that form do; names of programs have none."""
    return any(one.isdecimal() or one.isupper() for one in given)
