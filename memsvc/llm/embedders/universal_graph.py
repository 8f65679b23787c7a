"""The graph of the Universal Sentence Encoder, as ONNX Runtime runs it.

The package stores the weights without a graph. Tokens of all texts of a batch are rows of one table: three convolutions
look at 2, 3 and 5 neighbouring tokens, twice each, what they give is summed over each text's tokens, and four layers
follow (Yang et al. 2020, the convolutional variant). Inputs:

- ``tokens`` (t, 512): vectors of the tokens;
- ``near`` (t, 5): rows of the tokens from two before to two after; t, a row of zeros, where the text has none;
- ``pool`` (s, t): for each text, 1/sqrt(n) at its n tokens and 0 at those of others; ``root`` (s, 1): sqrt(n).

Output: ``vectors`` (s, 512), not yet of length 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

DIMENSIONS = 512
WIDTH = 256
"""Values that a convolution gives for each token."""
BEFORE, AFTER = 2, 2
"""Tokens on either side that a convolution looks at, at most."""
CONVOLUTIONS = {2: 0, 3: 1, 5: 2}
"""Tokens that each looks at, and how many of them stand before its own."""
OPSET, IR_VERSION = 18, 9
Weights = Mapping[str, NDArray[np.float32]]


class _Graph:
    """Nodes and weights that are collected."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.weights: list[TensorProto] = []

    def weight(self, value: NDArray[np.float32] | NDArray[np.int64]) -> str:
        name = f"weight{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, kind: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        output = name or f"value{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, [*inputs], [output], **attributes))
        return output

    def times(self, value: str, matrix: NDArray[np.float32]) -> str:
        return self.add("MatMul", value, self.weight(matrix))

    def linear(self, value: str, matrix: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
        return self.add("Add", self.times(value, matrix), self.weight(bias))


def graph_of(weights: Weights) -> bytes:
    """Return the graph with the package's weights."""
    graph, epsilon = _Graph(), float(weights["eps"])
    names = [*CONVOLUTIONS]

    def joined(stem: str) -> NDArray[np.float32]:
        return np.concatenate([weights[f"{stem}{size}"] for size in names], axis=-1)

    narrow = graph.linear("tokens", joined("proj"), joined("proj_b"))
    scales = [graph.weight(joined("ln_g")), graph.weight(joined("ln_b"))]
    narrow = graph.add("LayerNormalization", narrow, *scales, axis=-1, epsilon=epsilon)
    zeros = graph.weight(np.zeros((1, WIDTH), np.float32))
    features = ["tokens"]
    for at, size in enumerate(names):
        columns = graph.weight(np.arange(at * WIDTH, (at + 1) * WIDTH))
        value = graph.add("Gather", narrow, columns, axis=1)
        first = BEFORE - CONVOLUTIONS[size]
        near = graph.add("Gather", "near", graph.weight(np.arange(first, first + size)), axis=1)
        for layer in (1, 2):
            rows = graph.add("Gather", graph.add("Concat", value, zeros, axis=0), near, axis=0)
            flat = graph.add("Reshape", rows, graph.weight(np.array([-1, size * WIDTH])))
            seen = graph.linear(flat, weights[f"w{layer}_{size}"], weights[f"b{layer}_{size}"])
            value = graph.add("Add", graph.add("Relu", seen), value)
        features.append(value)
    scales = [graph.weight(weights["ln_g"]), graph.weight(weights["ln_b"])]
    every = graph.add("LayerNormalization", graph.add("Concat", *features, axis=1), *scales, axis=-1, epsilon=epsilon)
    summed = graph.times(graph.add("MatMul", "pool", every), weights["cnn_W"])
    text = graph.add("Add", summed, graph.times("root", weights["cnn_b"].reshape(1, -1)))
    _head(graph, text, weights)
    made: bytes = _model(graph).SerializeToString()
    return made


def _head(graph: _Graph, text: str, weights: Weights) -> None:
    """Add the layers after the sum over tokens; every second one also sees what the one before it saw."""
    deep = graph.add("Relu", graph.times(text, weights["d0"]))
    both = graph.add("Add", graph.times(text, weights["p1"]), graph.times(deep, weights["d1"]))
    value = graph.add("Relu", both)
    deep = graph.add("Relu", graph.times(value, weights["d2"]))
    both = graph.add("Add", graph.times(value, weights["p3"]), graph.times(deep, weights["d3"]))
    graph.add("Tanh", both, name="vectors")


def _model(graph: _Graph) -> ModelProto:
    def of(name: str, *shape: str | int, kind: int = TensorProto.FLOAT) -> ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, shape)

    inputs = [
        of("tokens", "t", DIMENSIONS),
        of("near", "t", BEFORE + 1 + AFTER, kind=TensorProto.INT64),
        of("pool", "s", "t"),
        of("root", "s", 1),
    ]
    made = helper.make_graph(graph.nodes, "universal", inputs, [of("vectors", "s", DIMENSIONS)], graph.weights)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
