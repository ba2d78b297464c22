"""A sweep and its folder: opened, run on an executor, put together, drawn, summed up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import __version__
from .core import InputError
from .sweep_build import build_plan
from .sweep_plan import Plan
from .sweep_run import RunProgress, run_plan
from .sweep_spec import Spec, parsed_spec, read_spec
from .sweep_store import Store
from .sweep_table import write_result

__all__ = ["Sweep", "open_sweep"]


@dataclass(frozen=True, eq=False)
class Sweep:
    """A sweep: its description, the file and text that it comes from, its cells, and the folder where they are kept.

    `device` is where all cells are computed, if not where the description says.
    """

    spec: Spec
    path: Path
    text: str
    device: str | None
    plan: Plan
    store: Store

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder for a run, and write what is planned into it.

        Raises
        ------
        InputError
            If the folder cannot be written, or another process holds it.
        """
        with self.store.held():
            done, failed = self.store.ended()
            self.store.write_plan(
                {
                    "title": self.spec.title,
                    "spec": str(self.path.resolve()),
                    "text": self.text,
                    "device": self.device,
                    "cells": self.plan.cell_count,
                    "code": self._code,
                    "lakatos": __version__,
                    "started": time.time(),
                    "files_before": len(done) + len(failed),
                }
            )
            yield

    def run(
        self,
        executor: Executor,
        *,
        window: int = 64,
        retry_failed: bool = False,
        on_change: Callable[[RunProgress], None] = lambda progress: None,
    ) -> RunProgress:
        """Run what is missing, as `lakatos.sweep_run.run_plan`; the folder has to be `held`."""
        return run_plan(self.plan, self.store, executor, window=window, retry_failed=retry_failed, on_change=on_change)

    def consolidate(self) -> int:
        """Put the cells that have ended together, and return their number; see `lakatos.sweep_table.write_result`."""
        plots = [
            {name: value for name, value in vars(plot).items() if value not in (None, "")} for plot in self.spec.plots
        ]
        return write_result(
            self.plan,
            self.store,
            {"title": self.spec.title, "spec": self.text, "plots": plots, "code": self._code, "lakatos": __version__},
        )

    @property
    def _code(self) -> dict[str, str]:
        return {subject.name: subject.code for subject in self.plan.subjects}


def open_sweep(path: Path, output: Path | None = None, device: str | None = None) -> Sweep:
    """Return the sweep that the file `path` describes, or whose folder `path` is; nothing is written.

    Parameters
    ----------
    output : Path, optional
        Folder of the sweep. By default it stands in the current folder and has the name of the file without its ending.
    device : str, optional
        Compute all cells there.

    Raises
    ------
    InputError
        As `lakatos.sweep_spec.read_spec` and `lakatos.sweep_build.build_plan`.
    """
    if path.is_dir():
        if output is not None:
            raise InputError(f"--output={str(output)!r}: {path} is the folder of a sweep already")
        store = Store(path)
        record: dict[str, Any] = store.read_plan()
        source, text = Path(record["spec"]), str(record["text"])
        spec, device = parsed_spec(text, source), device or record["device"]
    else:
        spec, text = read_spec(path)
        source, store = path, Store(output or Path(path.stem))
    return Sweep(spec, source, text, device, build_plan(spec, source, device=device), store)
