"""Partly fixed layers, alignment, and the command that compares two runs."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from lakatos.core import InputError
from lakatos.numerics import alignment, masked
from lakatos.numerics import identification as identification_module
from lakatos.numerics.identification import identification
from lakatos.numerics.layer_rows import layer_rows


def mlp(seed: int, kind: masked.Asymmetry = "w_asymmetric", *, fixed_seed: int = 0, sigma: float = 1.0) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 7), nn.ReLU(), nn.Linear(7, 3)).double()
    return masked.asymmetric(made, kind, fixed_share=0.25, sigma=sigma, seed=fixed_seed)


def problem(samples: int = 50) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randn(samples, 6, generator=generator, dtype=torch.float64)
    return inputs, inputs[:, :3].argmax(1)


# Layers ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["standard", "w_asymmetric", "sparse", "additive", "residual"])
def test_effective_weights_have_the_structure_of_their_kind(kind: Any) -> None:
    F, D = masked.draw_fixed((5, 8), kind, fixed_entries=3, sigma=2.0, seed=1)
    assert {float(x) for x in D.flatten()} <= {0.0, 1.0}
    zeros = (D == 0).sum(1).tolist()
    assert zeros == ([3] * 5 if kind in ("w_asymmetric", "sparse") else [0] * 5)
    fixed = {"standard": 0, "sparse": 0, "w_asymmetric": 15, "additive": 40, "residual": 5}[kind]
    assert int((F != 0).sum()) == fixed
    assert kind != "w_asymmetric" or bool(((F != 0) == (D == 0)).all())


def test_masked_convolution_computes_with_effective_weights() -> None:
    plain = nn.Conv2d(2, 3, 3, stride=2, padding=1).double()
    F, D = masked.draw_fixed((3, 2, 3, 3), "w_asymmetric", fixed_entries=4)
    layer = masked.MaskedConv2d(plain, F, D)
    x = torch.randn(2, 2, 7, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    dense = copy.deepcopy(plain)
    with torch.no_grad():
        dense.weight.copy_(F + D * plain.weight)
    assert torch.allclose(layer(x), dense(x))
    layer(x).sum().backward()
    assert layer.weight.grad is not None
    assert bool((layer.weight.grad[D == 0] == 0).all())


def test_interpolation_mixes_trainable_weights_and_keeps_fixed_ones() -> None:
    first, second = mlp(1), mlp(2)
    state = masked.interpolated_state(first, second, 0.25)
    a, b = first.state_dict(), second.state_dict()
    assert torch.allclose(state["0.weight"], 0.75 * a["0.weight"] + 0.25 * b["0.weight"])
    assert torch.equal(state["0.fixed"], a["0.fixed"])
    assert torch.equal(state["0.fingerprint"], a["0.fingerprint"])


def test_interpolation_refuses_other_fixed_weights_and_architectures() -> None:
    with pytest.raises(InputError, match="different fixed weights"):
        masked.interpolated_state(mlp(1), mlp(2, fixed_seed=5), 0.5)
    with pytest.raises(InputError, match="different architectures"):
        masked.interpolated_state(mlp(1), nn.Linear(6, 3), 0.5)


def test_bad_masks_are_named() -> None:
    with pytest.raises(InputError, match="fixed_entries=9"):
        masked.draw_fixed((5, 8), "sparse", fixed_entries=9)
    with pytest.raises(InputError, match="F, D: entries"):
        masked.MaskedLinear(nn.Linear(1, 1), torch.tensor([[math.nan]]), torch.ones(1, 1))
    with pytest.raises(InputError, match="two are needed"):
        masked.asymmetric(nn.Sequential(nn.Linear(1, 1)), "sparse")


# Comparing two runs ------------------------------------------------------------------------------------------------------


def test_alignment_keeps_the_function_and_undoes_a_permutation() -> None:
    first = mlp(1, "standard")
    second = copy.deepcopy(first)
    order = torch.tensor([3, 0, 1, 2, 5, 4, 7, 6])
    with torch.no_grad():
        second[0].weight.copy_(second[0].weight[order])  # type: ignore[index]
        second[0].bias.copy_(second[0].bias[order])  # type: ignore[index]
        second[2].weight.copy_(second[2].weight[:, order])  # type: ignore[index]
    inputs, targets = problem()
    assert torch.allclose(first(inputs), second(inputs))
    found = identification(first, second, inputs, targets, explained=1.0)
    assert not found.layers[0].activation_matching_identity
    assert found.layers[1].activation_matching_identity
    assert found.aligned is not None
    assert abs(found.aligned.value) < 1e-12


def test_network_merges_with_itself() -> None:
    inputs, targets = problem()
    network = mlp(1)
    found = identification(network, network, inputs, targets)
    assert found.merges
    assert abs(found.unaligned.value) < 1e-12
    assert found.predicted_bound < 1e-12
    assert all(layer.activation_matching_identity and layer.measured_deviation == 0 for layer in found.layers)


def test_barrier_stays_below_its_bound_and_deviations_below_theirs() -> None:
    inputs, targets = problem()
    generator = torch.Generator().manual_seed(0)
    first = mlp(1, "additive", sigma=3.0)
    second = copy.deepcopy(first)
    with torch.no_grad():
        for layer in (second[0], second[2]):  # type: ignore[index]
            layer.weight.add_(0.1 * torch.randn(layer.weight.shape, generator=generator, dtype=torch.float64))
    found = identification(first, second, inputs, targets, explained=1.0)
    assert found.unaligned.value <= found.predicted_bound
    assert all(np.isfinite(layer.center_dominance).all() for layer in found.layers)


def test_neurons_without_fixed_weights_are_interchangeable() -> None:
    inputs, targets = problem()
    layer = identification(mlp(1, "standard"), mlp(2, "standard"), inputs, targets).layers[0]
    assert np.isinf(layer.center_dominance).all()
    assert abs(layer.margin) < 1e-9
    assert np.abs(layer.swaps).max() < 1e-9


def cnn(seed: int, *norm: nn.Module, fixed_seed: int = 0, kind: masked.Asymmetry = "w_asymmetric") -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        features = nn.Sequential(nn.Conv2d(1, 4, 3, padding="same"), *norm, nn.ReLU(), nn.MaxPool2d(2))
        made = nn.Sequential(
            features,
            nn.Conv2d(4, 6, 3, padding=1, stride=2),
            nn.GELU(),
            nn.Flatten(),
            nn.Linear(24, 5),
            nn.ReLU(),
            nn.Linear(5, 3),
        ).double()
    return masked.asymmetric(made, kind, seed=fixed_seed)


def pictures(samples: int = 60) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(samples, 1, 8, 8, generator=generator, dtype=torch.float64), torch.arange(samples) % 3


def test_convolutions_are_compared_too() -> None:
    found = identification(cnn(1), cnn(2), *pictures())
    assert [(layer.name, layer.neurons) for layer in found.layers] == [("0.0", 4), ("1", 6), ("4", 5)]
    assert found.left_out == {}


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
@pytest.mark.parametrize("padding", [0, 1, "same", "valid"])
def test_rows_of_convolutions_give_their_outputs(padding: Any) -> None:
    x = pictures(20)[0].expand(-1, 2, -1, -1)
    for kernel, dilation in ((3, 1), (2, 1), ((2, 3), (2, 1))):
        layer = nn.Conv2d(2, 3, kernel, padding=padding, dilation=dilation).double()
        with torch.no_grad():
            rows, _ = layer_rows(layer, x)
            F, D, W = masked.effective_weight(layer)
            assert layer.bias is not None
            assert torch.allclose(rows[""].inputs @ (F + D * W).T + layer.bias, rows[""].outputs)
        assert len(rows[""].inputs) > 500


def test_rows_are_a_bounded_sample_that_networks_share() -> None:
    x = pictures(300)[0]
    with torch.no_grad():
        rows, others = (layer_rows(cnn(seed), x)[0] for seed in (1, 2))
    assert all(300 <= len(part.inputs) <= 4096 + 300 for part in rows.values())
    assert torch.equal(rows["0.0"].inputs, others["0.0"].inputs)
    assert not torch.equal(rows["1"].inputs, others["1"].inputs)


@pytest.mark.parametrize("norm", [(), (nn.BatchNorm2d(4),), (nn.GroupNorm(1, 4), nn.AvgPool2d(1))])
def test_alignment_of_channels_keeps_the_function_and_undoes_a_permutation(norm: tuple[nn.Module, ...]) -> None:
    inputs, targets = pictures()
    first = cnn(1, *norm, kind="standard")
    for part in first.modules():  # as after training: channels are told apart by their normalization too
        if isinstance(part, (nn.BatchNorm2d, nn.GroupNorm)):
            part.weight.data = torch.tensor([0.5, 1.0, 1.5, 2.0], dtype=torch.float64)
        elif isinstance(part, (masked.MaskedConv2d, masked.MaskedLinear, nn.Linear)):
            part.weight.data *= 4
    second = copy.deepcopy(first)
    with torch.no_grad():
        convolution, following, linear = second[0][0], second[1], second[4]  # type: ignore[index]
        for layer, after, order in (
            (convolution, following, torch.tensor([2, 0, 3, 1])),
            (following, linear, torch.tensor([5, 3, 1, 0, 2, 4])),
        ):
            for tensor in (layer.weight, layer.bias):
                tensor.copy_(tensor[order])
            blocks = torch.arange(after.weight.shape[1]).reshape(len(order), -1)[order].flatten()
            after.weight.copy_(after.weight[:, blocks])
        for part in second[0]:  # type: ignore[union-attr, index]
            if isinstance(part, (nn.BatchNorm2d, nn.GroupNorm)):
                part.weight.copy_(part.weight[torch.tensor([2, 0, 3, 1])])
    assert torch.allclose(first(inputs), second(inputs))
    found = identification(first, second, inputs, targets, batch_norm="reestimate")
    assert not any(layer.activation_matching_identity for layer in found.layers[:2])
    assert found.layers[2].activation_matching_identity
    assert found.aligned is not None
    assert found.unaligned.value > 1e-3 > 1e-12 > abs(found.aligned.value)


def test_networks_that_permutations_do_not_cover_are_not_aligned() -> None:
    grouped = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Conv2d(4, 4, 3, groups=2), nn.Flatten(), nn.Linear(64, 3)).double()
    found = identification(grouped, grouped, *pictures())
    assert found.aligned is None
    assert found.left_out == {"1": "a convolution with groups=2"}


class Attention(nn.Module):
    """An attention layer that uses the weights of a layer that it never calls, and a layer that nothing uses."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Linear(8, 8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.unused = nn.Linear(2, 2)
        self.head = nn.Linear(64, 3)
        self.double()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h: torch.Tensor = self.embedding(x[:, 0])
        return self.head(self.attention(h, h, h)[0].flatten(1))  # type: ignore[no-any-return]


