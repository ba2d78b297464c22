"""``lakatos connectivity`` with --singular, --betti, --path and --rescale."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import lakatos
from lakatos import connectivity, read_network
from lakatos.cli import main
from lakatos.core import Certificate
from lakatos.graphs import homology

SCHEMA = json.loads((Path(lakatos.__file__).parent / "schemas" / "connectivity-1.json").read_text(encoding="utf-8"))
LOCKED = {"edges": [["x1", "v", "1"], ["x2", "v", "1"], ["v", "y", "3"]]}
FLIPPED = {"edges": [["x1", "v", "-1"], ["x2", "v", "1"], ["v", "y", "3"]]}
OTHER = {"edges": [["x1", "v", "1"], ["x2", "v", "1"], ["v", "y", "-3"]]}
CHAIN = {"edges": [["x", "a", "1"], ["a", "b", "2"], ["b", "y", "3"]]}
CYCLE = {
    "edges": [["x", "v", "1"], ["v", "w", "1"], ["w", "v", "2"], ["v", "y", "3"], ["x", "w", "1"]],
    "inputs": ["x"],
    "outputs": ["y"],
}
MODULE = """
import torch
from torch import nn


def build():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 4), nn.Dropout(0.5), nn.ReLU(), nn.Linear(4, 1))
    with torch.no_grad():
        module[5].weight.mul_(6)
    return module


class Twins(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right, self.top = nn.Linear(3, 4, bias=False), nn.Linear(3, 4, bias=False), nn.Linear(4, 2)
        self.right.weight = self.left.weight
        self.example_input_array = torch.zeros(2, 6)

    def forward(self, x):
        return self.top(self.left(x[:, :3]).relu() + self.right(x[:, 3:]).relu())


def tied():
    torch.manual_seed(0)
    return Twins()


def normalized():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3), nn.LayerNorm(3), nn.Linear(3, 1))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("net.json").write_text(json.dumps(LOCKED))
    return tmp_path


def write(data: dict[str, Any], name: str) -> str:
    Path(name).write_text(json.dumps(data))
    return name


