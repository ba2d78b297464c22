"""Bad network files are refused by name and field, before anything large or foreign is touched."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakatos import InputError, read_network

PAIRS = [["x", "h"], ["h", "y"]]
GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{}</graphml>'


def write(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def archive(folder: Path, **arrays: Any) -> Path:
    path = folder / "network.npz"
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"edges": [["x", "h"],\n ["h"', r"n\.json: line 2, column 6: not valid JSON"),
        ('{"edges": [["x", "h"], ["h", "y"]], "balance": {"h": 1, "h": 2}}', "key 'h' occurs twice"),
        ('{"edges": [["x", "h"], ["h", "y"]], "balance": {"h": NaN}}', "NaN is not a finite number"),
        ('{"edges": [["x", "h"], ["h", "y"]], "balance": {"h": 1e999999999}}', "exponents beyond"),
        ('{"edges": [["x", "h"], ["h", "y"]], "balance": {"h": %s}}' % ("9" * 5000), "an integer of 5000 digits"),
        ("[" * 100_000, "nested too deeply"),
        ({"edges": PAIRS, "balance": {"h": True}}, r"balance\['h'\]=True: a number is needed"),
        ({"edges": PAIRS, "balance": {"k": 1}}, r"balance\['k'\]: no such node; known are 'x', 'h', 'y'"),
        ({"edges": PAIRS, "balance": {"x": 1, "h": 1}}, r"balance\['x'\]: the node is an input or output"),
        ({"edges": [["x", "h", 1], ["h", "y", 1]], "balance": {"h": 0}}, "balance: given beside weights"),
        ({"edges": PAIRS, "balance": 3}, "balance=3: an object"),
        ({"edges": [["x", "x"]]}, r"edges\[0\]=\['x', 'x'\]: self-loops"),
        ({"edges": []}, "the network has no nodes"),
        ({"edges": ["xy"]}, r"edges\[0\]='xy': an edge is a list"),
        ({"edges": [["x"]]}, r"edges\[0\]=\['x'\]: an edge is"),
        ({"edges": [["x", None]]}, r"edges\[0\]: node name None"),
        ('{"edges": [["x", "\\ud800"]]}', r"edges\[0\]: node name '\\ud800' holds half a character"),
        ({"edges": {"x": "y"}}, r"edges=.*: a list is needed"),
        ({"edges": PAIRS, "inputs": ["z"]}, r"inputs=\['z'\]: no such node"),
        ({"edges": PAIRS, "balances": {"h": 1}}, "key 'balances': not known here; did you mean 'balance'"),
        ({"edges": PAIRS, "color": 1}, "key 'color': not known here; valid are edges, inputs"),
        ({"inputs": ["x"]}, "edges: missing; give 'edges', or 'nodes' and 'links'"),
        ([1], "an object with the key 'edges' is needed, got a list"),
        ({"directed": False, "nodes": [], "links": []}, "directed=False"),
        ({"directed": True, "nodes": []}, "either 'edges' or 'links'"),
        ({"directed": True, "links": []}, "nodes: a list of objects"),
        ({"directed": True, "nodes": [{"id": "x"}], "links": [{"source": "x"}]}, r"links\[0\]=.*'source' and 'target'"),
        ({"directed": True, "nodes": [{"id": "x"}, {"id": "x"}], "links": []}, "nodes: 'x' is listed twice"),
        (
            {"directed": True, "nodes": [{"id": "x"}], "links": [{"source": "x", "target": "y"}]},
            "'y' is not among the nodes",
        ),
        ({"directed": True, "nodes": [{"id": "x", "kind": "inptu"}], "links": []}, "kind='inptu'; valid are input"),
        ({"directed": True, "nodes": [{"id": "x", "kind": "input"}, {"id": "y"}], "links": []}, "'y': has no kind"),
        ({"directed": True, "nodes": [{"id": "x", "balanse": 1}], "links": []}, "'balanse'; did you mean 'balance'"),
    ],
)
def test_bad_json_is_refused(tmp_path: Path, content: Any, message: str) -> None:
    path = write(tmp_path, "n.json", content)
    with pytest.raises(InputError, match=message) as caught:
        read_network(path)
    assert str(caught.value).startswith(f"{path}: ")


BILLION_LAUGHS = '<!DOCTYPE g [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><graphml>&b;</graphml>'
EXTERNAL = '<!DOCTYPE g [<!ENTITY a SYSTEM "file:///etc/hostname">]><graphml>&a;</graphml>'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (BILLION_LAUGHS.encode(), "a DOCTYPE declaration"),
        (BILLION_LAUGHS.encode("utf-16"), "a DOCTYPE declaration"),
        (EXTERNAL.encode(), "a DOCTYPE declaration"),
        (b"<?xml version='1.0' encoding='F'?><graphml/>", "the declared encoding cannot be read"),
        (b"<?xml version='1.0' encoding='big5'?><graphml/>", "the declared encoding cannot be read"),
        (b"<graphml>\n<graph", "line 2, column 1: not valid XML: unclosed token"),
        (b"<graphml>\n<graph a:=''/></graphml>", "line 2, column 10: not valid XML: not well-formed"),
        (b"<graphml><a:b/></graphml>", "line 1, column 10: not valid XML: unbound prefix"),
        (GRAPHML.format("").encode(), "0 graph elements"),
        (GRAPHML.format('<graph edgedefault="undirected"/>').encode(), "edgedefault='undirected'"),
        (GRAPHML.format('<graph edgedefault="directed"><edge source="x"/></graph>').encode(), "'target' is missing"),
        (GRAPHML.format('<graph edgedefault="directed"><hyperedge/></graph>').encode(), "a hyperedge"),
        (
            GRAPHML.format('<graph edgedefault="directed"><node id="x"><data key="d"/></node></graph>').encode(),
            "key='d'",
        ),
    ],
)
def test_bad_graphml_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "n.graphml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_network(path)


ENDS = {"tail": [0, 1], "head": [1, 2]}


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"tail": [0]}, "head: missing; the archive holds tail"),
        ({**ENDS, "weights": [1.0, 1.0]}, "array 'weights': not known here; did you mean 'weight'"),
        ({**ENDS, "weight": [1.0]}, r"weight has shape \(1,\)"),
        ({**ENDS, "weight": [1, 1]}, "weight: dtype=int64"),
        ({**ENDS, "weight": [1.0, np.nan]}, r"weight\[1\]=.*nan.*: weights must be finite"),
        ({**ENDS, "weight": np.array([1, {}], object)}, "array weight: holds Python objects"),
        ({"tail": [0.0], "head": [1.0]}, "tail: a one-dimensional integer array"),
        ({"tail": [0], "head": [10**12]}, "head: node number 1000000000000"),
        ({**ENDS, "balance": [0, np.nan, 0]}, "balance.*nan"),
        ({**ENDS, "balance": [np.nan, 1, 0]}, r"balance\[0\]=nan: node '0' is an input or output"),
        ({**ENDS, "balance": [1, 2]}, r"balance: int64 \(2,\)"),
        ({**ENDS, "weight": [1.0, 1.0], "balance": [0, 0, 0]}, "balance: given beside weights"),
        ({**ENDS, "names": [1, 2, 3]}, "names: int64"),
        ({**ENDS, "names": np.array([120, 121, 1 << 24], "<u4").view("<U1")}, "array names: texts with characters"),
    ],
)
def test_bad_archives_are_refused(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_network(archive(tmp_path, **arrays))


def test_an_archive_that_unpacks_to_too_much_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakatos.network_arrays._LARGEST", 1 << 20)
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, tail=np.zeros(1 << 20, np.int64), head=np.ones(1 << 20, np.int64))
    assert path.stat().st_size < 1 << 16
    monkeypatch.setattr(zipfile.ZipFile, "open", None)
    with pytest.raises(InputError, match="bytes when unpacked"):
        read_network(path)


def test_a_header_that_declares_more_than_there_is_allocates_nothing(tmp_path: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<i8", "fortran_order": False, "shape": (1 << 50,)})
    path = tmp_path / "n.npz"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("tail.npy", header.getvalue())
    with pytest.raises(InputError, match="array tail: its header declares shape"):
        read_network(path)


def test_a_header_that_is_no_python_is_refused(tmp_path: Path) -> None:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.array([0]))
    path = tmp_path / "n.npz"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("tail.npy", stream.getvalue().replace(b"(1,)", b"((1,"))
        file.writestr("head.npy", stream.getvalue())
    with pytest.raises(InputError, match="array tail: not a NumPy array"):
        read_network(path)


def sparse(folder: Path) -> Path:
    path = folder / "zeros.json"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    return path


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (sparse, "zeros.json: size=1073741824 bytes: at most 256 MiB are read"),
        (lambda folder: folder / "none.json", "none.json: no such file"),
        (lambda folder: folder / "none", "none: no such file; a network is .json"),
        (lambda folder: write(folder, "n.txt", ""), "suffix='.txt': a network is .json, .graphml"),
        (lambda folder: write(folder, "n.npz", "text"), "n.npz: not a readable .npz archive"),
        (lambda folder: write(folder, "n.onnx", ""), "n.onnx: not an ONNX model: it has no nodes"),
        (lambda folder: (folder / "d.json").mkdir() or folder / "d.json", "d.json: is a folder"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, make: Callable[[Path], Path], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_network(make(tmp_path))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("b.toml", "h1.0 = 3", r"b\.toml: balance\['h1'\]=.*quote names with dots"),
        ("b.toml", "h = ]", r"b\.toml: not valid TOML: .*line 1"),
        ("b.toml", "h = nan", "not a finite number"),
        ("b.toml", "h = " + "9" * 5000, "not valid TOML"),
        ("b.json", "[]", r"b\.json: a table from node name to number is needed, got a list"),
        ("b.json", '{"h": "one"}', r"b\.json: balance\['h'\]='one'"),
        ("b.yaml", "h: 1", r"b\.yaml: suffix='\.yaml'"),
    ],
)
def test_bad_balance_files_are_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    network = write(tmp_path, "n.json", {"edges": PAIRS})
    with pytest.raises(InputError, match=message):
        read_network(network, balance=write(tmp_path, name, content))
