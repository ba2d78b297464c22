"""The polynomials through which a loss sees the parameters of an architecture (standard library only).

For gradient flow on all data sets it does not matter what a network computes, only which directions the gradients of its
loss span. `lift` returns polynomials φ whose gradients span them: the entries of a product of matrices for a linear net,
products of weights along paths for a ReLU net, QᵀK and VᵀO for attention. Matrices are lists of rows of polynomials;
widths are written from the output to the input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from itertools import product as tuples
from math import prod
from typing import TypeAlias

from lakatos._checker_polynomials import Polynomial, added, multiplied, product, scaled, variable

__all__ = [
    "ARCHITECTURES",
    "LARGEST_LIFT",
    "Lift",
    "Malformed",
    "Matrix",
    "Parameters",
    "dot",
    "lift",
    "matmul",
    "transposed",
]

LARGEST_LIFT = 200_000
"""Most monomials a lift may have; beyond it a count would take minutes."""

Matrix: TypeAlias = "list[list[Polynomial]]"
Lift: TypeAlias = "tuple[Parameters, list[Polynomial]]"


class Malformed(ValueError):
    """The data do not describe a model; the message says what would."""


class Parameters:
    """Hands out the parameters of a model, one after the other, under readable names."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def matrix(self, name: str, rows: int, columns: int) -> Matrix:
        """Return a matrix of new parameters ``name[i,j]``."""
        first = len(self.names)
        self.names += [f"{name}[{i},{j}]" for i in range(rows) for j in range(columns)]
        return [[variable(first + i * columns + j) for j in range(columns)] for i in range(rows)]

    def vector(self, name: str, length: int) -> list[Polynomial]:
        """Return a list of new parameters ``name[i]``."""
        first = len(self.names)
        self.names += [f"{name}[{i}]" for i in range(length)]
        return [variable(first + i) for i in range(length)]


def lift(architecture: str, sizes: Sequence[int], *, bias: bool = False, logits: bool = False) -> Lift:
    """Return the parameters and the lift φ of an architecture.

    Parameters
    ----------
    architecture : str
        A key of `ARCHITECTURES`.
    sizes : sequence of int
        Its sizes, all positive.
    bias : bool
        One bias for each hidden unit (``relu`` only).
    logits : bool
        The outputs are logits of a cross-entropy, so that only their differences matter (``linear`` and ``relu``).

    Raises
    ------
    Malformed
        If there is no such model, or it is too large.

    Examples
    --------
    >>> parameters, (entry,) = lift("linear", (1, 1, 1))
    >>> parameters.names, entry
    (['W1[0,0]', 'W2[0,0]'], {(0, 1): 1})
    """
    if architecture not in ARCHITECTURES:
        raise Malformed(f"architecture={architecture!r}: unknown; choose one of {', '.join(ARCHITECTURES)}")
    build, shape = ARCHITECTURES[architecture]
    fewest, most = shape
    if not fewest <= len(sizes) <= most or min(sizes) < 1:
        count = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        raise Malformed(f"sizes={list(sizes)!r}: {architecture} takes {count} positive integers")
    if bias and architecture != "relu":
        raise Malformed("bias=True: only relu nets have biases here")
    if logits and architecture not in ("linear", "relu"):
        raise Malformed(f"loss='logits': only for linear and relu nets; {architecture} has its loss built in")
    if prod(sizes) > LARGEST_LIFT:
        raise Malformed(
            f"sizes={list(sizes)!r}: the lift has up to {prod(sizes)} monomials; at most {LARGEST_LIFT} are handled"
        )
    return build(sizes, bias, logits)


def matmul(*matrices: Matrix) -> Matrix:
    """Return the product of `matrices`."""
    total, *rest = matrices
    for matrix in rest:
        columns = list(zip(*matrix, strict=True))
        total = [[dot(row, column) for column in columns] for row in total]
    return total


def transposed(matrix: Matrix) -> Matrix:
    """Return the transpose of `matrix`."""
    return [list(column) for column in zip(*matrix, strict=True)]


def dot(a: Sequence[Polynomial], b: Sequence[Polynomial]) -> Polynomial:
    """Return Σ a_i b_i."""
    return added(*(multiplied(p, q) for p, q in zip(a, b, strict=True)))


