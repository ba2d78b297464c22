"""Networks from ONNX files: the graph with its weights, read and never executed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ._onnx_graph import GraphReader
from ._onnx_values import Known, Operand
from .core import InputError
from .graphs.models import ModelNetwork
from .graphs.scale_network import model_network
from .graphs.scale_rules import ones
from .graphs.scales import Scales
from .network_files import bounded_bytes

__all__ = ["network_from_onnx"]

_LARGEST = 2 << 30  # the format holds no more in one file; larger models keep their tensors beside it
_LARGEST_INPUT = 1 << 22  # entries; a video clip of 16 frames has 2.4 million
# Sizes to try for axes that the file leaves open; most models take any, some one of these.
_OPEN_SIZES = (64, 32, 48, 224, 256, 512)


def network_from_onnx(path: Path, *, vanishing_epsilon: bool = False) -> ModelNetwork:
    """Return the network of the model in `path`; see `lakatos.numerics.modules.network_of` for what its nodes and edges are.

    Parameters are called as the tensors of the file. A file does not say what was trained: the weights of layers count, and
    arrays that are multiplied or added entry by entry, but no single numbers. Tensors outside of the file have to be in its
    folder or below.

    Raises
    ------
    InputError
        Without the name of the file, which the caller adds. Names the node for an operator that is not supported; the tensor
        if it is missing, damaged, outside of the folder, or not finite.
    """
    model = _model(path)
    tensors = _Tensors(path.parent)
    failure: ValueError | None = None
    for size in _OPEN_SIZES:
        try:
            scales = Scales(vanishing_epsilon=vanishing_epsilon)
            reader = GraphReader(scales, tensors)
            outputs = reader.run(model.graph, _inputs(model.graph, scales, size))
            return model_network(scales, [scales.units_of(value) for value in outputs if not isinstance(value, Known)])
        except ValueError as error:
            # NumPy found shapes that do not fit; InputError is none of these.
            if isinstance(error, InputError):
                raise
            failure = failure or error
        except (AttributeError, IndexError, KeyError, TypeError):
            # A file that breaks the rules of the format is bad input; anything else is a defect of ours.
            _require_valid(model)
            raise
    raise InputError(f"shapes do not fit, whatever the sizes that the file leaves open ({failure})")


def _model(path: Path) -> Any:
    content = bounded_bytes(path, _LARGEST)
    try:
        import onnx
    except ImportError as error:
        raise InputError(f"reading ONNX files needs the package onnx: pip install 'lakatos[onnx]' ({error})") from None
    try:
        model = onnx.load_model_from_string(content)
    except Exception as error:  # damaged files raise whatever the parser of the format stumbles over
        raise InputError(
            f"not an ONNX model: the file is damaged or of another kind ({type(error).__name__})"
        ) from None
    if not model.graph.node:
        raise InputError("not an ONNX model: it has no nodes")
    return model


def _require_valid(model: Any) -> None:
    import onnx

    try:
        onnx.checker.check_model(model)
    except (onnx.checker.ValidationError, UnicodeDecodeError) as error:  # the checker quotes names that are no text
        reason = next(iter(str(error).splitlines()), "")
        raise InputError(f"not a valid ONNX model: {reason}") from None


class _Tensors:
    """Arrays of tensors; data beside the file is read from its folder only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, tensor: Any) -> npt.NDArray[Any]:
        from onnx import TensorProto, numpy_helper

        if tensor.data_location == TensorProto.EXTERNAL:
            tensor = self._with_data(tensor)
        try:
            array: npt.NDArray[Any] = numpy_helper.to_array(tensor)
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(f"tensor {tensor.name!r}: damaged: {error}") from None
        return array

    def _with_data(self, tensor: Any) -> Any:
        from onnx import TensorProto

        where = {entry.key: entry.value for entry in tensor.external_data}
        folder = self.folder.resolve()
        place = (folder / where.get("location", "")).resolve()
        if not place.is_relative_to(folder):
            raise InputError(
                f"tensor {tensor.name!r}: its data is in {where.get('location')!r}, outside of the folder of the file; "
                "nothing is read from there"
            )
        if not place.is_file():
            raise InputError(
                f"tensor {tensor.name!r}: its data is missing: no file {where.get('location')!r} beside the model"
            )
        try:
            start = int(where.get("offset", "0"))
            length = int(where.get("length", place.stat().st_size - start))
        except ValueError:
            raise InputError(f"tensor {tensor.name!r}: offset and length of its data are not integers") from None
        if start < 0 or length < 0 or start + length > place.stat().st_size:
            raise InputError(f"tensor {tensor.name!r}: its data ends beyond the end of {where.get('location')!r}")
        with place.open("rb") as stream:
            stream.seek(start)
            content = stream.read(length)
        read = TensorProto()
        read.CopyFrom(tensor)
        read.ClearField("external_data")
        read.data_location = TensorProto.DEFAULT
        read.raw_data = content
        return read


def _inputs(graph: Any, scales: Scales, size: int) -> Mapping[str, Operand]:
    """Return units for the inputs; axes of unknown size have one sample if they come first, else `size` entries."""
    from onnx import TensorProto

    floats = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16)
    stored = {tensor.name for tensor in graph.initializer}
    named: dict[str, int] = {}
    values: dict[str, Operand] = {}
    for item in graph.input:
        if item.name in stored:
            continue
        kind = item.type.tensor_type
        if not item.type.HasField("tensor_type"):
            raise InputError(f"input {item.name!r}: only tensors are supported, not sequences or maps")
        shape = tuple(
            axis.dim_value
            if axis.dim_value > 0
            else named.setdefault(axis.dim_param or f"{item.name}[{k}]", 1 if k == 0 else size)
            for k, axis in enumerate(kind.shape.dim)
        )
        if np.prod(shape, dtype=np.float64) > _LARGEST_INPUT:
            raise InputError(f"input {item.name!r}: an array of shape {shape} is too large")
        count = int(np.prod(shape, dtype=np.int64))
        values[item.name] = scales.inputs(count).reshape(shape) if kind.elem_type in floats else ones(shape)
    return values
