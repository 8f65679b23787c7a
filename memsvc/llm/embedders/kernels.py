"""Multiplies the default model's int8 weights as int8.

The package's file stores a matrix as int8 values with a float32 scale for each column, or for each row of a table of
embeddings. A Cast and a Mul convert them to float32; ONNX Runtime does that once, when it loads the file, and then
reads 42 MB of weights for each query. This module passes the same values and scales to its operator MatMulNBits, which
rounds the other side of a product to int8 as well, block by block; and rows of tables are looked up before they become
float32. Gains, costs and differences: docs/adr/0034.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
from onnx import GraphProto, NodeProto, TensorProto, helper, numpy_helper

BLOCK = 32
"""Number of values along a product's inner dimension that share a scale: 16, 32, 64, 128 or 256."""
DOMAIN = "com.microsoft"
INT8_INSTRUCTIONS = frozenset({"avx512_vnni", "avx_vnni"})
"""Either multiplies int8 and adds up in one step; Linux's names."""


class Matrix(NamedTuple):
    """A matrix as stored in the file: int8 values times scales."""

    values: TensorProto
    scales: TensorProto


def multiplies_int8(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether int8 is known to be faster than float32 on this processor: measured on x86-64 with Linux.

    ONNX Runtime (1.23 and later) has int8 kernels for other processors too, but slower ones; or it has none, and then
    converts all weights to float32 for each query. It does not report which.
    """
    try:
        return not INT8_INSTRUCTIONS.isdisjoint(cpuinfo.read_text(encoding="utf-8").split())
    except OSError:
        return False


def with_int8_products(file: Path) -> bytes | None:
    """Rewrite the model of a file so that its products compute with int8; None if it has no such weights.

    Made for graphs like the package's: without subgraphs, and each matrix is used once.
    """
    model = onnx.load(file)
    graph = model.graph
    matrices = _matrices(graph)
    nodes = [made for node in graph.node for made in _rewritten(node, matrices, graph)]
    if not any(node.op_type == "MatMulNBits" for node in nodes):
        return None
    used, kept = {output.name for output in graph.output}, list[NodeProto]()
    for node in reversed(nodes):  # each comes after those that it needs
        if not used.isdisjoint(node.output):
            kept.append(node)
            used.update(node.input)
    del graph.node[:]
    graph.node.extend(reversed(kept))
    for index, tensor in reversed([*enumerate(graph.initializer)]):
        if tensor.name not in used:
            del graph.initializer[index]
    model.opset_import.append(helper.make_opsetid(DOMAIN, 1))
    written: bytes = model.SerializeToString()
    return written


def _matrices(graph: GraphProto) -> dict[str, Matrix]:
    """Return the matrices that the graph makes of int8 values and scales, by the names of the results."""
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    casts = {node.output[0]: node.input[0] for node in graph.node if node.op_type == "Cast"}
    found = {
        node.output[0]: Matrix(tensors[casts[node.input[0]]], tensors[node.input[1]])
        for node in graph.node
        if node.op_type == "Mul" and casts.get(node.input[0]) in tensors and node.input[1] in tensors
    }
    return {name: one for name, one in found.items() if one.values.data_type == TensorProto.INT8}


def _rewritten(node: NodeProto, matrices: dict[str, Matrix], graph: GraphProto) -> Iterator[NodeProto]:
    """Yield the nodes that replace a node; the values and scales of a product are added to the graph."""
    match node.op_type, [matrices.get(name) for name in node.input]:
        case "MatMul", [None, Matrix(values, scales)] if _by_column(values, scales):
            (rows, columns), name = values.dims, node.input[1]
            unsigned = numpy_helper.to_array(values).T.reshape(columns, -1, BLOCK).view(np.uint8) ^ np.uint8(128)
            repeated = np.repeat(numpy_helper.to_array(scales).reshape(columns, 1), rows // BLOCK, axis=1)
            inputs = [node.input[0], f"{name}_blocks", f"{name}_block_scales"]
            graph.initializer.append(numpy_helper.from_array(unsigned, inputs[1]))
            graph.initializer.append(numpy_helper.from_array(repeated, inputs[2]))
            sizes = {"K": rows, "N": columns, "bits": 8, "block_size": BLOCK}
            # Level 4: the left side is rounded to int8 too.
            yield helper.make_node("MatMulNBits", inputs, node.output, domain=DOMAIN, accuracy_level=4, **sizes)
        case "Gather", [Matrix(values, scales), None] if _by_row(values, scales) and not node.attribute:
            made = node.output[0]
            yield helper.make_node("Gather", [values.name, node.input[1]], [f"{made}_q"])
            yield helper.make_node("Gather", [scales.name, node.input[1]], [f"{made}_scale"])
            yield helper.make_node("Cast", [f"{made}_q"], [f"{made}_f"], to=TensorProto.FLOAT)
            yield helper.make_node("Mul", [f"{made}_f", f"{made}_scale"], [made])
        case _:
            yield node


def _by_column(values: TensorProto, scales: TensorProto) -> bool:
    return values.dims[0] % BLOCK == 0 and [*scales.dims] == [1, *values.dims[1:]]


def _by_row(values: TensorProto, scales: TensorProto) -> bool:
    return [*scales.dims] == [*values.dims[:1], 1]
