"""One task over many items, in worker processes where asked: time limits, lost workers, results in input order.

A time limit is kept by killing the worker, since compiled solvers cannot be interrupted in any other way. Workers are
spawned, never forked: threads of numerical libraries do not survive a fork.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext
from typing import Generic, TypeAlias, TypeVar

from .core import InputError, InternalError, Reason, Undecided

__all__ = ["READY", "Done", "Ending", "Failed", "Lost", "Worker", "run"]

T = TypeVar("T")
R = TypeVar("R")

READY = b"ready"
"""What a worker sends before it takes its first item."""

_KILLED = -9
_PAST_DEADLINE = 0.01  # seconds added to a wait so that the deadline has surely passed when it ends


@dataclass(frozen=True)
class Done(Generic[R]):
    """The task returned `value`."""

    value: R


@dataclass(frozen=True)
class Lost:
    """The task did not come to an answer: time or memory ran out, or it said that it cannot decide."""

    reason: Reason
    explanation: str
    seconds: float


@dataclass(frozen=True)
class Failed:
    """The task raised: the message of a bad input, or a defect of the program with its traceback."""

    message: str
    is_bad_input: bool
    traceback: str = ""


Ending: TypeAlias = "Done[R] | Lost | Failed"


def run(
    task: Callable[[T], R],
    items: Sequence[T],
    *,
    processes: int | None = None,
    time_limit: float | None = None,
    on_end: Callable[[int, Ending[R]], None] = lambda index, ending: None,
) -> list[Ending[R]]:
    """Return how `task` ended on each item, in the order of `items`.

    Parameters
    ----------
    task : callable
        Importable by name (or a `functools.partial` of such) if workers are used. What it prints goes to standard error.
    items : sequence
        What it is called with, one by one; has to be picklable if workers are used.
    processes : int, optional
        Number of workers. Without it, and without `time_limit`, the task runs in this process.
    time_limit : float, optional
        Seconds of wall time for each item, counted from the moment a running worker takes it.
    on_end : callable, optional
        Called with the index and the ending of each item, in the order in which they end.

    Raises
    ------
    KeyboardInterrupt
        Passed on after all workers were killed.
    InternalError
        If a worker dies before it takes an item.
    """
    if processes is None and time_limit is None:
        endings: list[Ending[R]] = []
        for index, item in enumerate(items):
            endings.append(_attempt(task, item))
            on_end(index, endings[-1])
        return endings
    return _Pool(task, items, min(processes or 1, len(items)), time_limit, on_end).run()


def _attempt(task: Callable[[T], R], item: T) -> Ending[R]:
    began = time.monotonic()
    try:
        # Standard output is for verdicts and data: a task that prints must not mix with them.
        with redirect_stdout(sys.stderr):
            return Done(task(item))
    except InputError as error:
        return Failed(str(error), is_bad_input=True)
    except Undecided as error:
        return Lost(error.reason, error.explanation, time.monotonic() - began)
    except MemoryError as error:
        return Lost(Reason.MEMORY, str(error) or "memory ran out", time.monotonic() - began)
    except Exception as error:
        return Failed(f"{type(error).__name__}: {error}", is_bad_input=False, traceback=traceback.format_exc())


class _Pool(Generic[T, R]):
    """The scheduler: each worker holds at most one item; a worker that was killed is replaced when needed."""

    def __init__(
        self,
        task: Callable[[T], R],
        items: Sequence[T],
        processes: int,
        time_limit: float | None,
        on_end: Callable[[int, Ending[R]], None],
    ) -> None:
        self.task = task
        self.items = items
        self.processes = processes
        self.limit = math.inf if time_limit is None else time_limit
        self.on_end = on_end
        self.pending = deque(range(len(items)))
        self.endings: dict[int, Ending[R]] = {}
        self.workers: list[Worker] = []

    def run(self) -> list[Ending[R]]:
        context = multiprocessing.get_context("spawn")
        try:
            while len(self.endings) < len(self.items):
                open_items = len(self.items) - len(self.endings)
                while len(self.workers) < min(self.processes, open_items):
                    self.workers.append(Worker(context, self.task, self.processes))
                self._listen()
                self._enforce_limit()
        finally:
            for worker in self.workers:
                worker.kill()
        return [self.endings[index] for index in range(len(self.items))]

    def _listen(self) -> None:
        nearest = min(worker.began for worker in self.workers) + self.limit - time.monotonic()
        timeout = None if math.isinf(nearest) else max(nearest, 0.0) + _PAST_DEADLINE
        for connection in wait([worker.connection for worker in self.workers], timeout):
            worker = next(worker for worker in self.workers if worker.connection is connection)
            try:
                message = worker.connection.recv()
            except (EOFError, OSError):
                self._bury(worker)
                continue
            if message != READY:
                self._finish(worker, message)
            if self.pending:
                worker.take(self.pending.popleft(), self.items)
            else:
                self._dismiss(worker)

    def _enforce_limit(self) -> None:
        now = time.monotonic()
        for worker in [worker for worker in self.workers if now - worker.began > self.limit]:
            self._dismiss(worker)
            explanation = f"no answer within the time limit of {self.limit:g} s"
            self._finish(worker, Lost(Reason.TIMEOUT, explanation, now - worker.began))

    def _bury(self, worker: Worker) -> None:
        """Account for a worker that died by itself: the kernel kills with signal 9 when memory runs out."""
        self._dismiss(worker)
        code = worker.process.exitcode
        if worker.index is None:
            raise InternalError(f"a worker process ended with status {code} before it took an item")
        seconds = time.monotonic() - worker.began
        if code == _KILLED:
            explanation = "the worker died (signal 9): the system kills a process when memory runs out"
            self._finish(worker, Lost(Reason.MEMORY, explanation, seconds))
        else:
            self._finish(worker, Failed(f"the worker process died with status {code}", is_bad_input=False))

    def _finish(self, worker: Worker, ending: Ending[R]) -> None:
        assert worker.index is not None
        index, worker.index, worker.began = worker.index, None, math.inf
        self.endings[index] = ending
        self.on_end(index, ending)

    def _dismiss(self, worker: Worker) -> None:
        self.workers.remove(worker)
        worker.kill()


class Worker:
    """A spawned process that answers items one at a time over `connection`: first `READY`, then an `Ending` for each.

    Parameters
    ----------
    processes : int
        How many processes share the cores: numerical libraries get that share of threads.
    """

    def __init__(self, context: SpawnContext, task: Callable[[T], R], processes: int) -> None:
        self.connection, other_end = context.Pipe()
        self.process = context.Process(target=_serve, args=(other_end, task), daemon=True)
        self.index: int | None = None
        self.began = math.inf
        with _interrupt_blocked(), _threads_shared(processes):
            self.process.start()
        other_end.close()

    def take(self, index: int, items: Sequence[T]) -> None:
        """Send the worker the item at `index`; its time starts now."""
        self.index = index
        self.began = time.monotonic()
        with suppress(BrokenPipeError):  # a worker that has just died is noticed at its end of the pipe
            self.connection.send(items[index])

    def kill(self) -> None:
        """End the process, whatever it is doing, and wait until it is gone."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def _serve(connection: Connection, task: Callable[[T], R]) -> None:
    """Answer items until the pipe closes. Interrupts are the parent's business; it kills its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)  # compiled code that prints must not reach the data on standard output either
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    connection.send(READY)
    while True:
        try:
            item = connection.recv()
        except EOFError:
            return
        ending = _attempt(task, item)
        try:
            message = pickle.dumps(ending)
        except Exception as error:
            message = pickle.dumps(Failed(f"result cannot be sent: {type(error).__name__}: {error}", False))
        connection.send_bytes(message)


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


@contextmanager
def _interrupt_blocked() -> Iterator[None]:
    """Start a process with SIGINT blocked, so that Ctrl-C during its start prints no traceback from it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _threads_shared(processes: int) -> Iterator[None]:
    """Start a process with its share of the cores: numerical libraries read this when they load."""
    name = "OMP_NUM_THREADS"
    if name in os.environ or processes == 1:
        yield
        return
    os.environ[name] = str(max(1, (os.cpu_count() or 1) // processes))
    try:
        yield
    finally:
        del os.environ[name]
