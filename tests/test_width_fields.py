"""Random networks of several widths as fields of instances: limits, and the names of fields that are refused."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

from lakatos.core import InputError
from lakatos.instance import build_instance
from lakatos.numerics import mlps
from lakatos.numerics.ensemble_fields import EnsembleFields
from lakatos.numerics.linearization_exponents import sphere_data
from lakatos.numerics.mlps import Architecture
from lakatos.theorems import load
from lakatos.theory.width_fields import WidthFields

WIDTHS = [2, 4, 6, 8, 10, 12]
MEAN_FIELD = load("not_weakly_correlated_of_mean_field").instance_class


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"activation": "swish"}, "activation='swish'"),
        ({"coefficients": [1]}, "coefficients: 1"),
        ({"kernel": 0}, "kernel=0"),
        ({"orders": []}, r"orders=\(\)"),
        ({"orders": [[0, 0]]}, "1 <= D"),
        ({"orders": [[0, 9]]}, "D \\+ d <= 8"),
        ({"orders": [[3, -1]]}, "orders="),
        ({"orders": [[0, 2], [0, 2]]}, "each pair once"),
        ({"widths": WIDTHS[:5]}, "at least 6"),
        ({"widths": [*WIDTHS[:5], 10]}, "increasing"),
        ({"widths": [1, *WIDTHS[1:]]}, "from 2 on"),
        ({"networks": 19}, "networks=19"),
        ({"widths": [2, 4, 8, 16, 32, 1 << 22], "networks": 32}, "neurons in all"),
        ({"widths": [2, 4, 6, 8, 10, 13], "paired": True}, "even widths"),
        ({"parametrization": "standard", "gamma": 1}, "gamma=1"),
        ({"parametrization": "standard", "orders": [[2, 0]]}, "D <= 1"),
    ],
)
def test_bad_layers_are_named(fields: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build_instance(WidthFields, {"activation": "tanh", "widths": WIDTHS, **fields})


@pytest.mark.parametrize(
    "fields",
    [
        {"networks": 20},
        {"orders": [[0, 8], [8, 0]]},
        {"widths": [2, 4, 6, 8, 10, 14], "paired": True},
        {"parametrization": "standard", "orders": [[0, 2], [1, 1]]},
        {"widths": [32, 64, 128, 256, 512, (1 << 17) - 992], "networks": 1 << 10},  # 2^27 neurons
    ],
)
def test_what_lies_at_the_limits_is_taken(fields: dict[str, object]) -> None:
    assert build_instance(WidthFields, {"activation": "tanh", "widths": WIDTHS, **fields})


def test_zeros_of_polynomials() -> None:
    """C_{D,d} differentiates φ D + d or D + d − 1 times."""

    def vanishing(**fields: object) -> list[int]:
        layer = build_instance(WidthFields, {"widths": WIDTHS, **fields})
        return [d for d in range(1, 7) if layer.vanishes(1, d)]

    assert vanishing(activation="identity") == [2, 3, 4, 5, 6]
    assert vanishing(activation="polynomial", coefficients=[5, 1, 0, 0]) == [2, 3, 4, 5, 6]
    assert vanishing(activation="polynomial", coefficients=[0, 0, 0, 1]) == [4, 5, 6]
    assert vanishing(activation="tanh") == []


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"activation": "swish"}, "activation='swish'"),
        ({"widths": WIDTHS[:5]}, "widths="),
        ({"networks": 1}, "networks=1"),
        ({"inputs": 0}, "inputs=0"),
        ({"hidden": 5}, "hidden=5"),
        ({"hidden": 0}, "hidden=0"),
        ({"rate": 0}, "rate=0"),
        ({"hidden": 2, "widths": [*WIDTHS, 1 << 14], "networks": 10}, "weights in all"),
    ],
)
def test_bad_ensembles_are_named(fields: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build_instance(EnsembleFields, {"widths": WIDTHS, **fields})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"orders": [[0, 3]]}, r"\(1, 1\)"),
        ({"parametrization": "standard", "gamma": "1/2"}, "parametrization='standard'"),
        ({"steps": -1}, "steps=-1"),
        ({"steps": 10, "activation": "softplus"}, "steps=10"),
        ({"steps": 10, "kernel": 2}, "kernel=2"),
    ],
)
def test_bad_trainings_in_the_mean_field_are_named(fields: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build_instance(MEAN_FIELD, {"activation": "tanh", "orders": [[0, 3], [1, 1]], **fields})


@pytest.mark.parametrize(
    ("steps", "first_width", "is_met"),
    [(9, 32, False), (10, 32, True), (20, 32, True), (21, 32, False), (16, 31, False)],
)
def test_training_has_to_be_under_way_and_not_over(steps: int, first_width: int, is_met: bool) -> None:
    fields = {"activation": "tanh", "orders": [[0, 3], [1, 1]], "widths": [first_width, 45, 64, 91, 128, 181]}
    instance = build_instance(MEAN_FIELD, {**fields, "steps": steps})
    assert (
        all(hypothesis.met for hypothesis in load("not_weakly_correlated_of_mean_field").hypotheses(instance)) is is_met
    )


def test_orthogonal_inputs() -> None:
    x, y = sphere_data(8, 4, 2, 3, orthogonal=True)
    eight = torch.full((6,), 8.0, dtype=torch.float64)
    torch.testing.assert_close((x @ x.T)[:4, :4], torch.diag(eight[:4]))
    torch.testing.assert_close(x.square().sum(1), eight)
    assert set(y.flatten().tolist()) <= {1.0, -1.0}
    plain, labels = sphere_data(8, 4, 2, 3)
    torch.testing.assert_close(plain[4:], x[4:])
    assert torch.equal(labels, y)
    everything, _ = sphere_data(8, 8, 0, 3, orthogonal=True)
    torch.testing.assert_close(everything @ everything.T, 8 * torch.eye(8, dtype=torch.float64))
    with pytest.raises(InputError, match="train=9"):
        sphere_data(8, 9, 2, 3, orthogonal=True)


@pytest.mark.parametrize(
    ("fields", "is_met"),
    [
        ({"activation": "tanh"}, True),
        ({"activation": "tanh", "steps": 460}, False),  # 5T = 46.6 steps
        ({"activation": "tanh", "steps": 470}, True),
        ({"activation": "tanh", "rate": "7/3"}, False),  # ηΘ = 2.004
        ({"activation": "tanh", "rate": "23/10"}, True),
        ({"activation": "sigmoid"}, False),
        ({"activation": "square"}, False),
        ({"activation": "square", "rate": "1/4"}, True),
        ({"activation": "cubic", "rate": "1/20"}, True),  # z³ − z: ηΘ = 1.6
        ({"activation": "cubic", "rate": "1/15"}, False),
    ],
)
def test_the_loss_derivative_has_decayed(fields: dict[str, object], is_met: bool) -> None:
    theorem = load("deviation_bounded_in_time_of_decaying_loss_derivative")
    _, decaying = theorem.hypotheses(build_instance(theorem.instance_class, fields))
    assert decaying.met is is_met, decaying.how


def test_mean_kernel_of_orthogonal_inputs() -> None:
    """E(φ² + φ'²) with themselves, (E φ)² with each other: for softplus 1.2146 and 0.8061², 5T = 20/(η · 0.565) steps."""
    x, _ = sphere_data(8, 4, 0, 1, orthogonal=True)
    kernel = mlps.tangent_kernel(mlps.draw(Architecture(8, 512, activation="softplus"), range(40)), x)[:, :, 0, :, 0]
    own, other = torch.diagonal(kernel.mean(0)).mean(), kernel.mean(0)[0, 1:].mean()
    assert float(own) == pytest.approx(1.2146, abs=0.02)
    assert float(other) == pytest.approx(0.8061**2, abs=0.02)
    theorem = load("deviation_bounded_in_time_of_decaying_loss_derivative")
    _, decaying = theorem.hypotheses(build_instance(theorem.instance_class, {"activation": "softplus"}))
    assert f"5T = {20 / (0.5 * (1.2146249 - 0.8060592**2)):.3g} steps" in decaying.how


@pytest.mark.parametrize(
    ("fields", "is_met"),
    [
        ({"widths": [16, 23, 32, 45, 64, 91]}, True),
        ({"widths": [15, 23, 32, 45, 64, 91]}, False),
        ({"widths": [31, 45, 64, 91, 128, 181], "parametrization": "standard"}, False),
        ({"widths": [32, 45, 64, 91, 128, 181], "parametrization": "standard"}, True),
        ({"widths": [8, 16, 32, 45, 64, 91], "parametrization": "standard", "trained": "last"}, True),
    ],
)
def test_widths_of_training_are_past_the_first_corrections(fields: dict[str, object], is_met: bool) -> None:
    theorem = load("training_linear_of_weakly_correlated")
    assert all(h.met for h in theorem.hypotheses(build_instance(theorem.instance_class, fields))) is is_met


def test_fractions_are_taken_for_what_they_are() -> None:
    layer = build_instance(WidthFields, {"activation": "tanh", "widths": WIDTHS, "gamma": "3/4", "kernel": 0.5})
    assert (layer.gamma, layer.kernel) == (Fraction(3, 4), Fraction(1, 2))
