"""A weight is frozen iff it is a bottleneck and a set that only it leaves or enters is unbalanced; the minimum is exact.

Hypotheses
----------
The network is acyclic, and every hidden node has an incoming and an outgoing edge.

Statement
---------
For an edge e let 𝒮(e) be the sets W of hidden nodes that hold its tail, not its head, and that no other edge leaves;
𝒫(e) the mirror image. The minimum of θ_e² on the invariant set is max(0, max_{W ∈ 𝒮(e)} −Σ_W c, max_{W ∈ 𝒫(e)} Σ_W
c). 𝒮(e) is empty unless e is the only outgoing edge of its tail, 𝒫(e) unless it is the only incoming edge of its
head. So the invariant set is connected iff Σ_W c ≥ 0 on 𝒮(e) and Σ_W c ≤ 0 on 𝒫(e) for all bottleneck edges e.

Proof idea
----------
Linear programming duality for min u_e: level sets of a dual solution that do not separate e contribute nothing (non-
emptiness), those that do are members of 𝒮(e) or 𝒫(e) with total height at most 1, so one set attains the optimum. If
the tail of e has another outgoing edge, some path avoids e and leaves every W.

Source
------
Nurisso, Leroy, Petri, Vaccarino (2026), Theorem 1; closed sets, exact minimum and proof are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import chain, combinations
from typing import TYPE_CHECKING

from .. import numerics
from ..core import Claim, Estimate, Hypothesis, Measurement, Prediction, Provenance, Relation, Source, Variant
from ..graphs.connectivity import connectivity
from ..graphs.fields import NetworkFields
from ..graphs.network import Network
from ..graphs.structure import every_hidden_node_on_terminal_walk, is_acyclic

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "invariant_sets"
IDS = ("S6",)
SOURCE = Source(("nurisso2026",), Provenance.SHARPENED, "outlined in the paper; exact minimum and proof are ours")

Instance = NetworkFields


def hypotheses(instance: NetworkFields) -> tuple[Hypothesis, ...]:
    network = instance.network
    return (
        Hypothesis("acyclic", is_acyclic(network), "topological order"),
        Hypothesis(
            "every hidden node is on a walk from terminal to terminal",
            every_hidden_node_on_terminal_walk(network),
            "in-degrees and out-degrees, or searches from and to the terminals if there is a cycle",
        ),
    )


def predict(instance: NetworkFields) -> Prediction:
    minima = connectivity(instance.network).minima
    return _claims(instance.network, lambda e: minima.get(e, Fraction(0)))


def measure(instance: NetworkFields, seed: int, device: str) -> Measurement:
    """One linear program per edge."""
    measured = numerics.linear_programs.minima(instance.network)
    return Measurement(
        {
            f"minimum[{e}]": Estimate(value, measured.error, "linear program")
            for e, value in zip(measured.edges, measured.values, strict=True)
        }
    )


def _claims(network: Network, minimum: Callable[[int], Fraction]) -> Prediction:
    total = sum(abs(network.sum_of_balances([v])) for v in network.hidden_nodes.tolist())
    resolution = 1e-7 * max(1.0, float(total))  # what a linear program in floating point can tell apart
    return Prediction(
        tuple(Claim(f"minimum[{e}]", Relation.EQUAL, minimum(e), resolution) for e in range(network.edge_count)),
        (connectivity(network).certificate,),
    )


def instances() -> SearchStrategy[Fields]:
    from ..testing import balanced_dags

    return balanced_dags()


# False variants: the formula with another family of sets, by enumeration, as one would write it on paper.

Sets = Callable[[Network, int], Iterable[frozenset[int]]]


def _leaving(network: Network, W: frozenset[int]) -> list[int]:
    return [e for e in range(network.edge_count) if network.tail[e] in W and network.head[e] not in W]


def _entering(network: Network, W: frozenset[int]) -> list[int]:
    return [e for e in range(network.edge_count) if network.head[e] in W and network.tail[e] not in W]


def _hidden_sets(network: Network) -> Iterator[frozenset[int]]:
    nodes = network.hidden_nodes.tolist()
    return map(frozenset, chain.from_iterable(combinations(nodes, k) for k in range(1, len(nodes) + 1)))


def _out_sets(network: Network, e: int) -> Iterator[frozenset[int]]:
    """The family 𝒮(e)."""
    return (W for W in _hidden_sets(network) if _leaving(network, W) == [e])


def _in_sets(network: Network, e: int) -> Iterator[frozenset[int]]:
    """The family 𝒫(e)."""
    return (W for W in _hidden_sets(network) if _entering(network, W) == [e])


def _formula(out_sets: Sets, in_sets: Sets, sign: int = 1) -> Callable[[NetworkFields], Prediction]:
    def predict(instance: NetworkFields) -> Prediction:
        network = instance.network

        def minimum(e: int) -> Fraction:
            out = [-sign * network.sum_of_balances(W) for W in out_sets(network, e)]
            into = [sign * network.sum_of_balances(W) for W in in_sets(network, e)]
            return max([Fraction(0), *out, *into])

        return _claims(network, minimum)

    return predict


def _none(network: Network, e: int) -> Iterable[frozenset[int]]:
    return ()


def _tail_alone(network: Network, e: int) -> Iterable[frozenset[int]]:
    return [W for W in _out_sets(network, e) if len(W) == 1]


def _head_alone(network: Network, e: int) -> Iterable[frozenset[int]]:
    return [W for W in _in_sets(network, e) if len(W) == 1]


def _largest(sets: Sets) -> Sets:
    return lambda network, e: sorted(sets(network, e), key=len)[-1:]


def _out_sets_by_neighbors(network: Network, e: int) -> Iterable[frozenset[int]]:
    """𝒮(e) if parallel edges were one."""
    ends = network.tail[e], network.head[e]
    for W in _hidden_sets(network):
        leaving = _leaving(network, W)
        if e in leaving and all((network.tail[f], network.head[f]) == ends for f in leaving):
            yield W


def _ancestors(network: Network, e: int) -> Iterable[frozenset[int]]:
    """The tail with any of its ancestors, if the tail has no other way out."""
    v = int(network.tail[e])
    if not network.hidden[v] or network.out_degree[v] != 1:
        return
    above = {v}
    while more := {int(a) for a, b in zip(network.tail, network.head, strict=True) if b in above} - above:
        above |= more
    yield from (W for W in _hidden_sets(network) if v in W and above >= W)


def _only_degree_one(network: Network, e: int) -> Iterable[frozenset[int]]:
    """𝒮(e), but nothing where the tail has another way out: true without cycles."""
    return _out_sets(network, e) if network.out_degree[network.tail[e]] == 1 else ()


def _with_cycles() -> SearchStrategy[Fields]:
    """Networks in which every edge between hidden nodes has one back beside it: random cycles leave too many exits."""
    from ..testing import balanced_dags

    def with_edges_back(fields: Fields) -> Fields:
        between = [[head, tail] for tail, head in fields["edges"] if {tail, head} <= fields["balance"].keys()]
        return {**fields, "edges": fields["edges"] + between}

    return balanced_dags(max_edges=6).map(with_edges_back)


DIAMOND = [["x", "a"], ["a", "v"], ["a", "v"], ["v", "y"]]

VARIANTS = {
    "bottleneck_alone": Variant(
        "only the sets W = {v}",
        predict=_formula(_tail_alone, _head_alone),
        examples=({"edges": DIAMOND, "balance": {"a": -2, "v": 1}},),
    ),
    "largest_set_only": Variant(
        "only the largest set of each family",
        predict=_formula(_largest(_out_sets), _largest(_in_sets)),
        examples=({"edges": DIAMOND, "balance": {"a": 3, "v": -1}},),
    ),
    "all_ancestors": Variant(
        "any set of ancestors of the bottleneck, whether or not other edges leave it",
        predict=_formula(_ancestors, _in_sets),
        examples=(
            {
                "edges": [["x", "a"], ["a", "v"], ["a", "y"], ["x", "v"], ["v", "y"]],
                "balance": {"a": -2, "v": 1},
            },
        ),
    ),
    "multiplicity_ignored": Variant(
        "two parallel edges count as one way out",
        predict=_formula(_out_sets_by_neighbors, _in_sets),
        examples=({"edges": [["x", "v"], ["v", "y"], ["v", "y"]], "balance": {"v": -1}},),
    ),
    "sign_reversed": Variant(
        "balances with the opposite sign",
        predict=_formula(_out_sets, _in_sets, -1),
        examples=({"edges": [["x1", "v"], ["x2", "v"], ["v", "y"]], "balance": {"v": -1}},),
    ),
    "out_side_only": Variant(
        "sets that only e leaves, not those that only e enters",
        predict=_formula(_out_sets, _none),
        examples=({"edges": [["x", "v"], ["v", "y"]], "balance": {"v": 1}},),
    ),
    "cycles_allowed": Variant(
        "on a graph with cycles, too, only an edge that is the single way out of its tail can be frozen from there",
        predict=_formula(_only_degree_one, _in_sets),
        hypotheses=lambda instance: hypotheses(instance)[1:],
        instances=_with_cycles,
        examples=(
            {
                "edges": [["x", "v"], ["v", "w"], ["w", "v"], ["v", "y"]],
                "inputs": ["x"],
                "outputs": ["y"],
                "balance": {"v": -1, "w": 0},
            },
        ),
    ),
}
