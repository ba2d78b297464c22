"""The network of a model, from its scale classes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from ..core import InputError
from .balances import balance_of_weights
from .models import ModelNetwork, ParameterBlock
from .network import BoolArray, IntArray
from .scales import ONE, ZERO, Parameter, Scales

__all__ = ["model_network"]

_PLACES_SHOWN = 3
_SUPERSET = (
    "Gradient flow keeps every law that was found, and may keep more: the set it stays in is part of the one examined. Signs "
    "that are locked here are locked; what is connected here may be cut by further laws."
)


def model_network(scales: Scales, outputs: Iterable[IntArray]) -> ModelNetwork:
    """Return the network whose hidden nodes are the classes that are not pinned; `outputs` become terminals.

    A hidden node is called after the first unit of its class. Pinned units stay separate terminals. Edges are the connected
    entries, parameter by parameter, in row-major order.

    Raises
    ------
    InputError
        If no parameter is connected, or a weight is not finite.

    Examples
    --------
    >>> scales, weight = Scales(), Parameter("fc.weight", (2,), np.array([3.0, 4.0]), 2.0**-53)
    >>> x, y = scales.inputs(2), scales.layer(weight, 1)
    >>> scales.connect(scales.add_parameter(weight), x, y)
    >>> model_network(scales, [y]).describe_edge(1)
    'x1→y0 (fc.weight[1])'
    """
    sinks = _distinct(outputs)
    scales.join(sinks, np.array(ONE))
    roots = scales.roots()
    node_of = np.where(roots == ONE, np.arange(len(roots)), roots)
    tails, heads, weights, blocks = _edges(scales, node_of)
    if not blocks:
        raise InputError("the model has no trained weight between its inputs and outputs, hence no graph")
    present = np.zeros(len(roots), bool)
    present[sinks] = True
    for ends in (*tails, *heads):
        present[ends] = True
    units = np.flatnonzero(present)
    number = np.cumsum(present) - 1
    tail, head = number[np.concatenate(tails)], number[np.concatenate(heads)]
    theta = np.concatenate(weights)
    hidden = roots[units] != ONE
    numerators, denominator = balance_of_weights(tail, head, hidden, theta)
    sources, outlets = _terminals(scales, units, tail, head, hidden, number[sinks])
    used = [parameter for parameter, ends in scales.ends.items() if (ends.tail != ZERO).any()]
    return ModelNetwork(
        names=tuple(_names(scales, units, sinks)),
        tail=tail,
        head=head,
        hidden=hidden,
        inputs=sources,
        outputs=outlets,
        numerators=numerators,
        denominator=denominator,
        weights=theta,
        rounding=max(parameter.rounding for parameter in used),
        blocks=tuple(blocks),
        notices=tuple(_notices(scales, blocks)),
    )


def _distinct(outputs: Iterable[IntArray]) -> IntArray:
    """Return the units of the outputs in the order in which they first occur."""
    flat = np.concatenate([np.zeros(0, np.int64), *(np.ravel(units) for units in outputs)])
    flat = flat[flat > ONE]
    return flat[np.sort(np.unique(flat, return_index=True)[1])]


def _edges(
    scales: Scales, node_of: IntArray
) -> tuple[list[IntArray], list[IntArray], list[npt.NDArray[np.float64]], list[ParameterBlock]]:
    """Return tails, heads, weights and the block of every parameter.

    An entry whose ends are one class has no effect on any balance, as if it led from terminal to terminal, and is left out.
    """
    tails, heads, weights, blocks = [], [], [], []
    start = 0
    for parameter, ends in scales.ends.items():
        kept = np.flatnonzero((ends.tail != ZERO) & (node_of[ends.tail] != node_of[ends.head]))
        if kept.size == 0:
            continue
        complete = kept.size == parameter.values.size
        values = parameter.values if complete else parameter.values[kept]
        _require_finite(parameter, values, kept)
        blocks.append(ParameterBlock(parameter.name, start, parameter.shape, None if complete else kept))
        tails.append(node_of[ends.tail[kept]])
        heads.append(node_of[ends.head[kept]])
        weights.append(values)
        start += kept.size
    return tails, heads, weights, blocks


def _require_finite(parameter: Parameter, values: npt.NDArray[np.float64], kept: IntArray) -> None:
    if not np.isfinite(values).all():
        bad = int(np.flatnonzero(~np.isfinite(values))[0])
        position = [int(k) for k in np.unravel_index(int(kept[bad]), parameter.shape)]
        raise InputError(
            f"{parameter.name}{position}={values[bad]}: weights must be finite; the training that made them diverged"
        )


def _terminals(
    scales: Scales, units: IntArray, tail: IntArray, head: IntArray, hidden: BoolArray, sinks: IntArray
) -> tuple[IntArray, IntArray]:
    """Return inputs and outputs: data and biases, the declared outputs, then what else is pinned by its edges."""
    kinds = np.array([block.kind != "layer" for block in scales.blocks])
    is_source = kinds[_block_of(scales, units)]
    is_sink = np.zeros(len(units), bool)
    is_sink[sinks] = True
    other = ~hidden & ~is_source & ~is_sink
    begins, ends = np.zeros(len(units), bool), np.zeros(len(units), bool)
    begins[tail], ends[head] = True, True
    inputs = np.concatenate([np.flatnonzero(is_source), np.flatnonzero(other & begins)])
    return inputs, np.concatenate([sinks, np.flatnonzero(other & ends)])


def _block_of(scales: Scales, units: IntArray) -> IntArray:
    starts = np.array([block.start for block in scales.blocks])
    return np.searchsorted(starts, units, side="right") - 1


def _names(scales: Scales, units: IntArray, sinks: IntArray) -> list[str]:
    places = {unit: f"y{k}" for k, unit in enumerate(sinks.tolist())}
    taken: dict[str, int] = {}
    titles = []
    for block in scales.blocks:
        taken[block.name] = count = taken.get(block.name, 0) + 1
        # A module that is called twice has two layers of units.
        titles.append(block.name if count == 1 or block.kind == "input" else f"{block.name}:{count}")
    names = []
    inputs = 0
    for unit, i in zip(units.tolist(), _block_of(scales, units).tolist(), strict=True):
        block = scales.blocks[i]
        if block.kind == "input":
            names.append(f"x{inputs}")
            inputs += 1
        elif block.kind == "source":
            names.append(titles[i])
        else:
            names.append(places.get(unit, f"{titles[i]}.{unit - block.start}"))
    return names


def _notices(scales: Scales, blocks: Sequence[ParameterBlock]) -> Iterable[str]:
    for why, places in scales.notes.items():
        more = f" and {len(places) - _PLACES_SHOWN} more" if len(places) > _PLACES_SHOWN else ""
        yield f"{', '.join(places[:_PLACES_SHOWN])}{more}: {why}"
    edges = {block.name: block.entries for block in blocks}
    free = {
        parameter.name: parameter.values.size - (0 if parameter.name not in edges else _size(edges, parameter))
        for parameter in scales.ends
    }
    if some := [f"{name} ({count})" for name, count in free.items() if count]:
        more = f" and {len(some) - _PLACES_SHOWN} more parameters" if len(some) > _PLACES_SHOWN else ""
        yield (
            f"{sum(free.values())} entries of {', '.join(some[:_PLACES_SHOWN])}{more} take part in no law and are not among "
            "the edges: they are not used, or join neurons that scale together"
        )
    if scales.notes:
        yield _SUPERSET


def _size(edges: dict[str, IntArray | None], parameter: Parameter) -> int:
    entries = edges[parameter.name]
    return parameter.values.size if entries is None else entries.size