def asked(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> dict[str, Any]:
    """The answer in JSON, checked against the schema."""
    assert main(["connectivity", *arguments, "--json"]) == status
    out, err = capsys.readouterr()
    assert err == ""
    data: dict[str, Any] = json.loads(out)
    jsonschema.validate(data, SCHEMA)
    return data


def text(capsys: pytest.CaptureFixture[str]) -> str:
    return re.sub(r"\s+", " ", capsys.readouterr().out)


# Singular points and Betti numbers --------------------------------------------------------------------------------------


def test_singular_and_betti(capsys: pytest.CaptureFixture[str]) -> None:
    data = asked(capsys, "net.json", "--singular", "--betti", status=1)
    assert data["singular"] == {"exists": False, "nodes": []}
    assert data["betti"] == [2]
    write({"edges": [["x", "a"], ["a", "b"], ["b", "y"]], "balance": {"a": "-1", "b": "1"}}, "chain.json")
    data = asked(capsys, "chain.json", "--singular", "--betti", status=1)
    assert data["singular"] == {"exists": True, "nodes": ["a", "b"]}
    assert data["betti"] == [2]
    main(["connectivity", "chain.json", "--singular", "--betti"])
    said = text(capsys)
    assert "all weights across the boundary of {a, b} can vanish together" in said
    assert "Betti numbers over the field with two elements: 2." in said


def test_of_an_empty_set(capsys: pytest.CaptureFixture[str]) -> None:
    write({"edges": [["x", "v"]], "inputs": ["x"], "outputs": [], "balance": {"v": "-1"}}, "empty.json")
    data = asked(capsys, "empty.json", "--singular", "--betti", status=4)
    assert (data["singular"]["exists"], data["betti"]) == (False, [])


def test_undecided_singular_points_are_null(capsys: pytest.CaptureFixture[str]) -> None:
    layers = [[f"{p}{k}" for k in range(n)] for p, n in (("x", 2), ("a", 11), ("b", 11), ("y", 2))]
    edges = [[u, v] for one, other in pairwise(layers) for u in one for v in other]
    balance = {v: str((-1) ** k * 3**k) for k, v in enumerate(layers[1] + layers[2])}
    write({"edges": edges, "balance": balance}, "deep.json")
    data = asked(capsys, "deep.json", "--singular")
    assert data["singular"]["exists"] is None
    assert "proves nothing" in data["singular"]["reason"]


def test_too_many_edges_for_betti_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    edges = [["x", f"h{k}"] for k in range(6)] + [[f"h{k}", "v"] for k in range(6)] + [["v", "y"]]
    write({"edges": edges, "balance": {**{f"h{k}": 1 for k in range(6)}, "v": 1}}, "wide.json")
    assert main(["connectivity", "wide.json", "--betti", "--json"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "13 edges hang together" in err


def test_a_false_answer_is_a_bug(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    found = homology.homology(read_network("net.json"))
    for lie in (homology.Homology((1,), found.certificate), homology.Homology((2,), Certificate("betti_numbers", {}))):
        monkeypatch.setattr(homology, "homology", lambda network, lie=lie: lie)
        assert main(["connectivity", "net.json", "--betti"]) == 5
        out, err = capsys.readouterr()
        assert out == ""
        assert "internal error" in err


# Paths ------------------------------------------------------------------------------------------------------------------


def test_path(capsys: pytest.CaptureFixture[str]) -> None:
    write(FLIPPED, "b.json")
    data = asked(capsys, "net.json", "--path", "net.json", "b.json", status=1)
    assert data["path"]["joined"]
    assert data["path"]["moved"] == [0, 0]
    first, middle, last = data["path"]["knots"]
    assert (first, last) == ({"0": "1", "1": "1", "2": "9"}, {"0": "-1", "1": "1", "2": "9"})
    assert "0" not in middle
    main(["connectivity", "net.json", "--path", "net.json", "b.json"])
    assert "a path of 2 segments joins them, which changes 1 signs" in text(capsys)


def test_path_between_components(capsys: pytest.CaptureFixture[str]) -> None:
    write(OTHER, "b.json")
    data = asked(capsys, "net.json", "--path", "net.json", "b.json", status=1)
    assert data["path"] == {"joined": False, "separating": [2], "moved": [0, 0], "knots": None}
    main(["connectivity", "net.json", "--path", "net.json", "b.json"])
    assert "they differ in the locked sign of v→y" in text(capsys)


def test_rounded_weights_are_moved_onto_the_set(capsys: pytest.CaptureFixture[str]) -> None:
    write({"edges": [["x1", "v", "0.6"], ["x2", "v", str(0.64**0.5 * 1.3)], ["v", "y", "3"]]}, "a.json")
    write({"edges": [["x1", "v", "0.6"], ["x2", "v", "-1.04000000001"], ["v", "y", "3"]]}, "b.json")
    data = asked(capsys, "a.json", "--path", "a.json", "b.json", status=1)
    assert data["path"]["joined"]
    assert 0 < data["path"]["moved"][1] < 1e-9


@pytest.mark.parametrize(
    ("end", "message"),
    [
        ({"edges": [["x1", "v", "1"], ["x2", "v", "1"], ["v", "y", "2"]]}, "these weights lie in another one"),
        (
            {"edges": [["x1", "v", "1"], ["x3", "v", "1"], ["v", "y", "3"]]},
            "does not hold weights for the nodes and edges",
        ),
        ({"edges": [["x1", "v"], ["x2", "v"], ["v", "y"]]}, "does not hold weights"),
    ],
)
def test_ends_that_do_not_fit(end: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    write(end, "b.json")
    assert main(["connectivity", "net.json", "--path", "net.json", "b.json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("lakatos: error: b.json: ")
    assert message in err


# Rescaling --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["free.json", "free.npz"])
def test_unlocked(output: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = asked(capsys, "net.json", "--rescale", "unlocked", "--output", output)
    assert data["connected"]
    assert data["regular_connected"]
    assert data["rescaled"]["function_change"] <= 1e-12
    written = connectivity(read_network(output))
    assert written.connected
    assert written.regular_connected
    np.testing.assert_array_equal(written.network.tail, read_network("net.json").tail)
    main(["connectivity", "net.json", "--rescale", "unlocked", "--output", output])
    assert f"After rescaling to unlocked balances, written to {output}; outputs on random data changed" in text(capsys)


def test_balanced(capsys: pytest.CaptureFixture[str]) -> None:
    write(CHAIN, "chain.json")
    main(["connectivity", "chain.json", "--rescale", "balanced", "--output", "out.json"])
    squares = [float(w) ** 2 for w in read_network("out.json").weights]
    np.testing.assert_allclose(squares, [36 ** (1 / 3)] * 3, rtol=1e-12)


def test_to_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    Path("c.toml").write_text("v = 2.5")
    data = asked(capsys, "net.json", "--rescale", "c.toml", "--output", "out.npz")
    assert data["rescaled"]["residual"] < 1e-12
    assert float(read_network("out.npz").balance("v")) == pytest.approx(2.5, rel=1e-12)


def test_cycles_are_rescaled_without_evaluation(capsys: pytest.CaptureFixture[str]) -> None:
    write(CYCLE, "cycle.json")
    Path("c.toml").write_text("v = 1\nw = 2")
    assert main(["connectivity", "cycle.json", "--rescale", "c.toml", "--output", "out.json"]) in (0, 1)
    assert "outputs were not compared, since the network has a directed cycle" in text(capsys)
    assert float(read_network("out.json").balance("w")) == pytest.approx(2, rel=1e-9)


@pytest.mark.parametrize(("factory", "hidden"), [("build", 8), ("tied", 4)])
def test_module(factory: str, hidden: int, capsys: pytest.CaptureFixture[str]) -> None:
    Path("geometry_models.py").write_text(MODULE)
    source = f"geometry_models:{factory}"
    # Balances are zero up to rounding, whose sign decides what is locked.
    assert main(["connectivity", source, "--rescale", "balanced", "--output", "out.safetensors", "--json"]) in (0, 1)
    data = json.loads(capsys.readouterr().out)
    assert data["hidden"] == hidden
    assert data["rescaled"]["function_change"] <= 1e-12
    assert data["rescaled"]["residual"] < 1e-10
    read_back = read_network(source, checkpoint="out.safetensors")
    balances = [abs(float(read_back.sum_of_balances([v]))) for v in read_back.hidden_nodes]
    # What rounding leaves of sums of squares of order one.
    assert 0 < max(balances) < 1e-13


def test_module_unlocked(capsys: pytest.CaptureFixture[str]) -> None:
    Path("geometry_models.py").write_text(MODULE)
    assert asked(capsys, "geometry_models:build", status=1)["log2_components"] == 4
    data = asked(capsys, "geometry_models:build", "--rescale", "unlocked", "--output", "free.safetensors")
    assert data["regular_log2_components"] == 0
    assert data["rescaled"]["function_change"] <= 1e-12
    assert asked(capsys, "geometry_models:build", "--checkpoint", "free.safetensors")["connected"]


def test_path_between_checkpoints(capsys: pytest.CaptureFixture[str]) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    Path("geometry_models.py").write_text(MODULE)
    main(["connectivity", "geometry_models:build", "--rescale", "unlocked", "--output", "a.safetensors"])
    capsys.readouterr()
    state = load_file("a.safetensors")
    save_file({name: -value for name, value in state.items()}, "b.safetensors")
    assert all(value.dtype == torch.float64 for value in state.values())
    arguments = ["--checkpoint", "a.safetensors", "--path", "a.safetensors", "b.safetensors"]
    data = asked(capsys, "geometry_models:build", *arguments)
    assert data["path"]["joined"]
    assert len(data["path"]["knots"]) >= 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["net.json", "--rescale", "unlocked"], "--output FILE belong together"),
        (["net.json", "--output", "out.json"], "--output FILE belong together"),
        (["net.json", "--rescale", "nowhere", "--output", "out.json"], "neither 'balanced' nor 'unlocked'"),
        (["net.json", "--rescale", "balanced", "--output", "out.txt"], "written as .json or .npz"),
        (["net.json", "--rescale", "balanced", "--output", "net.json"], "the network itself"),
        (["net.json", "--rescale", "balanced", "--output", "no/out.json"], "cannot be written"),
        (["net.json", "--rescale", "c.toml", "--output", "out.json"], "missing for hidden node"),
        (["bare.json", "--rescale", "balanced", "--output", "out.json"], "no weights"),
        (
            ["chain.json", "--rescale", "unlocked", "--output", "out.json"],
            "single incoming and a single outgoing weight",
        ),
        (["dead.json", "--rescale", "down.toml", "--output", "out.json"], "the balances of v would have to sum to -1"),
        (["net.json", "--rescale", "down.toml", "--output", "o.json", "--balance", "down.toml"], "give one of the two"),
        (["geometry_models:normalized", "--rescale", "balanced", "--output", "o.npz"], "written as .safetensors"),
    ],
)
def test_rescaling_that_is_refused(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("geometry_models.py").write_text(MODULE)
    Path("c.toml").write_text("")
    Path("down.toml").write_text("v = -1")
    write({"edges": [["x1", "v"], ["v", "y"]], "balance": {"v": 1}}, "bare.json")
    write({"edges": [["x1", "v", "1"], ["v", "y", "0"]]}, "dead.json")
    write(CHAIN, "chain.json")
    before = sorted(Path().iterdir())
    assert main(["connectivity", *arguments, "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert sorted(Path().iterdir()) == before, "nothing may be left behind"
