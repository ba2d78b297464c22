"""Networks with rescaled weights, written to files: what ``lakatos connectivity --rescale`` does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .core import InputError
from .graphs.models import ModelNetwork
from .graphs.network import Network
from .graphs.structure import every_hidden_node_on_terminal_walk, is_acyclic
from .graphs.vanishing import attainment
from .network_arrays import network_to_npz
from .network_files import read_balance
from .network_json import network_to_json
from .networks import is_factory, read_module, read_network
from .results import write_atomically

if TYPE_CHECKING:
    import numpy.typing as npt

    from .numerics.rescaling import Rescaling

__all__ = ["LARGEST_CHANGE", "Rescaled", "rescaled"]

LARGEST_CHANGE = 1e-12
"""Of the outputs, relative to the largest: rounding in double precision stays below it for networks of any usual depth."""


@dataclass(frozen=True, eq=False)
class Rescaled:
    """A network with rescaled weights, read back from the file it was written to.

    Parameters
    ----------
    network : Network
        As read back.
    target, output : str
        As asked for.
    function_change : float or None
        Largest change of an output on random data, relative to the largest output, in float64; None where the network
        cannot be evaluated since it has a directed cycle.
    residual : float
        Largest difference between a balance and the one aimed at.
    steps : int
        Of Newton's method.
    """

    network: Network
    target: str
    output: str
    function_change: float | None
    residual: float
    steps: int

    @property
    def sentence(self) -> str:
        """What was done, in words."""
        change = (
            "outputs were not compared, since the network has a directed cycle"
            if self.function_change is None
            else f"outputs on random data changed by {self.function_change:.2g} relative to the largest"
        )
        return f"After rescaling to {self.target} balances, written to {self.output}; {change}."

    def to_json(self) -> dict[str, Any]:
        """Return this as part of the answer in JSON."""
        return {key: getattr(self, key) for key in ("target", "output", "function_change", "residual", "steps")}


def rescaled(source: str, target: str, output: Path, *, checkpoint: Path | None = None) -> Rescaled:
    """Return the network of `source` with its weights rescaled to a balance, after writing it to `output`.

    Parameters
    ----------
    source : str
        As for `read_network`.
    target : str
        ``balanced`` (all balances zero), ``unlocked`` (no sign is locked), or a file with a balance for every hidden node.
    output : Path
        ``.safetensors`` for a module; ``.json`` or ``.npz`` for a graph.

    Raises
    ------
    InputError
        If the network has no weights, the target cannot be reached, the outputs would change, or the file cannot be written.
    Undecided
        If no rescaling is found.
    """
    _require_suffix(source, output)
    network = read_network(source, checkpoint=checkpoint)
    found = _rescaling(network, target)
    if is_factory(source):
        change: float | None = _write_module(source, checkpoint, network, found, output)
        read_back = read_network(source, checkpoint=output)
    else:
        change = _write_graph(network, found, output)
        read_back = read_network(str(output))
    return Rescaled(read_back, target, str(output), change, found.residual, found.steps)


def _require_suffix(source: str, output: Path) -> None:
    valid = [".safetensors"] if is_factory(source) else [".json", ".npz"]
    if source.endswith(".onnx"):
        raise InputError(
            f"{source}: rescaled weights are written for modules and graph files; load the weights into a module"
        )
    if output.suffix not in valid:
        raise InputError(f"output={str(output)!r}: the rescaled weights are written as {' or '.join(valid)}")
    if Path(source) == output:
        raise InputError(f"output={str(output)!r}: the network itself; choose another file")


def _rescaling(network: Network, target: str) -> Rescaling:
    from .numerics.rescaling import float_weights, rescale

    weights = float_weights(network)
    goal = _goal(network, target)
    # Then a circulation is positive on every non-zero weight, so that all balances can be reached.
    used = weights != 0
    part = replace(network, tail=network.tail[used], head=network.head[used], weights=None, rounding=None)
    if not every_hidden_node_on_terminal_walk(part):
        exact = {name: Fraction(float(c)) for name, c in zip(network.names, goal, strict=True)}
        found = attainment(network, {name: exact[name] for name in network.hidden_names})
        if not found.attained:
            witness = found.certificate.data["witness"]
            raise InputError(
                f"rescale={target!r}: cannot be reached, since weights that are zero stay zero: the balances of "
                f"{', '.join(witness['nodes'])} would have to sum to {witness['sum']}"
            )
    return rescale(network, goal)


def _goal(network: Network, target: str) -> npt.NDArray[np.float64]:
    if target == "balanced":
        return np.zeros(network.node_count)
    if target == "unlocked":
        from .numerics.unlocked_balances import unlocked_balance

        return unlocked_balance(network)
    if not Path(target).exists():
        raise InputError(f"rescale={target!r}: neither 'balanced' nor 'unlocked', nor a file with a balance")
    aimed = network.with_balance(read_balance(Path(target)))
    numerators = aimed.require_balance().tolist()
    return np.array([float(Fraction(int(c), aimed.denominator)) for c in numerators])


def _write_graph(network: Network, found: Rescaling, output: Path) -> float | None:
    from .numerics.function_change import network_change
    from .numerics.rescaling import float_weights

    change = network_change(network, float_weights(network), found.weights) if is_acyclic(network) else None
    _require_small(change)
    after = Network(
        network.names,
        network.tail,
        network.head,
        network.hidden,
        network.inputs,
        network.outputs,
        weights=found.weights,
    )
    write_atomically(output, network_to_npz(after) if output.suffix == ".npz" else network_to_json(after))
    return change


def _write_module(source: str, checkpoint: Path | None, network: Network, found: Rescaling, output: Path) -> float:
    from .numerics import rescaled_modules

    assert isinstance(network, ModelNetwork), "the network of a module knows its parameters"
    module = read_module(source, checkpoint=checkpoint)
    after = rescaled_modules.with_weights(module, network, found.weights)
    change = rescaled_modules.function_change(module, after)
    _require_small(change)
    write_atomically(output, rescaled_modules.checkpoint_bytes(after))
    return change


def _require_small(change: float | None) -> None:
    # Written so that NaN fails.
    if change is not None and not change <= LARGEST_CHANGE:
        raise InputError(
            f"the outputs would change by {change:.3g} relative to the largest, more than {LARGEST_CHANGE}: the network "
            "is not exactly homogeneous (normalization with ε > 0, or in training mode); nothing was written"
        )
