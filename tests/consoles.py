"""Pages of the documentation as sessions at a terminal: ``python tests/consoles.py PAGE...`` writes what really happens.

A page is one shell in an empty folder. A block whose first line is ``# NAME`` is a file that is put there; in a ``console``
block, lines after ``$`` are run, and the others are what they print, to both streams. ``…`` stands for anything within a
line, or for any lines where it is alone on one. Times are not compared.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lakatos.results import write_atomically

__all__ = ["DOCS", "Command", "blocks", "commands", "is_as_expected", "isolated_pip", "run_page"]

DOCS = Path(__file__).parents[1] / "docs"
_BLOCK = re.compile(r"^(```+)(\w*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"# ([\w./-]+\.\w+)\n")
_TIME = re.compile(r"(?<![\w.])\d+\.\d+(?= s\b| ?s$|$)", re.MULTILINE)
_MARK = "@@@@"


@dataclass(frozen=True)
class Command:
    """What a page says is typed, what it says is printed, and where in the page that stands."""

    text: str
    expected: str
    start: int
    end: int


def blocks(page: str) -> Iterator[tuple[str, str, int]]:
    """Yield language, content and position of the content of each block of code."""
    for match in _BLOCK.finditer(page):
        yield match[2], match[3], match.start(3)


def commands(content: str, start: int) -> Iterator[Command]:
    """Yield the commands of a ``console`` block that begins at `start`."""
    for part in re.finditer(r"^\$ (.*\n(?:> .*\n)*)((?:(?!\$ ).*\n)*)", content, re.MULTILINE):
        text = part[1].replace("\n> ", "\n").rstrip("\n")
        yield Command(text, part[2].rstrip("\n"), start + part.start(2), start + part.end(2))


def run_page(page: str, folder: Path, settings: Mapping[str, str] | None = None) -> list[tuple[Command, str]]:
    """Return the commands of `page` with what each printed, run one after the other by one shell in `folder`.

    Raises
    ------
    AssertionError
        If the shell ended before the last command.
    """
    folder.mkdir(parents=True, exist_ok=True)
    script, given = [], []
    for language, content, start in blocks(page):
        if language == "console":
            for command in commands(content, start):
                given.append(command)
                # The status of a command is still there for the next one, as at a terminal.
                script += [command.text, f"status=$?; printf '{_MARK}\\n'; (exit $status)"]
        elif named := _NAMED.match(content):
            path = folder / named[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
    done = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=folder,
        env={**_environment(), **(settings or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    printed = done.stdout.decode().split(f"{_MARK}\n")
    assert len(printed) == len(given) + 1, done.stdout.decode()
    return [(command, _clean(output)) for command, output in zip(given, printed, strict=False)]


def is_as_expected(command: Command, printed: str) -> bool:
    """Whether `printed` is what the page says."""
    expected = _TIME.sub("…", command.expected)
    pattern = "".join(
        r"(?:.*\n)*" if line.strip() == "…" else ".*".join(map(re.escape, line.rstrip().split("…"))) + "\n"
        for line in expected.split("\n")
    )
    return re.fullmatch(pattern, _TIME.sub("…", printed) + "\n") is not None


def isolated_pip(folder: Path) -> dict[str, str]:
    """Return settings with which ``pip install .`` needs no network and installs into `folder` alone."""
    return {
        "PIP_TARGET": str(folder),
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads this one the other way round
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
        "PYTHONPATH": str(folder),
    }


def _clean(output: str) -> str:
    return "\n".join(line.rstrip() for line in output.rstrip("\n").split("\n")).rstrip("\n")


def _environment() -> dict[str, str]:
    own = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "LAKATOS", "HYPOTHESIS"))
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    fixed = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return {**own, **fixed, "PATH": path}


def main() -> None:
    """Put what is printed now in the place of what is out of date."""
    for name in sys.argv[1:]:
        path = DOCS / name
        page = path.read_text("utf-8")
        with tempfile.TemporaryDirectory() as folder:
            found = run_page(page, Path(folder, "page"), isolated_pip(Path(folder, "site")))
        for command, printed in reversed(found):
            if not is_as_expected(command, printed):
                shown = _TIME.sub("…", printed)
                page = page[: command.start] + (shown + "\n" if shown else "") + page[command.end :]
                sys.stdout.write(f"{name}: $ {command.text}\n")
        write_atomically(path, page)


if __name__ == "__main__":
    main()
