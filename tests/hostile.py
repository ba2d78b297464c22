"""Hostile files: valid ones of every format that is read, damaged and poisoned, drawn from a source of randomness.

`hostile_file` takes a `random.Random`, so that a case is reproduced by its number, and Hypothesis can draw and shrink it.
"""

from __future__ import annotations

import json
import random
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from damage import damaged_bytes, damaged_data, damaged_text
from hostile_archives import IMAGE_FILES, damaged_images, damaged_npz, damaged_torch, safetensors_file

INSTANCES = Path(__file__).parents[1] / "instances"
SECRET = "secret"  # a folder above that of the case, which no file may lead to


@dataclass(frozen=True)
class Hostile:
    """The content of a file, the suffix that it is stored under and the reader that it is meant for."""

    reader: str
    suffix: str
    content: bytes


# Valid files -----------------------------------------------------------------------------------------------------------

EDGES = [["x", "a"], ["x", "v"], ["a", "v"], ["a", "v"], ["v", "y"]]
EDGE_LISTS: list[dict[str, Any]] = [
    {"edges": EDGES, "inputs": ["x"], "outputs": ["y"], "balance": {"a": "-1/2", "v": 2}},
    {"edges": [[a, b, k - 1.5] for k, (a, b) in enumerate(EDGES)], "nodes": ["z"]},
]
NODE_LINK: dict[str, Any] = {
    "directed": True,
    "multigraph": True,
    "graph": {},
    "nodes": [
        {"id": "x", "kind": "input"},
        {"id": 1, "kind": "hidden", "balance": "1/3"},
        {"id": "y", "kind": "output"},
    ],
    "links": [{"source": "x", "target": 1, "key": 0}, {"source": 1, "target": "y", "key": 0}],
}
GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="w" for="edge" attr.name="weight" attr.type="double"><default>1.5</default></key>
<graph edgedefault="directed"><node id="x"/><node id="v"/><node id="y"/>
<edge source="x" target="v"><data key="w">0.1</data></edge><edge source="v" target="y"/></graph></graphml>"""
BALANCE_TOML = 'a = -4\n"h1.0" = "1/3"\nv = 0.25\n'
MATRIX_TOML = 'theorem = "matrix"\ntitle = "t"\nexpect = "proved"\nseed = 3\n[instance]\nF = {}\nn = 2\n'


@cache
def instances() -> tuple[Path, ...]:
    """Return the small ones of the shipped instance files."""
    from lakatos.theorems import NAMES

    small = [path for path in sorted(INSTANCES.rglob("*.toml")) if path.stat().st_size < 2000]
    return tuple(path for path in small if tomllib.loads(path.read_text("utf-8"))["theorem"] in NAMES)


@cache
def instance_files() -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in instances())


@cache
def results() -> tuple[bytes, ...]:
    """Return saved results: what is proved of one instance of every theorem with certificates, and a certificate file."""
    from lakatos import Network, connectivity
    from lakatos.checker import check_certificate
    from lakatos.core import Evidence, Judged, Outcome, Verdict
    from lakatos.instance import read_instance
    from lakatos.results import results_to_json

    found: dict[str, bytes] = {}
    for path in instances():
        file = read_instance(path)
        name = file.theorem.name
        if name in found or not all(hypothesis.met for hypothesis in file.theorem.hypotheses(file.instance)):
            continue
        prediction = file.theorem.predict(file.instance)
        facts = [check_certificate(file.fields, certificate.to_json()) for certificate in prediction.certificates]
        known = {quantity for part in facts for quantity in part}
        claims = tuple(Judged(claim, None, True, None) for claim in prediction.claims if claim.quantity in known)
        if claims:
            verdict = Verdict(
                name,
                Outcome.PROVED,
                Evidence.EXACT,
                claims=claims,
                certificates=prediction.certificates,
                fields=file.fields,
                instance=path.name,
                provenance={"instance_sha256": file.sha256},
            )
            found[name] = json.dumps(results_to_json([verdict])).encode()
    network = Network.from_edges(**EDGE_LISTS[0])
    document = {
        "schema": "lakatos/certificate/1",
        "network": network.to_fields(),
        "certificate": connectivity(network).certificate.to_json(),
        "claims": {"feasible": True},
    }
    return (*found.values(), json.dumps(document).encode())


NETWORK_ARRAYS = {
    "tail": np.array([0, 1]),
    "head": np.array([1, 2]),
    "weight": np.array([0.5, -2.0]),
    "names": np.array(["x", "v", "y"]),
}


@cache
def onnx_model() -> bytes:
    from onnx import TensorProto, helper, numpy_helper

    first = numpy_helper.from_array(np.array([[1, 2], [3, 4]], np.float32), "first")
    second = numpy_helper.from_array(np.array([[1], [-1]], np.float32), "second")
    nodes = [
        helper.make_node("MatMul", ["x", "first"], ["a"]),
        helper.make_node("Relu", ["a"], ["h"]),
        helper.make_node("MatMul", ["h", "second"], ["y"]),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("x", "y"))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 2])
    graph = helper.make_graph(nodes, "model", [x], [y], [first, second])
    return bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())


OPERATORS = [
    "Gemm",
    "Conv",
    "Reshape",
    "If",
    "Loop",
    "Scan",
    "Constant",
    "ConstantOfShape",
    "Expand",
    "Tile",
    "Add",
    "Softmax",
]
SIZES = [0, -1, 1, 1 << 20, 1 << 40, (1 << 63) - 1]


def damaged_model(draw: random.Random) -> bytes:
    """Return an ONNX model with other operators, shapes, types or data, perhaps in files that are not its own."""
    from onnx import ModelProto, TensorProto

    content = onnx_model()
    if draw.randint(0, 2) == 0:
        return damaged_bytes(draw, content)
    model = ModelProto.FromString(content)
    node, tensor = draw.choice(model.graph.node), draw.choice(model.graph.initializer)
    match draw.randint(0, 5):
        case 0:
            node.op_type = draw.choice(OPERATORS)
        case 1:
            node.input[0] = draw.choice(["", "x", "h", "y", "nowhere", "first"])
        case 2:
            tensor.dims[0] = draw.choice(SIZES)
        case 3:
            tensor.data_type = draw.choice([0, 2, 7, 8, 10, 11, 14, 16, 17, 22, 99])
        case 4:
            tensor.raw_data = b""
            tensor.data_location = TensorProto.EXTERNAL
            place = draw.choice(
                ["../secret/weights.npz", "/etc/hostname", "weights.npz", "link.npz", "fifo.npz", "", "."]
            )
            for key, value in (
                ("location", place),
                ("offset", str(draw.choice(SIZES))),
                ("length", str(draw.choice(SIZES))),
            ):
                entry = tensor.external_data.add()
                entry.key, entry.value = key, value
        case 5:
            model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = draw.choice([0, 3, 1 << 24, 1 << 40])
    return bytes(model.SerializeToString())


def hostile_file(draw: random.Random, reader: str) -> Hostile:
    """Return a file for `reader`, one of `READERS`."""
    damage = draw.choice([damaged_text, damaged_text, damaged_bytes])
    structured = draw.randint(0, 1) == 0
    match reader:
        case "network.json":
            network = draw.choice([*EDGE_LISTS, NODE_LINK])
            content = damaged_data(draw, network) if structured else damage(draw, json.dumps(network).encode())
            return Hostile(reader, ".json", content)
        case "network.graphml":
            return Hostile(reader, ".graphml", damage(draw, GRAPHML.encode(draw.choice(["utf-8", "utf-16"]))))
        case "network.npz":
            return Hostile(reader, ".npz", damaged_npz(draw, NETWORK_ARRAYS))
        case "network.onnx":
            return Hostile(reader, ".onnx", damaged_model(draw))
        case "balance":
            suffix = draw.choice([".toml", ".json"])
            content = BALANCE_TOML if suffix == ".toml" else json.dumps(EDGE_LISTS[0]["balance"])
            return Hostile(reader, suffix, damage(draw, content.encode()))
        case "instance":
            matrix = MATRIX_TOML.format(draw.choice(['{ file = "weights.npz", key = "F" }', "[[1, 0.5], ['1/3', -2]]"]))
            return Hostile(reader, ".toml", damage(draw, draw.choice([matrix.encode(), *instance_files()])))
        case "array":
            return draw.choice(
                [
                    lambda: Hostile(reader, ".npz", damaged_npz(draw, {"F": np.eye(2)})),
                    lambda: Hostile(reader, ".safetensors", damage(draw, safetensors_file())),
                    lambda: Hostile(reader, ".pt", damaged_torch(draw)),
                ]
            )()
        case "checkpoint":
            suffix = draw.choice([".pt", ".safetensors"])
            return Hostile(
                reader, suffix, damage(draw, safetensors_file()) if suffix == ".safetensors" else damaged_torch(draw)
            )
        case "images":
            suffix = draw.choice(list(IMAGE_FILES))
            return Hostile(reader, suffix, damaged_images(draw, suffix))
        case "result":
            document = draw.choice(results())
            content = damaged_data(draw, json.loads(document)) if structured else damage(draw, document)
            return Hostile(reader, ".json", content)
    raise ValueError(reader)


READERS = (
    "network.json",
    "network.graphml",
    "network.npz",
    "balance",
    "instance",
    "array",
    "checkpoint",
    "images",
    "result",
)
READERS += ("network.onnx",) if find_spec("onnx") else ()
