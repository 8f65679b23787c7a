"""Reads a Cypher query as far as needed before AGE runs it: which columns it returns, and which functions it calls.

AGE needs the number of columns in advance. This module also gives better errors than the database when a query writes,
uses paths of variable length, or calls a function that is not part of Cypher (AGE would pass any name on to
PostgreSQL). Users are kept apart by privileges and row security (``sql/projection``), not by this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memsvc.errors import CypherPathsOffError, CypherReadsOnlyError, CypherRefusedError

# The same tokens as AGE's scanner.
TOKEN = re.compile(
    r"""
      (?P<space>\s+ | //[^\r\n]* | /\*.*?\*/)
    | (?P<string>"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*')
    | (?P<quoted>`(?:[^`]|``)*`)
    | (?P<parameter>\$[A-Za-z_\x80-\U0010ffff][\w$\x80-\U0010ffff]*)
    | (?P<word>[A-Za-z_\x80-\U0010ffff][\w$\x80-\U0010ffff]*)
    | (?P<number>0[Xx][0-9A-Fa-f]+ | \d+(?:\.\d+)?(?:[Ee][+-]?\d+)?)
    | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
FUNCTIONS = frozenset({
    "id", "start_id", "end_id", "type", "label", "labels", "properties", "keys", "exists", "isempty", "head",
    "last", "tail", "size", "length", "nodes", "relationships", "reverse", "reduce", "abs", "ceil", "floor",
    "round", "sign", "sqrt", "exp", "log", "log10", "e", "pi", "rand", "sin", "cos", "tan", "cot", "asin",
    "acos", "atan", "atan2", "degrees", "radians", "toboolean", "tobooleanlist", "tofloat", "tofloatlist",
    "tointeger", "tointegerlist", "tostring", "tostringlist", "tolower", "toupper", "trim", "ltrim", "rtrim",
    "left", "right", "replace", "split", "substring", "timestamp", "avg", "collect", "count", "max", "min",
    "sum", "stdev", "stdevp", "percentilecont", "percentiledisc", "coalesce",
})  # fmt: skip
# Keywords that may be followed by an opening parenthesis.
WORDS = frozenset({
    "match", "optional", "where", "return", "distinct", "with", "unwind", "as", "and", "or", "xor", "not", "in",
    "contains", "starts", "ends", "is", "case", "when", "then", "else", "by", "limit", "skip", "union", "all",
    "any", "none", "single", "exists", "on",
})  # fmt: skip
WALKS = frozenset({"shortestpath", "allshortestpaths", "shortest_path", "all_shortest_paths", "vle"})
WRITES = frozenset({"create", "merge", "set", "delete", "detach", "remove"})
ENDS = frozenset({"order", "skip", "limit", "union"})
OPEN, CLOSE = "([{", ")]}"
MAX_COLUMNS = 100


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a query, and the number of brackets that are open around it."""

    kind: str
    text: str
    start: int
    depth: int

    @property
    def word(self) -> str:
        """The word in lower case; empty for other tokens."""
        return self.text.lower() if self.kind == "word" else ""


def returned(query: str) -> list[str]:
    """Return the names of the columns that a query returns: its aliases, or the expressions as written.

    Raises:
        CypherRefusedError: the query cannot be read, or calls something that is not allowed.
        CypherReadsOnlyError: it writes.
        CypherPathsOffError: it uses paths of variable length.
    """
    tokens = list(_tokens(query))
    _check(tokens)
    starts = [position for position, token in enumerate(tokens) if token.word == "return" and token.depth == 0]
    if not starts:
        raise CypherRefusedError("The query has no RETURN.", hint="End it with RETURN and what you want to have.")
    items: list[list[Token]] = [[]]
    for token in tokens[starts[-1] + 1 :]:
        if token.depth == 0 and (token.word in ENDS or token.text == ";"):
            break
        if token.depth == 0 and token.text == ",":
            items.append([])
        elif token.word != "distinct" or items != [[]]:
            items[-1].append(token)
    if len(items) > MAX_COLUMNS:
        raise CypherRefusedError(f"The query returns more than {MAX_COLUMNS} columns.")
    return [_name(query, item) for item in items]


def _tokens(query: str) -> Iterator[Token]:
    """Split a query into tokens, without white space and comments.

    Raises:
        CypherRefusedError: a string, name or comment is not closed, or brackets do not match.
    """
    opened: list[str] = []
    for found in TOKEN.finditer(query):
        kind, text = found.lastgroup or "", found.group()
        if kind == "space":
            continue
        if text in {'"', "'", "`"} or query.startswith("/*", found.start()):
            raise CypherRefusedError("Something that begins with a quote, or a comment, has no end.")
        fits = kind != "sign" or text not in CLOSE or (bool(opened) and OPEN.index(opened.pop()) == CLOSE.index(text))
        if not fits:
            raise CypherRefusedError(f"The bracket {text} does not fit.")
        yield Token(kind, text, found.start(), len(opened))
        if kind == "sign" and text in OPEN:
            opened.append(text)
    if opened:
        raise CypherRefusedError(f"The bracket {opened[-1]} is not closed.")


def _check(tokens: Sequence[Token]) -> None:
    """Refuse what AGE would refuse with a worse message or would pass on to PostgreSQL."""
    edge = -1  # depth at which the pattern of an edge was opened; negative outside such a pattern
    for position, token in enumerate(tokens):
        before = tokens[position - 1].text if position else ""
        after = tokens[position + 1].text if position + 1 < len(tokens) else ""
        if token.text == "[" and before == "-":
            edge = token.depth
        elif token.text == "]" and token.depth == edge:
            edge = -1
        elif token.text == "*" and token.depth == edge + 1 and edge >= 0:
            raise CypherPathsOffError
        elif token.word in WRITES and token.depth == 0 and before not in {".", ":"}:
            raise CypherReadsOnlyError(f"{token.text.upper()} changes something.")
        elif token.word == "call" and token.depth == 0 and before not in {".", ":"}:
            raise CypherRefusedError("CALL is off.")
        if after == "(" and token.kind in {"word", "quoted"}:
            _check_call(token, qualified=before == ".")


def _check_call(token: Token, *, qualified: bool) -> None:
    name = token.text.strip("`").lower()
    if name in WALKS:
        raise CypherPathsOffError
    if qualified or name not in (FUNCTIONS if token.kind == "quoted" else FUNCTIONS | WORDS):
        raise CypherRefusedError(f"There is no function {token.text} here.", hint="docs/cypher.md lists the functions.")


def _name(query: str, item: Sequence[Token]) -> str:
    if not item or [token.text for token in item] == ["*"]:
        raise CypherRefusedError(
            "RETURN does not say what.", hint="Name what you want to have: RETURN n, e.fact AS fact."
        )
    if len(item) > 2 and item[-2].word == "as":  # noqa: PLR2004
        return item[-1].text.strip("`")
    return query[item[0].start : item[-1].start + len(item[-1].text)]
