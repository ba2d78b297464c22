"""The graph of a PyTorch module: every edge is the parameter it says, every balance the one of the definition."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from autograd import laws, random_loss
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from lakatos import InputError, connectivity
from lakatos.core import Undecided
from lakatos.graphs import memory
from lakatos.graphs.layered import layered_network
from lakatos.graphs.models import ModelNetwork
from lakatos.numerics.modules import network_of

EPSILON = 2.0**-52


@st.composite
def perceptrons(draw: st.DrawFn) -> nn.Sequential:
    """Multilayer perceptrons of any shape, biases and dtype, wrapped and nested in neutral modules."""
    widths = draw(st.lists(st.integers(1, 4), min_size=2, max_size=5))
    dtype = draw(st.sampled_from([torch.float16, torch.bfloat16, torch.float32, torch.float64]))
    neutral = st.sampled_from([nn.ReLU, nn.Identity, nn.Dropout, nn.Flatten, lambda: nn.LeakyReLU(0.1)])
    parts: list[nn.Module] = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(draw(st.integers(0, 2**32 - 1)))
        for a, b in pairwise(widths):
            layer: list[nn.Module] = [nn.Linear(a, b, bias=draw(st.booleans()), dtype=dtype)]
            layer += [make() for make in draw(st.lists(neutral, max_size=2))]
            parts += [nn.Sequential(*layer)] if draw(st.booleans()) else layer
    return nn.Sequential(*parts)


def entry(module: nn.Module, text: str) -> float:
    """Look up ``2.weight[0, 7]`` in the module."""
    found = re.fullmatch(r"(.+)\[(.+)\]", text)
    assert found is not None
    return float(module.state_dict()[found[1]][tuple(int(k) for k in found[2].split(","))])


def linears(module: nn.Module) -> list[nn.Linear]:
    return [part for part in module.modules() if isinstance(part, nn.Linear)]


@given(perceptrons())
@settings(max_examples=25)
def test_every_edge_carries_the_entry_it_names(module: nn.Sequential) -> None:
    network = network_of(module)
    named = [network.parameter(e) for e in range(network.edge_count)]
    assert [entry(module, text) for text in named] == list(network.weights)
    assert len(set(named)) == sum(parameter.numel() for parameter in module.parameters())


@given(perceptrons())
@settings(max_examples=25)
def test_balances_are_squared_rows_minus_squared_columns(module: nn.Sequential) -> None:
    network = network_of(module)
    layers = linears(module)
    expected = []
    for layer, following in pairwise(layers):
        for k in range(layer.out_features):
            into = [*layer.weight[k].tolist(), *([] if layer.bias is None else layer.bias[k : k + 1].tolist())]
            out_of = following.weight[:, k].tolist()
            expected.append(sum(Fraction(w) ** 2 for w in into) - sum(Fraction(w) ** 2 for w in out_of))
    assert [network.balance(name) for name in network.hidden_names] == expected
    assert network.rounding == torch.finfo(layers[0].weight.dtype).eps / 2


@pytest.mark.parametrize("bias", [False, True])
def test_the_graph_is_that_of_the_layered_network(bias: bool) -> None:
    widths = [3, 4, 2, 2]
    module = nn.Sequential(*[nn.Linear(a, b, bias=bias) for a, b in pairwise(widths)])
    ours, reference = network_of(module).to_fields(), layered_network(widths, bias=bias).to_fields()
    assert sorted(edge[:2] for edge in ours["edges"]) == sorted(reference["edges"])
    assert ours["inputs"] == reference["inputs"]
    assert ours["outputs"] == reference["outputs"]


def test_edges_say_which_parameter_they_are_also_with_another_balance() -> None:
    module = nn.Sequential(OrderedDict(encode=nn.Linear(2, 1), act=nn.ReLU(), head=nn.Sequential(nn.Linear(1, 1))))
    network = network_of(module).with_balance({"encode.0": "-1/3"})
    assert isinstance(network, ModelNetwork)
    assert [network.describe_edge(e) for e in range(5)] == [
        "x0→encode.0 (encode.weight[0, 0])",
        "x1→encode.0 (encode.weight[0, 1])",
        "encode.bias→encode.0 (encode.bias[0])",
        "encode.0→y0 (head.0.weight[0, 0])",
        "head.0.bias→y0 (head.0.bias[0])",
    ]
    assert network.balance("encode.0") == Fraction(-1, 3)
    assert network.weights is None


def test_a_single_linear_layer_has_no_hidden_neuron() -> None:
    network = network_of(nn.Linear(2, 3))
    assert network.parameter(5) == "weight[2, 1]"
    assert network.hidden_names == ()


def test_mixed_dtypes_round_like_the_coarsest() -> None:
    module = nn.Sequential(nn.Linear(2, 2, dtype=torch.float64), nn.Linear(2, 1, dtype=torch.bfloat16))
    assert network_of(module).rounding == 2.0**-8


class Doubled(nn.Linear):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 2 * super().forward(x)


class Reversed(nn.Sequential):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for part in reversed(list(self)):
            x = part(x)
        return x


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Sequential(Doubled(2, 3), nn.ReLU(), nn.Linear(3, 1)),
        lambda: Reversed(nn.Linear(3, 1), nn.ReLU(), nn.Linear(2, 3)),
    ],
    ids=["a subclass that scales", "a sequence run backwards"],
)
def test_the_forward_pass_counts_not_the_list_of_layers(make: Callable[[], nn.Module]) -> None:
    network = network_of(make(), torch.zeros(2, 2))
    assert (network.edge_count, network.hidden_names) == (13, ("h1.0", "h1.1", "h1.2"))


def tied() -> nn.Module:
    first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    second.weight = first.weight
    return nn.Sequential(first, nn.ReLU(), second)


def tied_in_memory() -> nn.Module:
    first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    second.weight = nn.Parameter(first.weight.detach())
    return nn.Sequential(first, nn.ReLU(), second)


def repeated() -> nn.Module:
    layer = nn.Linear(2, 2)
    return nn.Sequential(layer, nn.ReLU(), layer)


@pytest.mark.parametrize("make", [tied, tied_in_memory, repeated])
def test_a_weight_between_inputs_hidden_units_and_outputs_leaves_no_law(make: Callable[[], nn.Module]) -> None:
    network = network_of(make())
    assert network.hidden_names == ()
    assert network.blocks[0].name == "0.weight"
    assert sum(block.name.endswith("weight") for block in network.blocks) == 1


def overlapping() -> nn.Module:
    first, second = nn.Linear(2, 2, bias=False), nn.Linear(2, 1, bias=False)
    second.weight = nn.Parameter(first.weight.detach()[1:])
    return nn.Sequential(first, nn.ReLU(), second)


def diverged() -> nn.Module:
    module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    with torch.no_grad():
        module[1].weight[0, 1] = torch.nan
    return module


class Branching(nn.Linear):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x) if x.sum() > 0 else x


class Sorting(nn.Linear):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x).msort()


def hidden_between(part: Callable[[], nn.Module]) -> Callable[[], nn.Module]:
    return lambda: nn.Sequential(nn.Linear(4, 4), nn.Sequential(part()), nn.Linear(4, 1))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (hidden_between(lambda: Sorting(4, 4)), r"module 1\.0: aten\.msort\.default: this operation is not supported"),
        (hidden_between(lambda: nn.Flatten(0)), r"cannot be traced with inputs of shape \(2, 4\)"),
        (hidden_between(lambda: Branching(4, 4)), r"cannot be traced .* let no branch depend on data"),
        (lambda: nn.Sequential(nn.Linear(2, 3), nn.Linear(6, 1)), r"cannot be traced"),
        (lambda: nn.Sequential(nn.ReLU()), r"no layer tells the shape of its input; set module\.example_input_array"),
        (lambda: nn.LayerNorm(3, elementwise_affine=False), r"no trained weight"),
        (overlapping, r"2\.weight: shares part of its memory with 0\.weight"),
        (diverged, r"1\.weight\[0, 1\]=nan: weights must be finite"),
        (lambda: nn.Linear(2, 2, device="meta"), r"weight: torch\.float32 on device meta"),
        (lambda: nn.Linear(2, 2, dtype=torch.complex64), r"weight: torch\.complex64"),
    ],
)
def test_what_cannot_be_converted_is_refused_by_path_and_reason(make: Callable[[], nn.Module], message: str) -> None:
    with pytest.raises(InputError, match=message):
        network_of(make())


class Image(nn.Module):
    """A convolution before a layer that fits one size of image only."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.convolution, self.head = nn.Conv2d(1, 2, 3, padding=1), nn.Linear(2 * size * size, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.convolution(x).relu().flatten(1))  # type: ignore[no-any-return]


