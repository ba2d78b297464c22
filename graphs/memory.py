"""How much memory a computation may take, looked at before it is taken."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..core import Reason, Undecided

__all__ = ["available_memory", "require_memory"]

_UNKNOWN = 1 << 62
_GIB = float(1 << 30)


def available_memory() -> int:
    """Return the bytes that this process may still take: of the machine, of its control group, of its own limit.

    What the system does not tell counts as unlimited.
    """
    return min((limit for limit in (_of_machine(), *_of_group(), *_of_process())), default=_UNKNOWN)


def require_memory(needed: int, purpose: str) -> None:
    """Do nothing if `needed` bytes are available.

    Raises
    ------
    Undecided
        If they are not, with reason ``memory``, both numbers and `purpose`.
    """
    if needed > (available := available_memory()):
        raise Undecided(
            Reason.MEMORY,
            f"{purpose} needs about {needed / _GIB:.1f} GiB of memory, of which {available / _GIB:.1f} GiB are available",
        )


def _of_machine() -> int:
    for line in _lines(Path("/proc/meminfo")):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return _UNKNOWN


def _of_group() -> Iterator[int]:
    root = Path("/sys/fs/cgroup")
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        numbers = [next(_lines(root / name), "") for name in (limit, used)]
        if all(number.isdigit() for number in numbers):
            yield max(0, int(numbers[0]) - int(numbers[1]))


def _of_process() -> Iterator[int]:
    try:
        import resource
    except ImportError:  # not on this system
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = next(_lines(Path("/proc/self/statm")), "0").split()[0]
    if limit != resource.RLIM_INFINITY:
        yield max(0, limit - int(pages) * os.sysconf("SC_PAGE_SIZE"))


def _lines(path: Path) -> Iterator[str]:
    try:
        yield from path.read_text().splitlines()
    except OSError:
        return
