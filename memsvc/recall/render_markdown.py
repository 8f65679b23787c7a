"""A context as Markdown: headings and lists of ours, and quoted text that means nothing to a reader of Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from memsvc.recall.dated import without_dates
from memsvc.recall.items import TITLES, Group, Item, SectionName
from memsvc.recall.render_text import TextRenderer, rule_origin
from memsvc.recall.times_in_words import clock
from memsvc.text.characters import flat, plain_lines
from memsvc.text.markdown import inline


def quoted(text: str) -> str:
    """Text on one line as Markdown data."""
    return inline(flat(text))


class MarkdownRenderer(TextRenderer):
    """Markdown, with the same lines as the plain text."""

    def section(self, name: SectionName) -> str:
        """The heading of a section."""
        return f"\n## {TITLES[name]}"

    def group(self, group: Group) -> str:
        """The heading of what was said in one session on one day."""
        session = f", session {quoted(group.session)}" if group.session else ""
        return f"\n### {quoted(group.conversation)}{session}, {self._day(group.said_at)}\n"

    def note(self, text: str) -> str:
        """A remark of ours; it may name what people wrote."""
        return f"* {quoted(without_dates(text))}"

    def item(self, item: Item, *, grouped: bool) -> str:
        """One item, as in plain text."""
        if item.kind == "turn":
            return self._turn(item)
        if item.kind in {"block", "summary"}:
            return self._block(item)
        picture = f" (picture: {quoted(without_dates(item.caption))})" if item.caption else ""
        said = f"- `{item.id}` {quoted(self._head(item, grouped=grouped))}: {quoted(item.shown)}{picture}"
        return f"{said}{self._why(item)}"

    def rule(self, item: Item) -> str:
        """A rule that the user set, as in plain text."""
        return f"- `{item.id}` {quoted(rule_origin(item))}: {quoted(item.text)}"

    def body(self, notes: Sequence[str], sections: Sequence[tuple[str, Sequence[str]]]) -> str:
        """Remarks, then each section's heading and what stands below it; an empty line behind them all."""
        return f"{super().body(notes, sections)}\n"

    def _turn(self, item: Item) -> str:
        moment = f"{clock(item.said_at)} " if item.said_at else ""
        picture = f" (picture: {quoted(without_dates(item.caption))})" if item.caption else ""
        return self._lines(f"- `{item.id}` {moment}{quoted(without_dates(item.speaker))}:", item.shown) + picture

    def _block(self, item: Item) -> str:
        name = f"summary {item.name}" if item.kind == "summary" else item.name
        return f"{self._lines(f'- `{item.id}` {quoted(without_dates(name))}:', item.shown)}{self._why(item)}"

    @staticmethod
    def _lines(begin: str, text: str) -> str:
        broken = "\\\n  | ".join(inline(line) for line in plain_lines(text).split("\n"))
        return f"{begin} {broken}"

    def _why(self, item: Item) -> str:
        """The line of the whole reason; empty: it has none."""
        if self._reasons != "full" or item.kind == "neighbour":
            return ""
        rests = f" (from {', '.join(f'`{source}`' for source in item.sources)})" if item.sources else ""
        return f"\n  - why: {quoted(item.why)}{rests}"