def test_sizes_of_images_are_tried_in_silence(capfd: pytest.CaptureFixture[str]) -> None:
    assert network_of(Image(16)).hidden_names == ("convolution.0", "convolution.1")
    with pytest.raises(
        InputError, match=r"inputs of shape \(2, 1, 32, 32\), nor with 12 other sizes .*example_input_array"
    ):
        network_of(Image(7))
    with pytest.raises(InputError, match="let no branch depend on data"):
        network_of(Branching(4, 4))
    assert capfd.readouterr() == ("", "")


def test_memory_is_estimated_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 1000)
    with pytest.raises(Undecided, match=r"a network of 16 weights or more needs about .* GiB of memory"):
        network_of(nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 4)))


def test_something_else_than_a_module_is_refused() -> None:
    something: Any = [[1.0]]
    with pytest.raises(InputError, match=r"a torch\.nn\.Module is needed, got list"):
        network_of(something)


@given(perceptrons(), st.integers(0, 100))
@settings(max_examples=25)
def test_autograd_conserves_the_balance_of_this_graph(module: nn.Sequential, seed: int) -> None:
    module = module.double().eval()
    first = linears(module)[0]
    rows = 10
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, first.in_features, dtype=torch.float64, generator=generator)
    law = laws(module, network_of(module), random_loss(module, x, seed=seed))
    # The identity is exact; rounding is at most 8 ε n S_v with n = batch × largest fan-in (4 and a bias) × depth (4).
    assert (abs(law.residual) <= 8 * EPSILON * rows * 5 * 4 * law.scale).all()


