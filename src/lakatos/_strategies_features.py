"""Hypothesis strategies for layers with features to realize, exact; see `lakatos.testing`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from ._strategies_layers import masked_layers
from ._strategies_networks import Fields, plain_number, small_fractions

__all__ = ["featured_layers", "permuted_layers"]


@st.composite
def featured_layers(draw: st.DrawFn, /, **options: Any) -> Fields:
    """Return a layer as `masked_layers` does, with up to three features ``A`` in the coordinates of U.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(featured_layers(), lambda layer: True)
    {'F': [[0]], 'D': [[1]], 'U': [[1]], 'A': [[0]]}
    """
    layer = draw(masked_layers(**options))
    k = len(layer["U"][0])
    rows = st.lists(small_fractions(), min_size=k, max_size=k)
    return {**layer, "A": draw(st.lists(rows, min_size=1, max_size=3))}


@st.composite
def permuted_layers(draw: st.DrawFn, /, *, is_spread: bool = False, **options: Any) -> Fields:
    """Return a layer with a feature that each neuron realizes, as ``A``, and a ``permutation`` of the neurons.

    Parameters
    ----------
    is_spread : bool
        Neurons have scales 1 and fixed weights everywhere, so that every neuron can have every feature.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(permuted_layers(), lambda layer: len(layer["F"]) == 2)
    {'F': [[0], [0]], 'D': [[1], [1]], 'U': [[1]], 'A': [[0], [0]], 'permutation': [0, 1]}
    """
    layer = draw(masked_layers(**options))
    U, n = layer["U"], len(layer["U"])
    if is_spread:
        rows = st.lists(small_fractions(), min_size=n, max_size=n)
        layer = {**layer, "D": [[1] * n for _ in layer["D"]], "F": [draw(rows) for _ in layer["F"]]}
    m = len(layer["F"])
    features = []
    for f, d in zip(layer["F"], layer["D"], strict=True):
        w = draw(st.lists(small_fractions(), min_size=n, max_size=n))
        weights = [Fraction(x) + Fraction(s) * Fraction(y) for x, s, y in zip(f, d, w, strict=True)]
        features.append(
            [
                plain_number(sum((x * Fraction(row[c]) for x, row in zip(weights, U, strict=True)), Fraction(0)))
                for c in range(len(U[0]))
            ]
        )
    return {**layer, "A": features, "permutation": draw(st.permutations(range(m)))}
