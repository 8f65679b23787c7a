"""Pieces of a message that nobody says of themselves: code, tables, quoted mail, signatures, logs, memory given back.

Facts are not taken from there, whatever an extractor makes of it.
"""

from __future__ import annotations

import re

from memsvc.extract.quotes import Span
from memsvc.text.fence import FENCE, find_blocks

CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
LINES = re.compile(
    r"""
    ^ (?:
        [ \t]* >.*                                         # mail that is quoted
      | [ \t]* \|.*\|[ \t]*                                # a row of a table
      | [^\t\n]* \t [^\t\n]* \t .*                         # the same, with tabs
      | (?: \ {4} | \t ) .* [;{}()=] .*                    # code that is indented
      | [ \t]* (?: \d{4}-\d\d-\d\d[T ]\d\d:\d\d | \[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|TRACE)\b ) .*   # a log
      | [ \t]* (?: Traceback\ \(most | File\ ".*",\ line\ \d | at\ [\w.$]+\(.*\) ) .*               # a trace
      | [ \t]* (?: Sent\ from\ my\b | Get\ Outlook\ for\b | Von\ meinem\b ) .*
      | .* \b(?: unsubscribe | all\ rights\ reserved | this\ e-?mail\ (?:and\ any|is\ confidential)
               | confidentiality\ notice | terms\ of\ service | privacy\ policy )\b .*
      | [ \t]* (?: From | To | Cc | Bcc | Subject | Date | Reply-To ) : [ \t] .*
    ) $
    """,
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
SIGNATURE = re.compile(r"^-- ?$.*\Z", re.DOTALL | re.MULTILINE)
ADDRESS = re.compile(r"https?://\S+|\bwww\.\S+|\b[\w.+-]+@[\w-]+\.[\w.]+")


def injected_spans(text: str) -> list[Span]:
    """Where context blocks of memsvc stand, whole ones and what is left of others."""
    found = list(find_blocks(text))
    if "memsvc" not in text:
        return found
    fences = [fence.span() for fence in FENCE.finditer(text)]
    loose = [span for span in fences if not any(begin <= span[0] < end for begin, end in found)]
    # What stands between two loose fences, or behind the last one, is a block that somebody changed.
    return found + ([(loose[0][0], loose[-1][1] if len(loose) > 1 else len(text))] if loose else [])


def boilerplate_spans(text: str) -> list[Span]:
    """Where else nobody speaks."""
    return [found.span() for pattern in (CODE, LINES, SIGNATURE, ADDRESS) for found in pattern.finditer(text)]


def touches(span: Span, spans: list[Span]) -> bool:
    """Whether more than half of a span lies in one of others."""
    length = span[1] - span[0]
    return any(2 * (min(span[1], end) - max(span[0], begin)) > length for begin, end in spans)
