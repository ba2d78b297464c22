"""Runs a sweep in a process that can be killed: ``python sweep_driver.py PLACES SPEC FOLDER``; PLACES go on the path."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = sys.argv[1].split(os.pathsep)
    from lakatos.executors import LocalExecutor
    from lakatos.sweep_folder import open_sweep

    sweep = open_sweep(Path(sys.argv[2]), Path(sys.argv[3]))
    executor = LocalExecutor(2)
    try:
        with sweep.held():
            sweep.run(executor, window=8, retry_failed=True)
            sweep.consolidate()
    except BaseException:
        executor.kill()
        raise
    executor.shutdown()
