"""The determinant of B diag(θ²) Bᵀ = JJᵀ/4 as a sum over forests (the matrix-tree theorem with grounded terminals)."""

from __future__ import annotations

import sympy

from ..core import Reason, Undecided
from ..graphs.forests import rooted_forests
from ..graphs.network import Network

__all__ = ["LARGEST_DETERMINANT", "LARGEST_EDGES", "matrix_tree_latex", "matrix_tree_residual"]

LARGEST_DETERMINANT = 6
"""Most hidden nodes of a determinant that is expanded in symbols; this size takes seconds."""

LARGEST_EDGES = 14
"""Most edges, hence symbols, of such a determinant."""


def matrix_tree_residual(network: Network) -> sympy.Expr:
    """Return det(B diag(t²) Bᵀ) − Σ over rooted forests of Π t_e², expanded: 0, for every network.

    Raises
    ------
    Undecided
        If the network has more than `LARGEST_DETERMINANT` hidden nodes or too many edges.

    Examples
    --------
    >>> matrix_tree_residual(Network.from_edges([("x", "a"), ("a", "b"), ("b", "y")]))
    0
    """
    h, m = len(network.hidden_nodes), network.edge_count
    if h > LARGEST_DETERMINANT or m > LARGEST_EDGES:
        raise Undecided(
            Reason.INCOMPLETE_METHOD,
            f"the determinant has {h} rows and {m} symbols; at most {LARGEST_DETERMINANT} and {LARGEST_EDGES} are expanded",
        )
    u = sympy.symbols(f"u0:{m}")  # u_e = t_e², so that every entry is linear
    row = {v: i for i, v in enumerate(network.hidden_nodes.tolist())}
    B = sympy.zeros(h, m)
    for e, (a, b) in enumerate(zip(network.tail.tolist(), network.head.tolist(), strict=True)):
        if a in row:
            B[row[a], e] = -1
        if b in row:
            B[row[b], e] = 1
    determinant = (B * sympy.diag(*u) * B.T).det(method="berkowitz") if h else sympy.Integer(1)
    forests = sympy.Add(*(sympy.Mul(*(u[e] for e in edges)) for edges in rooted_forests(network)))
    return sympy.expand(determinant - forests)


def matrix_tree_latex(network: Network) -> str:
    """Return the identity in LaTeX, with the forests of this network if there are few.

    Examples
    --------
    >>> matrix_tree_latex(Network.from_edges([("x", "v"), ("v", "y")]))
    '\\\\det(B\\\\,\\\\mathrm{diag}(\\\\theta^2)\\\\,B^\\\\top) = \\\\theta_{0}^{2} + \\\\theta_{1}^{2}'
    """
    left = r"\det(B\,\mathrm{diag}(\theta^2)\,B^\top) = "
    forests = list(rooted_forests(network))
    if len(forests) > LARGEST_DETERMINANT:
        return left + r"\sum_{F} \prod_{e \in F} \theta_e^2"
    return left + (" + ".join(" ".join(rf"\theta_{{{e}}}^{{2}}" for e in edges) or "1" for edges in forests) or "0")
