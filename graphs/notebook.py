"""How networks and answers about them show themselves in notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from ..markup import element, join, table
from .network import Network
from .words import explain, shown_number

if TYPE_CHECKING:
    from .connectivity import Connectivity

__all__ = ["connectivity_html", "connectivity_latex", "network_html"]

_NAMES_SHOWN = 12


def connectivity_html(result: Connectivity) -> str:
    """Return the explanation that the command line prints, with its table of locked weights."""
    explanation = explain(result)
    parts = [element("p", element("strong", explanation.verdict))]
    parts += [element("p", line) for line in explanation.before]
    if explanation.rows:
        parts.append(table(("edge", "weight", "w²", "why"), explanation.rows, label="locked weights"))
    parts += [element("p", line) for line in explanation.after]
    return element("div", join(parts, "\n"))


def connectivity_latex(result: Connectivity) -> str | None:
    """Return the numbers of components; None if the set is empty."""
    if result.log2_components is None:
        return None
    parts = [rf"\left|\pi_0(\mathcal H)\right| = 2^{{{result.log2_components}}}"]
    if result.regular_log2_components is not None:
        parts.append(rf"\left|\pi_0(\mathcal H_{{\mathrm{{reg}}}})\right| = 2^{{{result.regular_log2_components}}}")
    return "$$" + r", \quad ".join(parts) + "$$"


def network_html(network: Network) -> str:
    """Return sizes, terminals and, where they are few, balances."""
    names = network.names
    rows = [
        ("neurons", f"{len(network.hidden_nodes):,}"),
        ("weights", f"{network.edge_count:,}"),
        ("inputs", _listed([names[v] for v in network.inputs[: _NAMES_SHOWN + 1].tolist()], len(network.inputs))),
        ("outputs", _listed([names[v] for v in network.outputs[: _NAMES_SHOWN + 1].tolist()], len(network.outputs))),
    ]
    if network.numerators is not None:
        hidden = network.hidden_nodes[:_NAMES_SHOWN].tolist()
        balances = [
            f"{names[v]}: {shown_number(Fraction(int(network.numerators[v]), network.denominator))}" for v in hidden
        ]
        rows.append(("balances", _listed(balances, len(network.hidden_nodes))))
    rows += [("notice", notice) for notice in network.notices]
    return element("div", join([element("strong", "Network"), table(("", ""), rows, label="network")], "\n"))


def _listed(shown: Sequence[str], count: int) -> str:
    more = f", … ({count:,} in all)" if count > _NAMES_SHOWN else ""
    return (", ".join(shown[:_NAMES_SHOWN]) or "none") + more
