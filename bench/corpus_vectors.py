"""Vectors for ``bench.corpus``: real ones with noise, and token vectors, copied in as the administrator.

For questions of size and speed: a passage's vector has neighbours as real ones have, and its token vectors are as many
as a long turn's; what they say means nothing.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

from memsvc.db.files import folder
from memsvc.llm.embedders.onnx import OnnxMiniLM
from memsvc.sources.files import read_messages

if TYPE_CHECKING:
    from uuid import UUID

    from numpy.typing import NDArray

    from bench.harness import Bench

DIMENSIONS = 384
NOISE = 0.06
"""A coordinate's standard deviation; a vector of 384 keeps a cosine of about .65 with the one it came from."""
TOKENS, QUESTION_TOKENS, TOKEN_BITS = 24, 6, 128
"""Token vectors of a passage (32 is the most that is kept, LoCoMo's turns have fewer than these), and of a question."""
BIT_TYPE = 1560
"""PostgreSQL's number for the type bit."""


def as_text(vector: NDArray[np.float32]) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(f"{value:.5g}" for value in vector.tolist()) + "]"


class Points:
    """Real vectors with noise."""

    def __init__(self) -> None:
        """Embed the sample conversation once."""
        sample = [message.text for _, message in read_messages(folder("examples") / "conversation.jsonl")]
        self._real = OnnxMiniLM().embed(sample)

    def near(self, centres: NDArray[np.float32], draw: np.random.Generator) -> NDArray[np.float32]:
        """Vectors of length 1 around the given ones."""
        moved = centres + draw.normal(0, NOISE, centres.shape)
        found: NDArray[np.float32] = (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)
        return found

    def make(self, count: int, draw: np.random.Generator) -> NDArray[np.float32]:
        """So many vectors."""
        return self.near(self._real[draw.integers(0, len(self._real), count)], draw)


# A row of embeddings in COPY's binary format: the number of fields, then each one with its length before it.
ROW = np.dtype(
    [
        ("fields", ">i2"), ("user_length", ">i4"), ("user_id", "V16"), ("model_length", ">i4"), ("model_id", ">i2"),
        ("passage_length", ">i4"), ("passage_id", "V16"), ("vector_length", ">i4"), ("dimensions", ">i2"),
        ("unused", ">i2"), ("vector", ">f2", DIMENSIONS),
    ]
)  # fmt: skip


def copy_vectors(
    bench: Bench, user_id: UUID, model_id: int, passage_ids: list[UUID], vectors: NDArray[np.float32]
) -> None:
    """Store vectors as the administrator."""
    rows = np.zeros(len(passage_ids), ROW)
    rows["fields"], rows["user_length"], rows["passage_length"], rows["model_length"] = 4, 16, 16, 2
    rows["vector_length"], rows["dimensions"] = 4 + 2 * DIMENSIONS, DIMENSIONS
    rows["user_id"], rows["model_id"], rows["vector"] = np.void(user_id.bytes), model_id, vectors
    rows["passage_id"] = np.frombuffer(b"".join(one.bytes for one in passage_ids), "V16")
    with (
        bench.admin() as admin,
        admin.cursor().copy(
            "COPY memsvc.embeddings (user_id, model_id, passage_id, vector) FROM STDIN (FORMAT binary)"
        ) as copy,
    ):
        copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
        copy.write(rows.tobytes())
        copy.write(b"\xff\xff")


# A row of token_vectors in the same format; its last field is an array of bit(128) with its own header.
TOKEN = np.dtype([("length", ">i4"), ("bits", ">i4"), ("value", "V16")])
TOKEN_ROW = np.dtype(
    [
        ("fields", ">i2"), ("user_length", ">i4"), ("user_id", "V16"), ("model_length", ">i4"), ("model_id", ">i2"),
        ("passage_length", ">i4"), ("passage_id", "V16"), ("array_length", ">i4"), ("array_dimensions", ">i4"),
        ("nulls", ">i4"), ("type", ">i4"), ("size", ">i4"), ("lowest", ">i4"), ("tokens", TOKEN, TOKENS),
    ]
)  # fmt: skip


def copy_tokens(bench: Bench, user_id: UUID, model_id: int, passage_ids: list[UUID], draw: np.random.Generator) -> None:
    """Store token vectors as the administrator, where the database has them."""
    rows = np.zeros(len(passage_ids), TOKEN_ROW)
    rows["fields"], rows["user_length"], rows["passage_length"], rows["model_length"] = 4, 16, 16, 2
    rows["user_id"], rows["model_id"] = np.void(user_id.bytes), model_id
    rows["passage_id"] = np.frombuffer(b"".join(one.bytes for one in passage_ids), "V16")
    rows["array_length"], rows["array_dimensions"] = 20 + TOKENS * TOKEN.itemsize, 1
    rows["type"], rows["size"], rows["lowest"] = BIT_TYPE, TOKENS, 1
    rows["tokens"]["length"], rows["tokens"]["bits"] = 4 + TOKEN_BITS // 8, TOKEN_BITS
    values = draw.bytes(len(passage_ids) * TOKENS * TOKEN_BITS // 8)
    rows["tokens"]["value"] = np.frombuffer(values, "V16").reshape(len(passage_ids), TOKENS)
    with bench.admin() as admin:
        there = admin.execute("SELECT to_regclass('memsvc.token_vectors')").fetchone()
        if there is None or there[0] is None:
            return
        with admin.cursor().copy(
            "COPY memsvc.token_vectors (user_id, model_id, passage_id, tokens) FROM STDIN (FORMAT binary)"
        ) as copy:
            copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
            copy.write(rows.tobytes())
            copy.write(b"\xff\xff")


def question_tokens(question: str) -> str:
    """Token vectors of a question as an array of bit(128), in PostgreSQL's form; the same for the same question."""
    draw = random.Random(question)
    return "{" + ",".join(f"{draw.getrandbits(TOKEN_BITS):0{TOKEN_BITS}b}" for _ in range(QUESTION_TOKENS)) + "}"
