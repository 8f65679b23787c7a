"""Microsoft Copilot's ``copilot-activity-history.csv``: Conversation, Time, Author and Message.

The newest row stands first, and a question has the time of its answer, so that only the order of the rows says which
came first. There are no ids, and a conversation is known by its title.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator

from memsvc.errors import BadFileError
from memsvc.sources.kinds.bundles import Bundle
from memsvc.sources.kinds.json_files import BYTE_ORDER_MARK
from memsvc.sources.kinds.kind import NOT_MINE, Detection, Digests, Placed, Reading
from memsvc.sources.messages import MessageIn, Role
from memsvc.text.characters import is_visible

HEADER = ["Conversation", "Time", "Author", "Message"]
ROLES: dict[str, Role] = {"human": "user", "user": "user", "ai": "assistant", "bot": "assistant"}
LONGEST_FIELD = 10_000_000


class Copilot:
    """Exports of Microsoft Copilot."""

    name = "copilot"
    title = "an export of Copilot"
    has_people = False
    is_export = True

    def detect(self, bundle: Bundle) -> Detection:
        """Look at the first row."""
        if (file := bundle.only) is None:
            return NOT_MINE
        first = bundle.head(file).removeprefix(BYTE_ORDER_MARK).split(b"\n", 1)[0].rstrip(b"\r")
        is_mine = first.replace(b'"', b"") == ",".join(HEADER).encode()
        return Detection(0.95, f"the columns {', '.join(HEADER)}", (file,)) if is_mine else NOT_MINE

    def read(self, bundle: Bundle, reading: Reading) -> Iterator[Placed]:
        """Yield the messages, the oldest first; the table is held in memory, because it is read from its end."""
        file, ids = bundle.files[0], Digests()
        shown = bundle.shown(file)
        for number, row in reversed(_rows(bundle, file, shown)):
            where = f"{shown}, line {number}"
            if len(row) != len(HEADER):
                raise BadFileError(f"{where} has {len(row)} columns, not {len(HEADER)}.", row=number)
            title, time, author, text = row
            role = ROLES.get(author.strip().lower())
            if role is None:
                raise BadFileError(f"{where}: the author {author[:60]!r} is not one of {', '.join(ROLES)}.", row=number)
            if not is_visible(text):
                reading.odd["messages without words"] += 1
                continue
            message = MessageIn(
                conversation=f"copilot:{title.strip() or 'untitled'}"[:400],
                text=text,
                speaker="Copilot" if role == "assistant" else "",
                role=role,
                id=ids.of(title, time, author, text),
                said_at=time,
            )
            yield Placed(where, message, {"line": number}, title.strip()[:200])


def _rows(bundle: Bundle, file: str, shown: str) -> list[tuple[int, list[str]]]:
    """Return the rows, each with the line on which it ends."""
    before = csv.field_size_limit(LONGEST_FIELD)
    try:
        with bundle.path(file).open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.reader(lines)
            next(reader, None)
            return [(reader.line_num, row) for row in reader if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadFileError(f"{shown}: {error}") from error
    finally:
        csv.field_size_limit(before)
