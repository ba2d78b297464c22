"""ONNX files give the networks of the modules they describe; operators agree with the reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from onnx import NodeProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx_files import Array, model, node, reshaped, saved, weights
from torch import nn

from lakatos import read_network
from lakatos._onnx_graph import GraphReader
from lakatos._onnx_values import Known
from lakatos.graphs.models import ModelNetwork
from lakatos.graphs.scales import Scales
from lakatos.network_onnx import network_from_onnx
from lakatos.numerics.modules import network_of


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.inner, self.outer, self.head = (nn.Linear(*size) for size in ((3, 4), (4, 5), (5, 4), (4, 2)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        s = self.embed(x)
        return self.head(s + self.outer(torch.relu(self.inner(s))))


class Quotient(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c, self.d = (nn.Linear(*size) for size in ((3, 4), (4, 5), (4, 5), (5, 2)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        clipped = self.a(x).clamp(0, 6)
        return self.d(torch.relu(self.b(clipped)) / self.c(clipped).abs())


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(7, 4)
        self.q, self.k, self.v, self.o = (nn.Linear(4, 4) for _ in range(4))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.table(tokens))
        scores = torch.softmax(self.q(x) @ self.k(x).transpose(1, 2), -1)
        return self.o(torch.cat([scores @ self.v(x), x], 1)[:, 1:])


def affine(x: str, name: str, y: str) -> list[NodeProto]:
    """A linear layer over positions, as exporters write it."""
    turned = node("Transpose", f"{name}.weight", f"{name}.turned", perm=[1, 0])
    return [turned, node("MatMul", f"{x} {name}.turned", f"{y}.p"), node("Add", f"{y}.p {name}.bias", y)]


def dense(x: str, name: str, y: str) -> NodeProto:
    return node("Gemm", f"{x} {name}.weight {name}.bias", y, transB=1)


def norm(x: str, name: str, y: str) -> NodeProto:
    parts = " ".join(f"{name}.{part}" for part in ("weight", "bias", "running_mean", "running_var"))
    return node("BatchNormalization", f"{x} {parts}", y)


def batch_norm(channels: int) -> nn.Module:
    layer = nn.BatchNorm2d(channels)
    nn.init.normal_(layer.weight)
    nn.init.normal_(layer.running_mean)
    return layer


PAIRS: dict[str, tuple[Callable[[], nn.Module], list[NodeProto], Sequence[int], dict[str, Array]]] = {
    "multilayer perceptron": (
        lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)),
        [dense("x", "0", "a"), node("Relu", "a", "b"), dense("b", "2", "y")],
        (2, 3),
        {},
    ),
    "product with a turned matrix, then a bias": (
        lambda: nn.Sequential(nn.Linear(3, 4), nn.LeakyReLU(), nn.Linear(4, 2, bias=False)),
        [
            *(
                node("Transpose", "0.weight", "w", perm=[1, 0]),
                node("MatMul", "x w", "p"),
                node("Add", "0.bias p", "a"),
            ),
            *(node("LeakyRelu", "a", "b"), node("Transpose", "2.weight", "v"), node("MatMul", "b v", "y")),
        ],
        (2, 3),
        {},
    ),
    "convolutions": (
        lambda: nn.Sequential(
            *(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 6, 3, 2, groups=2, bias=False)),
            *(nn.PReLU(), nn.Flatten(), nn.Linear(6 * 9, 2)),
        ),
        [
            node("Conv", "x 0.weight 0.bias", "a", pads=[1, 1, 1, 1]),
            *(node("Relu", "a", "b"), node("MaxPool", "b", "c", kernel_shape=[2, 2], strides=[2, 2])),
            node("Conv", "c 3.weight", "d", strides=[2, 2], group=2),
            *(node("PRelu", "d 4.weight", "e"), node("Flatten", "e", "f"), dense("f", "6", "y")),
        ],
        (2, 3, 16, 16),
        {},
    ),
    "transposed convolution and batch norm": (
        lambda: nn.Sequential(
            *(nn.Conv2d(3, 4, 1), nn.ReLU(), nn.ConvTranspose2d(4, 6, 3, 2, 1, 1, groups=2), batch_norm(6), nn.ReLU()),
            *(nn.AdaptiveAvgPool2d(1), nn.Conv2d(6, 2, 1)),
        ).eval(),
        [
            *(node("Conv", "x 0.weight 0.bias", "a"), node("Relu", "a", "b")),
            node(
                "ConvTranspose",
                "b 2.weight 2.bias",
                "c",
                **{"strides": [2, 2], "pads": [1] * 4, "output_padding": [1, 1], "group": 2},
            ),
            *(norm("c", "3", "d"), node("Relu", "d", "e"), node("GlobalAveragePool", "e", "f")),
            node("Conv", "f 6.weight 6.bias", "y"),
        ],
        (2, 3, 5, 5),
        {},
    ),
    "residual stream": (
        Residual,
        [
            *(dense("x", "embed", "s"), dense("s", "inner", "a"), node("Relu", "a", "b"), dense("b", "outer", "c")),
            *(node("Add", "c s", "t"), dense("t", "head", "y")),
        ],
        (2, 3),
        {},
    ),
    "clipping and division": (
        Quotient,
        [
            *(dense("x", "a", "h"), node("Clip", "h zero six", "i"), dense("i", "b", "j"), node("Relu", "j", "k")),
            *(dense("i", "c", "l"), node("Abs", "l", "m"), node("Div", "k m", "n"), dense("n", "d", "y")),
        ],
        (2, 3),
        {"zero": np.float32(0), "six": np.float32(6)},
    ),
    "attention over a table": (
        Attention,
        [
            *(node("Gather", "table.weight x", "e"), node("Relu", "e", "h")),
            *(*affine("h", "q", "query"), *affine("h", "k", "key"), *affine("h", "v", "value")),
            *(node("Transpose", "key", "turned", perm=[0, 2, 1]), node("MatMul", "query turned", "s")),
            *(node("Softmax", "s", "t", axis=-1), node("MatMul", "t value", "mixed")),
            *(
                node("Concat", "mixed h", "both", axis=1),
                node("Slice", "both one end one", "some"),
                *affine("some", "o", "y"),
            ),
        ],
        (2, 5),
        {"one": reshaped([1]), "end": reshaped([1000])},
    ),
    "layer norm after a shape that is computed": (
        lambda: nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4, eps=0.0), nn.Linear(4, 5), nn.GELU(), nn.Linear(5, 2)),
        [
            *(dense("x", "0", "a"), node("Shape", "a", "shape"), node("Gather", "shape zero", "first")),
            *(node("Unsqueeze", "first axis", "rows"), node("Concat", "rows rest", "new", axis=0)),
            node("Reshape", "a new", "b"),
            node("LayerNormalization", "b 1.weight 1.bias", "c", epsilon=0.0),
            *(node("Squeeze", "c one", "d"), dense("d", "2", "e"), node("Sigmoid", "e", "f"), dense("f", "4", "y")),
        ],
        (2, 3),
        {"zero": np.array(0), "axis": reshaped([0]), "rest": reshaped([1, -1]), "one": reshaped([1])},
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_file_gives_the_network_of_the_module(name: str, tmp_path: Path) -> None:
    make, nodes, shape, tensors = PAIRS[name]
    module = make()
    tokens = isinstance(module, Attention)
    kind = TensorProto.INT64 if tokens else TensorProto.FLOAT
    built = model(nodes, {"x": shape}, "y", weights(module) | tensors, kind=kind)
    network = read_network(saved(built, tmp_path))
    expected = network_of(module, torch.zeros(*shape, dtype=torch.int64 if tokens else torch.float32))
    assert isinstance(network, ModelNetwork)
    assert set(network.hidden_names) == set(expected.hidden_names)
    assert edges(network) == edges(expected)
    assert network.rounding == expected.rounding == 2.0**-24
    assert {v: network.balance(v) for v in network.hidden_names} == {
        v: expected.balance(v) for v in expected.hidden_names
    }


def edges(network: ModelNetwork) -> dict[str, tuple[str, str, float]]:
    return {
        network.parameter(e): (network.names[network.tail[e]], network.names[network.head[e]], network.weights[e])
        for e in range(network.edge_count)
    }


@pytest.mark.parametrize(
    ("dtype", "rounding"), [(np.float16, 2.0**-11), (np.float32, 2.0**-24), (np.float64, 2.0**-53)]
)
def test_weights_of_any_precision_are_exact(dtype: Any, rounding: float, tmp_path: Path) -> None:
    tensors = {"a": np.array([[0.1, 3.0]], dtype), "b": np.array([[0.2], [5.0]], dtype)}
    nodes = [node("MatMul", "x a", "h"), node("Relu", "h", "r"), node("MatMul", "r b", "y")]
    network = network_from_onnx(saved(model(nodes, {"x": [1, 1]}, "y", tensors), tmp_path))
    assert network.rounding == rounding
    assert network.weights.tolist() == [float(dtype(w)) for w in (0.1, 3.0, 0.2, 5.0)]


def test_bfloat16_is_exact_too(tmp_path: Path) -> None:
    built = model([node("MatMul", "x a", "h"), node("Relu", "h", "r"), node("MatMul", "r b", "y")], {"x": [1, 1]}, "y")
    for name, shape in (("a", [1, 2]), ("b", [2, 1])):
        # The upper halves of the float32 numbers 1.5 and -2.
        built.graph.initializer.append(
            helper.make_tensor(name, TensorProto.BFLOAT16, shape, bytes([0xC0, 0x3F, 0x00, 0xC0]), raw=True)
        )
    network = network_from_onnx(saved(built, tmp_path))
    assert (network.weights.tolist(), network.rounding) == ([1.5, -2.0, 1.5, -2.0], 2.0**-8)


MOVES: dict[str, tuple[NodeProto, Sequence[int], dict[str, Array]]] = {
    "reshape": (node("Reshape", "x s", "y"), (2, 3, 4), {"s": reshaped([0, -1, 2])}),
    "flatten": (node("Flatten", "x", "y", axis=2), (2, 3, 4), {}),
    "transpose": (node("Transpose", "x", "y", perm=[2, 0, 1]), (2, 3, 4), {}),
    "reversed axes": (node("Transpose", "x", "y"), (2, 3, 4), {}),
    "squeeze": (node("Squeeze", "x a", "y"), (2, 1, 4, 1), {"a": reshaped([-1])}),
    "squeeze all": (node("Squeeze", "x", "y"), (2, 1, 4, 1), {}),
    "unsqueeze": (node("Unsqueeze", "x a", "y"), (2, 3), {"a": reshaped([0, -1])}),
    "expand": (node("Expand", "x s", "y"), (3, 1), {"s": reshaped([2, 1, 4])}),
    "tile": (node("Tile", "x r", "y"), (2, 3), {"r": reshaped([2, 3])}),
    "slice": (
        node("Slice", "x s e a t", "y"),
        (4, 5, 6),
        {"s": reshaped([1, -1]), "e": reshaped([1000, -1000]), "a": reshaped([1, 2]), "t": reshaped([2, -2])},
    ),
    "split": (node("Split", "x n", "y z", axis=1), (2, 5), {"n": reshaped([2, 3])}),
    "split evenly": (node("Split", "x", "y z w", axis=1), (2, 6), {}),
    "concatenate": (node("Concat", "x x", "y", axis=-1), (2, 3), {}),
    "gather": (node("Gather", "x i", "y", axis=1), (2, 5, 3), {"i": np.array([[4, -1], [0, 2]])}),
    "reflect": (node("Pad", "x p", "y", mode="reflect"), (4, 5), {"p": reshaped([1, 2, 0, 3])}),
    "depth to space": (node("DepthToSpace", "x", "y", blocksize=2), (1, 8, 2, 3), {}),
    "depth to space, by columns": (node("DepthToSpace", "x", "y", blocksize=2, mode="CRD"), (1, 8, 2, 3), {}),
    "space to depth": (node("SpaceToDepth", "x", "y", blocksize=2), (1, 2, 4, 6), {}),
}


def read_node(step: NodeProto, operands: dict[str, Any], scales: Scales) -> list[Any]:
    """Return what our rule of an operator makes of operands."""
    graph = model([step], {}, " ".join(step.output)).graph
    return GraphReader(scales, numpy_helper.to_array).run(graph, operands)


@pytest.mark.parametrize("name", MOVES)
def test_entries_are_moved_as_the_reference_moves_them(name: str) -> None:
    step, shape, tensors = MOVES[name]
    scales = Scales()
    x = scales.inputs(int(np.prod(shape))).reshape(shape)
    expected = ReferenceEvaluator(model([step], {"x": shape}, " ".join(step.output), tensors)).run(
        None, {"x": x.astype(np.float32)}
    )
    ours = read_node(step, {"x": x, **{name: Known.of(name, array) for name, array in tensors.items()}}, scales)
    assert [part.tolist() for part in ours] == [np.asarray(part).tolist() for part in expected]


@st.composite
def windows(draw: st.DrawFn) -> tuple[NodeProto, tuple[int, ...], dict[str, Array]]:
    """Convolutions and poolings with any stride, padding and dilation."""
    kernel = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    size = draw(st.tuples(st.integers(5, 8), st.integers(5, 8)))
    pair = st.lists(st.integers(1, 3), min_size=2, max_size=2)
    operator = draw(st.sampled_from(["Conv", "ConvTranspose", "MaxPool", "AveragePool"]))
    attributes: dict[str, Any] = {"strides": draw(pair)}
    if draw(st.booleans()):
        # Padding of a pooling has to be smaller than its window.
        attributes["pads"] = [draw(st.integers(0, k - 1)) for k in (*kernel, *kernel)]
    if operator in ("Conv", "ConvTranspose") and draw(st.booleans()):
        attributes["dilations"] = [draw(st.integers(1, 2))] * 2
    if "Pool" in operator:
        return node(operator, "x", "y", kernel_shape=list(kernel), **attributes), (1, 2, *size), {}
    weight = np.zeros((3, 2, *kernel) if operator == "Conv" else (2, 3, *kernel), np.float32)
    return node(operator, "x w", "y", **attributes), (1, 2, *size), {"w": weight}


@given(windows())
def test_shapes_of_windows_are_those_of_the_reference(
    case: tuple[NodeProto, tuple[int, ...], dict[str, Array]],
) -> None:
    step, shape, tensors = case
    (expected,) = ReferenceEvaluator(model([step], {"x": shape}, "y", tensors)).run(
        None, {"x": np.ones(shape, np.float32)}
    )
    scales = Scales()
    x = scales.inputs(int(np.prod(shape))).reshape(shape)
    (ours,) = read_node(step, {"x": x, **{name: Known.of(name, array) for name, array in tensors.items()}}, scales)
    assert ours.shape == expected.shape
