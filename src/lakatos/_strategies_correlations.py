"""Hypothesis strategies for hypotheses that are polynomials in their parameters, and activations; see `lakatos.testing`."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from ._strategies_networks import Fields, at_least, small_fractions

__all__ = ["SMOOTH", "activations", "polynomial_hypotheses"]

SMOOTH = ("identity", "tanh", "erf", "sin", "softplus")


def polynomial_hypotheses(
    *, max_parameters: int = 3, max_inputs: int = 2, max_degree: int = 3, max_terms: int = 3
) -> st.SearchStrategy[Fields]:
    """Return a strategy for hypotheses F(θ)(x): ``parameters``, ``functions``, ``theta`` and ``rate``.

    Parameters
    ----------
    max_parameters, max_inputs, max_degree, max_terms : int
        At least 1.

    Raises
    ------
    InputError
        If a bound is too small.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(polynomial_hypotheses(), lambda fields: "t0*t1" in fields["functions"][0])
    {'parameters': ['t0', 't1'], 'functions': ['t0*t1'], 'theta': [0, 0], 'rate': 1}
    """
    at_least(1, max_parameters=max_parameters, max_inputs=max_inputs, max_degree=max_degree, max_terms=max_terms)
    return _polynomial_hypotheses(max_parameters, max_inputs, max_degree, max_terms)


@st.composite
def _polynomial_hypotheses(draw: st.DrawFn, parameters: int, inputs: int, degree: int, terms: int) -> Fields:
    names = [f"t{i}" for i in range(draw(st.integers(1, parameters)))]
    monomial = st.lists(st.sampled_from(names), min_size=1, max_size=degree).map(lambda m: "*".join(sorted(m)))
    factor = st.sampled_from(["", "2*", "-", "1/2*", "-3*"])
    term = st.tuples(factor, monomial).map("".join)
    function = st.lists(term, min_size=1, max_size=terms).map(lambda parts: " + ".join(parts).replace("+ -", "- "))
    return {
        "parameters": names,
        "functions": draw(st.lists(function, min_size=1, max_size=inputs)),
        "theta": [draw(small_fractions()) for _ in names],
        "rate": draw(st.sampled_from([1, "1/2", "1/10", 2])),
    }


def activations(
    names: Sequence[str] = SMOOTH, *, polynomials: bool = True, max_degree: int = 3
) -> st.SearchStrategy[Fields]:
    """Return a strategy for activations: ``{"activation": "tanh"}``, or a polynomial with ``coefficients``, constant first.

    Parameters
    ----------
    names : sequence of str
        The activations to draw from.
    polynomials : bool
        Draw polynomials too, of degree 1 to `max_degree`.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(activations(["tanh"]), lambda fields: fields["activation"] == "polynomial")
    {'activation': 'polynomial', 'coefficients': [0, 1]}
    """
    named = st.sampled_from(list(names)).map(lambda name: {"activation": name})
    if not polynomials:
        return named
    lower = st.lists(st.integers(-2, 2), min_size=1, max_size=max_degree)
    written = st.builds(lambda rest: {"activation": "polynomial", "coefficients": [*rest, 1]}, lower)
    return named | written
