"""Models whose files come in packages: where a file is, and how ONNX Runtime runs a model on this machine."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import onnxruntime

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
