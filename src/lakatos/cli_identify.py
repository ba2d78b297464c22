"""``lakatos identify``: whether two trained networks merge without alignment, and if not, which layer is in the way."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .cli_boundary import print_json, screen
from .core import InputError

if TYPE_CHECKING:
    import torch

__all__ = ["command"]

MERGES, DOES_NOT_MERGE = 0, 1


def command(
    first: Annotated[Path, typer.Argument(metavar="A", help="State dict of one run (.pt or .safetensors).")],
    second: Annotated[Path, typer.Argument(metavar="B", help="State dict of another run of the same architecture.")],
    model: Annotated[str, typer.Option(help="package.module:factory of the architecture.")],
    data: Annotated[
        Path,
        typer.Option(
            help="An .npz file with inputs x and classes y, or a folder of images (IDX or binary CIFAR-10 files)."
        ),
    ],
    samples: Annotated[int | None, typer.Option(help="Use only the first so many of the data.")] = None,
    support: Annotated[str, typer.Option(help="Subspace of the inputs of a layer: linear or affine.")] = "linear",
    explained: Annotated[float, typer.Option(help="Share of the energy of the inputs within the subspace.")] = 0.9,
    points: Annotated[int, typer.Option(help="Points on the segment between the networks, odd.")] = 21,
    batch_norm: Annotated[str, typer.Option(help="reestimate its statistics on the data, or refuse.")] = "refuse",
    html: Annotated[Path | None, typer.Option(help="Write a page with maps of swap costs.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Compare two networks that were trained apart: can their neurons be told apart, and does the loss between them stay low?

    For each layer: dimension and coherence of its inputs, how far trained weights moved beyond the fixed ones (β), the margin
    of its own assignment of features, and whether matching the two networks leaves every neuron where it is.

    Example: `python -m examples.digits out; lakatos identify out/first.pt out/second.pt --model examples.digits:w_asymmetric
    --data out/digits.npz --html merge.html`

    Exit status: 0 they merge without alignment (a barrier of at most 0.1 nats), 1 they do not, 2 bad input, 5 a defect.
    """
    from .networks import read_module
    from .numerics.barriers import BARRIERS
    from .numerics.identification import identification
    from .report_identify import identification_json, print_identification
    from .results import write_atomically

    if support not in ("linear", "affine"):
        raise InputError(f"support={support!r}: choose 'linear' or 'affine'")
    if batch_norm not in ("reestimate", "refuse"):
        raise InputError(f"batch_norm={batch_norm!r}: choose 'reestimate' or 'refuse'")
    if samples is not None and samples < 1:
        raise InputError(f"samples={samples!r}: at least one is needed")
    inputs, targets = _images(data, samples) if data.is_dir() else _arrays(data, samples)
    a, b = (read_module(model, checkpoint=path) for path in (first, second))
    found = identification(
        a,
        b,
        inputs,
        targets,
        kind="affine" if support == "affine" else "linear",
        explained=explained,
        points=points,
        batch_norm="reestimate" if batch_norm == "reestimate" else "refuse",
    )
    if html is not None:
        from .page_identify import identification_page

        write_atomically(html, identification_page(found, BARRIERS[found.unaligned.definition]))
    if as_json:
        print_json(identification_json(found))
    else:
        print_identification(screen(), found)
    return MERGES if found.merges else DOES_NOT_MERGE


def _images(folder: Path, samples: int | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the images to test on, (N, channels, height, width) in [0, 1], and their classes."""
    from .numerics.image_files import read_images

    found = read_images(folder, "test", limit=samples)
    return found.scaled(), found.classes


def _arrays(path: Path, samples: int | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Return inputs and classes of an ``.npz`` file."""
    import torch

    from .training_data import read_training_data

    if not path.is_file():
        raise InputError(f"{path}: no such file; the data are an .npz file with arrays x and y, or a folder of images")
    x, y = read_training_data(path)
    if y.dtype.kind != "i" or y.shape != x.shape[:1]:
        raise InputError(
            f"{path}: y has shape {y.shape} and type {y.dtype}; an integer for each of {len(x)} samples is needed"
        )
    return torch.from_numpy(x[:samples]), torch.from_numpy(y[:samples])
