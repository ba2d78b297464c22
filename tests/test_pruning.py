"""Disconnected neurons: found by the gap of the spectrum, removed, and the outputs compared."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import lakatos
from lakatos import Network
from lakatos.cli import main
from lakatos.graphs.rank import jacobian_rank
from lakatos.numerics.forward import as_floats
from lakatos.numerics.pruning import disconnection, prune
from lakatos.testing import Fields, weighted_dags

SCHEMA = json.loads((Path(lakatos.__file__).parent / "schemas" / "prune-1.json").read_text(encoding="utf-8"))


def network(*widths: int) -> nn.Sequential:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        parts: list[nn.Module] = []
        for a, b in pairwise(widths):
            parts += [nn.Linear(a, b, dtype=torch.float64), nn.ReLU()]
        return nn.Sequential(*parts[:-1])


def weaken(module: nn.Sequential, layer: int, unit: int, factor: float) -> None:
    """Multiply all weights at a unit by `factor`."""
    with torch.no_grad():
        for weights in (module[layer].weight[unit], module[layer].bias[unit], module[layer + 2].weight[:, unit]):
            weights.mul_(factor)


@given(weighted_dags(dead_ends=True))
@settings(max_examples=60)
def test_exact_zeros_are_found_exactly(fields: Fields) -> None:
    graph = Network.from_edges(**fields)
    weights = as_floats(graph).numpy()
    found = disconnection(graph, weights)
    if found.gap == math.inf or found.count == len(graph.hidden_nodes):
        assert len(graph.hidden_nodes) - found.count == jacobian_rank(graph, weights)
        assert found.largest_cut == 0
    else:  # a spread of weights of more than ten to one
        assert jacobian_rank(graph, weights) == len(graph.hidden_nodes)


@given(st.sets(st.integers(0, 7), max_size=5), st.sampled_from([0.0, 1e-9, 1e-3]))
@settings(max_examples=30)
def test_weak_neurons_are_removed(units: set[int], factor: float) -> None:
    module = network(3, 8, 2)
    for unit in units:
        weaken(module, 0, unit, factor)
    pruned = prune(module)
    assert pruned.removed == tuple(f"h1.{k}" for k in sorted(units))
    assert pruned.disconnection.count == len(units)
    assert pruned.module[0].weight.shape == (8 - len(units), 3)
    assert pruned.module[2].weight.shape == (2, 8 - len(units))
    assert pruned.is_smaller
    if factor == 0.0:
        assert pruned.is_unchanged
    elif units:
        # The product of an incoming and an outgoing weight, and rounding.
        assert pruned.relative_change < 30 * factor**2 + 1e-14
        assert pruned.is_unchanged == (factor < 1e-6)


def test_the_module_itself_is_not_changed() -> None:
    module = network(3, 6, 1)
    weaken(module, 0, 2, 1e-4)
    before = [parameter.clone() for parameter in module.parameters()]
    pruned = prune(module)
    assert pruned.removed
    assert all(torch.equal(one, other) for one, other in zip(before, module.parameters(), strict=True))


def test_deep_networks_lose_units_of_every_layer() -> None:
    module = network(4, 7, 6, 3)
    weaken(module, 0, 5, 1e-6)
    weaken(module, 2, 0, 1e-6)
    pruned = prune(module, data=torch.ones(4, 4, dtype=torch.float64))
    assert pruned.removed == ("h1.5", "h2.0")
    assert [tuple(p.shape) for p in pruned.module.parameters()] == [(6, 4), (6,), (5, 6), (5,), (3, 5), (3,)]
    assert pruned.relative_change < 1e-10
    assert (pruned.module[2].in_features, pruned.module[2].out_features) == (6, 5)


def test_a_group_of_joined_neurons_is_one_defect() -> None:
    """Two neurons joined to each other and to nothing else: rank drops by one, and both are removed."""
    graph = Network.from_edges([("x", "a"), ("a", "b"), ("b", "y"), ("x", "c"), ("c", "y")])
    found = disconnection(graph, np.array([1e-8, 1.0, 1e-8, 1.0, 1.0]))
    assert (found.count, found.nodes, found.largest_cut) == (1, (1, 2), 1e-8)
    assert found.gap > 1e6


def test_nothing_is_disconnected_without_a_gap() -> None:
    module = network(5, 20, 3)
    pruned = prune(module)
    assert (pruned.removed, pruned.disconnection.count, pruned.change) == ((), 0, 0)
    assert pruned.disconnection.gap < 10
    assert pruned.is_smaller
    # Who asks for less gets less.
    assert prune(module, least_gap=1.0).removed


def test_zero_networks_are_disconnected_altogether() -> None:
    module = network(2, 3, 1)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
    pruned = prune(module)
    assert len(pruned.removed) == 3
    assert pruned.is_unchanged
    assert pruned.disconnection.gap == math.inf


class Residual(nn.Module):
    """A block with a skip connection, whose channels a linear layer cannot lose alone."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.inner, self.last = (nn.Linear(a, b, dtype=torch.float64) for a, b in ((3, 4), (4, 4), (4, 1)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.relu(self.first(x))
        return self.last(h + self.inner(h))


