"""Networks in GraphML, read without expanding entities and with decimals kept exact.

NetworkX would turn decimals into doubles and reorder the edges, whose numbers are part of every answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree
from xml.parsers import expat

from .core import InputError
from .graphs.network import Network
from .network_files import attributed_network

__all__ = ["network_from_graphml"]


def network_from_graphml(content: bytes) -> Network:
    """Return the network described by a GraphML text; attributes as in `lakatos.network_files.attributed_network`.

    Raises
    ------
    InputError
        For a document type declaration (the home of entities), malformed XML, undirected, nested or several graphs.
    """
    _refuse_doctype(content)
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:  # of namespaces, which the parser of declarations does not look at
        line, column = error.position
        raise InputError(f"line {line}, column {column + 1}: not valid XML: {expat.ErrorString(error.code)}") from None
    graphs = [element for element in root.iter() if _local(element) == "graph"]
    if len(graphs) != 1:
        raise InputError(f"{len(graphs)} graph elements: exactly one is needed, without graphs inside")
    if (direction := graphs[0].get("edgedefault")) != "directed":
        raise InputError(f"edgedefault={direction!r}: the edges of a network have a direction; save a DiGraph")
    keys = {key.get("id", ""): key for key in root if _local(key) == "key"}
    nodes: list[tuple[str, Mapping[str, str]]] = []
    edges: list[tuple[str, str, Mapping[str, str]]] = []
    for element in graphs[0]:
        match _local(element):
            case "node":
                nodes.append((_required(element, "id", f"node {len(nodes)}"), _attributes(element, "node", keys)))
            case "edge":
                where = f"edges[{len(edges)}]"
                if element.get("directed", "true") != "true":
                    raise InputError(
                        f"{where}: directed={element.get('directed')!r}; the edges of a network have a direction"
                    )
                ends = _required(element, "source", where), _required(element, "target", where)
                edges.append((*ends, _attributes(element, "edge", keys)))
            case "hyperedge":
                raise InputError("a hyperedge: an edge of a network joins two nodes")
    return attributed_network(nodes, edges)


def _refuse_doctype(content: bytes) -> None:
    def refuse(*_: object) -> None:
        raise InputError("a DOCTYPE declaration: not read, because entities can expand without bound; remove it")

    scanner = expat.ParserCreate()
    scanner.StartDoctypeDeclHandler = refuse
    try:
        scanner.Parse(content, True)
    except expat.ExpatError as error:
        message = expat.ErrorString(error.code)
        raise InputError(f"line {error.lineno}, column {error.offset + 1}: not valid XML: {message}") from None
    except InputError:
        raise
    except (LookupError, ValueError) as error:  # of Python's codecs, for an encoding that expat asks them for
        raise InputError(f"the declared encoding cannot be read ({error}); save it as UTF-8") from None


def _local(element: ElementTree.Element) -> str:
    """Return the tag without its namespace, which some writers leave out."""
    return element.tag.rpartition("}")[2]


def _required(element: ElementTree.Element, name: str, where: str) -> str:
    value = element.get(name)
    if value is None:
        raise InputError(f"{where}: the attribute {name!r} is missing")
    return value


def _attributes(element: ElementTree.Element, kind: str, keys: Mapping[str, ElementTree.Element]) -> dict[str, str]:
    """Return the texts of the data elements by attribute name, declared defaults included."""
    values: dict[str, str] = {}
    for key in keys.values():
        default = next((child.text for child in key if _local(child) == "default"), None)
        if default is not None and key.get("for", "all") in (kind, "all"):
            values[key.get("attr.name", "")] = default.strip()
    for data in element:
        if _local(data) == "data":
            identifier = data.get("key", "")
            if identifier not in keys:
                raise InputError(f"data key={identifier!r}: not declared by a <key> element")
            values[keys[identifier].get("attr.name", "")] = (data.text or "").strip()
    return values
