"""The Typer application: one command for each name in `COMMANDS`, defined by `command` in ``cli_NAME.py``.

These files load at start-up, so they import at the top what is light and inside functions what is not.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Annotated

import typer

from . import __version__
from .cli import TRACEBACK_VARIABLE
from .cli_boundary import guarded

__all__ = ["COMMANDS", "app"]

COMMANDS = (
    "verify",
    "check",
    "connectivity",
    "identify",
    "laws",
    "linearize",
    "prune",
    "refute",
    "sweep",
    "plot",
    "list",
    "show",
)

app = typer.Typer(
    help="Verify deep-learning theorems on concrete instances, with evidence another program can check.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lakatos {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    traceback: Annotated[bool, typer.Option("--traceback", help="Show the traceback of an internal error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    if traceback:
        os.environ[TRACEBACK_VARIABLE] = "1"


for _name in COMMANDS:
    _module = import_module(f".cli_{_name}", __package__)
    app.command(_name)(guarded(_module.command))
