"""The entry point of the command line, and how exceptions become exit statuses.

Each command lives in its own file ``cli_NAME.py``; `lakatos.cli_app` lists them. The certificate checker is reached without
loading anything but the standard library.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence

from .core import InputError, Undecided

__all__ = ["BAD_INPUT", "BUG", "TRACEBACK_VARIABLE", "UNDECIDED", "main", "print_bug", "print_error", "status_of"]

BAD_INPUT = 2
UNDECIDED = 3
BUG = 5
INTERRUPTED = 130
BROKEN_PIPE = 141  # what a shell reports for a program that SIGPIPE ends
TRACEBACK_VARIABLE = "LAKATOS_TRACEBACK"


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit status of the command line `arguments` (default: those of the process).

    0 proved or supported, 1 refuted, 2 bad input, 3 undecided, 4 inapplicable, 5 a defect of the program, 130 interrupted.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    return status_of(lambda: _dispatched(given))


def _dispatched(given: list[str]) -> int:
    if given[:1] == ["check"] and not any(argument.startswith("-") for argument in given):
        from .checker import main as check

        return check(given[1:])
    from .cli_app import app

    try:
        app(given, prog_name="lakatos")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def status_of(command: Callable[[], int]) -> int:
    """Return what `command` returns, or the exit status for the exception it raises, which is told on standard error."""
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


if __name__ == "__main__":
    sys.exit(main())
