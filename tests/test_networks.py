"""Networks from files and factories: every format gives the same network."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from lakatos import InputError, Network, connectivity, read_network
from lakatos.network_graphml import network_from_graphml
from lakatos.network_json import network_from_json

EXAMPLES = Path(__file__).parents[1] / "examples"
GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{}</graphml>'

numbers = st.fractions(max_denominator=1000)
# Edges from lower to higher numbers: acyclic, parallel edges included, and edges in no particular order.
rows = st.lists(st.tuples(st.integers(0, 5), st.integers(1, 6), numbers), min_size=1, max_size=12).map(
    lambda listed: [(str(a), str(a + b), w) for a, b, w in listed]
)


def write(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def archive(folder: Path, **arrays: Any) -> Path:
    path = folder / "network.npz"
    np.savez(path, **arrays)
    return path


@given(rows)
def test_edge_lists_give_back_their_fields(edges: list[tuple[str, str, Fraction]]) -> None:
    network = Network.from_edges(edges)
    assert network_from_json(json.dumps(network.to_fields()).encode()).to_fields() == network.to_fields()


@given(rows)
def test_node_link_and_graphml_keep_edge_order_and_exact_weights(edges: list[tuple[str, str, Fraction]]) -> None:
    reference = Network.from_edges(edges).to_fields()
    names = sorted({name for edge in edges for name in edge[:2]})
    node_link = {
        "directed": True,
        "nodes": [{"id": name} for name in names],
        "links": [{"source": a, "target": b, "weight": str(w)} for a, b, w in edges],
    }
    nodes = "".join(f'<node id="{name}"/>' for name in names)
    lines = "".join(f'<edge source="{a}" target="{b}"><data key="w">{w}</data></edge>' for a, b, w in edges)
    text = GRAPHML.format(
        f'<key id="w" for="edge" attr.name="weight" attr.type="string"/><graph edgedefault="directed">{nodes}{lines}</graph>'
    )
    for network in (network_from_json(json.dumps(node_link).encode()), network_from_graphml(text.encode())):
        fields = network.to_fields()
        assert fields["edges"] == reference["edges"]
        # Without declared kinds the terminals are the sources and sinks, here in the order of the nodes listed.
        assert sorted(fields["inputs"]) == sorted(reference["inputs"])
        assert sorted(fields["outputs"]) == sorted(reference["outputs"])


@pytest.mark.parametrize("key", ["edges", "links"])
def test_files_that_networkx_writes(tmp_path: Path, key: str) -> None:
    graph = nx.MultiDiGraph()
    graph.add_node("x", kind="input", label="pixels")
    graph.add_node("v", kind="hidden", balance=-0.1)
    graph.add_node("y", kind="output")
    graph.add_edges_from([("x", "v"), ("v", "y"), ("v", "y")])
    path = write(tmp_path, "graph.json", nx.node_link_data(graph, edges=key))
    nx.write_graphml(graph, tmp_path / "graph.graphml")
    for network in (read_network(path), read_network(tmp_path / "graph.graphml")):
        assert network.to_fields() == {
            "edges": [["x", "v"], ["v", "y"], ["v", "y"]],
            "inputs": ["x"],
            "outputs": ["y"],
            "balance": {"v": "-1/10"},
        }


def test_decimals_are_exact_rationals(tmp_path: Path) -> None:
    edges = [["x", "a"], ["x", "b"], ["a", "v"], ["b", "v"], ["v", "y"]]
    text = '{"edges": %s, "balance": {"a": -0.1, "b": -2e-1, "v": %s}}'
    network = read_network(write(tmp_path, "n.json", text % (json.dumps(edges), "0.3")))
    nearly = read_network(write(tmp_path, "n.json", text % (json.dumps(edges), "0.29999999999999999")))
    assert network.sum_of_balances(network.hidden_nodes) == 0
    assert nearly.sum_of_balances(nearly.hidden_nodes) == Fraction(-1, 10**17)


def test_graphml_defaults_apply() -> None:
    network = network_from_graphml(
        GRAPHML.format(
            '<key id="w" for="edge" attr.name="weight"><default> 0.1 </default></key><graph edgedefault="directed">'
            '<node id="x"/><node id="v"/><node id="y"/><edge source="x" target="v"/>'
            '<edge source="v" target="y"><data key="w">2</data></edge></graph>'
        ).encode()
    )
    assert network.balance("v") == Fraction(1, 100) - 4


@pytest.mark.parametrize(("dtype", "rounding"), [("f2", 2.0**-11), ("f4", 2.0**-24), (">f8", 2.0**-53)])
def test_archives_keep_the_exact_value_and_the_rounding_of_the_type(
    tmp_path: Path, dtype: str, rounding: float
) -> None:
    weight = np.array([0.1, 0.3], dtype)
    network = read_network(archive(tmp_path, tail=[0, 1], head=[1, 2], weight=weight, inputs=[0], outputs=[2]))
    assert network.balance("1") == Fraction(float(weight[0])) ** 2 - Fraction(float(weight[1])) ** 2
    assert network.rounding == rounding


def test_archives_may_hold_names_and_balances(tmp_path: Path) -> None:
    path = archive(tmp_path, tail=[0, 1], head=[1, 2], names=["x", "v", "y"], balance=[0, -0.5, 0])
    assert read_network(path).to_fields() == {
        "edges": [["x", "v"], ["v", "y"]],
        "inputs": ["x"],
        "outputs": ["y"],
        "balance": {"v": "-1/2"},
    }


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.json")), ids=lambda path: path.stem)
def test_shipped_examples_are_feasible_and_have_a_frozen_weight(path: Path) -> None:
    result = connectivity(read_network(path))
    assert result.feasible
    assert result.log2_components == 1


@pytest.mark.parametrize("name", ["balance.json", "balance.toml"])
def test_a_balance_replaces_the_weights(tmp_path: Path, name: str) -> None:
    network = write(tmp_path, "n.json", {"edges": [["x", "h1.0", 1], ["h1.0", "y", 2]]})
    path = write(tmp_path, name, '{"h1.0": -0.1}' if name.endswith("json") else '"h1.0" = -0.1')
    for balance in (path, {"h1.0": "-1/10"}):
        replaced = read_network(network, balance=balance)
        assert replaced.balance("h1.0") == Fraction(-1, 10)
        assert replaced.weights is None


def test_graph_files_are_read_without_torch_and_sympy() -> None:
    code = (
        f"import lakatos, sys; lakatos.read_network({str(EXAMPLES / 'weighted.json')!r});"
        "sys.exit(', '.join({'torch', 'sympy', 'networkx'} & set(sys.modules)) or 0)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


@pytest.fixture
def factories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(
        tmp_path,
        "factories_for_tests.py",
        "import sys\n"
        "from torch import nn\n"
        "def mlp():\n"
        "    print('hello')\n"
        "    return nn.Sequential(nn.Linear(1, 1, bias=False), nn.ReLU(), nn.Linear(1, 1, bias=False))\n"
        "def raises():\n    raise KeyError('width')\n"
        "def leaves():\n    sys.exit(0)\n"
        "def number():\n    return 3\n",
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "factories_for_tests", raising=False)
    return tmp_path


@pytest.mark.parametrize("name", ["state.safetensors", "state.pt"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_a_checkpoint_gives_weights_and_precision(
    factories: Path, name: str, dtype: torch.dtype, capsys: pytest.CaptureFixture[str]
) -> None:
    state = {"0.weight": torch.tensor([[0.1]], dtype=dtype), "2.weight": torch.tensor([[-0.3]], dtype=dtype)}
    if name.endswith("pt"):
        torch.save(state, name)
    else:
        safetensors.torch.save_file(state, name)
    path = list(sys.path)
    network = read_network("factories_for_tests:mlp", checkpoint=name)
    assert sys.path == path
    assert capsys.readouterr().out == ""
    first, second = (Fraction(float(value)) for value in state.values())
    assert network.balance("h1.0") == first**2 - second**2
    assert network.rounding == torch.finfo(dtype).eps / 2


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("factories_for_tests:raises", "raised KeyError: 'width'"),
        ("factories_for_tests:leaves", "raised SystemExit: 0"),
        ("factories_for_tests:number", "returned int; a torch.nn.Module is needed"),
        ("factories_for_tests:nothing", "cannot be imported .AttributeError: .*'nothing'"),
        ("no_such_module_here:mlp", "cannot be imported .ModuleNotFoundError"),
    ],
)
def test_bad_factories_are_refused(factories: Path, source: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_network(source)
    assert str(caught.value).startswith(f"{source}: ")


class Payload:
    def __reduce__(self) -> tuple[Any, ...]:
        return (print, ("executed",))


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"0.weight": torch.ones(1, 1)}, r"state\.pt: does not fit the module: entries 1 missing \('2\.weight'\)"),
        ({"0.weight": torch.ones(1, 1), "a": torch.ones(1), "b": torch.ones(1)}, r"1 missing .*, 2 unknown \('a', …\)"),
        (
            {"module.0.weight": torch.ones(1, 1), "module.2.weight": torch.ones(1, 2)},
            r"2 missing .*, 2 unknown .*, remove 'module\.' from the names",
        ),
        ({"0.weight": torch.ones(2, 1), "2.weight": torch.ones(1, 2)}, "size mismatch"),
        ({"state_dict": nn.Linear(1, 1).state_dict()}, "entry 'state_dict' is not a tensor"),
        ([torch.ones(1)], "holds a list, not a state dict"),
        (Payload(), r"state\.pt: holds other objects than tensors, .* save model\.state_dict\(\)"),
    ],
)
def test_bad_checkpoints_are_refused(
    factories: Path, capsys: pytest.CaptureFixture[str], state: Any, message: str
) -> None:
    torch.save(state, "state.pt")
    with pytest.raises(InputError, match=message):
        read_network("factories_for_tests:mlp", checkpoint="state.pt")
    assert "executed" not in capsys.readouterr().out


def test_a_checkpoint_needs_a_module_and_a_file(factories: Path) -> None:
    with pytest.raises(InputError, match=r"none\.pt: no such file"):
        read_network("factories_for_tests:mlp", checkpoint="none.pt")
    with pytest.raises(InputError, match=r"checkpoint='c\.pt': weights are loaded into a module; n\.json is a file"):
        read_network("n.json", checkpoint="c.pt")
