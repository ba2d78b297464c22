"""What all commands share: they return exit statuses, and each kind of output has its stream."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import IO, Any, ParamSpec

import typer
from rich.console import Console
from rich.progress import Progress

from .cli import BAD_INPUT, BUG, UNDECIDED, status_of

__all__ = ["first_of", "guarded", "print_json", "progress", "screen"]

_ORDER = (BUG, BAD_INPUT, 1, UNDECIDED, 4, 0)

P = ParamSpec("P")


def guarded(command: Callable[P, int]) -> Callable[P, None]:
    """Return `command` as Typer wants it: it exits with the status returned, or the one for the exception raised."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        raise typer.Exit(status_of(lambda: command(*args, **kwargs)))

    return run


def screen(stream: IO[str] | None = None) -> Console:
    """Return a console on standard output (or `stream`): colors only on a terminal and without ``NO_COLOR``."""
    return Console(file=stream or sys.stdout, highlight=False, soft_wrap=False, emoji=False)


def print_json(data: Mapping[str, Any]) -> None:
    """Write one JSON object to standard output; a float that JSON does not know is a bug, not output."""
    sys.stdout.write(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def first_of(statuses: Iterable[int]) -> int:
    """Return the exit status of several instances: the first that occurs of 5, 2, 1, 3, 4, 0."""
    return min(statuses, key=_ORDER.index, default=0)


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[], None]]:
    """Show a bar on standard error if that is a terminal; the function given is called for each step done."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    with Progress(console=screen(sys.stderr), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
