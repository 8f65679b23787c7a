"""Read one file of messages, of any kind, without a database: for dry runs, benches and the demo."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from memsvc.sources.kinds.bundles import opened
from memsvc.sources.kinds.kind import Reading
from memsvc.sources.kinds.registry import recognised, unknown
from memsvc.sources.messages import MessageIn


def read_messages(path: Path, own_names: Collection[str] = ()) -> Iterator[tuple[str, MessageIn]]:
    """Yield the messages of a file in order, each with its position for people ("chat.jsonl, line 3").

    Args:
        path: a file, folder or zip file of one kind.
        own_names: names of the user; speakers with one of them get the role ``user``, others ``other``.

    Raises:
        BadFileError: the file is missing, damaged, or of no kind that is known; names the position.
    """
    reading = Reading(me=frozenset(name.casefold() for name in own_names))
    with opened(path, sys.stdin.buffer) as bundle:
        found = recognised(bundle)
        if found is None:
            raise unknown(bundle, bundle.files[0])
        for placed in found.kind.read(bundle.narrowed(found.detection.files), reading):
            yield placed.where, placed.message
