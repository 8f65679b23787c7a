"""Encrypted files: what opens them, what does not, and what is said of damaged ones."""

from __future__ import annotations

import os
import resource
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import pytest

pyrage = pytest.importorskip("pyrage")
from pyrage import passphrase, x25519  # noqa: E402

from memsvc.errors import (  # noqa: E402
    AlreadyExistsError,
    ArchiveDamagedError,
    KeyRequiredError,
    KeyUnusableError,
    KeyWrongError,
    NotEncryptedError,
    StorageFullError,
)
from memsvc.server.sealed import (  # noqa: E402
    PASSPHRASE,
    Key,
    Lock,
    Rewinding,
    check_sealed,
    is_sealed,
    key_of,
    lock_of,
    sealing,
    unsealed,
)
from memsvc.transfer import sinks  # noqa: E402
from memsvc.transfer.sinks import SealedSink  # noqa: E402

TEXT = os.urandom(300_000)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Lock, Key, Path]:
    """A public key, its private key, and the file that holds it, as age-keygen writes it."""
    identity = x25519.Identity.generate()
    file = tmp_path_factory.mktemp("keys") / "key.txt"
    file.write_text(f"# created: today\n# public key: {identity.to_public()}\n{identity}\n")
    lock, key = lock_of([str(identity.to_public())]), key_of(file)
    assert lock is not None
    assert key is not None
    return lock, key, file


def sealed(path: Path, lock: Lock, content: bytes = TEXT) -> Path:
    with path.open("wb") as out, sealing(out, lock) as plain:
        for begin in range(0, len(content), 7_001):
            plain.write(content[begin : begin + 7_001])
    return path


def read(path: Path, key: Key) -> bytes:
    with unsealed(path, key) as plain:
        return plain.read()


def test_what_was_encrypted_to_a_key_is_opened_by_it_and_by_age(tmp_path: Path, pair: tuple[Lock, Key, Path]) -> None:
    lock, key, file = pair
    path = sealed(tmp_path / "a.age", lock)
    assert is_sealed(path)
    assert read(path, key) == TEXT
    age = x25519.Identity.from_str(file.read_text().splitlines()[2])
    assert pyrage.decrypt(path.read_bytes(), [age]) == TEXT
    assert TEXT[:64] not in path.read_bytes()


def test_a_passphrase_opens_its_file_and_age_opens_it_step_by_step(tmp_path: Path) -> None:
    (tmp_path / "phrase").write_text("correct horse\nnot this line\n")
    lock, key = lock_of(passphrase_file=tmp_path / "phrase"), key_of(passphrase_file=tmp_path / "phrase")
    assert lock is not None
    assert key is not None
    path = sealed(tmp_path / "a.age", lock)
    assert read(path, key) == TEXT
    head, rest = path.read_bytes().split(b"\n", 1)
    length = int(head.removeprefix(PASSPHRASE))
    identity = x25519.Identity.from_str(passphrase.decrypt(rest[:length], "correct horse").decode())
    assert pyrage.decrypt(rest[length:], [identity]) == TEXT
    with pytest.raises(KeyWrongError):
        read(path, Key((), "wrong horse"))
    with pytest.raises(KeyWrongError, match="passphrase"):
        read(path, Key((identity,), None))
    path.write_bytes(path.read_bytes()[: len(head) + 20])
    with pytest.raises(ArchiveDamagedError):
        check_sealed(path, key)


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (lambda raw: raw[:-1], ArchiveDamagedError),
        (lambda raw: raw[:-70_000], ArchiveDamagedError),
        (lambda raw: raw[:50], ArchiveDamagedError),
        (lambda raw: raw + b"x", ArchiveDamagedError),
        (lambda raw: raw[:200_000] + bytes([raw[200_000] ^ 1]) + raw[200_001:], ArchiveDamagedError),
    ],
    ids=["a byte less", "cut off", "only a beginning", "a byte more", "a bit changed"],
)
def test_damage_is_told(
    tmp_path: Path, pair: tuple[Lock, Key, Path], damage: Callable[[bytes], bytes], error: type[Exception]
) -> None:
    lock, key, _ = pair
    path = sealed(tmp_path / "a.age", lock)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(error):
        read(path, key)
    with pytest.raises(error):
        Rewinding(path, key)


def test_wrong_and_missing_keys_are_told(tmp_path: Path, pair: tuple[Lock, Key, Path]) -> None:
    lock, key, _ = pair
    path, plain = sealed(tmp_path / "a.age", lock), tmp_path / "plain.zip"
    plain.write_bytes(b"PK\x05\x06" + bytes(18))
    with pytest.raises(KeyWrongError) as wrong:
        check_sealed(path, Key((x25519.Identity.generate(),), None))
    assert wrong.value.code == "key_wrong"
    with pytest.raises(KeyWrongError, match="not with a passphrase"):
        check_sealed(path, Key((), "phrase"))
    with pytest.raises(KeyRequiredError):
        check_sealed(path, None)
    with pytest.raises(NotEncryptedError):
        check_sealed(plain, key)
    check_sealed(path, key)
    check_sealed(plain, None)


def test_unusable_keys_are_told(tmp_path: Path) -> None:
    empty, binary, public = tmp_path / "empty", tmp_path / "binary", tmp_path / "public"
    empty.write_text("\n")
    binary.write_bytes(b"\xff\xfe\x00")
    public.write_text("age1f07he2ss6p5dns9mg7qznz8q0n79w5c72stwggqqy7t5am92648qmf05wv\n")
    for use in (
        lambda: lock_of(["age1nonsense"]), lambda: lock_of(["ssh-ed25519 AAAA"]), lambda: lock_of(["me@example.org"]),
        lambda: lock_of(["age1x"], empty), lambda: lock_of(passphrase_file=empty),
        lambda: lock_of(passphrase_file=tmp_path / "absent"), lambda: key_of(empty), lambda: key_of(binary),
        lambda: key_of(public), lambda: key_of(empty, empty), lambda: key_of(tmp_path),
    ):  # fmt: skip
        with pytest.raises(KeyUnusableError) as unusable:
            use()
        assert unusable.value.code == "key_unusable"
    assert lock_of() is None
    assert key_of() is None


