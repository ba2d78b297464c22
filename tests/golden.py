"""The table of expected values in ``golden_invariant_sets.txt``, read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from lakatos import Network

__all__ = ["GOLDEN", "Row"]


@dataclass(frozen=True)
class Row:
    """One network and what is true of it.

    Parameters
    ----------
    id : int
        Number of the row.
    fields : dict
        ``edges``, ``inputs``, ``outputs``, ``balance`` and, for isolated nodes, ``nodes``: arguments of
        `Network.from_edges`.
    hypothesis_a : bool
        Every hidden node lies on a directed walk from terminal to terminal.
    frozen : dict from edge to m_e, or None
        The positive minima; None if P is empty.
    log2, regular_log2 : int or None
        Log2 of the number of components of H and of its regular part; None if it is empty.
    regular_frozen : tuple of int
        Increasing; empty if there is no regular point.
    singular : bool
        There is a singular point.
    betti : tuple of int or None
        Over the field with two elements; None if unknown or H is empty.
    """

    id: int
    fields: dict[str, Any]
    hypothesis_a: bool
    frozen: dict[int, Fraction] | None
    log2: int | None
    regular_log2: int | None
    regular_frozen: tuple[int, ...]
    singular: bool
    betti: tuple[int, ...] | None

    @property
    def feasible(self) -> bool:
        """P and H are not empty."""
        return self.frozen is not None

    @cached_property
    def network(self) -> Network:
        """The network, with its balances."""
        return Network.from_edges(**self.fields)


def _row(line: str) -> Row:
    number, edges, balance, a, frozen, log2, regular, singular, betti = (cell.strip() for cell in line.split("|"))
    minima = None if frozen == "empty" else {int(e): Fraction(m) for e, m in _pairs(frozen, ":")}
    regular_log2, _, braces = regular.partition(" ")
    regular_frozen = tuple(map(int, braces.strip("{}").split())) if braces else tuple(minima or ())
    return Row(
        id=int(number),
        fields=_fields(edges, balance),
        hypothesis_a=_is_yes(a),
        frozen=minima,
        log2=_number(log2),
        regular_log2=_number(regular_log2),
        regular_frozen=() if regular_log2 == "null" else regular_frozen,
        singular=_is_yes(singular),
        betti=None if betti == "-" else tuple(map(int, betti.split())),
    )


def _fields(edges: str, balance: str) -> dict[str, Any]:
    pairs = [edge.split(">") for edge in edges.split()]
    values = dict(_pairs(balance, "="))
    joined = dict.fromkeys(name for pair in pairs for name in pair)
    terminals = [name for name in joined if name not in values]
    fields = {
        "edges": pairs,
        "inputs": [name for name in terminals if name[0] in "xo"],
        "outputs": [name for name in terminals if name[0] == "y"],
        "balance": values,
    }
    isolated = [name for name in values if name not in joined]
    return {**fields, "nodes": isolated} if isolated else fields


def _pairs(cell: str, sign: str) -> list[list[str]]:
    return [] if cell == "-" else [entry.split(sign) for entry in cell.split()]


def _number(cell: str) -> int | None:
    return None if cell == "null" else int(cell)


def _is_yes(cell: str) -> bool:
    return {"yes": True, "no": False}[cell]


def _read(path: Path) -> tuple[Row, ...]:
    lines = path.read_text(encoding="ascii").splitlines()
    return tuple(_row(line) for line in lines if not line.startswith("#"))


GOLDEN = _read(Path(__file__).with_name("golden_invariant_sets.txt"))
