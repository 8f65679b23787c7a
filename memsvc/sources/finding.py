"""Find the sources in what a caller names: files, folders, zip files and standard input.

A file that no kind of chat takes is a document, if it is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from memsvc.errors import BadFileError, SourceUnknownError
from memsvc.sources.kinds.bundles import ZIP, Bundle, Given, opened
from memsvc.sources.kinds.document_files import format_of
from memsvc.sources.kinds.kind import Kind
from memsvc.sources.kinds.registry import DOCUMENT, LEAST_SURE, kind_called, recognised, unknown


@dataclass(frozen=True, slots=True)
class Source:
    """Files of one kind."""

    bundle: Bundle
    kind: Kind
    why: str
    """What it was recognised by."""


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """A file that is a document."""

    bundle: Bundle
    why: str
    """What it was recognised by."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that is not read."""

    name: str
    error: BadFileError
    was_named: bool
    """Whether the caller named it; otherwise it lay in a folder or zip file that he named."""


Found = Source | DocumentSource | Unread
Forced = Kind | str | None
"""A kind, its name, ``DOCUMENT``, or None: recognise it."""


def find(
    paths: Iterable[Path | Given],
    kind: Forced,
    stdin: BinaryIO,
    stack: ExitStack,
    check: Callable[[Found], None] = lambda _: None,
) -> Iterator[Found]:
    """Yield the sources in files, folders, zip files and standard input ("-"), and what is not read.

    Args:
        paths: what the caller named or sent.
        kind: read everything as this kind, by its name or itself; None: recognise it.
        stdin: standard input.
        stack: closes what was opened.
        check: called with all that is found; where it raises a BadFileError, the whole file or folder is refused.

    Raises:
        InvalidRequestError: there is no such kind.
    """
    forced: Forced = kind_called(kind) if isinstance(kind, str) and kind != DOCUMENT else kind
    for path in paths:
        try:
            bundle = stack.enter_context(opened(path, stdin))
            found: list[Found] = []
            for one in _in_bundle(bundle, forced, stdin, stack, was_named=True):
                check(one)
                found.append(one)
        except BadFileError as error:
            yield Unread(path.name or str(path), error, was_named=True)
            continue
        if len(bundle.files) > 1 and all(isinstance(one, Unread) for one in found):
            yield Unread(bundle.name, _nothing_in(bundle, found), was_named=True)
        else:
            yield from found


def _nothing_in(bundle: Bundle, found: Sequence[Found]) -> BadFileError:
    errors = [one.error for one in found if isinstance(one, Unread)]
    worst = next((error for error in errors if not isinstance(error, SourceUnknownError)), errors[0])
    return type(worst)(f"{bundle.name} has nothing to read: {worst.message}", hint=worst.advice)


def _in_bundle(
    bundle: Bundle, forced: Forced, stdin: BinaryIO, stack: ExitStack, *, was_named: bool
) -> Iterator[Found]:
    """Yield the sources of a bundle: those of several files first, then file by file."""
    if bundle.only is not None:
        yield _in_file(bundle, forced, was_named=was_named)
        return
    rest = set(bundle.files)
    whole = recognised(bundle) if forced is None else None
    if whole is not None:
        yield Source(bundle.narrowed(whole.detection.files), whole.kind, whole.detection.why)
        rest -= set(whole.detection.files)
    elif not isinstance(forced, str | None) and (taken := forced.detect(bundle)).sure >= LEAST_SURE:
        yield Source(bundle.narrowed(taken.files), forced, "--as")
        rest -= set(taken.files)
    for file in sorted(rest):
        one = bundle.narrowed([file], f"{bundle.name}/{file}")
        try:
            if bundle.is_folder and one.head(file).startswith(ZIP):
                inner = stack.enter_context(opened(one.path(file), stdin))
                yield from _in_bundle(
                    inner.narrowed(inner.files, one.name),
                    forced,
                    stdin,
                    stack,
                    was_named=inner.only not in {None, inner.name},
                )
            else:
                yield _in_file(one, forced, was_named=False)
        except BadFileError as error:
            yield Unread(one.name, error, was_named=False)


def _in_file(bundle: Bundle, forced: Forced, *, was_named: bool) -> Found:
    """Return the source of one file."""
    file = bundle.files[0]
    if not isinstance(forced, str | None) and (was_named or forced.detect(bundle).sure >= LEAST_SURE):
        return Source(bundle, forced, "--as")
    if forced == DOCUMENT and (was_named or format_of(bundle) is not None):
        return DocumentSource(bundle, "--as")
    if forced is None:
        if (found := recognised(bundle)) is not None:
            return Source(bundle, found.kind, found.detection.why)
        if (form := format_of(bundle)) is not None:
            return DocumentSource(bundle, f"being {form.shown}")
    return Unread(bundle.name, unknown(bundle, file), was_named)