def test_a_file_is_read_at_any_place(tmp_path: Path, pair: tuple[Lock, Key, Path]) -> None:
    lock, key, _ = pair
    content = os.urandom(3_000_000)
    with Rewinding(sealed(tmp_path / "a.age", lock, content), key) as file:
        places = ((2_999_990, 100), (0, 10), (1_500_000, 300_000), (100, 10), (2_000_000, 5), (1_999_999, 9))
        for place, length in places:
            file.seek(place)
            got = b""
            while len(got) < length and (piece := file.read(length - len(got))):
                got += piece
            assert got == content[place : place + length]
        assert file.seek(0, os.SEEK_END) == len(content)
        assert file.read(1) == b""


def test_an_encrypted_zip_file_appears_when_it_is_complete(tmp_path: Path, pair: tuple[Lock, Key, Path]) -> None:
    lock, key, _ = pair
    target = tmp_path / "export.zip.age"
    for finish in ("abort", "commit"):
        sink = SealedSink(target, lock)
        sink.begin("a.jsonl")
        sink.write(b"{}\n" * 100_000)
        sink.begin("b.jsonl")
        sink.write(b"[]\n")
        assert not target.exists()
        getattr(sink, finish)()
    assert [one.name for one in tmp_path.iterdir()] == ["export.zip.age"]
    assert target.stat().st_mode & 0o777 == 0o600
    with Rewinding(target, key) as file, zipfile.ZipFile(file) as packed:
        assert packed.testzip() is None
        assert packed.read("a.jsonl") == b"{}\n" * 100_000
    with pytest.raises(AlreadyExistsError):
        SealedSink(target, lock)
    SealedSink(target, lock, force=True).abort()
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(AlreadyExistsError):
        SealedSink(tmp_path / "mine", lock, force=True)


def test_a_full_disk_is_told_and_nothing_hangs(pair: tuple[Lock, Key, Path]) -> None:
    lock, _, _ = pair
    for size in (10, 10_000_000):

        def write(size: int = size) -> None:
            with Path("/dev/full").open("wb", buffering=0) as out, sealing(out, lock) as plain:
                for begin in range(0, size, 100_000):
                    plain.write(bytes(min(size - begin, 100_000)))

        with pytest.raises(StorageFullError, match="No space left"):
            write()


def test_an_encrypted_file_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, pair: tuple[Lock, Key, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "a.zip.age"
    sizes: list[int] = []

    def note(descriptor: int) -> None:
        assert not target.exists()
        sizes.append(os.fstat(descriptor).st_size)

    @contextmanager
    def buffering(out: IO[bytes], lock: Lock) -> Iterator[IO[bytes]]:
        """Encrypts, and leaves its last bytes in the file's buffer, as an encryptor may."""
        with sealing(out, lock) as plain:
            yield plain
        out.write(b"last bytes")

    monkeypatch.setattr(os, "fsync", note)
    monkeypatch.setattr(sinks, "sealing", buffering)
    sink = SealedSink(target, pair[0])
    sink.begin("a.jsonl")
    sink.write(TEXT)
    sink.commit()
    assert target.read_bytes().endswith(b"last bytes")
    assert sizes == [target.stat().st_size]


@pytest.mark.parametrize("size", [10, 3_000_000])
@pytest.mark.parametrize("ends", ["commit", "abort"])
def test_on_a_full_disk_no_part_of_an_encrypted_file_remains(
    tmp_path: Path, pair: tuple[Lock, Key, Path], size: int, ends: str
) -> None:
    sink = SealedSink(tmp_path / "a.zip.age", pair[0])
    [partial] = tmp_path.iterdir()
    descriptor = next(
        int(one.name) for one in Path("/proc/self/fd").iterdir() if one.is_symlink() and one.resolve() == partial
    )
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, descriptor)
    os.close(full)
    sink.begin("a.jsonl")
    with suppress(StorageFullError):
        for _ in range(max(1, size // 100_000)):
            sink.write(os.urandom(min(size, 100_000)))
    if ends == "commit":
        with pytest.raises(StorageFullError):
            sink.commit()
    sink.abort()
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_encrypted_to_its_end_is_removed_when_it_is_given_up(
    tmp_path: Path, pair: tuple[Lock, Key, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def failing(out: IO[bytes], lock: Lock) -> Iterator[IO[bytes]]:
        with sealing(out, lock) as plain:
            yield plain
        raise StorageFullError("The encrypted file cannot be written.")

    monkeypatch.setattr(sinks, "sealing", failing)
    sink = SealedSink(tmp_path / "a.zip.age", pair[0])
    sink.begin("a.jsonl")
    sink.write(TEXT)
    sink.abort()
    assert list(tmp_path.iterdir()) == []


def test_a_large_file_needs_little_memory(tmp_path: Path, pair: tuple[Lock, Key, Path]) -> None:
    lock, key, _ = pair
    path, before = tmp_path / "large.age", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with path.open("wb") as out, sealing(out, lock) as plain:
        for _ in range(200):
            plain.write(bytes(1_000_000))
    with Rewinding(path, key) as file:
        assert file.seek(0, os.SEEK_END) == 200_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kilobytes
