"""Models whose files come in packages: where a file is, and how ONNX Runtime runs a model on this machine."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import onnxruntime
from tokenizers import Encoding, Tokenizer

from memsvc.errors import EmbedderMissingError


def package_file(package: str, *path: str, hint: str = "") -> Path:
    """Return a file of an installed package, none of whose code is run.

    Args:
        package: its name, as Python imports it.
        path: of the file, within the package.
        hint: what to do where it is not here; none: the error's own.

    Raises:
        EmbedderMissingError: the package is not installed, or lacks the file.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise EmbedderMissingError(f"The package {package!r} is not installed.", hint=hint)
    found = Path(spec.origin).parent.joinpath(*path)
    if not found.is_file():
        raise EmbedderMissingError(
            f"The package {package!r} does not hold {found.name}; another version does.", hint=hint
        )
    return found


def encoded(tokenizer: Tokenizer, texts: Sequence[str], *, special: bool = True) -> list[Encoding]:
    """Return the tokens of texts, by one thread at a time and outside the interpreter's lock.

    Each text is a batch of its own: the library spreads a batch over all cores, by threads that no session knows of;
    and ``encode`` holds the lock.

    Args:
        tokenizer: of a model.
        texts: any number.
        special: with the tokens that begin and end a text.
    """
    return [tokenizer.encode_batch([text], add_special_tokens=special)[0] for text in texts]


def session(model: bytes | str, threads: int = 1) -> onnxruntime.InferenceSession:
    """Make a model ready to run.

    Args:
        model: its graph, or the name of its file.
        threads: for one batch; spinning is off, so that an idle model leaves the cores to the database.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
