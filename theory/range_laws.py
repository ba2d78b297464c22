"""Laws that exist only under a symmetry: ratios of minors of a block of parameters whose range is conserved.

Averaging over a group leaves in the loss only what commutes with it. On an isotypic component ℝᵐ ⊗ V that the labels do not
contain, the parameters form a block P with P' = PC, where C is symmetric or Hermitian: all maximal minors of P change by the
same real factor. The laws are candidates; a count uses those that pass their identity.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from .._checker_architectures import Matrix, dot, transposed
from .._checker_groups import action
from .._checker_laws import Law
from .._checker_polynomials import Polynomial, added, constant, multiplied, scaled
from .known_laws import parameter_matrices
from .modular import Residues, fraction_of, null_space
from .quaternionic_laws import RIGHT_UNITS, quaternionic_ratios

__all__ = ["minor_ratios", "symmetry_laws"]

Vectors = list[list[int]]


@dataclass(frozen=True)
class _Component:
    """An irreducible subspace V of the natural representation, by a basis in its coordinates.

    `structure` is a rational J with J² = −`square`, if V is of complex type; it acts on the coordinates of V. `units` are
    maps i, j, k that commute with the group, if V is of quaternionic type.
    """

    basis: Vectors
    structure: Vectors | None = None
    square: int = 1
    units: tuple[Vectors, ...] = ()

    @property
    def maps(self) -> tuple[Vectors, ...]:
        """What commutes with the group beside real numbers."""
        return self.units if self.structure is None else (self.structure,)


def symmetry_laws(fields: Mapping[str, Any], names: Sequence[str]) -> list[Law]:
    """Return candidates for the laws that the group of an instance adds.

    Parameters
    ----------
    fields : mapping
        Fields with a group; see `lakatos._checker_dynamics`. Groups given by matrices of their own have no candidates.
    names : sequence of str
        The parameters.
    """
    group, architecture = fields.get("group"), fields.get("architecture")
    if group is None or group.get("name") is None:
        return []
    matrices = parameter_matrices(names)
    name = str(group["name"])
    if architecture == "lightning":
        columns = [column for key in "QKVO" if key in matrices for column in transposed(matrices[key])]
        return list(minor_ratios(transposed(columns)))
    if architecture == "power":
        if name == "octahedral":
            return [law for row in matrices["w"] for law in _inverse_squares(row)]
        return list(minor_ratios(transposed(matrices["w"])))
    depth = sum(key.startswith("W") for key in matrices)
    first_layer = matrices[f"W{depth}"]
    if name == "C5" and group.get("copies", 1) == depth == 1 and not group.get("natural_labels"):
        return list(_golden_planes(first_layer))
    laws: list[Law] = []
    offset, copies = group.get("trivial", 0), group.get("copies", 1)
    for component in _components(name):
        size = len(component.basis[0])
        blocks = [[row[offset + i * size : offset + (i + 1) * size] for row in first_layer] for i in range(copies)]
        if depth == 1:
            laws += _one_layer(component, blocks, fields)
        elif not group.get("natural_labels"):
            laws += _two_layers(component, blocks)
    return laws


def minor_ratios(p: Matrix, imaginary: Matrix | None = None, square: int = 1) -> Iterator[Law]:
    """Yield the ratios of the maximal minors of P ∈ ℝ^{n × k}, k < n, to the first one that is not zero.

    With `imaginary` = Q the matrix is P + √(−square) Q, complex with k ≤ n, and real and imaginary parts are all compared
    with each other, since they change by a common real factor.
    """
    n, k = len(p), len(p[0])
    if k > n or (k == n and imaginary is None):
        return
    minors: list[Polynomial] = []
    for rows in combinations(range(n), k):
        other = [imaginary[i] for i in rows] if imaginary is not None else [[constant(0)] * k for _ in rows]
        minors += [part for part in _determinant([p[i] for i in rows], other, square) if part]
    if minors:
        denominator, *numerators = minors
        yield from ((numerator, denominator) for numerator in numerators)


def _determinant(real: Matrix, imaginary: Matrix, square: int) -> tuple[Polynomial, Polynomial]:
    """Coefficients of 1 and √(−square) of a determinant, expanded along its first row."""
    if not real:
        return constant(1), constant(0)
    total: list[Polynomial] = []
    total_imaginary: list[Polynomial] = []
    for j in range(len(real)):
        a, b = real[0][j], imaginary[0][j]
        if not a and not b:
            continue
        minor = [[row[:j] + row[j + 1 :] for row in matrix[1:]] for matrix in (real, imaginary)]
        c, d = _determinant(minor[0], minor[1], square)
        sign = -1 if j % 2 else 1
        total += [scaled(multiplied(a, c), sign), scaled(multiplied(b, d), -sign * square)]
        total_imaginary += [scaled(multiplied(a, d), sign), scaled(multiplied(b, c), sign)]
    return added(*total), added(*total_imaginary)


def _one_layer(component: _Component, blocks: Sequence[Matrix], fields: Mapping[str, Any]) -> Iterator[Law]:
    """f = Wx: the rows of the block are the functionals on ℝ^q ⊗ V that Hom_G, along which labels push, does not move."""
    q = len(blocks[0])
    functionals = _unmoved(component, fields, q)
    if not functionals:
        return
    if not component.maps or len(blocks) == 1:
        entries = [[_applied(f, component, block) for block in blocks] for f in functionals]
        yield from minor_ratios(entries)
        return
    # For each f of a basis over the complex numbers or quaternions: values of f, fJ, or f, fi, fj, fk.
    turned = [[f, *(_turned(f, images) for images in component.maps)] for f in _basis(functionals, component.maps)]
    rows = [[[_applied(g, component, block) for g in maps] for block in blocks] for maps in turned]
    if component.structure is not None:
        real, imaginary = ([[entry[part] for entry in row] for row in rows] for part in (1, 0))
        yield from minor_ratios(real, imaginary, component.square)
    else:
        # For f(w) = Re(φ̄w) these are the parts of φ̄w up to sign.
        quaternions = [[(a, scaled(b, -1), scaled(c, -1), scaled(d, -1)) for a, b, c, d in row] for row in rows]
        yield from quaternionic_ratios(quaternions)


def _turned(functional: Vectors, images: Vectors) -> Vectors:
    """The functional after the map that sends basis vector i to images[i]."""
    return [[sum(a * b for a, b in zip(row, image, strict=True)) for image in images] for row in functional]


def _basis(functionals: Sequence[Vectors], maps: Sequence[Vectors]) -> list[Vectors]:
    """Functionals that span all, together with what `maps` make of them."""
    kept: list[Vectors] = []
    seen: list[list[int]] = []
    for f in functionals:
        flat = [[entry for row in g for entry in row] for g in (f, *(_turned(f, images) for images in maps))]
        if np.linalg.matrix_rank(np.array([*seen, *flat], float)) == len(seen) + len(flat):
            seen += flat
            kept.append(f)
    return kept


def _two_layers(component: _Component, blocks: Sequence[Matrix]) -> Iterator[Law]:
    """f = W2 W1 x: P has a row for each coordinate of V and a column for each hidden unit and copy of V."""
    coordinates = [[_combination(vector, row) for block in blocks for row in block] for vector in component.basis]
    if not component.maps or len(blocks) == 1:
        yield from minor_ratios(coordinates)
        return
    if component.structure is None:
        # Over the quaternions P has at least two columns and, for the groups known by name, at most two rows.
        return
    n = len(coordinates)
    turned = [
        [
            added(*(scaled(coordinates[m][c], component.structure[m][i]) for m in range(n)))
            for c in range(len(coordinates[0]))
        ]
        for i in range(n)
    ]
    half = _complex_rows(component)
    yield from minor_ratios([turned[i] for i in half], [coordinates[i] for i in half], component.square)


def _complex_rows(component: _Component) -> list[int]:
    """Coordinates that are a basis of V over ℂ: with each, J moves it to one that is not yet spanned."""
    assert component.structure is not None
    structure = np.array(component.structure, float)
    kept: list[int] = []
    span = np.zeros((0, len(structure)))
    for i, unit in enumerate(np.eye(len(structure))):
        grown = np.concatenate([span, [unit, structure @ unit]])
        if np.linalg.matrix_rank(grown) == len(grown):
            span = grown
            kept.append(i)
    return kept


def _combination(vector: Sequence[int], row: Sequence[Polynomial]) -> Polynomial:
    """Return Σ vector_i row_i."""
    return dot([constant(c) for c in vector], row)


def _applied(functional: Vectors, component: _Component, block: Matrix) -> Polynomial:
    """Σ functional[c][i] (W e_i)_c over outputs c and basis vectors e_i of V."""
    return added(
        *(
            scaled(_combination(vector, row), coefficient)
            for coefficients, row in zip(functional, block, strict=True)
            for coefficient, vector in zip(coefficients, component.basis, strict=True)
            if coefficient
        )
    )


def _unmoved(component: _Component, fields: Mapping[str, Any], q: int) -> list[Vectors]:
    """Basis of the functionals on ℝ^q ⊗ V that vanish on all B restricted to V, B in Hom_G."""
    group = fields["group"]
    natural = action(str(group["name"]), labels=q, natural_labels=bool(group.get("natural_labels")))
    n = len(component.basis)
    moved = (
        [_restricted(b, component) for b in _intertwiners(natural.generators)]
        if _is_integral(natural.generators)
        else []
    )
    kernel = null_space(np.array(moved, np.int64)) if moved else np.eye(q * n, dtype=np.int64)
    functionals = []
    for row in kernel:
        numbers = [fraction_of(int(entry)) for entry in row]
        scale = int(np.lcm.reduce([number.denominator for number in numbers]))
        integers = [int(number * scale) for number in numbers]
        functionals.append([integers[c * n : (c + 1) * n] for c in range(q)])
    return functionals


def _is_integral(generators: Sequence[Any]) -> bool:
    """Labels of the shipped irrational groups are trivial, and their V has no invariants, so that Hom_G = 0 on V."""
    return all(isinstance(entry, int) for pair in generators for matrix in pair for row in matrix for entry in row)


def _intertwiners(generators: Sequence[Any]) -> Residues:
    """Basis of {B : ρ_Y(g) B = B ρ(g)} modulo the prime; entry (c, i) of B is unknown c·n + i."""
    equations = []
    for x, y in generators:
        rho, on_labels = np.array(x, np.int64), np.array(y, np.int64)
        q, n = len(on_labels), len(rho)
        equations.append(np.kron(on_labels, np.eye(n, dtype=np.int64)) - np.kron(np.eye(q, dtype=np.int64), rho.T))
    return null_space(np.concatenate(equations)).reshape(-1, q, n)


def _restricted(b: Residues, component: _Component) -> list[int]:
    values = b @ np.array(component.basis, np.int64).T
    return [int(entry) for entry in values.ravel()]


def _components(name: str) -> list[_Component]:
    """Rational irreducible parts of the natural representation; those that are irrational are left out."""
    if name.startswith(("C", "S")) and name[1:].isdigit():
        n = int(name[1:])
        ones = _Component([[1] * n])
        centered = [[int(j == i) - int(j == n - 1) for j in range(n)] for i in range(n - 1)]
        if name[0] == "S":
            return [ones, _Component(centered)] if n > 1 else [ones]
        if n == 2:
            return [ones, _Component(centered)]
        if n == 3:  # J = c − c⁻¹ on e0 − e2, e1 − e2, with J² = −3
            return [ones, _Component(centered, [[1, 2], [-2, -1]], 3)]
        return [ones]
    if name == "Heis3":
        structure = [[0] * 3 + [int(i == j) for j in range(3)] for i in range(3)]
        structure += [[-int(i == j) for j in range(3)] + [0] * 3 for i in range(3)]
        return [_Component(_units(6), structure)]
    if name == "Q8":
        return [_Component(_units(4), units=RIGHT_UNITS)]
    if name == "extraspecial32":
        return [_Component(_units(8), units=tuple(_twice(images) for images in RIGHT_UNITS))]
    if name in ("rotation(3)", "rotation(4)", "rotation(6)"):
        return [_Component(_units(2))]
    if name.startswith(("O(", "SO(")):
        return [_Component(_units(int(name.partition("(")[2].rstrip(")"))))]
    return []


def _twice(images: Vectors) -> Vectors:
    return [[*row, *[0] * len(row)] for row in images] + [[*[0] * len(row), *row] for row in images]


def _units(n: int) -> Vectors:
    return np.eye(n, dtype=int).tolist()


def _golden_planes(rows: Matrix) -> Iterator[Law]:
    """Five shifts have two planes of frequencies, conjugate under √5 ↦ −√5; in each of them ratios of coordinates stay.

    A ratio and its conjugate are (a ± b√5)/(c ± d√5) with rational forms a, b, c, d, and their sum and product are rational.
    """
    coordinates = []
    for row in rows:
        for shift in (0, 1):
            w = row[shift:] + row[:shift]
            outer, inner = added(w[1], w[4]), added(w[2], w[3])
            # Σ w_j cos(2πj/5), times four: 4w_0 + (√5 − 1)(w_1 + w_4) − (√5 + 1)(w_2 + w_3).
            rational = added(scaled(w[0], 4), scaled(outer, -1), scaled(inner, -1))
            coordinates.append((rational, added(outer, scaled(inner, -1))))
    (c, d), *others = coordinates
    norm = added(multiplied(c, c), scaled(multiplied(d, d), -5))
    for a, b in others:
        yield added(multiplied(a, c), scaled(multiplied(b, d), -5)), norm
        yield added(multiplied(a, a), scaled(multiplied(b, b), -5)), norm


def _inverse_squares(w: Sequence[Polynomial]) -> Iterator[Law]:
    """(w1⁻² − w2⁻²)/(w2⁻² − w3⁻²): each w_i⁻² obeys an affine equation with common coefficients."""
    squares = [multiplied(entry, entry) for entry in w]
    differences = [
        multiplied(added(b, scaled(a, -1)), c)
        for (a, b), c in zip(pairwise(squares), (squares[2], squares[0]), strict=False)
    ]
    if len(w) == 3:
        yield differences[0], differences[1]
