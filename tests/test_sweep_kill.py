"""Drivers and workers are killed at random moments: no cell that was written changes, no file is half written."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sweep_fakes

from lakatos.sweep_folder import Sweep, open_sweep

pytest.importorskip("pyarrow")
psutil = pytest.importorskip("psutil")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

DRIVER = Path(__file__).with_name("sweep_driver.py")
SPEC = """experiment = "fake"
seeds = 4
batch = 4
[settings]
seconds = {seconds}
[grid]
k = {{ start = 1, stop = {count}, count = {count} }}
"""


class Driver:
    """A sweep in another process."""

    def __init__(self, places: list[str], spec: Path, folder: Path) -> None:
        command = [sys.executable, str(DRIVER), os.pathsep.join(places), str(spec), str(folder)]
        self.folder = folder
        self.process = subprocess.Popen(
            command,
            stderr=subprocess.PIPE,
            # A shell starts its background jobs with interrupts ignored, and children inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def wait_for_cells(self, count: int) -> bool:
        """Wait until there are so many cells; False if the sweep ended before."""
        while self.process.poll() is None:
            if len(cells(self.folder)) >= count:
                return True
            time.sleep(0.005)
        return False

    def end(self, sent: signal.Signals) -> None:
        workers = psutil.Process(self.process.pid).children()
        self.process.send_signal(sent)
        error = self.process.communicate(timeout=60)[1].decode()
        assert ("KeyboardInterrupt" in error) == (sent is signal.SIGINT), error
        _, alive = psutil.wait_procs(workers, timeout=30)
        assert not alive

    def kill_worker(self, chance: random.Random) -> None:
        workers = [child for child in psutil.Process(self.process.pid).children() if is_worker(child)]
        if workers:
            chance.choice(workers).kill()


def is_worker(process: object) -> bool:
    try:
        return "multiprocessing.spawn" in " ".join(process.cmdline())  # type: ignore[attr-defined]
    except psutil.Error:
        return False


def cells(folder: Path) -> dict[str, bytes]:
    """The files of finished cells; a draft is none. A cell whose workers were killed three times in a row is not finished."""
    return {path.name: path.read_bytes() for path in folder.glob("cells/*/[!.]*") if ".failed." not in path.name}


def survived(tmp_path: Path, *, kills: int, count: int, seconds: float, seed: int) -> None:
    places = sweep_fakes.install(tmp_path)
    spec, folder = tmp_path / "sweep.toml", tmp_path / "out"
    spec.write_text(SPEC.format(count=count, seconds=seconds))
    chance = random.Random(seed)
    done = 0
    known: dict[str, bytes] = {}
    while done < kills:
        driver = Driver(places, spec, folder)
        # Some die by themselves, with their workers; others lose workers before they do.
        for _ in range(chance.randrange(6)):
            if not driver.wait_for_cells(len(cells(folder)) + chance.randrange(1, 6)):
                break
            time.sleep(chance.random() * 0.05)
            driver.kill_worker(chance)
            done += 1
        if driver.wait_for_cells(len(cells(folder)) + chance.randrange(3)):
            time.sleep(chance.random() * 0.05)
            driver.end(chance.choice([signal.SIGKILL, signal.SIGINT]))
            done += 1
        else:
            assert driver.process.wait() == 0, driver.process.stderr and driver.process.stderr.read()
        found = cells(folder)
        assert known.items() <= found.items()  # nothing is lost, nothing is written again
        assert all(json.loads(data)["row"]["together"] == 4 for data in found.values())
        known = found
        assert len(known) < 4 * count or done >= kills, "the sweep is too short for so many kills"
    last = Driver(places, spec, folder)
    last.process.communicate(timeout=120)
    assert last.process.returncode == 0
    assert known.items() <= cells(folder).items()
    assert not list(folder.glob("cells/*/.*"))
    assert undisturbed(places, spec, tmp_path / "whole") == (folder / "result.parquet").read_bytes()


def undisturbed(places: list[str], spec: Path, folder: Path) -> bytes:
    """The result of the same sweep when nothing happens to it."""
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(8) as executor:
        for place in places:
            patch.syspath_prepend(place)
        whole: Sweep = open_sweep(spec, folder)
        with whole.held():
            whole.run(executor)
            whole.consolidate()
        return whole.store.result.read_bytes()


def test_twenty_kills_lose_nothing(tmp_path: Path) -> None:
    survived(tmp_path, kills=20, count=60, seconds=0.003, seed=0)


@pytest.mark.slow
def test_a_hundred_kills_lose_nothing(tmp_path: Path) -> None:
    survived(tmp_path, kills=100, count=400, seconds=0.003, seed=1)
