"""Mask secrets in what tools were given and gave back, by their form; docs/turns.md lists the forms.

A mask says what stood there (``[secret:github]``), so that a reader knows that a token was used. Only what looks like a
secret by its form or by the name beside it is masked; a password in the middle of a sentence is not recognised.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

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
            r"-----BEGIN (?P<what>[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?)-----.*?(?:-----END (?P=what)-----|\Z)", re.DOTALL
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
    ("jwt", re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*")),
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
            r"[^\s\"'&;,|(){}\[\]]{3,}+)(?!\()",
            re.IGNORECASE,
        ),
    ),
    (
        "option",
        re.compile(rf"(?P<keep>(?<!\S)--?{NAMES}[ \t]+[\"']?)(?P<secret>[^\s\"'-][^\s\"']{{2,}})", re.IGNORECASE),
    ),
)
"""Secrets that are known by what stands before them, which stays."""
REFERENCE = re.compile(r"\$\{?\w+\}?|\$\([^)]*\)|<[^>]*>|\[secret:[\w-]+\]?|os\.environ\S*|process\.env\S*|\*+|\.{3}")
"""What stands where a secret would: a variable, a gap to fill in, a mask."""


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
        return match[0] if REFERENCE.match(match["secret"]) else f"{match['keep']}[secret:{kind}]"

    return one
