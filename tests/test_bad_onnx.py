"""ONNX files that are damaged, hostile, or beyond what can be read: refused, naming the place and the reason."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper
from onnx_files import model, node, reshaped, saved

from lakatos import InputError, read_network
from lakatos.network_onnx import network_from_onnx

A_WEIGHT = {"w": np.ones((2, 2), np.float32)}
PRODUCT = node("MatMul", "x w", "y")


def external(location: str, **where: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        built = model([PRODUCT], {"x": [1, 2]}, "y", A_WEIGHT)
        tensor = built.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in {"location": location, **where}.items():
            entry = tensor.external_data.add()
            entry.key, entry.value = key, value
        (folder / "inner").mkdir()
        (folder / "outside.bin").write_bytes(bytes(16))
        (folder / "inner" / "inside.bin").write_bytes(np.arange(4, dtype=np.float32).tobytes())
        (folder / "inner" / "link.bin").symlink_to(folder / "outside.bin")
        return saved(built, folder / "inner")

    return write


def test_data_beside_the_file_is_read(tmp_path: Path) -> None:
    network = network_from_onnx(external("inside.bin", offset="0", length="16")(tmp_path))
    assert network.weights.tolist() == [0, 1, 2, 3]


def of_model(*nodes: NodeProto, **options: Any) -> Callable[[Path], Path]:
    return lambda folder: saved(model(nodes, {"x": [1, 2]}, "y", A_WEIGHT, **options), folder)


def truncated(folder: Path) -> Path:
    path = of_model(PRODUCT)(folder)
    path.write_bytes(path.read_bytes()[:-7])
    return path


def diverged(folder: Path) -> Path:
    return saved(model([PRODUCT], {"x": [1, 2]}, "y", {"w": np.array([[1, 2], [np.nan, 4]], np.float32)}), folder)


def branching(folder: Path) -> Path:
    part = helper.make_graph([node("Identity", "x", "z")], "part", [], [helper.make_tensor_value_info("z", 1, None)])
    test = [node("ReduceSum", "x", "s", keepdims=0), node("Cast", "s", "c", to=TensorProto.BOOL)]
    return of_model(*test, node("If", "c", "y", then_branch=part, else_branch=part))(folder)


def huge(folder: Path) -> Path:
    tensors = {"s": reshaped([1 << 20, 1 << 20])}
    return saved(model([node("Expand", "x s", "y")], {"x": [1, 1]}, "y", tensors), folder)


BAD: list[tuple[Callable[[Path], Path], str]] = [
    (external("missing.bin"), r"tensor 'w': its data is missing: no file 'missing\.bin' beside the model"),
    (external("../outside.bin"), r"tensor 'w': its data is in '\.\./outside\.bin', outside of the folder"),
    (external("/etc/hostname"), r"tensor 'w': its data is in '/etc/hostname', outside of the folder"),
    (external("link.bin"), r"tensor 'w': its data is in 'link\.bin', outside of the folder"),
    (external("inside.bin", offset="8", length="16"), r"tensor 'w': its data ends beyond the end of 'inside\.bin'"),
    (external("inside.bin", offset="-8"), r"tensor 'w': its data ends beyond"),
    (external("inside.bin", offset="eight"), r"tensor 'w': offset and length of its data are not integers"),
    (external("inside.bin", length="8"), r"tensor 'w': damaged"),
    (external(""), r"tensor 'w': its data is missing"),
    (truncated, r"not an ONNX model"),
    (diverged, r"w\[1, 0\]=nan: weights must be finite"),
    (branching, r"node If/y: If: its condition depends on the data"),
    (huge, r"node Expand/y: Expand: a result of shape .* is too large"),
    (of_model(node("Bernoulli", "x", "y")), r"node Bernoulli/y: Bernoulli: this operator is not supported"),
    (
        of_model(node("MatMul", "x w", "y", domain="com.x")),
        r"MatMul: operators of the domain 'com\.x' are not supported",
    ),
    (of_model(node("Reshape", "x w x", "y"), PRODUCT), r"shapes do not fit|Reshape"),
    (of_model(node("Relu", "x", "y")), r"no trained weight"),
    (of_model(node("MatMul", "x v", "y")), r"node MatMul/y: MatMul: input 'v' is not defined"),
    (of_model(node("Concat", "x x", "y")), r"not a valid ONNX model: "),
    (of_model(node("Relu", "x", "z")), r"not a valid ONNX model"),
    (of_model(node("ArgMax", "x", "y")), r"ArgMax: the shape of its result is not known"),
    (of_model(node("Reshape", "w x", "y")), r"Reshape: input 1 depends on the data"),
]


@pytest.mark.parametrize(("write", "message"), BAD)
def test_bad_files_are_refused_with_the_place_and_the_reason(
    write: Callable[[Path], Path], message: str, tmp_path: Path
) -> None:
    path = write(tmp_path)
    with pytest.raises(InputError, match=message) as caught:
        read_network(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_without_the_package_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = of_model(PRODUCT)(tmp_path)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(InputError, match=r"pip install 'lakatos\[onnx\]'"):
        read_network(path)


def test_a_file_is_read_without_torch(tmp_path: Path) -> None:
    path = of_model(PRODUCT)(tmp_path)
    program = f"import sys, lakatos; lakatos.read_network({str(path)!r}); print('torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert result.stdout.strip() == "False"


def test_a_node_without_outputs_in_a_model_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "odd.onnx"
    path.write_bytes(
        b'\x08\x0e:\xa4\x01\n\x15\n\x01x\n\x05first\x12\x01a"\x06MatMul\n\x0c\n\x01a\x12\x01h"\x04Re'
        b'lu\n\x16\n\x01h\n\x06sel\xa8\n\x16\n\x01h\n\x06second\x12\x01y"\x06MatMul\x12\x05m'
        b"odel*\x1f\x08\x02\x08\x02\x10\x01B\x05firstJ\x10\x00\x00\x80?\x00\x00\x00@\x00\x00@@\x00\x00\x80@*\x18\x08"
        b"\x02\x08\x01\x10\x01B\x06secondJ\x08\x00\x00\x80?\x00\x00\x80\xbfZ\x18\n\x01x\x12\x13\n\x11\x08\x01\x12\r\n\x07\x12\x05"
        b"batch\n\x02\x08\x02b\t\n\x01y\x12\x04\n\x02\x08\x01B\x04\n\x00\x10\x11"
    )
    with pytest.raises(InputError, match="not a valid ONNX model"):
        read_network(path)
