"""The entry point of the command line.

Each command lives in its own file ``cli_NAME.py``; `lakatos.cli_app` lists them. The certificate checker is reached without
loading anything but the standard library.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit status of the command line `arguments` (default: those of the process).

    0 proved or supported, 1 refuted, 2 bad input, 3 undecided, 4 inapplicable, 5 a defect of the program, 130 interrupted.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given[:1] == ["check"] and not any(argument.startswith("-") for argument in given):
            from .checker import main as check

            return check(given[1:])
        from .cli_app import app

        app(given, prog_name="lakatos")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        sys.stderr.write("lakatos: interrupted\n")
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
