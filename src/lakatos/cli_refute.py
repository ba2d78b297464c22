"""``lakatos refute``: a search for counterexamples, to theorems and to their registered false variants."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .cli import BAD_INPUT, BUG, UNDECIDED, print_bug, print_error
from .cli_boundary import first_of, print_json, progress, screen
from .core import InputError
from .pool import Done, Ending, Failed, Lost, run
from .results import write_atomically

if TYPE_CHECKING:
    from .refute import Search

__all__ = ["command"]

_GRACE = 30.0  # seconds beyond the time limit after which a worker that hangs in one verification is killed

Row = tuple[str, str | None]


def command(
    theorem: Annotated[
        str | None, typer.Argument(metavar="THEOREM", help="A name that `lakatos list` prints; not needed with --all.")
    ] = None,
    variant: Annotated[str | None, typer.Option(metavar="NAME", help="Search a registered false variant.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Search every theorem and every false variant, or all of THEOREM.")
    ] = False,
    examples: Annotated[int, typer.Option(min=1, help="Instances to draw that meet the hypotheses, per row.")] = 1000,
    time_limit: Annotated[float | None, typer.Option(min=0.001, help="Seconds per row, shrinking included.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the search and of the measurements.")] = 0,
    fixtures: Annotated[
        bool, typer.Option("--fixtures/--no-fixtures", help="Try the adversarial instances of the theorem first.")
    ] = True,
    database: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep what refuted there, to try it first the next time.")
    ] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Number of processes.")] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="OUT.toml", help="Also write the counterexample as an instance file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Search for a counterexample, shrink it, and print it as an instance file.

    Example: `lakatos refute weight_frozen_iff_stable_set_unbalanced --variant sign_reversed --save found.toml`, and then
    `lakatos verify found.toml`.

    Exit status: 0 none found, 1 found, 3 undecided because no instance met the hypotheses. With `--all`: 0 if no theorem is
    refuted and all false variants are; 1 otherwise. A defect of the program counts 5, an interrupt 130.
    """
    rows = _rows(theorem, variant, everything)
    if save is not None and everything:
        raise InputError(f"--save={str(save)!r}: saves one counterexample; leave out --all")
    alone = len(rows) == 1 and jobs is None
    searches: dict[int, Search] = {}
    statuses: list[int] = []
    is_interrupted = False
    with progress("searching", examples if alone else len(rows)) as advance:
        task = partial(
            _search,
            examples=examples,
            time_limit=time_limit,
            seed=seed,
            database=database,
            fixtures=fixtures,
            advance=advance if alone else None,
        )

        def on_end(index: int, ending: Ending[Search]) -> None:
            match ending:
                case Done(search):
                    searches[index] = search
                    if search.stopped == "interrupt":
                        raise KeyboardInterrupt
                case _:
                    statuses.append(_told(rows[index], ending))
            if not alone:
                advance()

        limit = None if time_limit is None or jobs is None else time_limit + _GRACE
        try:
            run(task, rows, processes=jobs, time_limit=limit, on_end=on_end)
        except KeyboardInterrupt:
            is_interrupted = True
    found = [searches[index] for index in sorted(searches)]
    _write(found, everything, as_json)
    if save is not None:
        _save(save, found)
    if is_interrupted:
        raise KeyboardInterrupt(f"{len(searches)} of {len(rows)} searches were begun or finished")
    return first_of([*statuses, *(_status(search, everything) for search in found)])


def _rows(theorem: str | None, variant: str | None, everything: bool) -> list[Row]:
    """Return what is to be searched, as names of theorems and variants."""
    from .catalog import theorems
    from .instance import require_variant
    from .theorems import load

    if everything and variant is not None:
        raise InputError(f"--variant={variant!r}: --all searches every variant; leave one of them out")
    if theorem is None and not everything:
        raise InputError("THEOREM: missing; name one that `lakatos list` prints, or search them with --all")
    if not everything:
        assert theorem is not None
        require_variant(load(theorem), variant)
        return [(theorem, variant)]
    every = [member for members in theorems().values() for member in members]
    chosen = every if theorem is None else [load(theorem)]
    return [(member.name, name) for member in chosen for name in (None, *member.variants)]


def _search(
    row: Row,
    *,
    examples: int,
    time_limit: float | None,
    seed: int,
    database: Path | None,
    fixtures: bool,
    advance: Callable[[], None] | None,
) -> Search:
    from .refute import search
    from .theorems import load

    name, variant = row
    return search(
        load(name),
        variant,
        examples=examples,
        time_limit=time_limit,
        seed=seed,
        database=database,
        fixtures=fixtures,
        on_example=advance or (lambda: None),
    )


def _told(row: Row, ending: Lost | Failed) -> int:
    """Say on standard error why a row has no result, and return its exit status."""
    name, variant = row
    label = name if variant is None else f"{name} [{variant}]"
    if isinstance(ending, Lost):
        print_error(f"{label}: undecided ({ending.reason}): {ending.explanation}")
        return UNDECIDED
    if ending.is_bad_input:
        print_error(f"{label}: {ending.message}")
        return BAD_INPUT
    print_bug(f"{label}: {ending.message}", ending.traceback)
    return BUG


def _status(search: Search, everything: bool) -> int:
    is_refuted = search.outcome == "refuted"
    is_wanted = search.variant is not None
    return int(is_refuted != is_wanted) if everything else int(is_refuted)


def _write(found: Sequence[Search], everything: bool, as_json: bool) -> None:
    from .report_refute import print_search, print_table, searches_to_json

    if as_json:
        print_json(searches_to_json(found))
    elif everything:
        print_table(screen(), found)
    else:
        for search in found:
            print_search(sys.stdout, search)


def _save(path: Path, found: Sequence[Search]) -> None:
    for search in found:
        if search.counterexample is None:
            sys.stderr.write(f"lakatos: no counterexample, so {path} is not written\n")
        else:
            write_atomically(path, search.counterexample.text)
