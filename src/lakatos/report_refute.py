"""Searches for counterexamples: as a table, as an instance file with comments, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .refute import Search
from .report import value_text

__all__ = ["SCHEMA", "print_search", "print_table", "score", "searches_to_json"]

SCHEMA = "lakatos/refute/1"
_COLUMNS = (("outcome", 9), ("examples", 8), ("seconds", 8), ("size", 5))
_ENDS = {"time": "the time limit", "interrupt": "an interrupt"}


def searches_to_json(searches: Sequence[Search]) -> dict[str, Any]:
    """Return the document that ``schemas/refute-1.json`` describes."""
    return {"schema": SCHEMA, "rows": [_row(search) for search in searches]}


def score(searches: Sequence[Search]) -> str:
    """Return how many false variants are refuted, and how many theorems are."""
    variants = [search for search in searches if search.variant is not None]
    theorems = [search for search in searches if search.variant is None]
    caught = sum(search.outcome == "refuted" for search in variants)
    lost = sum(search.outcome == "refuted" for search in theorems)
    tried = sum(search.examples for search in theorems)
    return (
        f"{caught} of {len(variants)} false variants refuted; {lost} of {len(theorems)} theorems refuted, "
        f"on {tried} instances"
    )


def print_search(stream: IO[str], search: Search) -> None:
    """Write one search: comments and, if there is a counterexample, an instance file that `lakatos verify` reads."""
    statement = search.theorem if search.variant is None else f"{search.theorem} [{search.variant}]"
    lines = [f"{statement}: {_found(search)}"]
    if search.undecided:
        lines.append(f"{search.undecided} of these instances were inconclusive")
    if search.counterexample is not None:
        verdict = search.counterexample.verdict
        lines.append(verdict.explanation)
        for row in verdict.claims:
            if row.agrees is False:
                measured = value_text(row.estimate.value) if row.estimate else "a certificate that says otherwise"
                lines.append(
                    f"{row.claim.quantity}: predicted {row.claim.relation} {value_text(row.claim.value)}, found {measured}"
                )
        stream.write("".join(f"# {line}\n" for text in lines for line in text.splitlines()))
        stream.write(search.counterexample.text)
    else:
        stream.write("".join(f"{line}\n" for line in lines))


def print_table(console: Console, searches: Sequence[Search]) -> None:
    """Print a row for each search and the score; red is what should not be."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, expand=True, header_style="dim")
    table.add_column("statement", overflow="fold", ratio=1)
    for name, width in _COLUMNS:
        table.add_column(name, width=width, justify="left" if name == "outcome" else "right")
    for search in searches:
        is_variant = search.variant is not None
        is_well = (search.outcome == "refuted") is is_variant
        size = "" if search.counterexample is None else str(search.counterexample.size)
        statement = Text(f"  {search.variant}") if is_variant else Text(search.theorem, style="bold")
        outcome = Text(search.outcome, style="green" if is_well else "bold red")
        table.add_row(statement, outcome, str(search.examples), f"{search.seconds:.2f}", size)
    console.print(table)
    console.print(Text(score(searches)), overflow="fold")


def _found(search: Search) -> str:
    if search.counterexample is None:
        end = f", stopped by {_ENDS[search.stopped]}" if search.stopped in _ENDS else ""
        return f"no counterexample in {search.examples} instances, {search.seconds:.2f} s{end}"
    where = "a fixture" if search.counterexample.is_fixture else f"instance {search.examples}"
    rest = f", shrinking cut short by {_ENDS[search.stopped]}" if search.stopped in _ENDS else ""
    return f"refuted by {where} after {search.seconds:.2f} s{rest}"


def _row(search: Search) -> dict[str, Any]:
    counterexample = search.counterexample
    return {
        "theorem": search.theorem,
        "variant": search.variant,
        "outcome": search.outcome,
        "examples": search.examples,
        "inapplicable": search.inapplicable,
        "undecided": search.undecided,
        "seconds": search.seconds,
        "stopped": search.stopped,
        "size": None if counterexample is None else counterexample.size,
        "counterexample": None if counterexample is None else counterexample.text,
    }
