"""Laws fitted to gradients against those that are proved."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.func import grad

from lakatos.numerics.law_fits import fitted_laws
from lakatos.numerics.simulated_networks import trainable
from lakatos.numerics.simulated_training import LOSSES
from lakatos.theory.law_count import law_count


def loss_of(architecture: str, sizes: tuple[int, ...], loss: str = "squared", **fields: bool):
    made = trainable(architecture, sizes, **fields)

    def sampler(count: int, generator: torch.Generator) -> tuple[Tensor, ...]:
        x, y = (torch.randn((count, *s), generator=generator, dtype=torch.float64) for s in (made.shape, made.outputs))
        return x, torch.softmax(y, dim=-1) if loss == "cross-entropy" else y

    return made, (lambda t, z: LOSSES[loss](made.network(t, z[0]), z[1])), sampler


@pytest.mark.parametrize(
    ("architecture", "sizes", "fields"),
    [
        ("linear", (2, 2, 2), {}),
        ("relu", (2, 2, 2), {"bias": True}),
        ("attention", (2, 2), {}),
        ("convolution", (1, 2, 1, 2, 2), {}),
        ("swiglu", (2, 2, 2), {}),
        ("lightning", (3, 1, 1), {}),
    ],
)
def test_fitted_laws_are_the_proved_ones(architecture: str, sizes: tuple[int, ...], fields: dict[str, bool]) -> None:
    made, loss, sampler = loss_of(architecture, sizes, **fields)
    found = fitted_laws(loss, made.parameters, sampler)
    count = law_count({"architecture": architecture, "sizes": list(sizes), **fields}).plain
    # Of deep linear nets with two equal ends every law is quadratic, as are the others here.
    assert len(found) == count.count
    for law in found:
        assert all(c.denominator <= 2 for c in law.values())
    # Both span the same space of gradients.
    point = np.random.default_rng(3).standard_normal(made.parameters)
    fitted = np.array([gradient(law, point) for law in found])
    proved = np.array([gradient(numerator, point) for numerator, _ in count.laws])
    assert np.linalg.matrix_rank(np.concatenate([fitted, proved]), tol=1e-8) == count.count


def gradient(law: dict[tuple[int, ...], Fraction | int], point: np.ndarray) -> np.ndarray:
    t = torch.as_tensor(point)
    return grad(lambda s: sum(float(c) * torch.prod(s[list(m)]) for m, c in law.items()))(t).numpy()


def test_what_is_known_is_not_found_again() -> None:
    made, loss, sampler = loss_of("linear", (3, 2, 2), "cross-entropy")
    squared = loss_of("linear", (3, 2, 2))[1]
    shared = fitted_laws(squared, made.parameters, loss_of("linear", (3, 2, 2))[2])
    more = fitted_laws(loss, made.parameters, sampler, known=shared)
    assert len(shared) == 3
    assert more == [{(0,): 1, (2,): 1, (4,): 1}, {(1,): 1, (3,): 1, (5,): 1}]


def test_no_law_is_made_up() -> None:
    made, loss, sampler = loss_of("tanh", (2, 2, 2))
    assert fitted_laws(loss, made.parameters, sampler) == []


def test_many_parameters_have_sums_of_squares_only() -> None:
    made, loss, sampler = loss_of("linear", (4, 4, 8))
    found = fitted_laws(loss, made.parameters, sampler)
    assert len(found) == 4
    assert all(first == last for law in found for first, last in law)
