"""What sweeps cost and gain: ``python benchmarks/sweeps.py [--cells 10000] [--jobs 2]``.

* Scheduling: wall time per trivial cell (one step of a linear net) beyond that of the same calls on the bare executor: keys,
  seeds, one synced file for each cell, progress.
* Workers: cells per second with 1 and with 2 processes, of cells that compute for about half a second each; what the machine
  itself gives a second process is measured with bare processes in the same run.
* Batches: processor time of 256 runs in batches of 64, against one by one.
* Planning: time and memory of ``lakatos sweep --dry-run`` for a million cells, in an empty folder, and in one with a cell,
  where every key has to be looked for.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Barrier
from pathlib import Path

from ratios import record

from lakatos.executors import LocalExecutor
from lakatos.sweep_folder import Sweep, open_sweep
from lakatos.sweep_task import Job, run_job

TRIVIAL = 'experiment = "linear_law_drift"\nseeds = {cells}\n[settings]\nstep = 1\n'
COMPUTING = TRIVIAL.replace("step = 1", 'method = "rk4"\nwidths = [8, 16, 16]\nstep = 0.0002')
ENSEMBLE = 'experiment = "balance_drift"\nseeds = 256\nbatch = {batch}\n[settings]\ntime = 0.5\n'
MILLION = (
    'experiment = "linear_law_drift"\n[grid]\nstep = { start = 0.001, stop = 0.01, count = 1000 }\n'
    "scale = { start = 1, stop = 2, count = 1000 }\n"
)


def opened(text: str, folder: Path) -> Sweep:
    """Return the sweep of a text in a new folder."""
    folder.mkdir()
    (folder / "sweep.toml").write_text(text)
    return open_sweep(folder / "sweep.toml", folder / "out")


def warm(executor: Executor, jobs: int, job: Job) -> None:
    """Have every process load what it needs."""
    for future in [executor.submit(run_job, job) for _ in range(4 * jobs)]:
        future.result()


def bare(executor: Executor, jobs: Sequence[Job]) -> float:
    """Return the seconds that the calls take on the executor alone, all submitted at once."""
    began = time.perf_counter()
    futures: list[Future[object]] = [executor.submit(run_job, job) for job in jobs]
    for future in futures:
        future.result()
    return time.perf_counter() - began


def swept(executor: Executor, sweep: Sweep) -> float:
    """Return the seconds that a sweep takes until its last file is written."""
    began = time.perf_counter()
    with sweep.held():
        progress = sweep.run(executor)
    seconds = time.perf_counter() - began
    assert progress.done == sweep.plan.cell_count
    return seconds


def scheduling(folder: Path, cells: int, jobs: int) -> None:
    """Print the overhead of a trivial cell."""
    sweep = opened(TRIVIAL.format(cells=cells), folder / "trivial")
    calls = [sweep.plan.job(batch) for batch in sweep.plan.batches()]
    with LocalExecutor(jobs) as executor:
        warm(executor, jobs, calls[0])
        alone = bare(executor, calls)
        whole = swept(executor, sweep)
    report(
        f"{cells} trivial cells, {jobs} processes: bare executor {1e3 * alone / cells:.2f} ms per cell, sweep "
        f"{1e3 * whole / cells:.2f} ms; overhead {1e3 * (whole - alone) / cells:.2f} ms"
    )


def _loop(job: Job, calls: int, start: Barrier, times: SimpleQueue[tuple[float, float]]) -> None:
    run_job(job)
    start.wait()
    began, busy = time.perf_counter(), time.process_time()
    for _ in range(calls):
        run_job(job)
    times.put((time.perf_counter() - began, time.process_time() - busy))


def bare_processes(job: Job, calls: int, count: int) -> tuple[float, float]:
    """Return the seconds that `count` processes take for `calls` calls together, and the processor seconds of all of them.

    Nothing but these calls happens: no executor, no files. What two such processes gain over one is what the machine gives.
    """
    context = get_context("spawn")
    start, times = context.Barrier(count), context.SimpleQueue()
    each = [context.Process(target=_loop, args=(job, calls // count, start, times)) for _ in range(count)]
    for process in each:
        process.start()
    ended = [times.get() for _ in each]
    for process in each:
        process.join()
    return max(wall for wall, _ in ended), sum(busy for _, busy in ended)


def workers(folder: Path, cells: int) -> None:
    """Print the gain of a second process, beside that of two bare processes at the same time of day."""
    rates, walls, busy = {}, {}, {}
    for jobs in (1, 2):
        sweep = opened(COMPUTING.format(cells=cells), folder / f"computing {jobs}")
        walls[jobs], busy[jobs] = bare_processes(sweep.plan.job(next(sweep.plan.batches())), cells, jobs)
        with LocalExecutor(jobs) as executor:
            trivial = opened(TRIVIAL.format(cells=1), folder / f"warm {jobs}")
            warm(executor, jobs, trivial.plan.job(next(trivial.plan.batches())))
            rates[jobs] = cells / swept(executor, sweep)
    gain, limit = rates[2] / rates[1], walls[1] / walls[2]
    record("computing cells, 2 processes", f"{cells} cells", 1 / rates[2], "1 process", 1 / rates[1], 1.8)
    report(
        f"{cells} computing cells: {rates[1]:.2f} per second with 1 process, {rates[2]:.2f} with 2; {gain:.2f} times; "
        f"two bare processes {limit:.2f} times (a call takes {busy[2] / busy[1]:.2f} times the processor time); "
        f"ratio {gain / limit:.2f} (load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)"
    )


def ensembles(folder: Path) -> None:
    """Print the gain of batches."""
    seconds = {}
    for batch in (64, 1):
        sweep = opened(ENSEMBLE.format(batch=batch), folder / f"batch {batch}")
        calls = [sweep.plan.job(cells) for cells in sweep.plan.batches()]
        calls = calls if batch > 1 else calls[:16]
        run_job(calls[0])
        began = time.process_time()
        for call in calls:
            run_job(call)
        seconds[batch] = (time.process_time() - began) / sum(len(call.seeds) for call in calls)
    record("perceptrons in batches of 64", "256 cells", seconds[64], "one by one", seconds[1], 5)
    report(
        f"256 perceptrons: {1e3 * seconds[64]:.1f} ms each in batches of 64, {1e3 * seconds[1]:.1f} ms one by one, "
        f"{seconds[1] / seconds[64]:.1f} times as long"
    )


def planning(folder: Path) -> None:
    """Print time and memory of a dry run."""
    sweep = opened(MILLION, folder / "million")
    for what in ("empty folder", "one cell there"):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        command = [sys.executable, "-m", "lakatos.cli", "sweep", "sweep.toml", "-o", "out", "--dry-run"]
        subprocess.run(command, cwd=folder / "million", check=True, stdout=subprocess.DEVNULL)
        wall = time.perf_counter() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        busy = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        report(f"dry run of 10^6 cells, {what}: {wall:.1f} s ({busy:.1f} s of processor), {peak(command, folder)} MB")
        if what == "empty folder":
            with sweep.held():
                sweep.store.write(next(sweep.plan.cells()).key, {"row": {}, "seconds": 0.0})


def peak(command: Sequence[str], folder: Path) -> int:
    """Return the largest memory of a command in MB."""
    program = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *command], cwd=folder / "million", check=True, capture_output=True, text=True
    )
    return int(done.stdout)


def report(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=10_000, help="trivial ones")
    parser.add_argument("--computing", type=int, default=24, help="cells that compute")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        planning(folder)
        ensembles(folder)
        workers(folder, options.computing)
        scheduling(folder, options.cells, options.jobs)


if __name__ == "__main__":
    main()
