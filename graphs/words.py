"""What was decided about an invariant set, in the words of someone who trains the network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from .structure import every_hidden_node_on_terminal_walk

if TYPE_CHECKING:
    from .connectivity import Connectivity, EdgeMinimum
    from .feasibility import Witness
    from .network import Network

__all__ = ["Explanation", "can_be_rescaled", "explain", "names_of", "row_of", "shown_number"]

_ROWS_SHOWN = 20
_NAMES_SHOWN = 8
_DIGITS_SHOWN = 12


@dataclass(frozen=True)
class Explanation:
    """The verdict in one sentence, the locked weights as a table (number, weight, bound, why), and remarks around it."""

    verdict: str
    before: tuple[str, ...] = ()
    rows: tuple[tuple[str, str, str, str], ...] = ()
    after: tuple[str, ...] = ()


def explain(result: Connectivity) -> Explanation:
    """Return the explanation of a result."""
    if result.empty_witness is not None:
        return Explanation(
            "The invariant set is empty: no weights of this network have these balances.",
            (_why_empty(result.network, result.empty_witness),),
        )
    locked = [item for item in result.edges if item.minimum > 0 or item.regular_frozen]
    return Explanation(
        _verdict(result),
        (_regular_remark(result), *([_example(result, locked[0])] if locked else [])),
        tuple(row_of(result.network, item) for item in locked[:_ROWS_SHOWN]),
        (*_remarks(result, locked),),
    )


def _verdict(result: Connectivity) -> str:
    if result.connected:
        return "The invariant set is connected: each weight vanishes somewhere on it."
    count = len(result.frozen_edges)
    weights = "the sign of this weight" if count == 1 else f"the signs of these {count} weights"
    return f"The invariant set has 2^{count} components: training by gradient flow cannot change {weights}."


def _regular_remark(result: Connectivity) -> str:
    if not result.regular_feasible:
        return "It has no regular point: on the whole set some neurons are cut off from all inputs and outputs."
    extra = sorted(set(result.regular_frozen_edges) - set(result.frozen_edges))
    if not result.regular_frozen_edges:
        return "Its regular part, which gradient flow never leaves, is connected too: no sign is locked."
    if not extra:
        return "Its regular part, which gradient flow never leaves, has the same number of components."
    whole = "is connected as a set" if result.connected else f"has 2^{result.log2_components} components as a set"
    weights = "1 more weight" if len(extra) == 1 else f"{len(extra)} more weights"
    return (
        f"Exactly balanced neurons: the invariant set {whole}, but gradient flow cannot cross its singular points. "
        f"Its regular part has 2^{result.regular_log2_components} components: the sign of {weights} cannot change either."
    )


def _example(result: Connectivity, item: EdgeMinimum) -> str:
    network, witness = result.network, item.witness
    assert witness is not None  # only edges kept away from zero are explained
    weight = network.describe_edge(item.edge)
    names = names_of(network, witness.nodes)
    way, across = ("outgoing", "into") if witness.side == "out" else ("incoming", "out of")
    if len(witness.nodes) == 1:
        subject = f"Neuron {names} cannot change the sign of its only {way} weight {weight}"
    else:
        subject = f"The neurons {names} cannot change the sign of {weight}, the only {way} weight they have together"
    excess = f"{shown_number(item.minimum)} + " if item.minimum else ""
    bound = f"w² >= {shown_number(item.minimum)}" if item.minimum else "w² > 0"
    return (
        f"{subject}: {bound} along gradient flow, since w² = {excess}the sum of the squared weights {across} {names}."
    )


def row_of(network: Network, item: EdgeMinimum) -> tuple[str, str, str, str]:
    """Return number, weight, bound and reason of a locked weight."""
    assert item.witness is not None
    exit_or_entry, crossing = ("exit", "enters") if item.witness.side == "out" else ("entry", "leaves")
    names = names_of(network, item.witness.nodes)
    bound = f">= {shown_number(item.minimum)}" if item.minimum else "> 0"
    excess = f"{shown_number(item.minimum)} + " if item.minimum else ""
    why = f"only {exit_or_entry} of {names}: w² = {excess}what {crossing}"
    return str(item.edge), network.describe_edge(item.edge), bound, why


def _remarks(result: Connectivity, locked: Sequence[EdgeMinimum]) -> Iterable[str]:
    network = result.network
    if len(locked) > _ROWS_SHOWN:
        yield f"{len(locked) - _ROWS_SHOWN} more locked weights are not shown; --json lists all."
    if locked and can_be_rescaled(result):
        yield (
            "Rescaling a neuron (all its incoming weights times a, all its outgoing weights divided by a, for some a > 0) "
            "leaves the function unchanged, changes the balances, and can free any one of these weights."
        )
    for side, nodes in (("outgoing", result.out_bottlenecks), ("incoming", result.in_bottlenecks)):
        if nodes:
            yield f"Neurons with a single {side} weight ({len(nodes)}): {_listed(network, nodes)}."
    if result.margin is not None:
        yield _margin(result)
    if not len(network.hidden_nodes):
        yield "No neuron obeys a law of balance, so this set is all of the weights and says nothing about training."
    yield from network.notices


def can_be_rescaled(result: Connectivity) -> bool:
    """Return whether every balance is within reach: all neurons lie between terminals, and no weight is zero."""
    return every_hidden_node_on_terminal_walk(result.network) and not result.network.has_zero_weight


def _margin(result: Connectivity) -> str:
    margin = result.margin
    assert margin is not None
    begin = f"The weights are floats with relative rounding error {margin.rounding:.2g}; the answer is exact for these values"
    if margin.robust:
        return f"{begin} and stays the same for all weights within that error."
    count = len(margin.sensitive_edges)
    edges = [result.network.describe_edge(e) for e in margin.sensitive_edges[:_NAMES_SHOWN]]
    return f"{begin}, but could differ within that error for {count} weight(s): {', '.join(edges)}{_more(count)}."


def _why_empty(network: Network, witness: Witness) -> str:
    direction = "leaves" if witness.side == "out" else "enters"
    need = "at most 0" if witness.side == "in" else "at least 0"
    names = names_of(network, witness.nodes)
    sum_ = shown_number(witness.sum)
    return f"No edge {direction} {names}, so the balances there have to sum to {need}; they sum to {sum_}."


def shown_number(number: Fraction) -> str:
    """Return a number as people read it: exact if that is short, else its first digits and a trail of dots."""
    exact = str(number)
    if len(exact) <= _DIGITS_SHOWN:
        return exact
    digits = Context(prec=4, rounding=ROUND_DOWN)
    return f"{digits.divide(Decimal(number.numerator), Decimal(number.denominator)):g}…"


def names_of(network: Network, nodes: Sequence[int]) -> str:
    """Return the names of these nodes in one line, which is cut off where they are many."""
    listed = _listed(network, nodes)
    return listed if len(nodes) == 1 else f"{{{listed}}}"


def _listed(network: Network, nodes: Sequence[int]) -> str:
    return ", ".join(network.names[v] for v in nodes[:_NAMES_SHOWN]) + _more(len(nodes))


def _more(count: int) -> str:
    return f", … ({count - _NAMES_SHOWN} more)" if count > _NAMES_SHOWN else ""