def test_other_architectures_keep_their_shape() -> None:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        module = nn.Sequential(
            nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 1, 3), nn.Flatten(), nn.Linear(16, 2)
        ).double()
    module.example_input_array = torch.zeros(2, 1, 8, 8, dtype=torch.float64)
    with torch.no_grad():
        for weights in (module[0].weight[1], module[0].bias[1], module[2].weight[:, 1]):
            weights.zero_()
    pruned = prune(module)
    assert len(pruned.removed) == 1
    assert not pruned.is_smaller
    assert pruned.is_unchanged
    assert prune(Residual()).change == 0


# The command.

MODELS = """
import torch
from torch import nn
def weak():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 1)).double()
    with torch.no_grad():
        for weights in (module[0].weight[3], module[0].bias[3], module[2].weight[:, 3]):
            weights.mul_(FACTOR)
    return module
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("name", "factor", "status"), [("zero_units", 0.0, 0), ("weak_units", 1e-2, 1)])
def test_command(folder: Path, capsys: pytest.CaptureFixture[str], name: str, factor: float, status: int) -> None:
    (folder / f"{name}.py").write_text(MODELS.replace("FACTOR", str(factor)))
    np.savez(folder / "inputs.npz", x=np.ones((4, 2)))
    arguments = ["prune", f"{name}:weak", "--data", "inputs.npz", "--output", "small.safetensors"]
    assert main([*arguments, "--json"]) == status
    answer = json.loads(capsys.readouterr().out)
    jsonschema.validate(answer, SCHEMA)
    assert (answer["removed"], answer["disconnected"], answer["unchanged"]) == (["h1.3"], 1, status == 0)
    assert answer["gap"] == "inf" if factor == 0 else answer["gap"] > 10
    saved = safetensors.torch.load_file(folder / "small.safetensors")
    assert saved["0.weight"].shape == (4, 2)
    assert main(arguments) == status
    shown = capsys.readouterr().out
    assert "1 of 5 neurons are disconnected" in shown
    assert ("unchanged up to rounding" in shown) == (status == 0)


@pytest.mark.parametrize(
    ("activation", "message"),
    [
        ("ReLU", "largest gap in the spectrum is a factor of "),
        ("GELU", "No neuron of this module obeys a law of balance"),
    ],
)
def test_command_says_why_nothing_is_disconnected(
    folder: Path, capsys: pytest.CaptureFixture[str], activation: str, message: str
) -> None:
    text = MODELS.replace("FACTOR", "1.0").replace("ReLU", activation)
    (folder / f"all_used_{activation}.py").write_text(text)
    assert main(["prune", f"all_used_{activation}:weak"]) == 0
    shown = capsys.readouterr().out
    assert message in shown
    assert ("one of 10 is needed" in " ".join(shown.split())) == (activation == "ReLU")


def test_command_refuses_what_is_no_module(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "graph.json").write_text('{"edges": [["x", "v", 1], ["v", "y", 1]]}')
    assert main(["prune", "graph.json"]) == 2
    assert "name it package.module:factory" in capsys.readouterr().err
