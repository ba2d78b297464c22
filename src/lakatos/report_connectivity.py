"""What was decided about an invariant set, as JSON and on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from .graphs.connectivity import Connectivity, EdgeMinimum
    from .graphs.feasibility import Witness
    from .graphs.network import Network
    from .graphs.words import Explanation

__all__ = ["connectivity_json", "print_explanation"]


def connectivity_json(result: Connectivity, seconds: float) -> dict[str, Any]:
    """Return the answer of ``lakatos connectivity --json``; exact numbers are strings."""
    network = result.network
    names = network.names
    by_edge = {item.edge: item for item in result.edges}
    return {
        "schema": "lakatos/connectivity/1",
        "nodes": network.node_count,
        "edges": network.edge_count,
        "hidden": len(network.hidden_nodes),
        "feasible": result.feasible,
        "connected": result.connected,
        "log2_components": result.log2_components,
        "regular_connected": result.regular_connected,
        "regular_log2_components": result.regular_log2_components,
        "frozen": [_edge_json(network, by_edge[e]) for e in result.frozen_edges],
        "regular_frozen": [_edge_json(network, by_edge[e]) for e in result.regular_frozen_edges],
        "out_bottlenecks": [names[v] for v in result.out_bottlenecks],
        "in_bottlenecks": [names[v] for v in result.in_bottlenecks],
        "singular": None,
        "betti": None,
        "arithmetic": "exact" if result.margin is None else "float-with-margin",
        "notices": list(network.notices),
        "seconds": seconds,
    }


def _edge_json(network: Network, item: EdgeMinimum) -> dict[str, Any]:
    return {
        "edge": item.edge,
        "tail": network.names[network.tail[item.edge]],
        "head": network.names[network.head[item.edge]],
        "minimum": str(item.minimum),
        "witness": None if item.witness is None else _witness_json(network, item.witness),
    }


def _witness_json(network: Network, witness: Witness) -> Mapping[str, Any]:
    return {"side": witness.side, "nodes": [network.names[v] for v in witness.nodes], "sum": str(witness.sum)}


def print_explanation(console: Console, explanation: Explanation) -> None:
    """Print an explanation; long names wrap, nothing is cut off."""
    console.print(Text(explanation.verdict, style="bold"), overflow="fold")
    for line in explanation.before:
        console.print(Text(line), overflow="fold")
    if explanation.rows:
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
        for name in ("edge", "weight", "w²", "why"):
            table.add_column(name, overflow="fold", justify="right" if name == "edge" else "left")
        for row in explanation.rows:
            table.add_row(*map(Text, row))
        console.print(Padding(table, (1, 0)))
    for line in explanation.after:
        console.print(Text(line), overflow="fold")
