"""``lakatos check``: the certificate checker with help and JSON; without options it runs alone (see `lakatos.cli`)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .cli_boundary import print_json
from .core import InputError

__all__ = ["command"]


def command(
    result: Annotated[Path, typer.Argument(metavar="RESULT.json", help="A saved result, or a certificate file.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Re-check the certificates of a saved result, with the standard library of Python alone.

    Example: `lakatos verify instances --json > result.json; lakatos check result.json`

    Exit status: 0 valid, 1 not, 2 not a result.
    """
    from ._checker_files import read_json
    from .checker import Invalid, check_result, main

    if not as_json:
        return main([str(result)])
    try:
        document = read_json(result)
    except Invalid as error:
        raise InputError(f"{result}: {error}") from None
    problems = check_result(document, result.parent)
    print_json({"schema": "lakatos/check/1", "valid": not problems, "problems": problems})
    return 1 if problems else 0
