"""The law of weighted sums of squares against χ², against quadrature of the characteristic function, and its spectrum."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import chi2

from lakatos.core import Undecided
from lakatos.numerics.floats import floats
from lakatos.theory.matrices import product, transpose
from lakatos.theory.weighted_chi_squares import spectrum, weighted_chi_square_cdf


def by_inversion(t: float, weights: list[float]) -> float:
    """P(Q ≤ t) by Imhof's formula, ½ − π⁻¹ ∫ sin θ(u)/(u ρ(u)) du."""

    def integrand(u: float) -> float:
        angle = sum(math.atan(x * u) for x in weights) / 2 - t * u / 2
        size = math.prod((1 + (x * u) ** 2) ** 0.25 for x in weights)
        return math.sin(angle) / (u * size)

    total = sum(quad(integrand, a, b, limit=400)[0] for a, b in ((0, 1), (1, 10), (10, 100), (100, 1000)))
    return 0.5 - total / math.pi


@given(st.integers(1, 6), st.floats(0.1, 10), st.floats(0.01, 30))
def test_equal_weights_give_chi_square(k: int, weight: float, t: float) -> None:
    assert weighted_chi_square_cdf(t, [weight] * k + [0.0]) == pytest.approx(chi2.cdf(t / weight, k), abs=1e-11)


@pytest.mark.parametrize("weights", [[1.0, 2.0, 3.0, 4.0], [0.5, 0.5, 2.0, 5.0, 5.0], [0.2, 1.0, 1.0, 1.0, 3.0, 3.0]])
@pytest.mark.parametrize("t", [0.5, 3.0, 12.0])
def test_unequal_weights_agree_with_inversion(weights: list[float], t: float) -> None:
    # Behind 1000 the integrand is below 1000⁻³ for four weights and more.
    assert weighted_chi_square_cdf(t, weights) == pytest.approx(by_inversion(t, weights), abs=1e-4)


def test_law_is_monotone_and_ends_at_one() -> None:
    values = [weighted_chi_square_cdf(t, [0.1, 1.0, 3.0]) for t in np.linspace(0, 60, 25)]
    assert values[0] == 0
    assert values == sorted(values)
    assert values[-1] == pytest.approx(1, abs=1e-4)
    assert weighted_chi_square_cdf(-1.0, [1.0]) == 0


def test_series_that_does_not_end_is_undecided() -> None:
    with pytest.raises(Undecided, match="2000 terms"):
        weighted_chi_square_cdf(1.0, [1e-6, 1.0])


@given(st.lists(st.lists(st.fractions(-2, 2, max_denominator=3), min_size=3, max_size=3), min_size=1, max_size=3))
def test_spectrum_is_that_of_singular_values(rows: list[list[object]]) -> None:
    M = tuple(map(tuple, rows))
    values = [float(x) for x in spectrum(product(transpose(M), M))]  # type: ignore[arg-type]
    singular = np.linalg.svd(floats(M), compute_uv=False)  # type: ignore[arg-type]
    expected = np.zeros(len(values))
    expected[:] = singular[: len(values)] ** 2
    assert np.allclose(values, expected, atol=1e-10)
    assert len(values) == np.linalg.matrix_rank(floats(M))  # type: ignore[arg-type]
