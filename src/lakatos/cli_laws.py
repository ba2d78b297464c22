"""``lakatos laws``: the conservation laws of a model, plain and under a symmetry of its data."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .cli_boundary import print_json, progress, screen
from .core import InputError, InternalError
from .results import write_atomically

if TYPE_CHECKING:
    from .laws import LawsAnswer
    from .laws_simulation import DriftCurve

__all__ = ["command"]

_SHOWN = 12
_KINDS = {"none": "no law (control)", "loss": "of cross-entropy alone"}


def command(
    network: Annotated[
        str,
        typer.Argument(
            metavar="NETWORK",
            help="An architecture such as linear:3,2,4, relu:3,5,3+b, attention:2,3, power:2,1,3 or lightning:5,1,1+output "
            "(widths from the output to the input); a network file, taken as a ReLU net; or package.module:factory.",
        ),
    ],
    loss: Annotated[str, typer.Option(help="squared, or cross-entropy on logits.")] = "squared",
    group: Annotated[
        str | None,
        typer.Option(help="Symmetry of the data: C3, S4, Q8, O(4), ..., or a TOML file with orthogonal generators."),
    ] = None,
    natural_labels: Annotated[
        bool,
        typer.Option("--natural-labels", help="Labels transform like one copy of the inputs; else they are invariant."),
    ] = False,
    degree: Annotated[
        int | None,
        typer.Option(
            help="Search polynomial laws up to this degree where the known ones leave the count open; 0: none. "
            "Default: 2 up to 30 parameters."
        ),
    ] = None,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="Train the architecture on random data and show how far its laws drift.")
    ] = False,
    picture: Annotated[
        Path | None, typer.Option(help="Write the drifts as an SVG picture; implies --simulate.")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="Write instance and certificate of the count as JSON.")
    ] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="State dict to load into what the factory returns.")] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="An .npz file with x and y to train on, in place of random data; implies --simulate."),
    ] = None,
    input_shape: Annotated[str | None, typer.Option(help="Shape of one input of a module, such as 3,4.")] = None,
    seed: Annotated[int, typer.Option(help="Of random points, data and weights.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Count and list the independent functions of the weights that gradient flow conserves on every data set.

    With `--group` also those that it conserves if the data are symmetric: if the squared loss is averaged over the group.
    Counts of architectures and network files are exact and certified from both sides; PyTorch modules, and averages of other
    architectures than linear, power and lightning, are counted in floating point.

    Example: `lakatos laws linear:1,2,5 --group S5 --simulate`

    Exit status: 0 counted, 2 bad input, 3 undecided, 5 a defect.
    """
    from .laws import laws_of
    from .training_data import read_training_data

    began = time.perf_counter()
    if not 0 <= seed < 1 << 63:
        raise InputError(f"seed={seed!r}: a seed is between 0 and 2^63 - 1")
    shape = None if input_shape is None else _shape(input_shape)
    samples = None if data is None else read_training_data(data)
    if shape is None and samples is not None:
        shape = samples[0].shape[1:]
    answer = laws_of(
        network,
        loss=loss,
        group=group,
        natural_labels=natural_labels,
        degree=degree,
        input_shape=shape,
        checkpoint=checkpoint,
        seed=seed,
    )
    _require_valid(answer)
    curves: list[DriftCurve] = []
    if simulate or picture is not None or samples is not None:
        from .laws_simulation import STRETCHES, drift_curves
        from .laws_subjects import subject_of

        subject = subject_of(
            network, group=group, natural_labels=natural_labels, input_shape=shape, checkpoint=checkpoint, seed=seed
        )
        try:
            with progress("training", (2 if group is None else 3) * STRETCHES) as on_stretch:
                curves = drift_curves(subject, answer, data=samples, seed=seed, on_stretch=on_stretch)
        except InputError as error:
            if data is not None and str(error).startswith(("x has", "y has")):
                raise InputError(f"{data}: {error}") from None
            raise
    if picture is not None:
        from .picture_drift import drift_svg

        write_atomically(picture, drift_svg(curves, f"{network}, {group or 'no symmetry'}"))
    if certificate is not None:
        if answer.certificate is None:
            raise InputError(f"certificate={str(certificate)!r}: counts in floating point have none")
        write_atomically(certificate, json.dumps(answer.certificate, ensure_ascii=False, default=str) + "\n")
    found = answer.to_json(time.perf_counter() - began)
    if as_json:
        drifts = [
            {"training": c.training, "laws": c.laws, "times": list(c.times), "drifts": list(c.drifts)} for c in curves
        ]
        print_json(found | ({"simulation": drifts} if curves else {}))
    else:
        _print(network, answer, curves)
    return 0


def _require_valid(answer: LawsAnswer) -> None:
    """Have the independent checker come to the same count."""
    from .checker import Invalid, check_certificate

    if answer.certificate is None:
        return
    try:
        facts = check_certificate(answer.certificate["fields"], answer.certificate["certificate"])
    except Invalid as error:
        raise InternalError(f"the certificate is not valid: {error}") from error
    if facts["laws_at_most"] != answer.laws or facts["laws_at_least"] != answer.at_least:
        raise InternalError(f"the checker finds {facts}, not {answer.at_least} to {answer.laws} laws")


def _shape(text: str) -> tuple[int, ...]:
    try:
        shape = tuple(int(part) for part in text.split(","))
    except ValueError:
        shape = ()
    if not shape or min(shape) < 1:
        raise InputError(f"input-shape={text!r}: positive integers separated by commas are needed, such as 3,4")
    return shape


def _print(network: str, answer: LawsAnswer, curves: list[DriftCurve]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from .notebook_laws import count_text

    console = screen()
    count, status = count_text(answer)
    console.print(f"[bold]{count}[/bold] independent laws among {answer.parameters} parameters ({status})")
    if answer.group is not None:
        new = answer.laws - answer.plain_laws
        at_most = "" if answer.certified or not answer.exact else "at most "
        console.print(f"{answer.plain_laws} of all data, {at_most}{new} new under {escape(answer.group)}")
    console.print(f"how: {escape(answer.how)}", soft_wrap=True)
    for tensor in answer.tensors:
        console.print(f"  {escape(tensor)}", soft_wrap=True)
    shown = answer.new or answer.formulas
    if shown:
        console.print("new laws:" if answer.new else "laws:")
    for formula in shown[:_SHOWN]:
        console.print(f"  {escape(formula)}", soft_wrap=True)
    if len(shown) > _SHOWN:
        console.print(f"  … and {len(shown) - _SHOWN} more, see --json")
    if curves:
        table = Table("training", "laws", "drift at the end", "", title=f"drift along the flow, {escape(network)}")
        for curve in curves:
            laws = _KINDS.get(curve.laws, curve.laws)
            table.add_row(curve.training, laws, f"{curve.drifts[-1]:.1e}", _bars(curve.drifts))
        console.print(table)


def _bars(drifts: tuple[float, ...]) -> str:
    """Draw drifts between 1e-17 and 1 on a logarithmic scale."""
    from math import log10

    levels = " ▁▂▃▄▅▆▇█"
    return "".join(levels[min(8, max(0, round((log10(max(d, 1e-17)) + 17) / 17 * 8)))] for d in drifts)
