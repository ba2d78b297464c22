"""The work of one batch, as a worker process does it: plain data in, plain data out, nothing written.

Workers may be threads of one process (a Dask worker has several by default), while PyTorch's number of threads and its own
generator belong to the process: batches take turns within a process, on one thread of PyTorch.
"""

from __future__ import annotations

import math
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Literal, TypeAlias

from .code_version import code_version
from .core import InputError, Reason, Undecided, Verdict

__all__ = ["Ended", "Job", "JobKind", "code_of", "row_from_json", "run_job"]

JobKind: TypeAlias = Literal["experiment", "theorem"]
Ended: TypeAlias = dict[str, Any]
"""How a cell ended, as JSON data: ``{"row": …, "seconds": …}`` or ``{"error": …, "reason": …, "seconds": …}``."""

_TURN = threading.Lock()
_MOST_CLAIMS = 32  # that get columns of their own


@dataclass(frozen=True)
class Job:
    """One batch: fields and seeds of its cells, and what is run on them.

    `code` is the version of the code that the sweep was planned with; a worker with another one refuses.
    """

    kind: JobKind
    name: str
    variant: str | None
    expect: str | None
    code: str
    device: str
    fields: tuple[Mapping[str, Any], ...]
    seeds: tuple[int, ...]


def code_of(kind: JobKind, name: str) -> str:
    """Return the version of the code behind an experiment or a theorem."""
    if kind == "experiment":
        from .numerics.registry import load_experiment

        return code_version(load_experiment(name)[1])
    from .theorems import load

    return code_version(load(name).predict.__module__, f"{__package__}.verification")


def run_job(job: Job) -> list[Ended]:
    """Return how each cell of `job` ended. What goes wrong in a cell is part of the answer and never raised."""
    with _TURN:
        if (here := _code_here(job.kind, job.name)) != job.code:
            message = f"the worker has other code ({here}) than the sweep ({job.code}); install the same everywhere"
            return [_failed(InputError(message), 0.0)] * len(job.seeds)
        with _one_thread(job.kind):
            return _run(job)


def _run(job: Job) -> list[Ended]:
    run = _run_experiment if job.kind == "experiment" else _run_theorem
    began = time.perf_counter()
    try:
        rows = run(job, job.fields, job.seeds)
    except Exception as error:
        if len(job.seeds) == 1:
            return [_failed(error, time.perf_counter() - began)]
        # One cell may have spoiled it for all: each on its own.
        return [_run_alone(run, job, i) for i in range(len(job.seeds))]
    seconds = (time.perf_counter() - began) / len(rows)
    return [{"row": _row_to_json(row), "seconds": seconds} for row in rows]


_Runner: TypeAlias = Callable[[Job, Sequence[Mapping[str, Any]], Sequence[int]], "list[Mapping[str, Any]]"]


def _run_alone(run: _Runner, job: Job, i: int) -> Ended:
    began = time.perf_counter()
    try:
        (row,) = run(job, job.fields[i : i + 1], job.seeds[i : i + 1])
        return {"row": _row_to_json(row), "seconds": time.perf_counter() - began}
    except Exception as error:
        return _failed(error, time.perf_counter() - began)


def _run_experiment(job: Job, fields: Sequence[Mapping[str, Any]], seeds: Sequence[int]) -> list[Mapping[str, Any]]:
    from .conversion import build_instance
    from .numerics.registry import load_experiment
    from .verification import require_device

    require_device(job.device)
    experiment, _ = load_experiment(job.name)
    settings = [build_instance(experiment.settings, one) for one in fields]
    return list(experiment.run(settings, seeds, job.device))


def _run_theorem(job: Job, fields: Sequence[Mapping[str, Any]], seeds: Sequence[int]) -> list[Mapping[str, Any]]:
    from .conversion import build_instance
    from .theorems import load
    from .verification import verify_instance

    theorem = load(job.name)
    return [
        _verdict_row(
            verify_instance(
                theorem,
                build_instance(theorem.instance_class, one),
                seed=seed,
                device=job.device,
                variant=job.variant,
            ),
            job.expect,
        )
        for one, seed in zip(fields, seeds, strict=True)
    ]


def _verdict_row(verdict: Verdict, expect: str | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "outcome": verdict.outcome.value,
        "expected": expect or "",
        "evidence": verdict.evidence.value,
        "reason": verdict.reason,
        "explanation": verdict.explanation,
    }
    for judged in verdict.claims[:_MOST_CLAIMS]:
        quantity, estimate = judged.claim.quantity, judged.estimate
        values = {"predicted": judged.claim.value, "resolution": judged.claim.resolution}
        if estimate is not None:
            values |= {"measured": estimate.value, "error": estimate.error}
        for name, value in values.items():
            row |= {} if (number := _number(value)) is None else {f"{name}.{quantity}": number}
        if judged.agrees is not None:
            row[f"agrees.{quantity}"] = judged.agrees
    return row


def _number(value: Any) -> float | None:
    """Return a scalar as a float; None for what is none."""
    if isinstance(value, (bool, str, tuple)) or value is None:
        return float(value) if isinstance(value, bool) else None
    try:
        return float(Fraction(value) if isinstance(value, int) else value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _failed(error: Exception, seconds: float) -> Ended:
    ended: Ended = {"error": str(error) or type(error).__name__, "seconds": seconds}
    if isinstance(error, InputError):
        return {**ended, "reason": "input"}
    if isinstance(error, Undecided):
        return {**ended, "error": error.explanation, "reason": error.reason.value}
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return {**ended, "reason": Reason.MEMORY.value}
    trace = "".join(traceback.format_exception(error))
    return {**ended, "error": f"{type(error).__name__}: {error}", "reason": "bug", "traceback": trace}


def _row_to_json(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _to_json(value) for name, value in row.items()}


def _to_json(value: Any) -> Any:
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, (tuple, list)):
        return [_to_json(entry) for entry in value]
    raise TypeError(f"{value!r} of type {type(value).__name__} is no entry of a row")


def row_from_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row that was written as this JSON data: floats that JSON does not know are tables in it."""

    def value(data: Any) -> Any:
        if isinstance(data, dict):
            return float(data["float"])
        return [value(entry) for entry in data] if isinstance(data, list) else data

    return {name: value(data) for name, data in row.items()}


@cache
def _code_here(kind: JobKind, name: str) -> str:
    return code_of(kind, name)


@contextmanager
def _one_thread(kind: JobKind) -> Iterator[None]:
    """Have PyTorch use one thread; an experiment that has not imported it by now does without."""
    if kind == "experiment" and "torch" not in sys.modules:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
