"""Documents for tests: files of each format, made here, and the reader called in this very process."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from memsvc.documents.form import ParsedDocument
from memsvc.documents.limits import Limits
from memsvc.documents.reading import document

LIMITS = Limits()


def read(path: Path, limits: Limits = LIMITS) -> ParsedDocument:
    """Read a file in this process."""
    return document(path, path.name, limits)


def read_text(folder: Path, name: str, text: str | bytes, limits: Limits = LIMITS) -> ParsedDocument:
    """Write a file and read it in this process."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(path, limits)


def texts(parsed: ParsedDocument) -> str:
    """All chunks' texts, one under the other."""
    return "\n".join(chunk.text for chunk in parsed.chunks)


def packed(path: Path, members: Mapping[str, str | bytes]) -> Path:
    """Write a zip file."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def pdf(
    path: Path, pages: Sequence[Sequence[tuple[float, float, float, str]]], *, info: str = "", font: str = ""
) -> Path:
    """Write a PDF file by hand: for each page, lines as (left, bottom, size, text); "*" before a text makes it bold."""
    objects: list[bytes] = []

    def add(content: str | bytes) -> int:
        objects.append(content if isinstance(content, bytes) else content.encode("latin-1"))
        return len(objects)

    catalog, tree = add(""), add("")
    plain = add(f"<< /Type /Font /Subtype /Type1 /BaseFont /{font or 'Helvetica'} /Encoding /WinAnsiEncoding >>")
    bold = add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>")
    kids: list[int] = []
    for lines in pages:
        drawn = b"".join(
            b"BT /F%d %g Tf %g %g Td (%s) Tj ET\n"
            % (2 if text.startswith("*") else 1, size, left, bottom, _escaped(text.removeprefix("*")))
            for left, bottom, size, text in lines
        )
        content = add(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn))
        kids.append(
            add(
                f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R"
                f" /Resources << /Font << /F1 {plain} 0 R /F2 {bold} 0 R >> >> >>"
            )
        )
    about = add(f"<< {info} >>")
    objects[catalog - 1] = f"<< /Type /Catalog /Pages {tree} 0 R >>".encode()
    objects[tree - 1] = (
        f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(f'{kid} 0 R' for kid in kids)}] >>".encode()
    )
    path.write_bytes(_file(objects, f"/Root {catalog} 0 R /Info {about} 0 R"))
    return path


def _escaped(text: str) -> bytes:
    return text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def _file(objects: Sequence[bytes], trailer: str) -> bytes:
    data = b"%PDF-1.7\n"
    offsets: list[int] = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return data + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d %s >>\nstartxref\n%d\n%%%%EOF\n"
        % (len(objects) + 1, table, len(objects) + 1, trailer.encode(), len(data))
    )


def prose(
    lines: Sequence[str], *, top: float = 700, left: float = 72, size: float = 11
) -> list[tuple[float, float, float, str]]:
    """Lines of a page, one under the other."""
    return [(left, top - number * size * 1.2, size, line) for number, line in enumerate(lines)]
