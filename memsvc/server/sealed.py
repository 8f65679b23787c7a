"""Encrypted exports and backups: age files (https://age-encryption.org/v1), written and read as streams.

A file is encrypted to age's public keys, and the program age opens it; or with a passphrase. For a passphrase, each
file gets a key of its own: the file begins with a line and that key, which age has encrypted with the passphrase, and
an ordinary age file follows (docs/export.md says how to open it without memsvc). Plain text goes through pipes only,
never to a disk, and little of it is in memory. ``pyrage`` (the extra ``age``) does the cryptography.
"""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from memsvc.errors import (
    ArchiveDamagedError,
    ConfigurationError,
    KeyRequiredError,
    KeyUnusableError,
    KeyWrongError,
    NotEncryptedError,
    StorageFullError,
)

MAGIC = b"age-encryption.org/v1\n"
PASSPHRASE = b"memsvc-passphrase/1 "
"""How a file begins whose key is encrypted with a passphrase; then its length in bytes and a line break."""
MAX_KEY_BYTES = 10_000
TAIL_BYTES = 1 << 20
"""How much of the end of a file ``Rewinding`` keeps, because a zip file's table of contents is there."""
SKIP_BYTES = 1 << 18


@dataclass(frozen=True, slots=True)
class Lock:
    """How a file is encrypted: to one or several public keys, or with a passphrase."""

    recipients: tuple[Any, ...]
    passphrase: str | None

    def begin(self, out: IO[bytes]) -> tuple[Any, ...]:
        """Write what comes before the age file, and return the keys to encrypt to."""
        if self.passphrase is None:
            return self.recipients
        age = _pyrage()
        identity = age.x25519.Identity.generate()
        key = age.passphrase.encrypt(str(identity).encode(), self.passphrase)
        out.write(PASSPHRASE + str(len(key)).encode() + b"\n" + key)
        return (identity.to_public(),)


@dataclass(frozen=True, slots=True)
class Key:
    """How a file is decrypted: by private keys, or with a passphrase."""

    identities: tuple[Any, ...]
    passphrase: str | None
    unwrapped: dict[bytes, Any] = field(default_factory=dict, compare=False)
    """Private keys that the passphrase has opened: each costs seconds, and an archive is opened several times."""


def lock_of(recipients: Sequence[str] = (), passphrase_file: Path | None = None) -> Lock | None:
    """Return how to encrypt; None: not at all.

    Args:
        recipients: public keys: ``age1…``, or those of SSH (``ssh-ed25519 …``, ``ssh-rsa …``).
        passphrase_file: a file with a passphrase in its first line.

    Raises:
        KeyUnusableError: one of them cannot be used, or both are given.
        ConfigurationError: the extra ``age`` is not installed.
    """
    if not recipients and passphrase_file is None:
        return None
    if recipients and passphrase_file is not None:
        raise KeyUnusableError("A file is encrypted to keys or with a passphrase, not both.")
    age = _pyrage()
    if passphrase_file is not None:
        return Lock((), _first_line(passphrase_file))
    found: list[Any] = []
    for one in recipients:
        kind = age.ssh if one.startswith("ssh-") else age.x25519
        try:
            found.append(kind.Recipient.from_str(one.strip()))
        except age.RecipientError as error:
            raise KeyUnusableError(f"{one[:70]!r} is not a public key of age or SSH.") from error
    return Lock(tuple(found), None)


def key_of(identity_file: Path | None = None, passphrase_file: Path | None = None) -> Key | None:
    """Return how to decrypt; None: nothing was given.

    Args:
        identity_file: a file of age (``AGE-SECRET-KEY-…``, a line each) or a private key of SSH without passphrase.
        passphrase_file: a file with the passphrase in its first line.

    Raises:
        KeyUnusableError: one of them cannot be used, or both are given.
        ConfigurationError: the extra ``age`` is not installed.
    """
    if identity_file is None and passphrase_file is None:
        return None
    if identity_file is not None and passphrase_file is not None:
        raise KeyUnusableError("A file is decrypted by a key or with a passphrase, not both.")
    age = _pyrage()
    if passphrase_file is not None:
        return Key((), _first_line(passphrase_file))
    assert identity_file is not None  # noqa: S101 - one of both is given
    content = _read(identity_file)
    try:
        if b"PRIVATE KEY-----" in content:
            return Key((age.ssh.Identity.from_buffer(content),), None)
        lines = [line.strip() for line in content.decode().splitlines()]
        keys = tuple(age.x25519.Identity.from_str(line) for line in lines if line and not line.startswith("#"))
    except (age.IdentityError, UnicodeDecodeError) as error:
        raise KeyUnusableError(f"{identity_file} holds no private key that can be used.") from error
    if not keys:
        raise KeyUnusableError(f"{identity_file} holds no private key.")
    return Key(keys, None)


def is_sealed(path: Path) -> bool:
    """Say whether a file is encrypted in one of the two ways."""
    try:
        with path.open("rb") as file:
            begin = file.read(max(len(MAGIC), len(PASSPHRASE)))
    except OSError:
        return False
    return begin.startswith((MAGIC, PASSPHRASE))


