"""Ratios to peers: every benchmark records them here, and ``python benchmarks`` runs all and gathers them."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

RECORD = "LAKATOS_RATIOS"  # names the file that gathers the ratios of several scripts


@dataclass(frozen=True)
class Ratio:
    """One task, done by us and by a peer in the same run; `aim` is how many times as fast as the peer we want to be."""

    task: str
    size: str
    seconds: float
    peer: str
    peer_seconds: float
    aim: float | None = None

    @property
    def speed(self) -> float:
        """How many times as fast as the peer."""
        return self.peer_seconds / self.seconds


def record(task: str, size: str, seconds: float, peer: str, peer_seconds: float, aim: float | None = None) -> None:
    """Append a ratio to the file that gathers them, if one is asked for."""
    target = os.environ.get(RECORD)
    if target:
        with open(target, "a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(Ratio(task, size, seconds, peer, peer_seconds, aim))) + "\n")


def recorded(source: Path) -> list[Ratio]:
    """Return the ratios of a file, which need not exist."""
    return [Ratio(**json.loads(line)) for line in source.read_text("utf-8").splitlines()] if source.exists() else []
