"""``lakatos linearize``: whether training a model stays near its linearization, or learns features."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from .cli_boundary import print_json, progress, screen
from .core import InputError

__all__ = ["command"]

STATUS = {"linear regime": 0, "feature learning": 1, "undecided": 3}


def command(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="package.module:factory of a PyTorch module.")],
    data: Annotated[Path, typer.Option(help="An .npz file with inputs x and targets y.")],
    checkpoint: Annotated[Path | None, typer.Option(help="State dict to load into what the factory returns.")] = None,
    loss: Annotated[str, typer.Option(help="cross_entropy, squared or logistic.")] = "cross_entropy",
    rate: Annotated[float, typer.Option(help="Learning rate of gradient descent on the mean loss.")] = 0.1,
    steps: Annotated[int, typer.Option(help="Number of steps.")] = 100,
    batch: Annotated[int | None, typer.Option(help="Samples of a step, drawn anew; all if left out.")] = None,
    train: Annotated[int | None, typer.Option(help="Train on this many samples, the first; watch them all.")] = None,
    seed: Annotated[int, typer.Option(help="Draws the batches, and what the factory draws.")] = 0,
    order: Annotated[
        int | None, typer.Option(help="Largest d of C_{0,d}: to 4, to 16 for plain MLPs; by default 3.")
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or cuda:N.")] = "cpu",
    picture: Annotated[Path | None, typer.Option(help="Write curves (.svg, .png or .pdf).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Train a model beside its linearization at the start: the same steps, batches and loss, in float64.

    Derivative correlations C_{0,d} and C_{1,d} at the start say what a step does to the outputs and to their gradients.
    Measured and predicted deviation from the linear model are compared with how far that moves.

    Example: `python -m examples.linear_regime out; lakatos linearize examples.linear_regime:wide --data out/digits.npz
    --rate 1 --picture wide.svg`

    Exit status: 0 linear regime (the deviation is at most 10 % of the movement), 1 feature learning (a third or more), 2 bad
    input, 3 undecided, 5 a defect.
    """
    import torch

    from .networks import is_factory, read_module
    from .numerics.linearization import Settings, linearization
    from .report_linearize import linearization_json, print_linearization, require_picture, write_picture
    from .training_data import read_training_data
    from .verification import require_device

    began = time.perf_counter()
    if not is_factory(model):
        raise InputError(f"model={model!r}: a PyTorch module is trained; name its factory as package.module:factory")
    require_device(device)
    if picture is not None:
        require_picture(picture)
    if not 0 <= seed < 1 << 63:
        raise InputError(f"seed={seed!r}: a seed is between 0 and 2^63 - 1")
    if loss not in ("cross_entropy", "squared", "logistic"):
        raise InputError(f"loss={loss!r}: choose 'cross_entropy', 'squared' or 'logistic'")
    settings = Settings(
        loss="squared" if loss == "squared" else "logistic" if loss == "logistic" else "cross_entropy",
        rate=rate,
        steps=steps,
        batch=batch,
        seed=seed,
        train=train,
        order=order,
    )
    x, y = read_training_data(data)
    if y.ndim > 2:
        raise InputError(f"{data}: y has shape {y.shape}; a class or a row of numbers for each sample is needed")
    torch.manual_seed(seed)
    module = read_module(model, checkpoint=checkpoint)
    try:
        with progress("training", steps) as on_step:
            found = linearization(
                module, torch.from_numpy(x), torch.from_numpy(y), settings, device=device, on_step=on_step
            )
    except InputError as error:
        if str(error).startswith("data: "):
            raise InputError(f"{data}: {str(error).removeprefix('data: ')}") from None
        raise
    if picture is not None:
        write_picture(picture, found, model)
    if as_json:
        print_json(linearization_json(found, settings, time.perf_counter() - began))
    else:
        print_linearization(screen(), found, settings)
    return STATUS[found.verdict]
