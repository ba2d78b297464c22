"""Networks in JSON: edge lists, and the node-link format of NetworkX."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .core import InputError
from .graphs.network import Network
from .network_files import attributed_network, parse_json, refuse_unknown

__all__ = ["network_from_json", "network_to_json"]

_EDGE_LIST = ("edges", "inputs", "outputs", "balance", "nodes")
_NODE_LINK = ("directed", "multigraph", "graph", "nodes", "edges", "links")


def network_from_json(content: bytes) -> Network:
    """Return the network described by a JSON text.

    Either an edge list ``{"edges": [["x", "h"], ["h", "y", "0.5"]], "inputs": […], "outputs": […], "balance": {…},
    "nodes": […]}``, all but the edges optional, or what `networkx.node_link_data` writes for a directed graph.

    Raises
    ------
    InputError
        Naming the field.
    """
    data = parse_json(content)
    if not isinstance(data, dict):
        raise InputError(f"an object with the key 'edges' is needed, got a {type(data).__name__}")
    return _from_node_link(data) if _is_node_link(data) else _from_edge_list(data)


def network_to_json(network: Network) -> str:
    """Return the network as an edge list in JSON; weights and balances are exact, as texts ``"p/q"``.

    Examples
    --------
    >>> network_to_json(Network.from_edges([("x", "v", "1/3"), ("v", "y", 2)]))
    '{"edges": [["x", "v", "1/3"], ["v", "y", "2"]], "inputs": ["x"], "outputs": ["y"]}\\n'
    """
    return json.dumps(network.to_fields(), ensure_ascii=False) + "\n"


def _is_node_link(data: Mapping[str, Any]) -> bool:
    if any(key in data for key in ("links", "directed", "multigraph")):
        return True
    listed = [data.get("nodes"), data.get("edges")]
    return any(isinstance(entry, dict) for part in listed if isinstance(part, list) for entry in part[:1])


def _from_edge_list(data: Mapping[str, Any]) -> Network:
    refuse_unknown(data, _EDGE_LIST, "key ")
    if "edges" not in data:
        raise InputError("edges: missing; give 'edges', or 'nodes' and 'links' as NetworkX writes them")
    for field in ("edges", "inputs", "outputs", "nodes"):
        if field in data and not isinstance(data[field], list):
            raise InputError(f"{field}={data[field]!r}: a list is needed")
    for e, edge in enumerate(data["edges"]):
        if not isinstance(edge, list):
            raise InputError(f"edges[{e}]={edge!r}: an edge is a list [tail, head] or [tail, head, weight]")
    balance = data.get("balance")
    if "balance" in data and not isinstance(balance, dict):
        raise InputError(f"balance={balance!r}: an object from node name to number is needed")
    return Network.from_edges(
        data["edges"],
        inputs=data.get("inputs"),
        outputs=data.get("outputs"),
        balance=balance,
        nodes=data.get("nodes", ()),
    )


def _from_node_link(data: Mapping[str, Any]) -> Network:
    refuse_unknown(data, _NODE_LINK, "key ")
    if data.get("directed") is not True:
        raise InputError(f"directed={data.get('directed')!r}: the edges of a network have a direction; save a DiGraph")
    if ("edges" in data) == ("links" in data):
        raise InputError("a node-link graph has either 'edges' or 'links', and 'nodes'")
    field = "edges" if "edges" in data else "links"
    nodes = _objects(data, "nodes", ("id",))
    edges = _objects(data, field, ("source", "target"))
    return attributed_network(
        [(node["id"], _without(node, "id")) for node in nodes],
        [(edge["source"], edge["target"], _without(edge, "source", "target", "key")) for edge in edges],
    )


def _objects(data: Mapping[str, Any], field: str, needed: tuple[str, ...]) -> list[dict[str, Any]]:
    entries = data.get(field)
    if not isinstance(entries, list):
        raise InputError(f"{field}: a list of objects is needed, got {entries!r}")
    for i, entry in enumerate(entries):
        if not isinstance(entry, dict) or any(key not in entry for key in needed):
            raise InputError(f"{field}[{i}]={entry!r}: an object with {' and '.join(map(repr, needed))} is needed")
    return entries


def _without(entry: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key not in keys}
