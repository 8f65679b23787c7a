"""Find the sources in what a caller names: files, folders, zip files and standard input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from memsvc.errors import BadFileError, SourceUnknownError
from memsvc.sources.kinds.bundles import ZIP, Bundle, opened
from memsvc.sources.kinds.kind import Kind
from memsvc.sources.kinds.registry import LEAST_SURE, kind_called, recognised, unknown


@dataclass(frozen=True, slots=True)
class Source:
    """Files of one kind."""

    bundle: Bundle
    kind: Kind
    why: str
    """What it was recognised by."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that is not read."""

    name: str
    error: BadFileError
    was_named: bool
    """Whether the caller named it; otherwise it lay in a folder or zip file that he named."""


def find(paths: Iterable[Path], kind: str | None, stdin: BinaryIO, stack: ExitStack) -> Iterator[Source | Unread]:
    """Yield the sources in files, folders, zip files and standard input ("-"), and what is not read.

    Args:
        paths: what the caller named.
        kind: read everything as this kind; None: recognise it.
        stdin: standard input.
        stack: closes what was opened.

    Raises:
        InvalidRequestError: there is no such kind.
    """
    forced = kind_called(kind) if kind is not None else None
    for path in paths:
        try:
            bundle = stack.enter_context(opened(path, stdin))
            found = list(_in_bundle(bundle, forced, stdin, stack))
        except BadFileError as error:
            yield Unread(path.name or str(path), error, was_named=True)
            continue
        if len(bundle.files) > 1 and not any(isinstance(one, Source) for one in found):
            yield Unread(bundle.name, _nothing_in(bundle, found), was_named=True)
        else:
            yield from found


def _nothing_in(bundle: Bundle, found: Sequence[Source | Unread]) -> BadFileError:
    errors = [one.error for one in found if isinstance(one, Unread)]
    worst = next((error for error in errors if not isinstance(error, SourceUnknownError)), errors[0])
    return type(worst)(f"{bundle.name} has nothing to read: {worst.message}", hint=worst.advice)


def _in_bundle(bundle: Bundle, forced: Kind | None, stdin: BinaryIO, stack: ExitStack) -> Iterator[Source | Unread]:
    """Yield the sources of a bundle: those of several files first, then file by file."""
    if bundle.only is not None:
        yield _in_file(bundle, forced, was_named=True)
        return
    rest = set(bundle.files)
    whole = recognised(bundle) if forced is None else None
    if whole is not None:
        yield Source(bundle.narrowed(whole.detection.files), whole.kind, whole.detection.why)
        rest -= set(whole.detection.files)
    elif forced is not None and (taken := forced.detect(bundle)).sure >= LEAST_SURE:
        yield Source(bundle.narrowed(taken.files), forced, "--as")
        rest -= set(taken.files)
    for file in sorted(rest):
        one = bundle.narrowed([file], f"{bundle.name}/{file}")
        try:
            if bundle.is_folder and one.head(file).startswith(ZIP):
                inner = stack.enter_context(opened(one.path(file), stdin))
                yield from _in_bundle(inner.narrowed(inner.files, one.name), forced, stdin, stack)
            else:
                yield _in_file(one, forced, was_named=False)
        except BadFileError as error:
            yield Unread(one.name, error, was_named=False)


def _in_file(bundle: Bundle, forced: Kind | None, *, was_named: bool) -> Source | Unread:
    """Return the source of one file."""
    file = bundle.files[0]
    if forced is not None and (was_named or forced.detect(bundle).sure >= LEAST_SURE):
        return Source(bundle, forced, "--as")
    found = recognised(bundle) if forced is None else None
    if found is None:
        return Unread(bundle.name, unknown(bundle, file), was_named)
    return Source(bundle, found.kind, found.detection.why)
