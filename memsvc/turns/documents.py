"""What a document is called: one name for one file or address, however a tool writes it.

*Global*: an absolute path, or an address in its normal form (RFC 3986, section 6). *Local*: the project's name and the
path below its root, which stays when the project is moved or cloned. Nothing here looks at a disk but ``on_disk``.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from memsvc.errors import InvalidRequestError
from memsvc.turns.projects import Project

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:(?=\S)")
"""Of two letters at least: one is a drive of Windows."""
DRIVE = re.compile(r"(?P<drive>[A-Za-z]):(?P<rest>[\\/].*|)", re.DOTALL)
SHARE = re.compile(r"\\\\(?P<rest>[^\\/]+[\\/].*)", re.DOTALL)
ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")
UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "ssh": 22}
MAX_CHARS = 500
"""As of ``sources.identifier``."""


@dataclass(frozen=True, slots=True)
class DocumentName:
    """What a document is called."""

    identifier: str
    """The absolute path or the normal address; of a file of a project whose root is unknown, ``local``."""
    local: str | None
    """The project's name, ``//``, and the path below its root; None: it lies in no project."""
    path: str
    """For people: below the project's root, else as the identifier."""

    @property
    def format(self) -> str:
        """The ending of its name, such as ``py``; ``file`` if it has none; ``url`` of an address."""
        if SCHEME.match(self.identifier) and not self.local:
            return "url"
        return PurePosixPath(self.path).suffix[1:41].lower() or "file"

    @property
    def title(self) -> str:
        """The file's name, or the address."""
        return self.path if self.format == "url" else PurePosixPath(self.path).name or self.path


def document_name(given: str, project: Project | None = None) -> DocumentName:
    """Return what a document is called.

    Args:
        given: a path (of Windows, too) or an address, as a tool has it; relative paths are below the project's root.
        project: where the agent works; None: only absolute paths and addresses have a meaning.

    Raises:
        InvalidRequestError: it is empty or too long, or a relative path that leads nowhere: there is no project, or it
            leads out of one whose root is unknown.
    """
    told = given.strip()
    if not told or "\0" in told:
        raise InvalidRequestError("A document must be a path or an address.", field="document")
    if (address := _address(told)) is not None:
        return _short(DocumentName(address, None, address))
    if told.lower().startswith("file:"):
        told = _path_of_file_url(told)
    windows = DRIVE.fullmatch(told) is not None or SHARE.fullmatch(told) is not None
    root = None if project is None or project.root is None else _plain(project.root)
    folds = windows or (project is not None and (project.ignores_case or DRIVE.match(root or "") is not None))
    if windows or told.startswith("/"):
        absolute: str | None = _plain(told)
    else:
        below = told.replace("\\", "/") if root is not None and DRIVE.match(root) else told
        absolute = None if root is None else _plain(f"{root}/{below}")
    if absolute is None:
        return _short(_rootless(told, project))
    shown = _below(absolute, root, folds=folds) if root is not None else None
    identifier = absolute.casefold() if folds else absolute
    if project is None or shown is None:
        return _short(DocumentName(identifier, None, absolute))
    return _short(DocumentName(identifier, _local(project, shown, folds=folds), shown))


def on_disk(given: str, folder: str | None = None) -> str:
    """Return a path as this machine has it: absolute, links followed; of a loop of links, as far as it leads.

    Addresses, and paths of another system than this one, come back as they are. A relative path is below ``folder``, by
    default the current one.
    """
    told = given.strip()
    if SCHEME.match(told) or (os.name != "nt" and (DRIVE.fullmatch(told) or SHARE.fullmatch(told))) or "\0" in told:
        return told
    return os.path.realpath(os.path.join(folder or os.getcwd(), os.path.expanduser(told)))  # noqa: PTH109, PTH111, PTH118


def _rootless(told: str, project: Project | None) -> DocumentName:
    below = os.path.normpath(told.replace("\\", "/"))
    if project is None or below.split("/", 1)[0] == ".." or below == ".":
        raise InvalidRequestError(
            f"{told[:200]!r} is a relative path, and nothing says where it begins.",
            hint="Give an absolute path, or the project's root with the turn.",
            field="document",
        )
    local = _local(project, below, folds=project.ignores_case)
    return DocumentName(local, local, below)


def _local(project: Project, below: str, *, folds: bool) -> str:
    return f"{project.name}//{below.casefold() if folds else below}"


def _plain(path: str) -> str:
    """Return an absolute path with ``/``, without ``.`` and ``..``; a drive's letter is a capital."""
    if (drive := DRIVE.fullmatch(path)) is not None:
        rest = os.path.normpath("/" + drive["rest"].replace("\\", "/").lstrip("/"))
        return f"{drive['drive'].upper()}:{rest}"
    if (share := SHARE.fullmatch(path)) is not None:
        return "//" + os.path.normpath("/" + share["rest"].replace("\\", "/")).lstrip("/")
    return "/" + os.path.normpath("/" + path.lstrip("/")).lstrip("/")


def _below(path: str, root: str, *, folds: bool) -> str | None:
    """Return a path's part below a root; None: it lies elsewhere, or is the root."""
    begin = root.rstrip("/") + "/"
    inside = path.casefold().startswith(begin.casefold()) if folds else path.startswith(begin)
    return path[len(begin) :] or None if inside else None


def _path_of_file_url(told: str) -> str:
    parts = urlsplit(told)
    path = unquote(parts.path)
    return path[1:] if DRIVE.fullmatch(path[1:]) else path


def _address(told: str) -> str | None:
    """Return an address in its normal form; None: it is a path."""
    found = SCHEME.match(told)
    if found is None or told.lower().startswith("file:") or DRIVE.fullmatch(told):
        return None
    try:
        parts = urlsplit(told)
        port = parts.port
    except ValueError as error:
        raise InvalidRequestError("A document's address cannot be read.", field="document") from error
    scheme = parts.scheme.lower()
    host = (parts.hostname or "").lower()
    if ":" in host:
        host = f"[{host}]"
    if port is not None and port != PORTS.get(scheme):
        host = f"{host}:{port}"
    path = _escapes(parts.path)
    if host:
        path = os.path.normpath("/" + path.lstrip("/")) + ("/" if path.endswith("/") and path.strip("/") else "")
        path = path if path.startswith("/") else f"/{path}"
    return urlunsplit(SplitResult(scheme, host, path, _escapes(parts.query), ""))


def _escapes(text: str) -> str:
    """Write escapes in capitals, and what needs none as itself."""

    def one(match: re.Match[str]) -> str:
        character = chr(int(match[1], 16))
        return character if character in UNRESERVED else f"%{match[1].upper()}"

    return ESCAPED.sub(one, text).replace(" ", "%20")


def _short(name: DocumentName) -> DocumentName:
    for value in (name.identifier, name.local or ""):
        if len(value) > MAX_CHARS:
            raise InvalidRequestError(
                f"A document's name has {len(value):,} characters; at most {MAX_CHARS} are allowed.", field="document"
            )
    return name
