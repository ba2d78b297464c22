"""What all commands share: exceptions become exit statuses, and each kind of output has its stream."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import IO, Any, ParamSpec

import typer
from rich.console import Console
from rich.progress import Progress

from .cli import INTERRUPTED
from .core import InputError, Undecided

__all__ = [
    "BAD_INPUT",
    "BUG",
    "TRACEBACK_VARIABLE",
    "UNDECIDED",
    "first_of",
    "guarded",
    "print_bug",
    "print_error",
    "print_json",
    "progress",
    "screen",
]

BAD_INPUT = 2
UNDECIDED = 3
BUG = 5
BROKEN_PIPE = 141  # what a shell reports for a program that SIGPIPE ends
TRACEBACK_VARIABLE = "LAKATOS_TRACEBACK"
_ORDER = (BUG, BAD_INPUT, 1, UNDECIDED, 4, 0)

P = ParamSpec("P")


def guarded(command: Callable[P, int]) -> Callable[P, None]:
    """Return `command` as Typer wants it: it exits with the status returned, or the one for the exception raised."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        raise typer.Exit(_status(lambda: command(*args, **kwargs)))

    return run


def _status(command: Callable[[], int]) -> int:
    try:
        status = command()
        sys.stdout.flush()
        return status
    except InputError as error:
        print_error(str(error))
        return BAD_INPUT
    except Undecided as error:
        print_error(f"undecided ({error.reason}): {error.explanation}")
        return UNDECIDED
    except MemoryError as error:
        print_error(f"undecided (memory): {str(error) or 'memory ran out'}")
        return UNDECIDED
    except BrokenPipeError:
        # The reader has gone. Python flushes standard output once more at exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt as error:
        sys.stderr.write(f"lakatos: interrupted{f'; {error}' if str(error) else ''}\n")
        return INTERRUPTED
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:
        print_bug(f"{type(error).__name__}: {error}", traceback.format_exc())
        return BUG


def print_error(message: str) -> None:
    """Write one error to standard error."""
    sys.stderr.write(f"lakatos: error: {message}\n")


def print_bug(message: str, trace: str) -> None:
    """Write an internal error to standard error; the traceback only where it was asked for."""
    sys.stderr.write(f"lakatos: internal error: {message}\n")
    if os.environ.get(TRACEBACK_VARIABLE, "") not in ("", "0"):
        sys.stderr.write(trace)
    else:
        sys.stderr.write("This is a bug in lakatos, not in your input; `lakatos --traceback ...` shows where.\n")


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
