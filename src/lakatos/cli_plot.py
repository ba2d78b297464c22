"""``lakatos plot``: pictures of the result of a sweep."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from .cli_boundary import print_json
from .core import InputError

__all__ = ["command"]


def command(
    result: Annotated[Path, typer.Argument(metavar="RESULT.parquet", help="What `lakatos sweep` has written.")],
    kind: Annotated[str, typer.Option(help="slope, phase or drift.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Picture: .svg, .png or .pdf.")],
    x: Annotated[str | None, typer.Option(help="Column to the right.")] = None,
    y: Annotated[str | None, typer.Option(help="Column upwards.")] = None,
    value: Annotated[str | None, typer.Option(help="Column that a phase map shows.")] = None,
    series: Annotated[str | None, typer.Option(help="Column whose values get lines of their own.")] = None,
    theory: Annotated[float | None, typer.Option(help="Slope that is expected.")] = None,
    title: Annotated[str | None, typer.Option(help="Heading; default: that of the sweep.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Draw the result of a sweep: slopes on logarithmic axes, a phase map, or curves of drift.

    What is not given is taken from the picture of this kind that the sweep's own description asks for.

    Example: `lakatos plot balance_drift_small/result.parquet --kind slope -o drift.svg`

    Exit status: 0 drawn, 2 bad input, 5 a defect.
    """
    from importlib.util import find_spec

    from .conversion import build_instance
    from .sweep_spec import PlotRequest
    from .sweep_table import read_result

    if find_spec("matplotlib") is None:
        raise InputError("plot: needs matplotlib, which is not installed; pip install 'lakatos[plot]'")
    table = read_result(result)
    given: dict[str, Any] = {"kind": kind, "x": x, "y": y, "value": value, "series": series, "title": title}
    own: dict[str, Any] = next((plot for plot in table.metadata.get("plots", []) if plot.get("kind") == kind), {})
    fields = {**own, **{name: item for name, item in given.items() if item is not None}}
    if theory is not None:
        fields["theory"] = theory
    for name in ("x", "y"):
        if name not in fields:
            shown = ", ".join(table.columns)
            raise InputError(f"--{name}: missing, and the sweep asks for no {kind!r} picture; columns are {shown}")
    request = replace(build_instance(PlotRequest, fields), output=None)
    from .plots import draw

    draw(table, request, output)
    if as_json:
        print_json({"schema": "lakatos/plot/1", "result": str(result), "output": str(output), **fields})
    return 0
