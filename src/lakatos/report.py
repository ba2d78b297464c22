"""Verdicts for people: a table that wraps instead of cutting off, one line per surprise, one summary, one exit status."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .cli import BAD_INPUT, BUG, UNDECIDED
from .core import Outcome, Verdict
from .values import value_text

__all__ = ["OUTCOMES", "Entry", "exit_status", "outcome_text", "print_entries", "summary", "surprise", "value_text"]

_STYLES = {
    "proved": "bold green",
    "supported": "green",
    "refuted": "bold red",
    "inconclusive": "yellow",
    "inapplicable": "cyan",
    "bad input": "magenta",
    "internal error": "bold magenta",
}
# What an instance can end in, in the order of tables of verdicts.
OUTCOMES = tuple(_STYLES)
_COLUMNS = (("outcome", 14), ("expected", 12), ("evidence", 11), ("seconds", 7))


@dataclass(frozen=True)
class Entry:
    """One instance file and its verdict, or the message why there is none."""

    path: str
    verdict: Verdict | None
    message: str = ""
    is_bad_input: bool = False

    @property
    def title(self) -> str:
        """The title of the instance; the path if it has none."""
        return (self.verdict.title if self.verdict else "") or self.path

    @property
    def theorem(self) -> str:
        """The name of the theorem, with that of the false variant in its place; empty where the file could not be read."""
        if self.verdict is None:
            return ""
        name, variant = self.verdict.theorem, self.verdict.variant
        return name if variant is None else f"{name} [{variant}]"


def exit_status(entry: Entry, *, require_proved: bool = False) -> int:
    """Return 0 if the outcome is the expected one, otherwise the status of the outcome, 1 if that would be 0.

    With `require_proved`, ``supported`` counts as undecided.
    """
    verdict = entry.verdict
    if verdict is None:
        return BAD_INPUT if entry.is_bad_input else BUG
    if require_proved and verdict.outcome is Outcome.SUPPORTED:
        return UNDECIDED
    if verdict.expected is None:
        return verdict.outcome.exit_status
    return 0 if verdict.as_expected else verdict.outcome.exit_status or 1


def outcome_text(entry: Entry) -> str:
    """Return the outcome, or what stands in its place."""
    if entry.verdict is not None:
        return str(entry.verdict.outcome)
    return "bad input" if entry.is_bad_input else "internal error"


def surprise(entry: Entry, *, require_proved: bool = False) -> str | None:
    """Return one line that says what is not as it should be and names the claim; None if all is well."""
    if exit_status(entry, require_proved=require_proved) == 0:
        return None
    verdict = entry.verdict
    if verdict is None:
        return entry.message if entry.message.startswith(f"{entry.title}:") else f"{entry.title}: {entry.message}"
    found = str(verdict.outcome)
    if verdict.expected is not None and not verdict.as_expected:
        found = f"expected {verdict.expected}, found {found}"
    elif require_proved and verdict.outcome is Outcome.SUPPORTED:
        found = "supported, but proved is required"
    why = _why(verdict)
    return f"{entry.title}: {found}: {why}" if why else f"{entry.title}: {found}"


def _why(verdict: Verdict) -> str:
    match verdict.outcome:
        case Outcome.INCONCLUSIVE:
            return ": ".join(part for part in (verdict.reason, verdict.explanation) if part)
        case Outcome.REFUTED:
            others = sum(judged.agrees is False for judged in verdict.claims) - 1
            return verdict.explanation + (f" (and {others} more)" if others > 0 else "")
        case Outcome.SUPPORTED:
            measured = [judged.claim.quantity for judged in verdict.claims if not judged.established]
            return f"measured, not established: {', '.join(measured)}"
        case _:
            return verdict.explanation


def summary(entries: Sequence[Entry], *, require_proved: bool = False) -> str:
    """Return the counts of all outcomes, and how many instances did not end as they should."""
    counts = Counter(map(outcome_text, entries))
    parts = [f"{counts[name]} {name}" for name in OUTCOMES if counts[name]]
    wrong = sum(exit_status(entry, require_proved=require_proved) != 0 for entry in entries)
    noun = "instance" if len(entries) == 1 else "instances"
    ending = "all as expected" if not wrong else f"{wrong} not as expected"
    return f"{len(entries)} {noun}: {', '.join(parts)}; {ending}"


def print_entries(console: Console, entries: Sequence[Entry], *, require_proved: bool = False) -> None:
    """Print a table for each theorem, in the order in which they occur, then the surprises and the summary."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.theorem, []).append(entry)
    for theorem in sorted(groups, key=lambda name: not name):  # what has no verdict comes last
        console.print(Text(theorem or "no verdict", style="bold"), overflow="fold")
        console.print(Padding(_table(groups[theorem]), (0, 0, 1, 2)))
    for entry in entries:
        if line := surprise(entry, require_proved=require_proved):
            console.print(Text(line, style=_STYLES[outcome_text(entry)]), overflow="fold")
    console.print(Text(summary(entries, require_proved=require_proved)), overflow="fold")


def _table(entries: Sequence[Entry]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, expand=True, header_style="dim")
    table.add_column("instance", overflow="fold", ratio=1)
    for name, width in _COLUMNS:
        table.add_column(name, width=width, overflow="fold", justify="right" if name == "seconds" else "left")
    for entry in entries:
        outcome = Text(outcome_text(entry), style=_STYLES[outcome_text(entry)])
        verdict = entry.verdict
        if verdict is None:
            table.add_row(Text(entry.title), outcome, "", "", "")
        else:
            cells = (str(verdict.expected or ""), str(verdict.evidence), f"{verdict.seconds:.2f}")
            table.add_row(Text(entry.title), outcome, *cells)
    return table