def test_layers_that_are_never_called_are_left_out_by_name() -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = Attention()
    found = identification(network, network, *pictures())
    assert [layer.name for layer in found.layers] == ["embedding"]
    assert found.left_out == dict.fromkeys(("attention.out_proj", "unused"), "the network does not call it")


def test_convolutions_with_other_fixed_weights_are_refused() -> None:
    with pytest.raises(InputError, match=r"0\.0\.fingerprint: .* different fixed weights or masks"):
        identification(cnn(1), cnn(2, fixed_seed=7), *pictures())
    with pytest.raises(InputError, match="different fixed weights or masks"):
        identification(cnn(1), cnn(2, kind="standard"), *pictures())
    with pytest.raises(InputError, match="in one of the networks only"):
        identification(cnn(1), cnn(2, nn.BatchNorm2d(4)), *pictures(), batch_norm="reestimate")


def test_batches_do_not_change_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = identification(cnn(1), cnn(2), *pictures())
    monkeypatch.setattr(identification_module, "_BATCH", 7)
    parts = identification(cnn(1), cnn(2), *pictures())
    assert np.allclose(whole.losses, parts.losses, rtol=1e-12)
    assert whole.predicted_bound == pytest.approx(parts.predicted_bound, rel=1e-12)


def test_dead_layers_are_named() -> None:
    network = mlp(1)
    with torch.no_grad():
        network[0].bias.fill_(-1e6)  # type: ignore[index]
    with pytest.raises(InputError, match="2: data: zero or constant"):
        identification(network, network, *problem())


def test_batch_norm_is_refused_or_estimated_anew() -> None:
    inputs, targets = problem()
    networks = []
    for seed in (1, 2):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            networks.append(nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 3)))
    with pytest.raises(InputError, match="BatchNorm"):
        identification(*networks, inputs, targets)
    found = identification(*networks, inputs, targets, batch_norm="reestimate")
    assert np.isfinite(found.losses).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x, y: (x[:, :5], y), "do not fit the model"),
        (lambda x, y: (x * math.nan, y), "NaN or infinity"),
        (lambda x, y: (x, y[:-1]), "one class"),
        (lambda x, y: (x, y + 1), "classes 1 to 3"),
    ],
)
def test_data_that_do_not_fit_are_named(change: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        identification(mlp(1), mlp(2), *change(*problem()))


def test_correlations_of_constant_activations_are_zero() -> None:
    found = alignment.correlations(torch.tensor([[1.0, 2.0], [1.0, 4.0]]), torch.tensor([[0.0], [3.0]]))
    assert found.tolist() == [[0.0], [pytest.approx(1.0)]]
