"""ONNX models for tests, built node by node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from torch import nn

Array = npt.NDArray[Any]

FLOAT = TensorProto.FLOAT


def node(operator: str, inputs: str, outputs: str, **attributes: Any) -> NodeProto:
    """Return a node; names are separated by blanks, ``-`` is an input left out."""
    names = ["" if name == "-" else name for name in inputs.split()]
    return helper.make_node(operator, names, outputs.split(), name=f"{operator}/{outputs.split()[0]}", **attributes)


def model(
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, Sequence[int | str]],
    outputs: str,
    tensors: Mapping[str, Array] | None = None,
    *,
    version: int = 17,
    kind: int = FLOAT,
) -> ModelProto:
    """Return the model that computes `outputs` from inputs of these shapes."""
    graph = helper.make_graph(
        nodes,
        "model",
        [helper.make_tensor_value_info(name, kind, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs.split()],
        [numpy_helper.from_array(array, name) for name, array in (tensors or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=9)


def saved(built: ModelProto, folder: Path, name: str = "model.onnx") -> Path:
    """Write a model and return its path."""
    path = folder / name
    path.write_bytes(built.SerializeToString())
    return path


def weights(module: nn.Module) -> dict[str, Array]:
    """Return parameters and buffers of a module by name."""
    return {name: tensor.detach().numpy() for name, tensor in module.state_dict().items() if tensor.ndim}


def reshaped(shape: Sequence[int]) -> Array:
    """Return a shape as the tensor that operators take it as."""
    return np.array(shape, np.int64)
