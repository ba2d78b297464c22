"""Run all benchmarks and gather the ratios to peers: ``python benchmarks [--full] [--only NAME …] [--output FILE]``.

Every script runs in a process of its own, one after the other; what it prints goes to the standard error stream. The
table says how many times as fast as its peer each task was, in the same run; below 1 the peer is faster. Without
``--full`` all of them take a few minutes; with it, the sizes of `benchmarks/README.md` take about an hour.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from ratios import RECORD, Ratio, recorded

from lakatos.results import write_atomically

FOLDER = Path(__file__).parent
PACKAGES = ("lakatos", "torch", "numpy", "scipy", "sympy", "ortools", "python-flint", "networkx")


@dataclass(frozen=True)
class Script:
    """A benchmark: the options of a short run, and what the full one adds."""

    name: str
    small: tuple[str, ...] = ()
    full: tuple[str, ...] = ("--full",)


SCRIPTS = (
    Script("connectivity_mlp"),
    Script("connectivity_flow"),
    Script("connectivity_lp"),
    Script("connectivity_growth"),
    Script("taylor_mode"),
    Script("correlations"),
    Script("training"),
    Script("identifiability", full=("--large",)),
    Script("sweeps", small=("--cells", "1000"), full=()),
    Script(
        "conservation",
        small=("table", "single", "symbolic"),
        full=("table", "single", "averages", "symbolic", "symbolic_large"),
    ),
)


@dataclass(frozen=True)
class Run:
    """What came of a script."""

    name: str
    ratios: Sequence[Ratio]
    gigabytes: float
    status: int


def run(script: Path, arguments: Sequence[str]) -> Run:
    """Run a script to its end; its largest memory includes that of the libraries and of the peer."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "ratios.jsonl"
        environment = os.environ | {RECORD: str(rows)}
        process = subprocess.Popen([sys.executable, str(script), *arguments], env=environment, stdout=sys.stderr)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)  # it was waited for here, to know its memory
        unit = 1 if sys.platform == "darwin" else 1024
        return Run(script.stem, recorded(rows), usage.ru_maxrss * unit / 1e9, process.returncode)


def machine() -> str:
    """Return processor, cores and versions in words."""
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        processor = next(iter(models), processor)
    found = {name: version(name) for name in PACKAGES}
    versions = ", ".join(f"{name} {number}" for name, number in found.items() if number)
    cores = f"{os.cpu_count()} cores (load {os.getloadavg()[0]:.1f} at the start)"
    return f"{processor}, {cores}. Python {platform.python_version()}, {versions}."


def version(package: str) -> str | None:
    """Return the version of a package, None where it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def written(number: float) -> str:
    """Return three digits of a number, or all of those before the point."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def table(runs: Sequence[Run]) -> str:
    """Return the ratios as a Markdown table."""
    columns = ["task", "size", "seconds", "peer", "its seconds", "times as fast", "aim"]
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for ratio in (ratio for done in runs for ratio in done.ratios):
        aim = "" if ratio.aim is None else f"{written(ratio.aim)}{'' if ratio.speed >= ratio.aim else ' (missed)'}"
        cells = [ratio.task, ratio.size, written(ratio.seconds), ratio.peer, written(ratio.peer_seconds)]
        lines.append(f"| {' | '.join(cells)} | **{written(ratio.speed)}** | {aim} |")
    return "\n".join(lines)


def report(runs: Sequence[Run], title: str, where: str) -> str:
    """Return the whole report."""
    memory = ", ".join(f"`{done.name}.py` {done.gigabytes:.1f}" for done in runs)
    return f"# Ratios to peers\n\n`{title}` on {where}\n\n{table(runs)}\n\nLargest memory of each process in GB: {memory}.\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print and write; return 1 if a script failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the sizes that the README quotes")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=[script.name for script in SCRIPTS])
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the report there, too")
    options = parser.parse_args(arguments)
    where, runs = machine(), []
    for script in SCRIPTS:
        if options.only is None or script.name in options.only:
            sys.stderr.write(f"== {script.name}\n")
            runs.append(run(FOLDER / f"{script.name}.py", script.full if options.full else script.small))
    title = "python benchmarks" + (" --full" if options.full else "")
    text = report(runs, title, where)
    sys.stdout.write(text)
    if options.output:
        write_atomically(options.output, text)
    failed = [done.name for done in runs if done.status]
    if failed:
        sys.stderr.write(f"failed: {', '.join(failed)}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
