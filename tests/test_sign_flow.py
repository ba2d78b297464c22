"""The flow along signs of gradients: counts for random weights, by brute force over errors, and lies about them."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos.checker import Invalid, check_certificate
from lakatos.theory.exact_matrices import rows
from lakatos.theory.sign_flow import generic_hyperplanes, sign_certificate

# n, m, r: rank of all sign vectors.
RANKS = {
    (1, 2, 1): 3,
    (1, 10, 1): 11,
    (2, 2, 1): 4,
    (2, 2, 2): 8,
    (2, 3, 2): 10,
    (3, 4, 2): 14,
    (8, 7, 4): 60,
    (1, 1, 1): 1,
    (1, 1, 3): 1,
    (1, 2, 2): 4,
    (3, 1, 2): 5,
}


@pytest.mark.parametrize(("sizes", "rank"), RANKS.items(), ids=str)
def test_ranks(sizes: tuple[int, int, int], rank: int) -> None:
    n, m, r = sizes
    generator = np.random.default_rng(0)
    u, v = (rows(generator.integers(1, 100, (k, r)).tolist()) for k in (n, m))
    facts = check_certificate({"u": u, "v": v}, sign_certificate(u, v).to_json())
    assert facts["parameters"] - rank == facts["laws"] == facts["laws_at_least"]
    assert generic_hyperplanes(n, m, r) == rank


columns = st.integers(1, 2).map(lambda r: st.lists(st.integers(-2, 2), min_size=r, max_size=r))
matrices = columns.flatmap(
    lambda row: st.tuples(st.lists(row, min_size=1, max_size=2), st.lists(row, min_size=1, max_size=2))
)


@given(matrices)
@settings(max_examples=40)
def test_by_all_small_errors(weights: tuple[Any, Any]) -> None:
    """Special weights too: parallel columns and coordinate vectors. Chambers have small points."""
    u, v = (rows(matrix) for matrix in weights)
    if not all(any(column) for matrix in (u, v) for column in zip(*matrix, strict=True)):
        with pytest.raises(Invalid, match="vanishes"):
            check_certificate({"u": u, "v": v}, {"kind": "sign_flow", "errors": []})
        return
    a, b = (np.array(matrix, float) for matrix in weights)
    signs = set()
    for entries in itertools.product((-7, -4, -3, -1, 1, 3, 4, 7), repeat=len(u) * len(v)):
        g = np.array(entries, float).reshape(len(u), len(v))
        gradient = np.sign(np.concatenate([(g @ b).ravel(), (g.T @ a).ravel()]))
        if gradient.all():
            signs.add(tuple(gradient))
    facts = check_certificate({"u": u, "v": v}, sign_certificate(u, v).to_json())
    assert facts["laws"] == facts["parameters"] - np.linalg.matrix_rank(np.array(sorted(signs)))


def test_the_laws_between_one_output_are_conserved_along_every_sign() -> None:
    """d(v_jk sgn u_k) = −sgn(g_j) for all k, whatever the data: the differences stay, which are (r − 1)m laws."""
    generator = np.random.default_rng(1)
    u, v = generator.standard_normal((1, 3)), generator.standard_normal((2, 3))
    for _ in range(100):
        g = generator.standard_normal((1, 2))
        speed = -np.sign(g.T @ u) * np.sign(u)
        assert np.ptp(speed, axis=1).max() == 0
        assert not np.any(np.sign(g @ v) == 0)


FIELDS = {"u": [[2, -3], [1, 5]], "v": [[1, 4], [-3, 7]]}


@pytest.mark.parametrize(
    ("errors", "message"),
    [
        ([[[3, 1], [1, 1]]], "vanishes"),
        ([[[1, 2]]], "2 x 2"),
        ([[[1, 2], [3]]], "one positive length"),
        ([[[1, 0.5], [3, 1]]], "exact number"),
        ("all", "a list"),
        ([[[1, 2], [3, 4]]] * 1001, "at most 1000"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_bad_errors_are_refused(errors: Any, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        check_certificate(FIELDS, {"kind": "sign_flow", "errors": errors})


def test_few_errors_bound_less() -> None:
    u, v = rows(FIELDS["u"]), rows(FIELDS["v"])
    errors = sign_certificate(u, v).data["errors"]
    assert len(errors) == 8
    facts = check_certificate(FIELDS, {"kind": "sign_flow", "errors": [*errors[:5], errors[0]]})
    assert (facts["laws_at_least"], facts["laws_at_most"], "laws" in facts) == (0, 3, False)


def test_weights_that_are_no_matrices_are_refused() -> None:
    for fields in (
        {},
        {"u": [[1]], "v": [[1, 2]]},
        {"u": [], "v": [[1]]},
        [1],
        {"u": [[Fraction(1), "x"]], "v": [[1, 1]]},
    ):
        with pytest.raises(Invalid):
            check_certificate(fields, {"kind": "sign_flow", "errors": []})
