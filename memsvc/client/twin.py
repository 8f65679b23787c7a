"""Writes the sync client from the async one, which is the only text to read and change: ``make client``.

It only replaces words. Whatever differs further is in ``wire``, ``calls`` and ``local``. A part of ``AsyncMemory`` in
``NAME_async.py`` becomes a part of ``Memory`` in ``NAME.py``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
PARTS = ("connection", "files", "graph", "lessons", "profile")
TWINS = {
    HERE / "asynchronous.py": HERE / "memory.py",
    **{HERE / f"{part}_async.py": HERE / f"{part}.py" for part in PARTS},
}
DOCSTRING = '"""``Memory``: a user\'s memory. Written by ``make client`` from ``asynchronous.py``: edit that file."""'
OF_PART = r'"""The part of ``Memory`` \1 Written by ``make client``."""'
WORDS = (
    (r"\A\"\"\"``AsyncMemory.*?\"\"\"", DOCSTRING.replace("\\", r"\\")),
    (r"\A\"\"\"The part of ``AsyncMemory`` (.*?)\"\"\"", OF_PART),
    (r"await asyncio\.to_thread\(Local, (.*?)\)\n", r"Local(\1)\n"),
    (r"import asyncio\n(import copy\n)?", r"\1import time\n"),
    (r"asyncio\.sleep", "time.sleep"),
    (r"async for (\w+) in (\S+):\n +yield \1\n", r"yield from \2\n"),
    (r"for (\w+) in (page\.\w+):\n +yield \1\n", r"yield from \2\n"),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\b(memsvc\.client\.\w+)_async\b", r"\1"),
    (r"__aenter__", "__enter__"),
    (r"__aexit__", "__exit__"),
    (r"aclose", "close"),
    (r"\basync (def|with|for) ", r"\1 "),
    (r"\bawait ", ""),
    (r"return \((self\.send\(.*?\)|self\.add_messages\(.*?\))\)(\.|\[)", r"return \1\2"),
    (r"from collections\.abc import Iterator, Iterable,", "from collections.abc import Iterable, Iterator,"),
    (r"import BASE_URL, LocalTransport, Local\n", "import BASE_URL, Local, LocalTransport\n"),
)


def twin(text: str) -> str:
    """Return the sync client's source for the source of the async one."""
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text, flags=re.DOTALL if pattern.startswith(r"\A") else 0)
    return text


if __name__ == "__main__":
    for written, made in TWINS.items():
        made.write_text(twin(written.read_text(encoding="utf-8")), encoding="utf-8")
        sys.stderr.write(f"wrote {made.name}\n")
