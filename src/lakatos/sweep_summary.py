"""How far a sweep is, and how its cells ended."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from .cli import BAD_INPUT, BUG, UNDECIDED
from .cli_boundary import first_of
from .core import Outcome
from .sweep_folder import Sweep

__all__ = ["Failure", "Summary", "duration", "print_summary", "summary_json", "summary_lines", "summary_of"]

_SHOWN = 5
_STATUS = {"input": BAD_INPUT, "bug": BUG}


@dataclass(frozen=True)
class Failure:
    """A cell that failed: what identifies it, and why."""

    key: str
    columns: Mapping[str, Any]
    error: str
    reason: str


@dataclass(frozen=True, eq=False)
class Summary:
    """How far a sweep is.

    Parameters
    ----------
    cells : int
        How many are planned.
    done, failed : int
        How many of these cells have ended.
    other : int
        Files of cells that are not in this plan: of other settings, or of another version of the code.
    rate : float or None
        Cells per second since the last start, of a sweep that is running.
    outcomes : dict
        How often each outcome of a theorem occurs.
    statuses : tuple of int
        Exit statuses that occur.
    """

    sweep: Sweep
    cells: int
    done: int
    failed: int
    other: int
    is_running: bool
    rate: float | None
    outcomes: Mapping[str, int]
    failures: Sequence[Failure]
    statuses: tuple[int, ...]

    @property
    def missing(self) -> int:
        """Number of cells that have not ended."""
        return self.cells - self.done - self.failed

    @property
    def remaining(self) -> float | None:
        """Seconds until all cells have ended, at the rate so far."""
        return self.missing / self.rate if self.rate else None

    @property
    def exit_status(self) -> int:
        """Exit status of the command line; missing cells count as undecided."""
        return first_of([*self.statuses, *([UNDECIDED] if self.missing else [])])


def summary_of(sweep: Sweep) -> Summary:
    """Return how far `sweep` is; it may be running in another process.

    Raises
    ------
    InputError
        If the file of a cell is damaged.
    """
    files_done, files_failed = sweep.store.ended()
    done: list[str] = []
    failures: list[Failure] = []
    outcomes: Counter[str] = Counter()
    statuses: set[int] = set()
    failed = 0
    theorems = {i for i, subject in enumerate(sweep.plan.subjects) if subject.kind == "theorem"}
    for cell in sweep.plan.cells() if files_done or files_failed else ():
        if cell.key in files_failed:
            failed += 1
            record = sweep.store.read(cell.key, is_failed=True)
            statuses.add(_STATUS.get(record["reason"], UNDECIDED))
            if len(failures) < _SHOWN:
                failures.append(Failure(cell.key, sweep.plan.columns(cell), record["error"], record["reason"]))
        elif cell.key in files_done:
            done.append(cell.key)
            if cell.subject in theorems:
                row = sweep.store.read(cell.key, is_failed=False)["row"]
                outcomes[row["outcome"]] += 1
                statuses.add(_status(row["outcome"], row["expected"]))
    is_running = sweep.store.is_held
    rate = None
    if is_running:
        plan = sweep.store.read_plan()
        new = len(files_done) + len(files_failed) - plan["files_before"]
        rate = max(new, 0) / max(time.time() - plan["started"], 1e-3)
    return Summary(
        sweep=sweep,
        cells=sweep.plan.cell_count,
        done=len(done),
        failed=failed,
        other=len(files_done) + len(files_failed) - len(done) - failed,
        is_running=is_running,
        rate=rate,
        outcomes=dict(outcomes),
        failures=tuple(failures),
        statuses=tuple(sorted(statuses)),
    )


def _status(outcome: str, expected: str) -> int:
    status = Outcome(outcome).exit_status
    if not expected:
        return status
    return 0 if outcome == expected else status or 1


def summary_json(summary: Summary, seconds: float) -> dict[str, Any]:
    """Return the summary as described by ``schemas/sweep-1.json``."""
    sweep = summary.sweep
    return {
        "schema": "lakatos/sweep/1",
        "title": sweep.spec.title,
        "folder": str(sweep.store.folder),
        "result": str(sweep.store.result) if sweep.store.result.is_file() else None,
        "subjects": [{"kind": s.kind, "name": s.name, "code": s.code} for s in sweep.plan.subjects],
        "settings": sweep.plan.setting_count,
        "devices": list(sweep.plan.devices),
        "replicates": sweep.plan.replicates,
        "cells": summary.cells,
        "done": summary.done,
        "failed": summary.failed,
        "missing": summary.missing,
        "other": summary.other,
        "running": summary.is_running,
        "rate": summary.rate,
        "remaining": summary.remaining,
        "outcomes": dict(summary.outcomes),
        "failures": [
            {"key": f.key, "fields": dict(f.columns), "error": f.error, "reason": f.reason} for f in summary.failures
        ],
        "seconds": seconds,
    }


def print_summary(console: Console, summary: Summary, *, planned: bool = False) -> None:
    """Print the summary; `planned` puts what would be run first."""
    for line in summary_lines(summary, planned=planned):
        console.print(line, markup=False)


def summary_lines(summary: Summary, *, planned: bool = False) -> list[str]:
    """Return the summary as lines for a console."""
    sweep, plan = summary.sweep, summary.sweep.plan
    names = list(dict.fromkeys(subject.name for subject in plan.subjects))
    lines: list[str] = [
        f"{sweep.spec.title or ', '.join(names[:3])}: {plan.setting_count:,} settings × {plan.replicates:,} seeds"
        + (f" × {len(plan.devices)} devices" if len(plan.devices) > 1 else f" on {plan.devices[0]}")
        + f" = {summary.cells:,} cells"
    ]
    state = (
        f"{summary.done:,} done, {summary.failed:,} failed, {summary.missing:,} {'to run' if planned else 'missing'}"
    )
    if summary.is_running:
        state += "; running" + (f", {summary.rate:.3g} cells/s" if summary.rate else "")
        state += f", about {duration(summary.remaining)} left" if summary.remaining else ""
    lines.append(state)
    if summary.other:
        lines.append(f"{summary.other:,} files of cells with other settings or of another version of the code")
    if summary.outcomes:
        lines.append(", ".join(f"{count:,} {outcome}" for outcome, count in sorted(summary.outcomes.items())))
    for failure in summary.failures:
        fields = ", ".join(f"{name}={value}" for name, value in failure.columns.items() if name != "replicate")
        lines.append(f"failed ({failure.reason}): {fields}: {failure.error}")
    if summary.failed > len(summary.failures):
        lines.append(f"… and {summary.failed - len(summary.failures):,} more failed")
    lines.append(f"result: {sweep.store.result}" if sweep.store.result.is_file() else f"folder: {sweep.store.folder}")
    return lines


def duration(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> duration(5), duration(200), duration(9000)
    ('5 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