def _layers(parameters: Parameters, widths: Sequence[int], logits: bool) -> list[Matrix]:
    """Return W1, …, Wq; for logits the first holds the differences of its rows to the last one, which is then left out."""
    layers = [parameters.matrix(f"W{i}", a, b) for i, (a, b) in enumerate(pairwise(widths), 1)]
    if logits:
        *rows, last = layers[0]
        layers[0] = [[added(p, scaled(q, -1)) for p, q in zip(row, last, strict=True)] for row in rows]
    return layers


def _linear(sizes: Sequence[int], bias: bool, logits: bool) -> Lift:
    parameters = Parameters()
    return parameters, _entries(matmul(*_layers(parameters, sizes, logits)))


def _relu(sizes: Sequence[int], bias: bool, logits: bool) -> Lift:
    """Path products from the outputs to the inputs, and to the bias of every hidden unit that a path reaches."""
    parameters = Parameters()
    layers = _layers(parameters, sizes, logits)
    biases = [parameters.vector(f"b{i}", n) for i, n in enumerate(sizes[1:-1], 1)] if bias else []
    lifted = []
    for ends in (*range(1, len(biases) + 1), len(layers)):
        for units in tuples(*(range(len(layer)) for layer in layers[:ends]), range(sizes[ends])):
            path = [layers[i][units[i]][units[i + 1]] for i in range(ends)]
            lifted.append(product(path if ends == len(layers) else [*path, biases[ends - 1][units[-1]]]))
    return parameters, lifted


