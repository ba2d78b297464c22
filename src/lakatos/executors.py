"""Executors of `concurrent.futures`: local processes that may die, and an existing Dask cluster.

`concurrent.futures.ProcessPoolExecutor` gives up everything when one of its processes is killed. Here a lost process costs
its own call only, which another process repeats.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from .core import InputError, InternalError
from .pool import READY, Done, Failed, Worker

__all__ = ["LocalExecutor", "WorkerLost", "dask_executor"]

R = TypeVar("R")

_ATTEMPTS = 3
_STARTS = 10  # of processes that die before they take a call
_CONNECT_SECONDS = 20


class WorkerLost(RuntimeError):
    """The processes that were given a call died, one after the other."""


class LocalExecutor(Executor):
    """Calls in `processes` spawned processes, each with one thread of the numerical libraries.

    A call whose process dies is given to a new one, three times in all; then its future raises `WorkerLost`.
    """

    def __init__(self, processes: int) -> None:
        self._waiting: deque[tuple[Future[Any], Any]] = deque()
        self._changed = threading.Condition()
        self._starting = threading.Lock()  # environment variables belong to the whole process
        self._workers: dict[int, Worker] = {}
        self._open = True
        self._killed = False
        self._threads = [threading.Thread(target=self._serve, args=(i,), daemon=True) for i in range(processes)]
        for thread in self._threads:
            thread.start()

    def submit(self, function: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        """Return the future of a call; function and arguments have to be picklable."""
        future: Future[R] = Future()
        with self._changed:
            if not self._open:
                raise RuntimeError("the executor was shut down")
            self._waiting.append((future, (function, args, kwargs)))
            self._changed.notify()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End when all calls have ended, or, with `cancel_futures`, when those that run have."""
        with self._changed:
            self._open = False
            if cancel_futures:
                while self._waiting:
                    self._waiting.popleft()[0].cancel()
            self._changed.notify_all()
        if wait:
            for thread in self._threads:
                thread.join()

    def kill(self) -> None:
        """Kill the processes; calls that have not ended are cancelled or raise `CancelledError`."""
        self._killed = True
        with self._starting:
            for worker in self._workers.values():
                worker.process.kill()
        self.shutdown(cancel_futures=True)

    def _serve(self, number: int) -> None:
        while True:
            with self._changed:
                while self._open and not self._waiting:
                    self._changed.wait()
                if not self._waiting:
                    break
                future, call = self._waiting.popleft()
            if future.set_running_or_notify_cancel():
                self._answer(number, future, call)
        with self._starting:
            if number in self._workers:
                self._workers.pop(number).kill()

    def _answer(self, number: int, future: Future[Any], call: Any) -> None:
        status: int | None = None
        attempts = starts = 0
        while attempts < _ATTEMPTS and starts < _STARTS:
            if self._killed:
                break
            try:
                worker = self._worker(number)
            except (EOFError, OSError):  # it died before it could take the call, which is not to blame
                status, starts = self._bury(number), starts + 1
                continue
            try:
                worker.take(0, [call])
                ending = worker.connection.recv()
            except (EOFError, OSError):
                status, attempts = self._bury(number), attempts + 1
                continue
            if isinstance(ending, Done):
                future.set_result(ending.value)
            else:
                message = ending.message if isinstance(ending, Failed) else ending.explanation
                future.set_exception(InternalError(message))
            return
        future.set_exception(
            CancelledError()
            if self._killed
            else WorkerLost(f"{attempts or starts} processes died (last status {status})")
        )

    def _worker(self, number: int) -> Worker:
        """Return the running process of one thread, started if need be."""
        if number not in self._workers:
            with self._starting:
                # As if there were more processes than cores: each gets one thread.
                self._workers[number] = Worker(get_context("spawn"), _call, max(2, os.cpu_count() or 1))
            ready = self._workers[number].connection.recv()
            assert ready == READY
        return self._workers[number]

    def _bury(self, number: int) -> int | None:
        with self._starting:
            worker = self._workers.pop(number, None)
            if worker is None:
                return None
            worker.kill()
            return worker.process.exitcode


def _call(call: tuple[Callable[..., R], tuple[Any, ...], dict[str, Any]]) -> R:
    function, args, kwargs = call
    return function(*args, **kwargs)


@contextmanager
def dask_executor(address: str | None, scheduler_file: Path | None = None) -> Iterator[tuple[Executor, int]]:
    """Give the executor of the Dask cluster at `address` (or of a scheduler file), and its number of threads.

    Raises
    ------
    InputError
        If Dask is not installed, or there is no scheduler.
    """
    where = f"--scheduler-file={str(scheduler_file)!r}" if address is None else f"--cluster={address!r}"
    if find_spec("distributed") is None:
        raise InputError(f"{where}: needs Dask, which is not installed; pip install 'lakatos[cluster]'")
    distributed: Any = import_module("distributed")  # its functions have no types
    if scheduler_file is not None and not scheduler_file.is_file():
        raise InputError(f"{where}: no such file; it is written by `dask scheduler --scheduler-file`")
    try:
        client = distributed.Client(
            address=address,
            scheduler_file=None if scheduler_file is None else str(scheduler_file),
            timeout=_CONNECT_SECONDS,
            set_as_default=False,
        )
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(f"{where}: no scheduler answers there ({error}); start one with `dask scheduler`") from None
    try:
        threads = sum(client.ncores().values())
        yield client.get_executor(pure=False), max(1, threads)
    finally:
        client.close()
