"""``lakatos verify``: verdicts for instance files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from .cli import print_bug, print_error
from .cli_boundary import first_of, print_json, progress, screen
from .core import InputError, Verdict
from .pool import Done, Ending, Failed, Lost, run
from .report import Entry, exit_status, print_entries
from .results import results_to_json, write_atomically

__all__ = ["command"]


def command(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Instance files, or folders searched for *.toml.")
    ],
    seed: Annotated[int | None, typer.Option(help="Seed of the measurements; default: the one in the file.")] = None,
    device: Annotated[str, typer.Option(help="Where to measure: cpu, cuda, cuda:1.")] = "cpu",
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Number of processes.")] = None,
    time_limit: Annotated[float | None, typer.Option(min=0.001, help="Seconds for each instance.")] = None,
    require: Annotated[str | None, typer.Option(metavar="proved", help="Do not accept supported.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    html: Annotated[Path | None, typer.Option(help="Also write a page for a browser.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Also write a JUnit XML file.")] = None,
    certificates: Annotated[Path | None, typer.Option(help="Also write one result file per instance there.")] = None,
) -> int:
    """Verify instance files, or every *.toml below a folder.

    Example: `lakatos verify instances -j 4 --time-limit 60 --junit verdicts.xml`

    Exit status of one instance: 0 if its outcome is the one it expects; otherwise that of its outcome (0 proved or supported,
    1 refuted, 3 inconclusive, 4 inapplicable), or 1 if that would be 0. A file that cannot be read counts 2, a defect of the
    program 5. Of several instances: the first that occurs of 5, 2, 1, 3, 4, 0. With `--require proved`, supported counts 3.

    `--json > result.json` saves a result for `lakatos check`.
    """
    if require not in (None, "proved"):
        raise InputError(
            f"--require={require!r}: only 'proved' can be required; leave it out to accept 'supported' too"
        )
    strict = require is not None
    entries = _entries(paths, partial(_verify, seed=seed, device=device), jobs, time_limit)
    verdicts = [entry.verdict for entry in entries if entry.verdict is not None]
    if certificates is not None:
        _write_results(certificates, entries)
    if html is not None:
        from .report_html import page

        write_atomically(html, page(entries, require_proved=strict))
    if junit is not None:
        from .report_junit import junit as xml

        write_atomically(junit, xml(entries, require_proved=strict))
    if not as_json:
        print_entries(screen(), entries, require_proved=strict)
    elif verdicts:
        print_json(results_to_json(verdicts))
    return first_of(exit_status(entry, require_proved=strict) for entry in entries)


def _verify(path: Path, *, seed: int | None, device: str) -> Verdict:
    from .verification import verify_file

    return verify_file(path, seed=seed, device=device)


def _entries(
    paths: Sequence[Path], task: Callable[[Path], Verdict], jobs: int | None, time_limit: float | None
) -> list[Entry]:
    """Return an entry for every file, in the order given; what is wrong with a file is told at once."""
    from .instance import find_instances

    entries: dict[str, Entry | None] = {}
    for path in paths:
        try:
            entries |= {str(found): entries.get(str(found)) for found in find_instances([path])}
        except InputError as error:
            print_error(str(error))
            entries[str(path)] = Entry(str(path), None, str(error), is_bad_input=True)
    files = [Path(path) for path, entry in entries.items() if entry is None]
    with _interrupts_counted(len(files)) as count, progress("verifying", len(files)) as advance:

        def on_end(index: int, ending: Ending[Verdict]) -> None:
            count()
            advance()
            entries[str(files[index])] = _entry(files[index], ending)

        run(task, files, processes=jobs, time_limit=time_limit, on_end=on_end)
    return [entry for entry in entries.values() if entry is not None]


def _entry(path: Path, ending: Ending[Verdict]) -> Entry:
    match ending:
        case Done(verdict):
            return Entry(str(path), verdict)
        case Lost(reason, explanation, seconds):
            from .verification import lost_verdict

            try:
                return Entry(str(path), lost_verdict(path, reason, explanation, seconds))
            except InputError as error:
                return _entry(path, Failed(str(error), is_bad_input=True))
        case Failed(message, is_bad_input, trace):
            if is_bad_input:
                print_error(message)
            else:
                print_bug(f"{path}: {message}", trace)
            return Entry(str(path), None, message, is_bad_input)


@contextmanager
def _interrupts_counted(total: int) -> Iterator[Callable[[], None]]:
    """Say at an interrupt how far the work had come."""
    finished = 0

    def count() -> None:
        nonlocal finished
        finished += 1

    try:
        yield count
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{finished} of {total} instances were finished") from None


def _write_results(folder: Path, entries: Sequence[Entry]) -> None:
    """Write each verdict with its certificates to its own file, which ``lakatos check`` reads."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"--certificates={str(folder)!r}: no folder ({error.strerror}); choose another place"
        ) from None
    taken: set[str] = set()
    for entry in entries:
        if entry.verdict is None:
            continue
        stem = name = Path(entry.path).stem
        number = 2
        while name in taken:
            name, number = f"{stem}-{number}", number + 1
        taken.add(name)
        write_atomically(folder / f"{name}.json", json.dumps(results_to_json([entry.verdict]), indent=2) + "\n")