def check_sealed(path: Path, key: Key | None) -> None:
    """Check that a file is encrypted if and only if there is a key, and that the key opens it.

    Raises:
        KeyRequiredError: it is encrypted, and there is no key.
        NotEncryptedError: it is not encrypted, and there is a key.
        KeyWrongError: the key does not open it.
        ArchiveDamagedError: it is cut off or altered at its beginning.
    """
    sealed = is_sealed(path)
    if sealed and key is None:
        raise KeyRequiredError(f"{path.name} is encrypted.")
    if not sealed and key is not None:
        raise NotEncryptedError(f"{path.name} is not encrypted.")
    if key is not None:
        with unsealed(path, key) as plain:
            plain.read(1)


@contextmanager
def sealing(out: IO[bytes], lock: Lock) -> Iterator[IO[bytes]]:
    """Yield a file to write to; what is written to it arrives encrypted in ``out``, which stays open.

    If the block fails, ``out`` holds a part that can be decrypted: its writer removes it.
    """
    recipients = lock.begin(out)
    feed = _Sealing(out, recipients)
    writer = io.BufferedWriter(feed, 1 << 16)
    try:
        yield writer
        writer.flush()
    finally:
        feed.stop()
    feed.check()


class _Sealing(io.RawIOBase):
    """The end of a pipe from which a thread encrypts."""

    def __init__(self, out: IO[bytes], recipients: Sequence[Any]) -> None:
        self._failed: list[BaseException] = []
        from_us, self._to_age = os.pipe()
        self._thread = threading.Thread(target=self._work, args=(from_us, out, recipients), name="sealing", daemon=True)
        self._thread.start()

    def _work(self, from_us: int, out: IO[bytes], recipients: Sequence[Any]) -> None:
        with os.fdopen(from_us, "rb") as plain:
            target = _Noting(out)
            try:
                _pyrage().encrypt_io(plain, target, list(recipients))
            except BaseException as error:  # noqa: BLE001 - raised in the caller's thread
                self._failed.append(error)
            if target.failed is not None:  # pyrage passes over what its last write raises
                self._failed.append(target.failed)

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if self._to_age < 0:  # it has failed, and what is left in a buffer leads nowhere
            return len(data)
        try:
            return os.write(self._to_age, data)
        except BrokenPipeError:
            self.stop()
            self.check()
            raise

    def stop(self) -> None:
        """Say that this was all, and wait until it is encrypted."""
        if self._to_age >= 0:
            os.close(self._to_age)
            self._to_age = -1
        self._thread.join()

    def check(self) -> None:
        """Raise what made encrypting fail.

        Raises:
            StorageFullError: what was encrypted could not be written.
        """
        if not self._failed:
            return
        if isinstance(self._failed[0], _pyrage().EncryptError | OSError):
            raise StorageFullError(f"The encrypted file cannot be written: {self._failed[0]}.") from self._failed[0]
        raise self._failed[0]


