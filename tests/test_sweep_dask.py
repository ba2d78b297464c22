"""A Dask cluster of two workers, one of which is killed on the way, makes the same Parquet file as local processes."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sweep_fakes

from lakatos.executors import LocalExecutor, dask_executor
from lakatos.sweep_folder import Sweep, open_sweep
from lakatos.sweep_summary import summary_of

pytest.importorskip("pyarrow")
distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("default")  # what a library of another project warns about is its own business

SPEC = 'experiment = "fake"\nseeds = 4\n[settings]\nseconds = 0.02\n[grid]\nk = { start = 1, stop = 40, count = 40 }\n'


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    folder = tmp_path / "plug_in"
    folder.mkdir()
    places = sweep_fakes.install(folder)
    for place in places:
        monkeypatch.syspath_prepend(place)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([*places, *filter(None, sys.path)]))
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Two threads each: batches of one process take turns all the same.
        made = distributed.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None, silence_logs=50)
        try:
            yield made
        finally:
            made.close(timeout=30)


def opened(tmp_path: Path, name: str) -> Sweep:
    path = tmp_path / "sweep.toml"
    path.write_text(SPEC)
    return open_sweep(path, tmp_path / name)


def test_a_cluster_that_loses_a_worker_gives_the_same_bytes(cluster: Any, tmp_path: Path) -> None:
    remote = opened(tmp_path, "remote")
    victims: list[int] = []

    def kill_one() -> None:
        while len(list(remote.store.folder.glob("cells/*/*.json"))) < 20:
            time.sleep(0.01)
        victims.append(next(iter(cluster.workers.values())).process.pid)
        os.kill(victims[0], signal.SIGKILL)

    killer = threading.Thread(target=kill_one, daemon=True)
    killer.start()
    with remote.held():
        with dask_executor(cluster.scheduler_address) as (executor, workers):
            assert workers == 4
            progress = remote.run(executor, window=8)
        remote.consolidate()
    killer.join(10)
    assert len(victims) == 1
    assert (progress.done, progress.failed) == (160, 0), summary_of(remote).failures
    local = opened(tmp_path, "local")
    with local.held():
        with LocalExecutor(2) as processes:
            local.run(processes)
        local.consolidate()
    assert local.store.result.read_bytes() == remote.store.result.read_bytes()
