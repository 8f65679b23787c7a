"""The text of a file, whatever its encoding."""

from __future__ import annotations

import codecs
from pathlib import Path

from memsvc.documents.blocks import Reading

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def text_of(path: Path, reading: Reading) -> str:
    """Return a file's text: in the encoding that its mark says, else UTF-8, else Windows-1252, with lines ended by LF.

    What is not valid in its encoding is replaced and counted.
    """
    return decoded(path.read_bytes(), reading)


def decoded(data: bytes, reading: Reading) -> str:
    """Return bytes as text, as ``text_of`` does."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return _lines(_decoded(data, encoding, reading))
    try:
        return _lines(data.decode())
    except UnicodeDecodeError as error:
        # A single bad byte in a file that otherwise is UTF-8 is damage, not another encoding.
        if error.start > 0 and not data[: error.start].isascii():
            return _lines(_decoded(data, "utf-8", reading))
        reading.odd["text that is not UTF-8"] += 1
        return _lines(_decoded(data, "cp1252", reading))


def _decoded(data: bytes, encoding: str, reading: Reading) -> str:
    text = data.decode(encoding, "replace")
    if replaced := text.count("\ufffd"):
        reading.odd["undecodable characters"] += replaced
    return text


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
