"""Hypothesis strategies for dense layers with weights and an activation; see `lakatos.testing`."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from ._strategies_networks import Fields, at_least, small_fractions
from .graphs.layered import layered_network

__all__ = ["HOMOGENEOUS", "homogeneous_mlps"]

HOMOGENEOUS = ("relu", "leaky_relu", "abs", "identity")


def homogeneous_mlps(
    *,
    max_width: int = 2,
    max_hidden_layers: int = 2,
    bias: bool | None = None,
    activations: Sequence[str] = HOMOGENEOUS,
) -> st.SearchStrategy[Fields]:
    """Return a strategy for multilayer perceptrons: ``edges`` with exact weights, ``inputs``, ``outputs``, ``activation``.

    With biases, the sources of the bias edges are among the inputs and also listed under ``bias``.

    Parameters
    ----------
    max_width, max_hidden_layers : int
        At least 1. `max_width` bounds the numbers of inputs and outputs too.
    bias : bool or None
        Whether units and outputs have a bias; both occur if None.
    activations : sequence of str
        What is drawn from, simplest first; by default positively homogeneous of degree 1.

    Raises
    ------
    InputError
        If a bound is too small.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(homogeneous_mlps(), lambda fields: all(weight != 0 for _, _, weight in fields["edges"]))
    {'edges': [['x0', 'h1.0', 1], ['h1.0', 'y0', 1]], 'inputs': ['x0'], 'outputs': ['y0'], 'activation': 'relu'}
    """
    at_least(1, max_width=max_width, max_hidden_layers=max_hidden_layers)
    return _mlps(max_width, max_hidden_layers, st.booleans() if bias is None else st.just(bias), tuple(activations))


@st.composite
def _mlps(
    draw: st.DrawFn, max_width: int, max_hidden_layers: int, bias: st.SearchStrategy[bool], activations: tuple[str, ...]
) -> Fields:
    widths = draw(st.lists(st.integers(1, max_width), min_size=3, max_size=max_hidden_layers + 2))
    fields: Fields = layered_network(widths, bias=draw(bias)).to_fields()
    fields["edges"] = [[tail, head, draw(small_fractions())] for tail, head in fields["edges"]]
    fields["activation"] = draw(st.sampled_from(activations))
    biases = [name for name in fields["inputs"] if name.startswith("b")]
    return {**fields, "bias": biases} if biases else fields
