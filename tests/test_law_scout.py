"""Floating-point counts of laws: against the exact ones, and for networks that have no exact model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from lakatos.core import Undecided
from lakatos.numerics.law_scout import _rank, lie_scout, orbit_scout
from lakatos.numerics.model_losses import scouted
from lakatos.numerics.normalized_layers import normalized_scout
from lakatos.theory.law_count import law_count


@pytest.mark.parametrize(
    ("architecture", "sizes", "fields"),
    [
        ("linear", (3, 3, 3), {}),
        ("linear", (2, 2, 2), {}),
        ("linear", (2, 5, 2), {}),
        ("linear", (3, 2, 2), {"loss": "logits"}),
        ("relu", (3, 3, 3), {}),
        ("relu", (3, 3, 3), {"bias": True}),
        ("attention", (2, 2), {}),
        ("attention", (2, 2, 2), {}),
        ("lightning", (3, 2, 2), {}),
        ("swiglu", (2, 3, 2), {}),
        ("power", (2, 2, 3), {}),
        ("product", (5,), {}),
        ("rope", (2, 2), {}),
        ("rope", (2, 3), {}),
        ("rope", (4, 2), {}),
        ("gated-experts", (1, 3, 2), {}),
    ],
    ids=str,
)
def test_scouts_find_the_exact_count(architecture: str, sizes: tuple[int, ...], fields: dict[str, Any]) -> None:
    exact = law_count({"architecture": architecture, "sizes": sizes, **fields}).plain
    scout = scouted(architecture, sizes, bias=fields.get("bias", False), logits=fields.get("loss") == "logits")
    assert scout is not None
    assert (scout.laws, scout.parameters - scout.span_rank) == (exact.count, exact.trace)


@pytest.mark.parametrize(
    ("architecture", "logits", "laws"),
    [
        ("tanh", False, 0),
        ("gelu", False, 0),
        ("silu", False, 0),
        ("relu", True, 6),
        ("gelu", True, 3),
        ("linear", True, 9),
        ("square", False, 3),
        ("relu-skip", False, 3),
    ],
)
def test_activations(architecture: str, logits: bool, laws: int) -> None:
    scout = scouted(architecture, (3, 3, 3), logits=logits)
    assert scout is not None
    assert scout.laws == laws


@pytest.mark.parametrize("variant", ["attention-skip", "attention-causal"])
def test_a_skip_connection_or_a_mask_changes_no_law_of_attention(variant: str) -> None:
    scout = scouted(variant, (2, 2))
    assert scout is not None
    assert scout.laws == law_count({"architecture": "attention", "sizes": (2, 2)}).plain.count == 6


def test_with_a_single_token_queries_and_keys_stand_still() -> None:
    """The softmax of one number is 1, which leaves the product of two matrices."""
    scout = scouted("attention-one-token", (2, 2))
    linear = law_count({"architecture": "linear", "sizes": (2, 2, 2)}).plain.count
    assert scout is not None
    assert linear == 3
    assert scout.laws == 8 + linear


@pytest.mark.parametrize("sizes", [(2, 1, 1), (2, 2, 2)], ids=str)
def test_residual_blocks(sizes: tuple[int, ...]) -> None:
    """The gradients alone may miss a path that is active for no input at this point; brackets make up for it."""
    scout = scouted("residual", sizes)
    assert scout is not None
    assert scout.laws == law_count({"architecture": "residual", "sizes": sizes}).plain.count == sum(sizes[1:])


def test_scalar_residual_blocks_of_equal_signs_have_a_single_field() -> None:
    """Both units are active for x > 0, so that x(1 + uv)(1 + st) is all the loss sees: one law more than units."""
    theta = torch.tensor([0.7, 1.1, 0.4, 0.9], dtype=torch.float64)

    def loss(t: Tensor, z: tuple[Tensor, ...]) -> Tensor:
        x = z[0]
        for u, v in ((t[0], t[1]), (t[2], t[3])):
            x = x + u * torch.relu(v * x)
        return ((x - z[1]) ** 2).sum()

    def sampler(count: int, generator: torch.Generator) -> tuple[Tensor, ...]:
        return tuple(torch.randn(2, count, generator=generator, dtype=torch.float64))

    exact = law_count({"parameters": ["u", "v", "s", "t"], "potentials": ["u*v + s*t + u*v*s*t"]}).plain
    assert lie_scout(loss, theta, sampler).laws == exact.count == 3


def test_squares_have_a_law_for_each_unit() -> None:
    """The 3-3-3 net exactly: the loss sees Σ_k u_ok v_ki v_kj, and brackets reach all but 2|u|² − |v|² of each unit."""
    units = range(3)
    parameters = [f"{name}{i}{j}" for name in "uv" for i in units for j in units]
    potentials = [
        " + ".join(f"u{o}{k}*v{k}{i}*v{k}{j}" for k in units) for o in units for i in units for j in units if i <= j
    ]
    assert law_count({"parameters": parameters, "potentials": potentials}, degree=2).plain.count == 3


@pytest.mark.parametrize(
    ("layer", "units", "inputs", "eps", "laws"),
    [
        ("layer_norm", 4, 3, 0.0, 4),
        ("layer_norm", 4, 3, 0.1, 3),
        ("rms_norm", 4, 3, 0.0, 1),
        ("batch_norm", 4, 3, 0.0, 4),
        ("relu_layer_norm", 3, 3, 0.0, 7),
        ("relu_rms_norm", 3, 3, 0.0, 4),
        ("pre_layer_norm_relu", 3, 3, 0.0, 6),
    ],
)
def test_normalized_layers(layer: str, units: int, inputs: int, eps: float, laws: int) -> None:
    assert normalized_scout(layer, units, inputs, eps).laws == laws


def test_averages_over_inputs_and_labels() -> None:
    shifts = [(np.roll(np.eye(3), k, axis=0), np.roll(np.eye(3), k, axis=0)) for k in range(3)]
    invariant = [(g, np.eye(3)) for g, _ in shifts]
    joint, inputs_only = scouted("linear", (3, 3), elements=shifts), scouted("linear", (3, 3), elements=invariant)
    assert joint is not None
    assert inputs_only is not None
    assert (joint.laws, inputs_only.laws) == (4, 5)


def test_unknown_or_large_networks_are_left_alone() -> None:
    assert scouted("convolution", (1, 1, 1, 3, 3)) is None
    assert scouted("linear", (9, 9, 9)) is None


def linear(theta: Tensor, z: tuple[Tensor, ...]) -> Tensor:
    """A (2, 2, 2) linear net."""
    return 0.5 * ((theta[:4].reshape(2, 2) @ theta[4:].reshape(2, 2) @ z[0] - z[1]) ** 2).sum()


def pairs(count: int, generator: torch.Generator) -> tuple[Tensor, ...]:
    """Random inputs and labels."""
    x, y = (torch.randn(count, 2, generator=generator, dtype=torch.float64) for _ in range(2))
    return x, y


def test_a_degenerate_start_has_fewer_directions() -> None:
    theta = torch.tensor([1.0, 0, 0, 0, 1, 0, 0, 0], dtype=torch.float64)
    assert lie_scout(linear, theta, pairs).laws > 3


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "laws"), [((2, 2, 2), 3), ((4, 5, 3), 15), ((2, 5, 2), 14)], ids=str)
def test_the_bracket_free_method_agrees(sizes: tuple[int, int, int], laws: int) -> None:
    n, r, m = sizes
    theta = torch.randn((n + m) * r, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    def loss(t: Tensor, z: tuple[Tensor, ...]) -> Tensor:
        return 0.5 * ((t[: n * r].reshape(n, r) @ t[n * r :].reshape(r, m) @ z[0] - z[1]) ** 2).sum()

    def sampler(count: int, generator: torch.Generator) -> tuple[Tensor, ...]:
        x, y = (torch.randn(count, k, generator=generator, dtype=torch.float64) for k in (m, n))
        return x, y

    assert orbit_scout(loss, theta, sampler).laws == lie_scout(loss, theta, sampler).laws == laws


def test_a_rank_without_a_gap_is_undecided() -> None:
    with pytest.raises(Undecided, match="gap"):
        _rank(torch.tensor([[1.0, 0, 0], [1, 1e-7, 0], [1, 0, 1e-9]], dtype=torch.float64))