class _Noting:
    """A file to write to that remembers what went wrong."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self.failed: OSError | None = None

    def write(self, data: bytes) -> int:
        try:
            return self._out.write(data)
        except OSError as error:
            self.failed = error
            raise

    def flush(self) -> None:
        try:
            self._out.flush()
        except OSError as error:
            self.failed = error
            raise


@contextmanager
def unsealed(path: Path, key: Key) -> Iterator[IO[bytes]]:
    """Yield a file to read from, from its beginning to its end: the decrypted content.

    Reading raises KeyWrongError, or ArchiveDamagedError where the file is cut off or altered; what was read before is
    authentic.
    """
    reader = _Unsealing(path, key)
    try:
        yield io.BufferedReader(reader, 1 << 16)
    finally:
        reader.stop()


class _Unsealing(io.RawIOBase):
    """The end of a pipe into which a thread decrypts."""

    def __init__(self, path: Path, key: Key) -> None:
        self._path = path
        self._failed: list[BaseException] = []
        self._from_age, to_us = os.pipe()
        self._thread = threading.Thread(target=self._work, args=(key, to_us), name="unsealing", daemon=True)
        self._thread.start()

    def _work(self, key: Key, to_us: int) -> None:
        with suppress(BrokenPipeError), os.fdopen(to_us, "wb", buffering=0) as plain:
            try:
                with self._path.open("rb") as sealed:
                    _pyrage().decrypt_io(sealed, plain, list(_identities(sealed, key, self._path)))
            except BrokenPipeError:
                return
            except BaseException as error:  # noqa: BLE001 - raised in the caller's thread
                self._failed.append(error)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        got = os.read(self._from_age, len(buffer))
        if not got:
            self._thread.join()
            if self._failed:
                raise meaning(self._failed[0], self._path)
        buffer[: len(got)] = got
        return len(got)

    def stop(self) -> None:
        """Close the pipe, so that the thread ends."""
        if self._from_age >= 0:
            os.close(self._from_age)
            self._from_age = -1
        self._thread.join()


def _identities(sealed: IO[bytes], key: Key, path: Path) -> Sequence[Any]:
    """Return the private keys for a file, and move to where its age file begins."""
    head = sealed.read(len(PASSPHRASE))
    if head != PASSPHRASE:
        sealed.seek(0)
        if key.passphrase is not None:
            raise KeyWrongError(f"{path.name} is encrypted to a key, not with a passphrase.")
        return key.identities
    if key.passphrase is None:
        raise KeyWrongError(f"{path.name} is encrypted with a passphrase, not to a key.")
    length = sealed.readline(10).strip()
    if not length.isdigit() or int(length) > MAX_KEY_BYTES:
        raise ArchiveDamagedError(f"{path.name} is damaged at its beginning.")
    wrapped = sealed.read(int(length))
    if len(wrapped) < int(length):
        raise ArchiveDamagedError(f"{path.name} is cut off.")
    age = _pyrage()
    if wrapped not in key.unwrapped:
        try:
            opened = age.passphrase.decrypt(wrapped, key.passphrase)
        except age.DecryptError as error:
            raise KeyWrongError(f"The passphrase does not open {path.name}.") from error
        key.unwrapped[wrapped] = age.x25519.Identity.from_str(opened.decode())
    return (key.unwrapped[wrapped],)


def meaning(error: BaseException, path: Path) -> BaseException:
    """Return what an error of decrypting means to people; others as they are."""
    if isinstance(error, _pyrage().DecryptError):
        if "matching keys" in str(error):
            return KeyWrongError(f"No given key opens {path.name}.")
        return ArchiveDamagedError(f"{path.name} is damaged at its beginning.")
    if isinstance(error, OSError) and error.errno is None:  # what pyrage raises for a chunk that is not authentic
        return ArchiveDamagedError(f"{path.name} is cut off or was altered.")
    return error


class Rewinding(io.RawIOBase):
    """An encrypted file that can be read at any place: forwards as it is decrypted, backwards from its beginning again.

    A zip file read so is decrypted once for its table of contents, at the end, and once for its files in their order.
    """

    def __init__(self, path: Path, key: Key) -> None:
        """Decrypt the file once, for its size and its end. Raises: as reading ``unsealed``."""
        self._path, self._key = path, key
        self._place = 0
        self._source: tuple[Any, IO[bytes]] | None = None
        self._at = 0
        size, tail = 0, b""
        with unsealed(path, key) as plain:
            while piece := plain.read(SKIP_BYTES):
                size += len(piece)
                tail = (tail + piece)[-TAIL_BYTES:]
        self._size, self._tail = size, tail

    def readable(self) -> bool:
        """Return true."""
        return True

    def seekable(self) -> bool:
        """Return true."""
        return True

    def tell(self) -> int:
        """Return the place from which is read next."""
        return self._place

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Choose where is read next."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._size}[whence]
        if base + offset < 0:
            message = "before the beginning of the file"
            raise OSError(message)
        self._place = base + offset
        return self._place

    def readinto(self, buffer: Any) -> int:
        """Read at the chosen place."""
        if self._place >= self._size:
            return 0
        begin = self._place - (self._size - len(self._tail))
        if begin >= 0:
            got = self._tail[begin : begin + len(buffer)]
        else:
            got = self._stream().read(min(len(buffer), SKIP_BYTES))
            self._at += len(got)
        buffer[: len(got)] = got
        self._place += len(got)
        return len(got)

    def _stream(self) -> IO[bytes]:
        """Return the stream at the chosen place."""
        if self._source is None or self._at > self._place:
            self._stop()
            opened = unsealed(self._path, self._key)
            self._source, self._at = (opened, opened.__enter__()), 0
        stream = self._source[1]
        while self._at < self._place:
            skipped = stream.read(min(self._place - self._at, SKIP_BYTES))
            if not skipped:
                raise ArchiveDamagedError(f"{self._path.name} changed while it was read.")
            self._at += len(skipped)
        return stream

    def _stop(self) -> None:
        if self._source is not None:
            self._source[0].__exit__(None, None, None)
            self._source = None

    def close(self) -> None:
        """End decrypting."""
        self._stop()
        super().close()


def _first_line(path: Path) -> str:
    """Return a passphrase from a file."""
    try:
        found = _read(path).decode().split("\n", 1)[0].rstrip("\r")
    except UnicodeDecodeError as error:
        raise KeyUnusableError(f"{path} is not UTF-8 text.") from error
    if not found:
        raise KeyUnusableError(f"{path} holds no passphrase in its first line.")
    return found


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_KEY_BYTES)
    except OSError as error:
        raise KeyUnusableError(f"{path} cannot be read: {error.strerror}.") from error


def _pyrage() -> Any:
    try:
        import pyrage  # noqa: PLC0415 - an extra
        import pyrage.passphrase  # noqa: PLC0415
        import pyrage.ssh  # noqa: PLC0415
        import pyrage.x25519  # noqa: PLC0415
    except ImportError as error:
        raise ConfigurationError(
            "Encrypted exports and backups need pyrage.", hint="Install it: pip install 'memsvc[age]'."
        ) from error
    return pyrage
