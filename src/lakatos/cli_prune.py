"""``lakatos prune``: which neurons of a trained model are disconnected, and the model without them."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .arrays import ArrayFolder
from .cli_boundary import print_json, screen
from .core import InputError
from .results import value_to_json, write_atomically

if TYPE_CHECKING:
    from torch import Tensor

    from .numerics.pruning import Pruning

__all__ = ["command"]

UNCHANGED, CHANGED = 0, 1
_SHOWN = 12


def command(
    network: Annotated[str, typer.Argument(metavar="NETWORK", help="package.module:factory of a PyTorch module.")],
    checkpoint: Annotated[Path | None, typer.Option(help="State dict to load into what the factory returns.")] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Inputs to compare outputs on (.npz, .safetensors or .pt); else 256 standard normal ones."),
    ] = None,
    data_key: Annotated[str, typer.Option(help="Name of the array of inputs in that file.")] = "x",
    output: Annotated[
        Path | None, typer.Option(help="Write the state dict of the pruned module (.safetensors).")
    ] = None,
    least_gap: Annotated[
        float,
        typer.Option(min=1.0, help="Nothing is disconnected if no two neighboring singular values differ by this."),
    ] = 10.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Find the neurons that a trained model has disconnected, and remove them.

    The singular values of the Jacobian of the balances say how many there are: those below the largest gap in the spectrum,
    which is reported. Training with an L1 or a nuclear norm penalty opens such a gap.

    Example: `lakatos prune examples.breast_cancer:nuclear --output small.safetensors`

    Exit status: 0 outputs unchanged up to rounding, 1 changed, 2 bad input, 3 undecided, 5 a defect.
    """
    from .networks import is_factory, read_module
    from .numerics.pruning import prune
    from .numerics.rescaled_modules import checkpoint_bytes

    began = time.perf_counter()
    if not is_factory(network):
        raise InputError(
            f"network={network!r}: neurons are removed from a PyTorch module; name it package.module:factory"
        )
    module = read_module(network, checkpoint=checkpoint)
    dtype = next((parameter.dtype for parameter in module.parameters()), None)
    samples = None if data is None else _array(data, data_key).to(dtype)
    result = prune(module, data=samples, least_gap=least_gap)
    if output is not None:
        write_atomically(output, checkpoint_bytes(result.module))
    if as_json:
        print_json(_json(result, time.perf_counter() - began))
    else:
        _print(result, least_gap)
    return UNCHANGED if result.is_unchanged else CHANGED


def _array(path: Path, key: str) -> Tensor:
    import torch

    return torch.from_numpy(ArrayFolder(path.parent).read(path.name, key, "--data").to_numpy())


def _json(result: Pruning, seconds: float) -> dict[str, Any]:
    found = result.disconnection
    return {
        "schema": "lakatos/prune/1",
        "neurons": len(found.singular_values),
        "removed": list(result.removed),
        "disconnected": found.count,
        "gap": value_to_json(found.gap),
        "largest_cut": found.largest_cut,
        "singular_values": list(found.singular_values),
        "change": result.change,
        "relative_change": result.relative_change,
        "unchanged": result.is_unchanged,
        "smaller": result.is_smaller,
        "seconds": seconds,
    }


def _print(result: Pruning, least_gap: float) -> None:
    console, found = screen(), result.disconnection
    total, removed = len(found.singular_values), len(result.removed)
    console.print(f"{removed} of {total} neurons are disconnected")
    if not total:
        console.print("No neuron of this module obeys a law of balance, which is what pruning goes by.")
        return
    if not removed:
        console.print(
            f"The largest gap in the spectrum is a factor of {found.gap:.3g}; one of {least_gap:g} is needed (--least-gap)."
        )
        return
    large, small = total - found.count, found.count
    between = (
        f"{found.singular_values[large - 1]:.3g} and {found.singular_values[large]:.3g}" if large else "all are zero"
    )
    console.print(f"Spectrum: {large} large, {small} small singular values; gap {found.gap:.3g} ({between})")
    shown = ", ".join(result.removed[:_SHOWN])
    console.print(f"Removed: {shown}{f' and {removed - _SHOWN} more' if removed > _SHOWN else ''}", markup=False)
    console.print(f"Largest weight cut: {found.largest_cut:.3g}")
    verdict = (
        "unchanged up to rounding" if result.is_unchanged else f"changed by {result.relative_change:.3g} of the largest"
    )
    console.print(f"Outputs: {verdict}")
    if not result.is_smaller:
        console.print("The module keeps its shape: weights of the removed neurons are zero.")