@pytest.fixture
def breast_cancer(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(Path(__file__).parents[1])
    return import_module("examples.breast_cancer")


def test_trained_breast_cancer_network_obeys_its_conservation_law(breast_cancer: ModuleType) -> None:
    module = breast_cancer.model()
    _, test = breast_cancer.data()
    correct = ((module(test.features) > 0) == (test.labels > 0.5)).double().mean().item()
    # The reference run classifies 163 of 169 correctly; other processors may round a borderline case to the other side.
    assert abs(correct - 163 / 169) <= 2 / 169
    network = network_of(module)
    assert (network.edge_count, len(network.hidden_nodes)) == (641, 20)
    train, _ = breast_cancer.data()
    loss = nn.functional.binary_cross_entropy_with_logits(module(train.features), train.labels)
    law = laws(module, network, loss)
    # As above with n = 400 rows × fan-in 31 × depth 2.
    assert (abs(law.residual) <= 8 * EPSILON * 400 * 31 * 2 * law.scale).all()
    # Not vacuous: the gradient is far above that error.
    assert law.scale.max() > 1e-8


def test_untrained_breast_cancer_network_is_reproducible_and_unobstructed(breast_cancer: ModuleType) -> None:
    state = torch.random.get_rng_state()
    network, again = network_of(breast_cancer.untrained()), network_of(breast_cancer.untrained())
    assert torch.equal(torch.random.get_rng_state(), state)
    assert np.array_equal(np.asarray(network.weights), np.asarray(again.weights))
    # Default initialization gives a neuron 31 incoming weights of variance 1/90 and one outgoing of variance 1/60.
    assert all(network.balance(name) > 0 for name in network.hidden_names)
    assert connectivity(network).connected is True
