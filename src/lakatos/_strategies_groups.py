"""Hypothesis strategies for orthogonal actions of groups and for models averaged over them; see `lakatos.testing`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st

from ._checker_groups import Square, action, kron, times, transpose
from ._checker_groups import identity as one
from ._strategies_layers import Rows, reflections
from ._strategies_networks import Fields, at_least, plain_number
from .core import InputError

__all__ = ["GROUP_KINDS", "TENSORIZABLE", "group_representations", "tensorizable_models"]

GROUP_KINDS = ("permutations", "signed permutations", "rotated")
"""Matrices that generate a group: of zeros and ones, with signs, and these in another orthonormal basis."""

TENSORIZABLE = ("linear", "power", "lightning")

_QUATERNIONS = [g for g, _ in action("Q8").generators]  # which signed permutations drawn at random are too rarely
_ON_LABELS = ("invariant", "signs", "as inputs")
_LARGEST_DIMENSION = 4  # signed permutations of four coordinates and a sign of the label: 768 elements


def group_representations(
    *,
    max_dimension: int = 4,
    max_generators: int = 2,
    kinds: Sequence[str] = GROUP_KINDS,
    labels: bool | None = None,
) -> st.SearchStrategy[Fields]:
    """Return a strategy for finite groups: orthogonal generators on ``inputs`` and perhaps on ``labels``, rows of rationals.

    They are fields of `lakatos.theory.model_fields.GroupFields`. Irreducibles of real, complex and quaternionic type occur,
    also several times. On labels the group acts by signs, or as on inputs; there are at most 768 elements.

    Parameters
    ----------
    max_dimension : int
        Largest dimension of the inputs, 1 to 4.
    max_generators : int
        At least 1.
    kinds : sequence of str
        What is drawn from, simplest first: ``permutations``, ``signed permutations``, and ``rotated``, which are signed
        permutations in another orthonormal basis.
    labels : bool or None
        Whether the group acts on the labels; both occur if None.

    Raises
    ------
    InputError
        If a bound is out of its range, or a kind is unknown.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(group_representations(), lambda group: "labels" in group)
    {'inputs': [[[1]]], 'labels': [[[1]]]}
    >>> find(group_representations(), lambda group: group["inputs"][0][0][0] == 0)
    {'inputs': [[[0, 1], [1, 0]]]}
    """
    at_least(1, max_dimension=max_dimension, max_generators=max_generators)
    if max_dimension > _LARGEST_DIMENSION:
        raise InputError(
            f"max_dimension={max_dimension!r}: must be at most {_LARGEST_DIMENSION}, so that all elements can be summed over"
        )
    _require_some(GROUP_KINDS, kinds=kinds)
    on_labels = st.sampled_from(_ON_LABELS[labels is True : 1 if labels is False else 3])
    return st.integers(1, max_dimension).flatmap(lambda n: _representations(n, max_generators, tuple(kinds), on_labels))


def tensorizable_models(
    *,
    architectures: Sequence[str] = TENSORIZABLE,
    max_width: int = 3,
    max_layers: int = 2,
    max_exponent: int = 3,
    group: bool | None = None,
) -> st.SearchStrategy[Fields]:
    """Return a strategy for models f = M(θ)T(x) and a symmetry of their data: ``architecture``, ``sizes``, ``group``.

    They are fields of `lakatos.theory.model_fields.ModelFields`: ``linear`` nets (T(x) = x), one layer of monomials
    (``power``) and ``lightning`` attention, whose squared loss depends on invariant second moments of T only. Groups are
    finite with generators, or O(d) or SO(d) by name; for attention they are the latter.

    Parameters
    ----------
    architectures : sequence of str
        What is drawn from, simplest first.
    max_width : int
        Largest number of inputs, outputs and units: 1 to 4, for ``lightning`` at least 2.
    max_layers : int
        Of weights in linear nets, at least 1.
    max_exponent : int
        Of the monomials, 1 to 4.
    group : bool or None
        Whether the data have a symmetry; both occur if None.

    Raises
    ------
    InputError
        If a bound is out of its range, or an architecture is unknown.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(tensorizable_models(), lambda model: model["architecture"] == "power" and "group" in model)
    {'architecture': 'power', 'sizes': [1, 1, 1], 'group': {'inputs': [[[1]]]}}
    >>> find(tensorizable_models(), lambda model: model["architecture"] == "lightning" and "group" in model)
    {'architecture': 'lightning', 'sizes': [2, 1, 1], 'group': {'name': 'O(2)'}}
    """
    at_least(1, max_layers=max_layers, max_exponent=max_exponent)
    at_least(2 if "lightning" in architectures else 1, max_width=max_width)
    for name, value in (("max_width", max_width), ("max_exponent", max_exponent)):
        if value > _LARGEST_DIMENSION:
            raise InputError(f"{name}={value!r}: must be at most {_LARGEST_DIMENSION}; lower it")
    _require_some(TENSORIZABLE, architectures=architectures)
    is_symmetric = st.booleans() if group is None else st.just(group)
    made = {
        "linear": _linear(max_width, max_layers, is_symmetric),
        "power": _powers(max_width, max_exponent, is_symmetric),
        "lightning": _lightning(max_width, is_symmetric),
    }
    return st.sampled_from(tuple(architectures)).flatmap(lambda name: made[name])


@st.composite
def _representations(
    draw: st.DrawFn, n: int, max_generators: int, kinds: Sequence[str], on_labels: st.SearchStrategy[str]
) -> Fields:
    """Return generators of a group on ℝⁿ, which is a number of equal copies of a smaller space."""
    kind = draw(st.sampled_from(kinds))
    size = draw(st.sampled_from([d for d in range(n, 0, -1) if n % d == 0]))
    copies = one(n // size)
    drawn = draw(st.lists(_monomials(kind != "permutations"), min_size=1, max_size=max_generators))
    generators = [kron(copies, _matrix(images, signs, size)) for images, signs in drawn]
    if len(drawn) >= 2 and size == len(_QUATERNIONS[0]) and kind != "permutations" and draw(st.booleans()):
        generators = _QUATERNIONS + generators[2:]
    if kind == "rotated":
        basis = tuple(map(tuple, draw(reflections(n, drawn_as=_LARGEST_DIMENSION))))
        generators = [times(times(basis, g), transpose(basis)) for g in generators]
    fields: Fields = {"inputs": [_plain(g) for g in generators]}
    on = draw(on_labels)
    if on == "as inputs":
        fields["labels"] = [_plain(g) for g in generators]
    elif on == "signs":
        fields["labels"] = [[[draw(st.sampled_from([1, -1]))]] for _ in generators]
    return fields


def _monomials(signed: bool) -> st.SearchStrategy[tuple[list[int], list[int]]]:
    """Return a strategy for permutations and signs of all coordinates there may be, so that examples shrink to fewer."""
    sign = st.sampled_from([1, -1]) if signed else st.just(1)
    signs = st.lists(sign, min_size=_LARGEST_DIMENSION, max_size=_LARGEST_DIMENSION)
    return st.tuples(st.permutations(range(_LARGEST_DIMENSION)), signs)


def _matrix(images: Sequence[int], signs: Sequence[int], size: int) -> Square:
    """Return the signed permutation of the first `size` coordinates, in the order that `images` has them."""
    order = [i for i in images if i < size]
    return tuple(tuple(signs[j] * int(order[j] == i) for j in range(size)) for i in range(size))


@st.composite
def _linear(draw: st.DrawFn, max_width: int, max_layers: int, is_symmetric: st.SearchStrategy[bool]) -> Fields:
    sizes = [draw(st.integers(1, max_width)) for _ in range(draw(st.integers(2, max_layers + 1)))]
    if not draw(is_symmetric):
        return {"architecture": "linear", "sizes": sizes}
    group = draw(_groups(sizes[-1]))
    if "labels" in group:
        sizes[0] = len(group["labels"][0])
    return {"architecture": "linear", "sizes": sizes, "group": group}


@st.composite
def _powers(draw: st.DrawFn, max_width: int, max_exponent: int, is_symmetric: st.SearchStrategy[bool]) -> Fields:
    sizes = [draw(st.integers(1, max_exponent)), draw(st.integers(1, max_width)), draw(st.integers(1, max_width))]
    fields: Fields = {"architecture": "power", "sizes": sizes}
    return fields | {"group": draw(_groups(sizes[-1], as_inputs=False))} if draw(is_symmetric) else fields


@st.composite
def _lightning(draw: st.DrawFn, max_width: int, is_symmetric: st.SearchStrategy[bool]) -> Fields:
    d = draw(st.integers(2, max(2, max_width)))
    sizes = [d, draw(st.integers(1, max_width)), draw(st.integers(1, max_width))]
    fields: Fields = {"architecture": "lightning", "sizes": sizes}
    return fields | {"group": draw(_rotations(d))} if draw(is_symmetric) else fields


@st.composite
def _groups(draw: st.DrawFn, n: int, *, as_inputs: bool = True) -> Fields:
    """Return a finite or continuous group on ℝⁿ."""
    if n > 1 and draw(st.sampled_from([False, False, True])):
        return draw(_rotations(n))
    on_labels = st.sampled_from(_ON_LABELS[: 3 if as_inputs else 2])
    return draw(_representations(n, 2, GROUP_KINDS, on_labels))


def _require_some(known: Sequence[str], **given: Sequence[str]) -> None:
    for name, values in given.items():
        if not values or not set(values) <= set(known):
            raise InputError(f"{name}={list(values)!r}: choose from {', '.join(known)}")


def _rotations(n: int) -> st.SearchStrategy[Fields]:
    return st.sampled_from([{"name": f"O({n})"}, {"name": f"SO({n})"}])


def _plain(matrix: Square) -> Rows:
    return [[plain_number(Fraction(str(entry))) for entry in row] for row in matrix]  # without square roots
