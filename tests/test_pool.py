"""Workers: order of results, time limits, deaths, bad inputs, interrupts, and no process left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lakatos.core import InputError, InternalError, Reason, Undecided
from lakatos.pool import Done, Ending, Failed, Lost, run

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


def square(number: int) -> int:
    time.sleep(0.2 if number == 0 else 0.0)  # the first item ends last
    return number * number


def behave(how: str) -> str:
    match how:
        case "sleep":
            time.sleep(60)
        case "be killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exit":
            os._exit(7)
        case "bad input":
            raise InputError("field=3: not valid")
        case "undecided":
            raise Undecided(Reason.PRECISION, "too close")
        case "no memory":
            raise MemoryError
        case "bug":
            raise KeyError("lost")
        case "print":
            print("noise of the task")  # noqa: T201
            os.write(1, b"noise of a library\n")
    return how


def unsendable(_: int) -> object:
    return lambda: None


def describe(ending: Ending[str]) -> str:
    match ending:
        case Done(value):
            return f"done {value}"
        case Lost(reason, _, _):
            return f"lost {reason}"
        case Failed(message, is_bad_input, _):
            return f"{'input' if is_bad_input else 'bug'} {message}"


@pytest.mark.parametrize("processes", [None, 1, 2])
def test_results_are_in_input_order(processes: int | None) -> None:
    ended: list[int] = []
    results = run(square, [0, 1, 2, 3], processes=processes, on_end=lambda index, _: ended.append(index))
    assert results == [Done(0), Done(1), Done(4), Done(9)]
    assert sorted(ended) == [0, 1, 2, 3]
    assert multiprocessing.active_children() == []


def test_no_items() -> None:
    assert run(square, [], processes=2) == []


@pytest.mark.parametrize("processes", [None, 1])
def test_every_way_to_raise_is_told_apart(processes: int | None) -> None:
    results = run(behave, ["bad input", "undecided", "no memory", "bug", "fine"], processes=processes)
    expected = ["input field=3: not valid", "lost precision", "lost memory", "bug KeyError: 'lost'", "done fine"]
    assert [describe(result) for result in results] == expected
    failed = results[3]
    assert isinstance(failed, Failed)
    assert "behave" in failed.traceback


@POSIX
def test_killed_workers_are_replaced_and_the_rest_is_done() -> None:
    results = run(behave, ["a", "sleep", "be killed", "exit", "b"], processes=1, time_limit=1.0)
    expected = ["done a", "lost timeout", "lost memory", "bug the worker process died with status 7", "done b"]
    assert [describe(result) for result in results] == expected
    assert multiprocessing.active_children() == []


def test_time_limit_is_told_with_its_value() -> None:
    (result,) = run(behave, ["sleep"], time_limit=0.3)
    assert isinstance(result, Lost)
    assert result.explanation == "no answer within the time limit of 0.3 s"
    assert result.seconds >= 0.3


def test_a_result_that_cannot_be_sent_is_a_bug_of_that_item() -> None:
    (result,) = run(unsendable, [1], processes=1)
    assert isinstance(result, Failed)
    assert not result.is_bad_input
    assert "cannot be sent" in result.message


def test_a_worker_that_cannot_start_is_an_error_not_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if Path(entry) != Path(__file__).parent])
    with pytest.raises(InternalError, match="before it took an item"):
        run(behave, ["a"], processes=1)


@pytest.mark.parametrize("processes", [None, 1])
def test_printing_goes_to_standard_error(processes: int | None, tmp_path: Path) -> None:
    script = f"from test_pool import *\nif __name__ == '__main__':\n    run(behave, ['print'], processes={processes})\n"
    path = tmp_path / "script.py"
    path.write_text(script)
    done = subprocess.run(
        [sys.executable, path],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert "noise of the task" in done.stderr
    if processes:
        assert done.stdout == ""


@POSIX
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_the_parent(sent: signal.Signals, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from test_pool import *\n"
        "if __name__ == '__main__':\n"
        f"    run(announce, [{str(tmp_path)!r}] * 2, processes=2)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    process = subprocess.Popen(
        [sys.executable, script],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell starts its background jobs with interrupts ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    workers = wait_for_workers(tmp_path, 2)
    os.killpg(process.pid, sent) if sent is signal.SIGINT else process.kill()
    stderr = process.communicate(timeout=60)[1]
    if sent is signal.SIGINT:
        assert stderr.count("Traceback") == 1  # the parent's own KeyboardInterrupt; none from a worker
    deadline = time.monotonic() + 10
    while any(map(is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, workers))


def announce(folder: str) -> None:
    (Path(folder) / f"{os.getpid()}.pid").touch()
    time.sleep(60)


def wait_for_workers(folder: Path, count: int) -> list[int]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = [int(path.stem) for path in folder.glob("*.pid")]
        if len(found) == count:
            return found
        time.sleep(0.05)
    pytest.fail("the workers did not start")


def is_running(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    if Path("/proc").is_dir():
        # a zombie has ended; only whoever started it has not asked yet
        return status.exists() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
