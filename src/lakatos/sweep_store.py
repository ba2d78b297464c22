"""The folder of a sweep: one file for each cell that ended, written completely or not at all.

::

    FOLDER/plan.json             what was planned last, with the text of its description
    FOLDER/cells/ab/KEY.json     a finished cell; KEY.failed.json one that failed
    FOLDER/result.parquet        all of them, once they are put together
    FOLDER/lock                  held by the process that is running the sweep
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .core import InputError
from .results import write_atomically

try:
    import fcntl
except ImportError:  # Windows, where nothing guards against a second process
    fcntl = None  # type: ignore[assignment]

__all__ = ["Store"]

_CELL = "lakatos/cell/1"
_PLAN = "lakatos/plan/1"


class Store:
    """The files of one sweep in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cells = folder / "cells"

    @property
    def result(self) -> Path:
        """Where all cells are put together."""
        return self.folder / "result.parquet"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder, which is made if need be, against other processes; remove what a killed one left half written.

        Raises
        ------
        InputError
            If the folder cannot be written, or another process holds it.
        """
        try:
            self._cells.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / "lock").open("a")
        except OSError as error:
            raise _unwritable(self.folder, error) from None
        with lock:
            if fcntl is not None:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    raise InputError(
                        f"{self.folder}: another process runs this sweep; watch it with --watch, or choose another --output"
                    ) from None
            for draft in self._cells.glob("*/.*"):
                draft.unlink(missing_ok=True)
            yield

    @property
    def is_held(self) -> bool:
        """Whether some process is running the sweep."""
        if fcntl is None or not (self.folder / "lock").exists():
            return False
        with (self.folder / "lock").open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return True
        return False

    def ended(self) -> tuple[set[str], set[str]]:
        """Return the keys of finished and of failed cells."""
        done: set[str] = set()
        failed: set[str] = set()
        if self._cells.is_dir():
            for part in sorted(os.scandir(self._cells), key=lambda entry: entry.name):
                for name in os.listdir(part.path) if part.is_dir() else ():
                    key, _, kind = name.partition(".")
                    if key:
                        (done if kind == "json" else failed).add(key)
        return done, failed - done

    def write(self, key: str, record: Mapping[str, Any]) -> None:
        """Write how a cell ended.

        Raises
        ------
        InputError
            If it cannot be written: the disk is full, the folder read-only or gone.
        """
        path = self._path(key, is_failed="error" in record)
        try:
            path.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise _unwritable(self.folder, error) from None
        write_atomically(path, json.dumps({"schema": _CELL, "key": key, **record}, allow_nan=False) + "\n")
        if "error" not in record:
            self._path(key, is_failed=True).unlink(missing_ok=True)

    def read(self, key: str, *, is_failed: bool) -> dict[str, Any]:
        """Return how a cell ended.

        Raises
        ------
        InputError
            If its file is damaged.
        """
        path = self._path(key, is_failed=is_failed)
        try:
            record = json.loads(path.read_bytes())
            if record["schema"] != _CELL or record["key"] != key or ("error" in record) != is_failed:
                raise ValueError
        except (OSError, ValueError, KeyError, TypeError):
            raise InputError(f"{path}: damaged; remove it and run the sweep again") from None
        return dict(record)

    def when(self, key: str, *, is_failed: bool) -> float:
        """Return the time at which a cell was written, in seconds since 1970."""
        return self._path(key, is_failed=is_failed).stat().st_mtime

    def write_plan(self, record: Mapping[str, Any]) -> None:
        """Write what is planned."""
        write_atomically(self.folder / "plan.json", json.dumps({"schema": _PLAN, **record}, indent=1) + "\n")

    def read_plan(self) -> dict[str, Any]:
        """Return what was planned last.

        Raises
        ------
        InputError
            If nothing was, or the file is damaged.
        """
        path = self.folder / "plan.json"
        if not path.is_file():
            raise InputError(
                f"{self.folder}: no folder of a sweep, there is no plan.json in it; `lakatos sweep` makes one"
            )
        try:
            record = json.loads(path.read_bytes())
            if record["schema"] != _PLAN:
                raise ValueError
        except (OSError, ValueError, KeyError, TypeError):
            raise InputError(f"{path}: damaged; run the sweep again, which keeps its finished cells") from None
        return dict(record)

    def _path(self, key: str, *, is_failed: bool) -> Path:
        return self._cells / key[:2] / f"{key}{'.failed' if is_failed else ''}.json"


def _unwritable(folder: Path, error: OSError) -> InputError:
    return InputError(f"{folder}: cannot be written ({error.strerror}); choose another --output")
