"""Running the cells of a plan on any executor of `concurrent.futures`, each written when it has ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue

from .core import InputError
from .sweep_plan import Cell, Plan
from .sweep_store import Store
from .sweep_task import Ended, run_job

__all__ = ["RunProgress", "run_plan"]

_WRITERS = 8  # a file is safe when the disk says so, and disks answer many at once


@dataclass
class RunProgress:
    """How many cells of a plan there are, and how many of them ended how; `done` and `failed` are of this run."""

    total: int
    done_before: int = 0
    failed_before: int = 0
    done: int = 0
    failed: int = 0

    @property
    def ended(self) -> int:
        """Number of cells that have ended."""
        return self.done_before + self.failed_before + self.done + self.failed


def run_plan(
    plan: Plan,
    store: Store,
    executor: Executor,
    *,
    window: int,
    retry_failed: bool = False,
    on_change: Callable[[RunProgress], None] = lambda progress: None,
) -> RunProgress:
    """Run the cells that have not ended, and return how many ended how.

    A batch with a cell that is missing is computed as a whole, so that results never depend on what was there before; what
    is there is not written again.

    Parameters
    ----------
    executor : Executor
        Of local processes, threads or a cluster; the numbers are the same.
    window : int
        How many batches are with the executor at any time.
    retry_failed : bool
        Whether failed cells count as missing.
    on_change : callable
        Called whenever cells have ended.

    Raises
    ------
    InputError
        If cells cannot be written.
    KeyboardInterrupt
        Passed on after what was computed was written.
    """
    return _Run(plan, store, executor, retry_failed, on_change).run(window)


class _Run:
    def __init__(
        self,
        plan: Plan,
        store: Store,
        executor: Executor,
        retry_failed: bool,
        on_change: Callable[[RunProgress], None],
    ) -> None:
        self.plan, self.store, self.executor = plan, store, executor
        self.on_change = on_change
        done, failed = store.ended()
        self.kept = done if retry_failed else done | failed
        self.done = done
        self.progress = RunProgress(plan.cell_count)
        self.answers: SimpleQueue[tuple[list[Cell], Future[list[Ended]]]] = SimpleQueue()
        self.written: SimpleQueue[Future[tuple[int, int]]] = SimpleQueue()

    def run(self, window: int) -> RunProgress:
        batches = self._missing()
        with ThreadPoolExecutor(_WRITERS) as writers:
            in_flight: set[Future[list[Ended]]] = set()
            try:
                while True:
                    while len(in_flight) < window and (cells := next(batches, None)) is not None:
                        future = self.executor.submit(run_job, self.plan.job(cells))
                        in_flight.add(future)
                        future.add_done_callback(partial(self._answered, cells))
                    if not in_flight:
                        break
                    cells, ended = self.answers.get()
                    in_flight.remove(ended)
                    writers.submit(self._write, cells, ended).add_done_callback(self.written.put)
                    self._account()
            except BaseException:
                self._save_what_is_there(in_flight)
                raise
        self._account()
        return self.progress

    def _answered(self, cells: list[Cell], future: Future[list[Ended]]) -> None:
        self.answers.put((cells, future))

    def _save_what_is_there(self, in_flight: set[Future[list[Ended]]]) -> None:
        """Write the answers that have come, and cancel the others."""
        for future in in_flight:
            future.cancel()
        while not self.answers.empty():
            cells, ended = self.answers.get()
            if not ended.cancelled() and ended.exception() is None:
                self._write(cells, ended)

    def _missing(self) -> Iterator[list[Cell]]:
        """Yield the batches with a missing cell, and count the cells that are there."""
        for cells in self.plan.batches():
            there = [cell.key for cell in cells if cell.key in self.kept]
            done = sum(key in self.done for key in there)
            self.progress.done_before += done
            self.progress.failed_before += len(there) - done
            if len(there) < len(cells):
                yield cells

    def _write(self, cells: list[Cell], future: Future[list[Ended]]) -> tuple[int, int]:
        """Write the cells of a batch that were missing; return how many are done and how many failed."""
        counts = [0, 0]
        for cell, record in zip(cells, _records(cells, future), strict=True):
            if cell.key not in self.kept:
                self.store.write(cell.key, record)
                counts["error" in record] += 1
        return counts[0], counts[1]

    def _account(self) -> None:
        """Count what was written, and raise what went wrong with it."""
        changed = False
        while not self.written.empty():
            done, failed = self.written.get().result()
            self.progress.done += done
            self.progress.failed += failed
            changed = True
        if changed:
            self.on_change(self.progress)


def _records(cells: list[Cell], future: Future[list[Ended]]) -> list[Ended]:
    """Return how the cells ended, also if their workers died."""
    try:
        return future.result()
    except CancelledError:
        raise InputError("the workers are gone; run the sweep again, it goes on from here") from None
    except Exception as error:  # of the executor: its workers died, or the answer was lost on the way
        message = f"no worker came to an answer: {type(error).__name__}: {error}"
        return [{"error": message, "reason": "lost", "seconds": 0.0}] * len(cells)