def _attention(sizes: Sequence[int], bias: bool, logits: bool) -> Lift:
    """softmax(X QᵀK Xᵀ) X VᵀO with blocks in ℝ^{d1 × dim}; `heads` of them share the rows evenly."""
    rows, columns, heads = (*sizes, 1)[:3]
    if rows % heads:
        raise Malformed(f"sizes={list(sizes)!r}: {rows} rows cannot be shared by {heads} heads")
    parameters = Parameters()
    q, k, v, o = (parameters.matrix(name, rows, columns) for name in "QKVO")
    lifted = []
    for h in range(0, rows, rows // heads):
        head = slice(h, h + rows // heads)
        lifted += _entries(matmul(transposed(q[head]), k[head])) + _entries(matmul(transposed(v[head]), o[head]))
    return parameters, lifted


def _lightning(sizes: Sequence[int], bias: bool, logits: bool) -> Lift:
    """X Q Kᵀ Xᵀ X V, seen through (QKᵀ)_ab V_ec, symmetric in the two indices that meet XᵀX."""
    d, a, c = sizes
    parameters = Parameters()
    q, k, v = parameters.matrix("Q", d, a), parameters.matrix("K", d, a), parameters.matrix("V", d, c)
    qk = matmul(q, transposed(k))
    lifted = []
    for i, j, e, o in tuples(range(d), range(d), range(d), range(c)):
        if j <= e:
            lifted.append(added(multiplied(qk[i][j], v[e][o]), multiplied(qk[i][e], v[j][o])))
    return parameters, lifted


def _convolution(sizes: Sequence[int], bias: bool, logits: bool) -> Lift:
    """conv(u, ReLU(conv(v, x))) with channels c0 → c1 → c2 and filters of n_u and n_v taps: products within a channel."""
    c0, c1, c2, n_u, n_v = sizes
    parameters = Parameters()
    u, v = parameters.matrix("u", c1, c2 * n_u), parameters.matrix("v", c1, c0 * n_v)
    return parameters, [multiplied(p, q) for row, column in zip(u, v, strict=True) for p in row for q in column]


def _softmax_layer(sizes: Sequence[int], bias: bool, logits: bool) -> Lift:
    """Logits θx under cross-entropy: differences of the rows of θ to the last one."""
    parameters = Parameters()
    return parameters, _entries(_layers(parameters, sizes, True)[0])


def _scalars(sizes: Sequence[int], bias: bool, logits: bool) -> Lift:
    parameters = Parameters()
    return parameters, [product(parameters.vector("x", sizes[0]))]


def _swiglu(sizes: Sequence[int], bias: bool, logits: bool) -> Lift:
    """A(silu(Bx) ⊙ Cx): the gate sees every entry of B by itself, the rest only products A_ki C_ij."""
    n, r, m = sizes
    parameters = Parameters()
    a, b, c = parameters.matrix("A", n, r), parameters.matrix("B", r, m), parameters.matrix("C", r, m)
    products = [multiplied(a[k][i], c[i][j]) for k, i, j in tuples(range(n), range(r), range(m))]
    return parameters, products + _entries(b)


def _residual(sizes: Sequence[int], bias: bool, logits: bool) -> Lift:
    """Blocks x + U ReLU(Vx) one after the other, for sizes (width, hidden units of the last block, …, of the first one).

    A path skips a block or goes through one of its units. Products along paths need distinct hyperplanes, so width > 1.
    """
    width, *hidden = sizes
    parameters = Parameters()
    blocks = [
        (parameters.matrix(f"U{i}", width, n), parameters.matrix(f"V{i}", n, width)) for i, n in enumerate(hidden, 1)
    ]
    lifted = []
    for taken in tuples(*(range(-1, n) for n in hidden)):
        through = [(blocks[i], unit) for i, unit in enumerate(taken) if unit >= 0]
        for ends in tuples(range(width), repeat=len(through) + 1 if through else 0):
            # Path: out of each unit by a weight of U, into it by one of V, joined at a coordinate of the stream.
            steps = zip(through, pairwise(ends), strict=True)
            path = [entry for ((u, v), unit), (out, into) in steps for entry in (u[out][unit], v[unit][into])]
            if path:
                lifted.append(product(path))
    return parameters, lifted


def _rope(sizes: Sequence[int], bias: bool, logits: bool) -> Lift:
    """Attention with rotary positions, blocks in ℝ^{d1 × dim}: at distance Δ each pair of rows enters by Q_jᵀR(ω_j Δ)K_j."""
    rows, columns = sizes
    if rows % 2:
        raise Malformed(f"sizes={list(sizes)!r}: rope turns pairs of rows, so that their number has to be even")
    parameters = Parameters()
    q, k, v, o = (parameters.matrix(name, rows, columns) for name in "QKVO")
    lifted = []
    for j in range(0, rows, 2):
        left, (first, second) = transposed(q[j : j + 2]), k[j : j + 2]
        turned = [[scaled(p, -1) for p in second], first]
        lifted += _entries(matmul(left, [first, second])) + _entries(matmul(left, turned))
    return parameters, lifted + _entries(matmul(transposed(v), o))


def _gated_experts(sizes: Sequence[int], bias: bool, logits: bool) -> Lift:
    """Σ_e softmax(Gx)_e A_e x for sizes (outputs, experts, inputs): only differences of the rows of G matter."""
    n, experts, m = sizes
    parameters = Parameters()
    gate = parameters.matrix("G", experts, m)
    lifted = [added(p, scaled(last, -1)) for row in gate[:-1] for p, last in zip(row, gate[-1], strict=True)]
    for e in range(experts):
        lifted += _entries(parameters.matrix(f"A{e}", n, m))
    return parameters, lifted


def _entries(matrix: Matrix) -> list[Polynomial]:
    return list(_flat(matrix))


def _flat(matrix: Matrix) -> Iterator[Polynomial]:
    for row in matrix:
        yield from row


ARCHITECTURES: dict[str, tuple[Callable[[Sequence[int], bool, bool], Lift], tuple[int, int]]] = {
    "linear": (_linear, (2, 12)),
    "relu": (_relu, (3, 12)),
    "attention": (_attention, (2, 3)),
    "lightning": (_lightning, (3, 3)),
    "convolution": (_convolution, (5, 5)),
    "softmax-layer": (_softmax_layer, (2, 2)),
    "product": (_scalars, (1, 1)),
    "swiglu": (_swiglu, (3, 3)),
    "residual": (_residual, (2, 6)),
    "rope": (_rope, (2, 2)),
    "gated-experts": (_gated_experts, (3, 3)),
}
"""How to build each architecture, and how many sizes it takes."""
