"""Blocks become chunks: pieces of at most a window of tokens that follow the document's own structure.

A chunk ends at a heading whose level is the same as that of the section before it, or higher, and at a full window.
Sections that are tiny as a whole share a chunk, which then names their headings in its text. A row of a table that
begins a chunk is preceded by the table's header.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from memsvc.documents.blocks import Block
from memsvc.documents.form import Chunk
from memsvc.text.split import split_text
from memsvc.text.tokens import estimate_tokens

TINY_TOKENS = 40
"""A section of fewer tokens may share a chunk with the next one."""
MOST_HEADER = 3
"""A table's header is repeated if it takes at most one part in three of the window."""

Path = tuple[str, ...]


@dataclass(slots=True)
class _Piece:
    """A block, or a part of one, under its headings."""

    block: Block
    path: Path
    text: str
    header: str = ""
    """Of a row: the header of its table, if it is not the header itself."""


@dataclass(slots=True)
class _Sections:
    """The headings above the current block, as (level, text)."""

    above: list[tuple[int, str]] = field(default_factory=list)

    def enter(self, level: int, text: str) -> None:
        while self.above and self.above[-1][0] >= level:
            self.above.pop()
        self.above.append((level, text))

    @property
    def path(self) -> Path:
        return tuple(text for _, text in self.above)


@dataclass(slots=True)
class _Chunker:
    window: int
    done: list[Chunk] = field(default_factory=list)
    pieces: list[_Piece] = field(default_factory=list)
    tokens: int = 0
    level: int = 0
    """Of the section that the last piece is in."""
    whole: bool = True
    """Whether the chunk has whole sections so far."""

    def section(self, level: int) -> None:
        """A heading comes: end the chunk where it must."""
        deeper = level > self.level
        if self.pieces and not deeper and not (self.whole and self.tokens < TINY_TOKENS):
            self.flush()
        self.level = level
        self.whole = self.whole or not self.pieces

    def add(self, piece: _Piece) -> None:
        size = estimate_tokens(piece.text)
        if not self.pieces:
            self.pieces, self.tokens = [piece], size + estimate_tokens(piece.header)
            return
        heads = piece.path != self.pieces[-1].path
        # Headings within a chunk take room; which ones, only the whole chunk says.
        total = estimate_tokens(_shown([*self.pieces, piece])[1]) if heads else self.tokens + size
        if total > self.window:
            self.flush()
            self.whole = heads  # what begins with a section has it whole
            self.add(piece)
        else:
            self.pieces.append(piece)
            self.tokens = total

    def flush(self) -> None:
        if self.pieces:
            headings, text = _shown(self.pieces)
            self.done.append(Chunk(text=text, headings=headings, origin=dict(self.pieces[0].block.origin)))
        self.pieces, self.tokens, self.whole = [], 0, True


def chunks_of(blocks: Sequence[Block], window: int, title: str = "") -> list[Chunk]:
    """Join blocks into chunks.

    Args:
        blocks: in reading order.
        window: most tokens of a chunk, at least 1, by the estimate of ``memsvc.text.tokens``.
        title: the document's; an outermost heading that repeats it is left out of ``headings``.

    Returns:
        Chunks in the same order, none without text. The origin is that of the first block.
    """
    chunker = _Chunker(window)
    sections = _Sections()
    headers: dict[int, str] = {}
    for block, has_content in _with_content(blocks):
        if block.kind == "heading":
            chunker.section(block.level)
            if has_content:
                sections.enter(block.level, block.text)
                continue
            sections.enter(block.level, "")
            sections.above.pop()
        if block.kind == "margin" and sections.above:
            chunker.flush()
            sections.above.clear()
        _add(chunker, block, _without_title(sections.path, title), headers.get(block.table, ""))
        if block.table:
            headers.setdefault(block.table, block.text)
    chunker.flush()
    return chunker.done


def _with_content(blocks: Sequence[Block]) -> Iterator[tuple[Block, bool]]:
    """Yield blocks; a heading that neither text nor a deeper heading follows is text itself."""
    for number, block in enumerate(blocks):
        following = blocks[number + 1] if number + 1 < len(blocks) else None
        alone = following is None or (following.kind == "heading" and following.level <= block.level)
        yield block, not alone


def _without_title(path: Path, title: str) -> Path:
    return path[1:] if path and path[0] == title else path


def _add(chunker: _Chunker, block: Block, path: Path, header: str) -> None:
    window = chunker.window
    if header and estimate_tokens(header) * MOST_HEADER > window:
        header = ""
    room = max(window - estimate_tokens(header), 1)
    if estimate_tokens(block.text) <= room:
        chunker.add(_Piece(block, path, block.text, header))
        return
    for part in _parts(block.text, room):
        text = part.strip("\n").rstrip() if block.kind == "code" else part.strip()
        if text:
            chunker.add(_Piece(block, path, text, header))


def _parts(text: str, window: int) -> list[str]:
    """Split a text evenly where its sentences and words allow, so that no part is a short rest."""
    tokens = estimate_tokens(text)
    number = -(-tokens // window)
    smaller = min(window, -(-tokens // number) + window // 10)
    if max(map(len, text.split())) <= smaller:  # a longer word may be cut, though it fits into the window
        even = split_text(text, smaller)
        if len(even) == number:
            return even
    return split_text(text, window)


def _shown(pieces: Sequence[_Piece]) -> tuple[Path, str]:
    """Return the headings that pieces have in common, and their text with the headings that only some have."""
    common = pieces[0].path
    for piece in pieces[1:]:
        common = _shared(common, piece.path)
    return common, "".join(_texts(pieces, len(common)))


def _shared(first: Path, second: Path) -> Path:
    """Return the headings with which both begin."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return tuple(heading for heading, _ in pairs)


def _texts(pieces: Iterable[_Piece], common: int) -> Iterator[str]:
    before: _Piece | None = None
    shown: Path = ()
    for piece in pieces:
        own = piece.path[common:]
        joint = _joint(before, piece)
        if own != shown:
            new = own[len(_shared(own, shown)) :]
            joint = ("\n\n" if before else "") + "".join(f"{heading}\n" for heading in new)
            shown = own
        if piece.header and (before is None or before.block.table != piece.block.table):
            joint += f"{piece.header}\n"
        yield joint + piece.text
        before = piece


def _joint(before: _Piece | None, piece: _Piece) -> str:
    if before is None:
        return ""
    first, second = before.block, piece.block
    if first is second:
        return "\n" if first.kind in {"row", "code"} else " "
    same = first.kind == second.kind and (first.kind == "item" or (first.kind == "row" and first.table == second.table))
    return "\n" if same else "\n\n"
