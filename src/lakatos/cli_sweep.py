"""``lakatos sweep``: a grid of theorems or experiments over fields, seeds and devices, which goes on where it was stopped."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .cli import print_error
from .cli_boundary import print_json, screen
from .core import InputError

if TYPE_CHECKING:
    from .sweep_folder import Sweep
    from .sweep_run import RunProgress

__all__ = ["command"]

_BATCHES_PER_WORKER = 4  # with the executor at a time, so that no worker waits for the next one
_LEAST_WINDOW = 64
_SECONDS_BETWEEN_LINES = 30.0
_SECONDS_BETWEEN_LOOKS = 2.0


def command(
    spec: Annotated[
        Path, typer.Argument(metavar="SPEC.toml", help="What to sweep; or the folder of a sweep, to go on with it.")
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder of the sweep; default: the name of the file.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Local processes; default: one per core.")
    ] = None,
    cluster: Annotated[str | None, typer.Option(help="Address of a Dask scheduler, such as tcp://host:8786.")] = None,
    scheduler_file: Annotated[Path | None, typer.Option(help="File that names a Dask scheduler.")] = None,
    device: Annotated[str | None, typer.Option(help="Compute all cells there: cpu, cuda, cuda:1.")] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run cells again that failed.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be run.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Say how far the sweep is; it may be running elsewhere.")
    ] = False,
    consolidate: Annotated[
        bool, typer.Option("--consolidate", help="Only put the cells that have ended together into result.parquet.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Run a grid of an experiment or a theorem over settings, seeds and devices.

    Every cell that ends is a file of its own; the same command goes on where it was interrupted. When no cell is left, all
    are put together into `result.parquet`, which `lakatos plot` reads.

    Example: `lakatos sweep experiments/balance_drift_small.toml -j 2`

    Exit status: 0 all cells ended and none of them otherwise, 1 a theorem was refuted, 2 bad input, 3 cells failed or are
    missing, 4 a theorem did not apply, 5 a defect. Of several the first that occurs of 5, 2, 1, 3, 4, 0.
    """
    from .sweep_folder import open_sweep
    from .sweep_summary import print_summary, summary_json, summary_of

    if sum([dry_run, watch, consolidate]) > 1:
        raise InputError("--dry-run, --watch, --consolidate: one of them at a time")
    if cluster is not None and scheduler_file is not None:
        raise InputError("--cluster, --scheduler-file: one of them names the scheduler")
    began = time.perf_counter()
    sweep = open_sweep(spec, output, device)
    if watch:
        sweep.store.read_plan()
        _follow(sweep, as_json)
    elif not dry_run:
        from .sweep_table import require_parquet

        require_parquet(str(sweep.store.result))
        with sweep.held():
            if not consolidate:
                _run(sweep, jobs, cluster, scheduler_file, retry_failed)
            sweep.consolidate()
            _draw(sweep)
    summary = summary_of(sweep)
    if as_json:
        print_json(summary_json(summary, time.perf_counter() - began))
    else:
        print_summary(screen(), summary, planned=dry_run)
    return 0 if dry_run or watch else summary.exit_status


def _run(sweep: Sweep, jobs: int | None, cluster: str | None, scheduler_file: Path | None, retry_failed: bool) -> None:
    ended = 0

    def count(progress: RunProgress) -> None:
        nonlocal ended
        ended = progress.ended
        show(progress)

    try:
        with _shown(sweep.plan.cell_count) as show, _executor(sweep, jobs, cluster, scheduler_file) as (executor, size):
            window = max(_LEAST_WINDOW, _BATCHES_PER_WORKER * size)
            sweep.run(executor, window=window, retry_failed=retry_failed, on_change=count)
    except KeyboardInterrupt:
        total = sweep.plan.cell_count
        raise KeyboardInterrupt(
            f"{ended:,} of {total:,} cells have ended; the same command goes on from here"
        ) from None


@contextmanager
def _executor(
    sweep: Sweep, jobs: int | None, cluster: str | None, scheduler_file: Path | None
) -> Iterator[tuple[Executor, int]]:
    """Give the executor that was asked for and its number of workers; processes of ours are killed if anything goes wrong."""
    from .executors import LocalExecutor, dask_executor

    if cluster is not None or scheduler_file is not None:
        if jobs is not None:
            raise InputError(f"--jobs={jobs}: of local processes; a cluster has the workers that it has")
        with dask_executor(cluster, scheduler_file) as (executor, threads):
            yield executor, threads
        return
    from .verification import require_device

    for device in sweep.plan.devices:
        require_device(device)
    processes = jobs or os.cpu_count() or 1
    executor = LocalExecutor(processes)
    try:
        yield executor, processes
    except BaseException:
        executor.kill()
        raise
    executor.shutdown()


@contextmanager
def _shown(total: int) -> Iterator[Callable[[RunProgress], None]]:
    """Show on standard error how many cells have ended, at which rate, and how long the others will take."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = screen(sys.stderr)
    if not sys.stderr.isatty():
        yield _Lines(total)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f} cells"),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("sweep", total=total, rate="")
        began = time.monotonic()

        def show(progress: RunProgress) -> None:
            new = progress.done + progress.failed
            rate = f"{new / max(time.monotonic() - began, 1e-3):.3g}/s" + (
                f", {progress.failed:,} failed" if progress.failed else ""
            )
            bar.update(task, completed=progress.ended, rate=rate)

        yield show


class _Lines:
    """Progress for log files: a line now and then."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._began = self._last = time.monotonic()

    def __call__(self, progress: RunProgress) -> None:
        from .sweep_summary import duration

        now = time.monotonic()
        if now - self._last < _SECONDS_BETWEEN_LINES:
            return
        self._last = now
        rate = (progress.done + progress.failed) / (now - self._began)
        left = (self._total - progress.ended) / rate if rate else 0.0
        sys.stderr.write(
            f"lakatos: {progress.ended:,} of {self._total:,} cells, {rate:.3g}/s, about {duration(left)} left\n"
        )


def _follow(sweep: Sweep, as_json: bool) -> None:
    """Show on a terminal how the sweep goes on, until it does not."""
    if as_json or not sys.stdout.isatty():
        return
    from rich.live import Live

    from .sweep_summary import summary_lines, summary_of

    with Live(console=screen(), auto_refresh=False, transient=True) as live:
        while sweep.store.is_held:
            live.update("\n".join(summary_lines(summary_of(sweep))), refresh=True)
            time.sleep(_SECONDS_BETWEEN_LOOKS)


def _draw(sweep: Sweep) -> None:
    """Draw the pictures that the description asks for; a result without pictures is still a result."""
    from importlib.util import find_spec

    wanted = [plot for plot in sweep.spec.plots if plot.output is not None]
    if wanted and find_spec("matplotlib") is None:
        print_error("plots: need matplotlib, which is not installed; pip install 'lakatos[plot]', then --consolidate")
        return
    for plot in wanted:
        from .plots import draw
        from .sweep_table import read_result

        draw(read_result(sweep.store.result), plot, sweep.store.folder / str(plot.output))
