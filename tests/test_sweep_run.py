"""Running sweeps: the same bytes from any executor, nothing lost or run twice, failures recorded, disks that refuse."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import sweep_fakes

from lakatos import executors, sweep_task
from lakatos.core import InputError, InternalError
from lakatos.executors import LocalExecutor, WorkerLost
from lakatos.sweep_folder import Sweep, open_sweep
from lakatos.sweep_summary import summary_of
from lakatos.sweep_table import read_result

pytest.importorskip("pyarrow")

GRID = 'experiment = "fake"\nseeds = 5\nbatch = 3\n[grid]\nk = [0, 1]\nx = [0.1, 0.2]\n'


@pytest.fixture(autouse=True, scope="module")
def plug_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for place in sweep_fakes.install(tmp_path_factory.mktemp("plug_in")):
            patch.syspath_prepend(place)
        yield


@pytest.fixture
def sweep(tmp_path: Path) -> Callable[..., Sweep]:
    """Return a function that opens a sweep of a text in a folder."""

    def opened(text: str = GRID, folder: str = "out") -> Sweep:
        path = tmp_path / "sweep.toml"
        path.write_text(text)
        return open_sweep(path, tmp_path / folder)

    return opened


@contextmanager
def threads(count: int) -> Iterator[Executor]:
    with ThreadPoolExecutor(count) as executor:
        yield executor


def run(one: Sweep, executor: Executor, **options: object) -> bytes:
    """Run a sweep, and return the bytes of its result."""
    with one.held():
        one.run(executor, **options)  # type: ignore[arg-type]
        one.consolidate()
    return one.store.result.read_bytes()


def files(one: Sweep) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in one.store.folder.glob("cells/*/*")}


def test_any_number_of_workers_gives_the_same_bytes(sweep: Callable[..., Sweep]) -> None:
    results = []
    for count in (1, 2, 4):
        with LocalExecutor(count) as executor:
            results.append(run(sweep(folder=f"processes {count}"), executor))
        with threads(count) as executor:
            results.append(run(sweep(folder=f"threads {count}"), executor, window=count))
    assert len(set(results)) == 1
    assert multiprocessing.active_children() == []


def test_rows_are_those_of_the_cells(sweep: Callable[..., Sweep]) -> None:
    one = sweep()
    with threads(1) as executor:
        run(one, executor)
    columns = read_result(one.store.result).columns
    assert [columns["k"][i] for i in (0, 9, 10, 19)] == [0, 0, 1, 1]
    assert columns["together"] == ([3, 3, 3, 3, 3, 3, 3, 3, 3, 1] * 2)
    assert columns["infinite"] == [float("inf")] * 10 + [0.0] * 10
    assert columns["name"] == [f"seed {seed}" for seed in columns["seed"]]
    assert [len(curve) for curve in columns["curve"]] == [3] * 20
    assert set(columns["status"]) == {"done"}
    assert columns["error"] == [None] * 20


def test_what_has_ended_is_not_run_again(sweep: Callable[..., Sweep], monkeypatch: pytest.MonkeyPatch) -> None:
    one = sweep()
    with threads(1) as executor:
        before = run(one, executor)
    there = files(one)
    calls: list[int] = []
    original = sweep_task.run_job

    def counted(job: sweep_task.Job) -> list[sweep_task.Ended]:
        calls.append(len(job.seeds))
        return original(job)

    monkeypatch.setattr("lakatos.sweep_run.run_job", counted)
    with threads(1) as executor:
        assert run(sweep(), executor) == before
        assert calls == []
        # One cell is gone: its batch is computed again, the others of the batch are not written again.
        next(one.store.folder.glob("cells/*/*.json")).unlink()
        kept = {path: path.stat().st_mtime_ns for path in one.store.folder.glob("cells/*/*.json")}
        assert run(sweep(), executor) == before
        assert len(calls) == 1
        assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
        assert {name: json.loads(data)["row"] for name, data in files(one).items()} == {
            name: json.loads(data)["row"] for name, data in there.items()
        }
        # A larger grid runs what is new.
        calls.clear()
        larger = sweep(GRID.replace("k = [0, 1]", "k = [0, 1, 7]"))
        run(larger, executor)
        assert sum(calls) == 10
        assert len(files(one)) == 30


BEHAVIORS = 'experiment = "fake"\nseeds = 2\n[grid]\nbehavior = ["fine", "input", "undecided", "bug", "alone"]\n'


def test_failures_are_recorded_and_do_not_stop_the_rest(sweep: Callable[..., Sweep]) -> None:
    one = sweep(BEHAVIORS)
    with threads(1) as executor:
        run(one, executor)
    columns = read_result(one.store.result).columns
    ended = dict(zip(columns["behavior"], zip(columns["status"], columns["error"], strict=True), strict=True))
    assert ended == {
        "fine": ("done", None),
        "input": ("failed", "behavior: refused"),
        "undecided": ("failed", "too close"),
        "bug": ("failed", "ZeroDivisionError: division by zero"),
        "alone": ("done", None),
    }
    summary = summary_of(one)
    assert (summary.done, summary.failed, summary.missing) == (4, 6, 0)
    assert {failure.reason for failure in summary.failures} <= {"input", "precision", "bug"}
    assert summary.exit_status == 5
    assert summary.statuses == (2, 3, 5)


def test_failed_cells_wait_until_they_are_wanted(sweep: Callable[..., Sweep], monkeypatch: pytest.MonkeyPatch) -> None:
    one = sweep(BEHAVIORS.replace('"bug", ', "").replace('"undecided", ', ""))
    with threads(1) as executor:
        run(one, executor)
        before = files(one)
        run(one, executor)
        assert files(one) == before
        assert summary_of(one).exit_status == 2
        monkeypatch.setattr(sweep_fakes, "InputError", lambda message: None)
        original = sweep_fakes.run

        def mended(settings: list[sweep_fakes.Settings], seeds: list[int], device: str) -> list[object]:
            return original([sweep_fakes.Settings(x=one.x) for one in settings], seeds, device)

        monkeypatch.setitem(
            sweep_fakes.EXPERIMENTS,  # type: ignore[arg-type]
            "fake",
            sweep_fakes.Experiment("", sweep_fakes.Settings, mended, ("x", "behavior"), 4),  # type: ignore[arg-type]
        )
        run(one, executor, retry_failed=True)
    assert summary_of(one).failed == 0
    assert not any("failed" in name for name in files(one))


def test_settings_that_do_not_fit_together_fail_alone(sweep: Callable[..., Sweep]) -> None:
    one = sweep('experiment = "fake"\n[grid]\nk = [-1, 1]\n')
    with threads(1) as executor:
        run(one, executor)
    assert read_result(one.store.result).columns["error"] == ["k=-1: not negative", None]


def test_workers_that_die_every_time_fail_their_cells_only(sweep: Callable[..., Sweep]) -> None:
    one = sweep('experiment = "fake_alone"\n[grid]\nbehavior = ["fine", "die"]\nx = [1, 2]\n')
    with LocalExecutor(2) as executor:
        run(one, executor)
    columns = read_result(one.store.result).columns
    assert columns["status"] == ["done", "done", "failed", "failed"]
    assert "3 processes died (last status 3)" in columns["error"][2]
    assert summary_of(one).exit_status == 3


def test_workers_with_other_code_refuse(sweep: Callable[..., Sweep], monkeypatch: pytest.MonkeyPatch) -> None:
    one = sweep()
    monkeypatch.setattr(sweep_task, "_code_here", lambda kind, name: "0" * 16)
    with threads(1) as executor:
        run(one, executor)
    errors = set(read_result(one.store.result).columns["error"])
    assert len(errors) == 1
    assert "the worker has other code (0000000000000000)" in errors.pop()


def test_theorems_are_swept(sweep: Callable[..., Sweep]) -> None:
    one = sweep(
        'theorem = "invariant_set_nonempty_iff_closed_sums_have_sign"\n[instance]\n'
        'edges = [["x", "h"], ["h", "y"]]\nbalance = { h = 0 }\n[grid]\n"balance.h" = [-1, 0, 1]\n'
    )
    with threads(1) as executor:
        run(one, executor)
    columns = read_result(one.store.result).columns
    assert columns["balance.h"] == [-1.0, 0.0, 1.0]
    assert columns["outcome"] == ["proved"] * 3
    summary = summary_of(one)
    assert (summary.outcomes, summary.exit_status) == ({"proved": 3}, 0)


def test_instances_that_end_otherwise_than_expected_are_the_exit_status(
    sweep: Callable[..., Sweep], tmp_path: Path
) -> None:
    instance = (
        'theorem = "invariant_set_nonempty_iff_closed_sums_have_sign"\nexpect = "{}"\n[instance]\n'
        'edges = [["x", "h"], ["h", "y"]]\nbalance = {{ h = 1 }}\n'
    )
    for expected, status in (("refuted", 1), ("proved", 0)):
        (tmp_path / "one.toml").write_text(instance.format(expected))
        one = sweep('instances = ["one.toml"]\n', folder=expected)
        with threads(1) as executor:
            run(one, executor)
        assert summary_of(one).outcomes == {"proved": 1}
        assert summary_of(one).exit_status == status


# Disks ---------------------------------------------------------------------------------------------------------------


def test_a_full_disk_stops_the_sweep_and_leaves_whole_files(
    sweep: Callable[..., Sweep], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = sweep()
    synced = os.fsync
    written = 0

    def full(descriptor: int) -> None:
        nonlocal written
        written += 1
        if written > 6:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        synced(descriptor)

    with one.held():
        monkeypatch.setattr(os, "fsync", full)
        with threads(1) as executor, pytest.raises(InputError, match="No space left on device"):
            one.run(executor, window=1)
        monkeypatch.undo()
    there = files(one)
    assert 0 < len(there) < 20
    assert all(json.loads(data)["schema"] == "lakatos/cell/1" for data in there.values())
    with threads(1) as executor:
        run(one, executor)
    assert there.items() <= files(one).items()


def test_folders_that_cannot_be_written_are_named(sweep: Callable[..., Sweep], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InputError, match=r"file: cannot be written .* choose another --output"),
        sweep(folder="file").held(),
    ):
        pass
    if os.geteuid() != 0:
        (tmp_path / "locked").mkdir(mode=0o500)
        with pytest.raises(InputError, match="Permission denied"), sweep(folder="locked/out").held():
            pass


def test_two_processes_do_not_share_a_folder(sweep: Callable[..., Sweep]) -> None:
    with sweep().held():
        assert sweep().store.is_held
        with pytest.raises(InputError, match="another process runs this sweep"), sweep().held():
            pass
    assert not sweep().store.is_held


def test_damaged_cells_are_named(sweep: Callable[..., Sweep]) -> None:
    one = sweep()
    with threads(1) as executor:
        run(one, executor)
    path = next(one.store.folder.glob("cells/*/*.json"))
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(InputError, match=f"{path.name}: damaged; remove it"):
        one.consolidate()


def test_drafts_of_killed_processes_are_removed(sweep: Callable[..., Sweep]) -> None:
    one = sweep()
    with one.held():
        (one.store.folder / "cells" / "ab").mkdir()
        draft = one.store.folder / "cells" / "ab" / ".abc.json.1234"
        draft.write_text("{")
    assert one.store.ended() == (set(), set())
    with one.held():
        assert not draft.exists()


# Executors -----------------------------------------------------------------------------------------------------------


def once_only(path: str) -> str:
    """Die, unless the file is there."""
    if not Path(path).exists():
        Path(path).touch()
        os._exit(9)
    return "survived"


def test_a_lost_worker_costs_its_own_call_only(tmp_path: Path) -> None:
    with LocalExecutor(1) as executor:
        futures = [executor.submit(once_only, str(tmp_path / name)) for name in "ab"]
        assert [future.result(60) for future in futures] == ["survived"] * 2
        assert executor.submit(pow, 2, exp=3).result(60) == 8
        with pytest.raises(WorkerLost, match=r"3 processes died \(last status 1\)"):
            executor.submit(os._exit, 1).result(60)
        with pytest.raises(InternalError, match="division"):
            executor.submit(divmod, 1, 0).result(60)
        with pytest.raises(InternalError, match="cannot be sent"):
            executor.submit(lambdas).result(60)
    assert multiprocessing.active_children() == []
    with pytest.raises(RuntimeError, match="shut down"):
        executor.submit(pow, 2, 3)


def lambdas() -> object:
    return lambda: None


def test_workers_have_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with LocalExecutor(1) as executor:
        assert executor.submit(os.getenv, "OMP_NUM_THREADS").result(60) == "1"
    assert "OMP_NUM_THREADS" not in os.environ


def test_no_scheduler_is_told() -> None:
    pytest.importorskip("distributed")
    with (
        pytest.raises(InputError, match=r"--scheduler-file='/nowhere\.json': no such file"),
        executors.dask_executor(None, Path("/nowhere.json")),
    ):
        pass
