"""Group averages of polynomial losses (standard library only, exact).

The squared loss of a polynomial model is a polynomial in the parameters, the input and the label. Averaged over a group it
stays one, and its gradients for all inputs and labels are spanned by the gradients of its coefficients, polynomials in the
parameters alone: these coefficients are what `averaged` returns.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from itertools import product as tuples
from typing import TypeAlias

from lakatos._checker_architectures import Malformed, Matrix, Parameters, dot, matmul, transposed
from lakatos._checker_groups import Action, elements
from lakatos._checker_polynomials import (
    Monomial,
    Number,
    Polynomial,
    added,
    multiplied,
    power,
    product,
    scaled,
    variable,
)
from lakatos._checker_surds import Entry, conjugate_free

__all__ = ["NETWORKS", "averaged", "independent", "lightning_potentials", "network_potentials", "sphere"]

Average: TypeAlias = "Callable[[Monomial], dict[Monomial, Number]]"

_MOST_DATA_MONOMIALS = 3000


def network_potentials(
    architecture: str, sizes: Sequence[int], act: Action | None, *, orthogonal: bool = False
) -> tuple[Parameters, list[Polynomial]]:
    """Return the parameters of a network and potentials whose gradients span those of its averaged squared loss.

    Parameters
    ----------
    architecture : str
        A key of `NETWORKS`.
    act : Action, optional
        A finite group, summed over; None for no group.
    orthogonal : bool
        Average over all orthogonal maps of the inputs instead; labels are invariant.

    Raises
    ------
    Malformed
        If model and group do not fit, or the loss is too large.
    """
    parameters, outputs, inputs = NETWORKS[architecture](sizes)
    first = len(parameters.names)
    labels = len(outputs)
    if act is not None and (act.inputs, act.labels) != (inputs, labels):
        raise Malformed(
            f"group: it acts on inputs and labels of dimensions {act.inputs} and {act.labels}, "
            f"but the model has {inputs} and {labels}"
        )
    errors = [added(f, scaled(variable(first + inputs + i), -1)) for i, f in enumerate(outputs)]
    loss = added(*(multiplied(e, e) for e in errors))
    if orthogonal:
        average = sphere(first, inputs)
    else:
        average = _finite(first, act) if act is not None else lambda monomial: {monomial: 1}
    return parameters, independent(averaged(loss, first, average))


def averaged(loss: Polynomial, first: int, average: Average) -> list[Polynomial]:
    """Return the coefficients of `loss` as a polynomial in the variables from `first` on, after these are averaged."""
    by_data: defaultdict[Monomial, Polynomial] = defaultdict(dict)
    for monomial, coefficient in loss.items():
        cut = sum(i < first for i in monomial)
        if cut:  # what does not depend on the parameters has no gradient
            by_data[monomial[cut:]][monomial[:cut]] = coefficient
    if len(by_data) > _MOST_DATA_MONOMIALS:
        raise Malformed(
            f"the loss has {len(by_data)} monomials in the data; at most {_MOST_DATA_MONOMIALS} are handled"
        )
    total: defaultdict[Monomial, list[Polynomial]] = defaultdict(list)
    for data, p in by_data.items():
        for image, weight in average(data).items():
            total[image].append(scaled(p, weight))
    sums = (added(*parts) for _, parts in sorted(total.items()))
    return [p for p in sums if p]


def sphere(first: int, d: int) -> Average:
    """Return the average over O(d) acting on the variables first, …, first + d − 1; later ones stay.

    Averaging x^α over all rotations gives (x·x)^{k/2} Π (α_i − 1)!! / (d(d+2)…(d+k−2)), or 0 if some exponent is odd.
    """

    def average(monomial: Monomial) -> dict[Monomial, Number]:
        rotated = [i for i in monomial if i < first + d]
        exponents = Counter(rotated).values()
        if any(e % 2 for e in exponents):
            return {}
        weight = Fraction(1)
        for e in exponents:
            for odd in range(1, e, 2):
                weight *= odd
        for k in range(0, len(rotated), 2):
            weight /= d + k
        square: Polynomial = {(i, i): 1 for i in range(first, first + d)}
        rest: Polynomial = {tuple(i for i in monomial if i >= first + d): weight}
        return multiplied(power(square, len(rotated) // 2), rest)

    return average


def _finite(first: int, act: Action) -> Average:
    """Return the sum over a finite group acting on inputs and labels; a common factor does not matter."""
    forms: list[list[dict[int, Entry]]] = [
        [
            {first + offset + j: entry for j, entry in enumerate(row) if entry}
            for matrix, offset in ((x, 0), (y, act.inputs))
            for row in matrix
        ]
        for x, y in elements(act)
    ]

    def average(monomial: Monomial) -> dict[Monomial, Number]:
        total: defaultdict[Monomial, Entry] = defaultdict(int)
        for form in forms:
            for chosen in tuples(*(form[i - first].items() for i in monomial)):
                weight: Entry = 1
                for _, entry in chosen:
                    weight = weight * entry
                total[tuple(sorted(i for i, _ in chosen))] += weight
        return {image: conjugate_free(weight) for image, weight in total.items() if weight}

    return average


def independent(polynomials: Iterable[Polynomial]) -> list[Polynomial]:
    """Return a subset of `polynomials` that is a basis of their span."""
    basis: list[tuple[Monomial, Polynomial]] = []
    kept = []
    for p in polynomials:
        rest = p
        for lead, b in basis:
            if lead in rest:
                rest = added(rest, scaled(b, -Fraction(rest[lead])))
        if rest:
            lead = min(rest)
            basis.append((lead, scaled(rest, 1 / Fraction(rest[lead]))))
            kept.append(p)
    return kept


def lightning_potentials(sizes: Sequence[int], *, output: bool) -> tuple[Parameters, list[Polynomial]]:
    """Return parameters and potentials of lightning attention under the average over O(d) or SO(d), for at least 3 tokens.

    The loss ½ Σ_i ‖f(X)_i − y_i‖² of f(X) = X QKᵀ S V (Oᵀ), S = XᵀX, sees Σ_i T_i T_iᵀ = S⊗S⊗S in six indices. Its
    average is a sum of pairings of these, with weights that only depend on how a pairing meets the three factors S: one
    class of 1, one of 6 and one of 8 pairings. The Gram matrix of the 15 pairings commutes with all permutations that
    keep the three factors, so the sums over classes span the averages. With an output map the labels rotate too and
    leave two further potentials.

    SO(d) has the same averages: S is fixed by a reflection, and so is x⊗y⊗S except for d = 2, where x⊗y has an area.
    """
    d, a, c = sizes
    if d < 2:
        raise Malformed(f"sizes={list(sizes)!r}: the average over O(d) is implemented for d >= 2")
    parameters = Parameters()
    q, k, v = parameters.matrix("Q", d, a), parameters.matrix("K", d, a), parameters.matrix("V", d, c)
    o = parameters.matrix("O", d, c) if output else None
    gram: dict[str, Matrix] = {}
    blocks = {"q": q, "k": k, "v": v}
    for left, right in tuples(blocks, blocks):
        gram[left + right] = matmul(transposed(blocks[left]), blocks[right])
    # Indices of M = (QKᵀ)_{ab} V_{ec}: q carries a, k carries b, v carries e; the second copy is primed.
    legs = ("q", "k", "v", "q'", "k'", "v'")
    factors = (frozenset({"q", "q'"}), frozenset({"k", "v"}), frozenset({"k'", "v'"}))
    weights = matmul(transposed(o), o) if o is not None else None
    classes: defaultdict[int, list[Polynomial]] = defaultdict(list)
    for pairing in _pairings(legs):
        kept = sum(frozenset(pair) in factors for pair in pairing)
        classes[kept].append(_contraction(pairing, gram, a, c, weights))
    potentials = [added(*terms) for _, terms in sorted(classes.items())]
    if o is not None:
        ov, oq, ok = (matmul(transposed(o), block) for block in (v, q, k))
        kv, qv, qk = gram["kv"], gram["qv"], gram["qk"]
        potentials.append(added(*(multiplied(oq[j][i], kv[i][j]) for i in range(a) for j in range(c))))
        cross = [multiplied(ok[j][i], qv[i][j]) for i in range(a) for j in range(c)]
        trace = multiplied(added(*(ov[j][j] for j in range(c))), added(*(qk[i][i] for i in range(a))))
        potentials.append(added(*cross, trace))
    return parameters, independent(potentials)


def _contraction(
    pairing: Sequence[tuple[str, str]], gram: dict[str, Matrix], a: int, c: int, weights: Matrix | None
) -> Polynomial:
    """Return ⟨MᵀM, A⟩ for the tensor A of a pairing; `weights` is OᵀO between the two copies of V, or the identity."""
    terms = []
    for i, j, m, n in tuples(range(a), range(a), range(c), range(c)):
        if weights is None and m != n:
            continue
        column = {"q": i, "k": i, "v": m, "q'": j, "k'": j, "v'": n}
        entries = [gram[x[0] + y[0]][column[x]][column[y]] for x, y in pairing]
        terms.append(product(entries if weights is None else [*entries, weights[m][n]]))
    return added(*terms)


def _pairings(items: Sequence[str]) -> Iterable[list[tuple[str, str]]]:
    if not items:
        yield []
    for i in range(1, len(items)):
        for rest in _pairings([*items[1:i], *items[i + 1 :]]):
            yield [(items[0], items[i]), *rest]


def _linear(sizes: Sequence[int]) -> tuple[Parameters, list[Polynomial], int]:
    parameters = Parameters()
    layers = [parameters.matrix(f"W{i}", a, b) for i, (a, b) in enumerate(pairwise(sizes), 1)]
    first = len(parameters.names)
    x = [[variable(first + i)] for i in range(sizes[-1])]
    return parameters, [row[0] for row in matmul(*layers, x)], sizes[-1]


def _power(sizes: Sequence[int]) -> tuple[Parameters, list[Polynomial], int]:
    """Σ_j a_j (w_j·x)^m for sizes (m, r, d)."""
    m, r, d = sizes
    parameters = Parameters()
    a, w = parameters.vector("a", r), parameters.matrix("w", r, d)
    x = [variable(len(parameters.names) + i) for i in range(d)]
    return parameters, [added(*(multiplied(a[j], power(dot(w[j], x), m)) for j in range(r)))], d


NETWORKS: dict[str, Callable[[Sequence[int]], tuple[Parameters, list[Polynomial], int]]] = {
    "linear": _linear,
    "power": _power,
}
"""Networks as polynomials in parameters and inputs: parameters, outputs and the number of inputs."""
