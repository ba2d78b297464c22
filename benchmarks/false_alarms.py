"""Random true instances, as many as one has time for: no theorem may be refuted on any.

    python benchmarks/false_alarms.py --examples 100000 --state false_alarms

goes on where it stopped, theorem by theorem, and prints one line for each. Every chunk of draws has its own seed, so that a
refutation can be repeated with ``lakatos refute THEOREM --no-fixtures --seed SEED --examples CHUNK``. Exit status 1 if
anything was refuted.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from lakatos.refute import search
from lakatos.results import write_atomically
from lakatos.theorems import NAMES, load


@dataclass
class Tally:
    """What has been tried for one theorem so far."""

    theorem: str
    seeds: int = 0
    instances: int = 0
    inapplicable: int = 0
    undecided: int = 0
    seconds: float = 0.0
    counterexample: str | None = None

    def add_chunk(self, size: int) -> None:
        """Draw and verify one more chunk."""
        began = time.monotonic()
        found = search(load(self.theorem), examples=size, seed=self.seeds, fixtures=False)
        if found.stopped == "interrupt":
            raise KeyboardInterrupt
        self.seeds += 1
        self.instances += found.examples
        self.inapplicable += found.inapplicable
        self.undecided += found.undecided
        self.seconds += time.monotonic() - began
        self.counterexample = None if found.counterexample is None else found.counterexample.text

    def __str__(self) -> str:
        outcome = "0 refuted" if self.counterexample is None else f"REFUTED\n{self.counterexample}"
        return (
            f"{self.theorem}: {self.instances} instances, {self.undecided} undecided, {self.inapplicable} inapplicable, "
            f"{self.seconds:.0f} s, {outcome}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("theorems", nargs="*", metavar="THEOREM", default=list(NAMES), help="default: all")
    parser.add_argument("--examples", type=int, default=100_000, help="instances for each theorem")
    parser.add_argument("--chunk", type=int, default=500, help="instances between two saves")
    parser.add_argument("--state", type=Path, default=Path("false_alarms"), help="folder of the tallies")
    given = parser.parse_args()
    given.state.mkdir(parents=True, exist_ok=True)
    is_sound = True
    for name in given.theorems:
        path = given.state / f"{name}.json"
        tally = Tally(**json.loads(path.read_text("utf-8"))) if path.exists() else Tally(name)
        while tally.instances < given.examples and tally.counterexample is None:
            tally.add_chunk(min(given.chunk, given.examples - tally.instances))
            write_atomically(path, json.dumps(asdict(tally), indent=2) + "\n")
        sys.stdout.write(f"{tally}\n")
        sys.stdout.flush()
        is_sound &= tally.counterexample is None
    return 0 if is_sound else 1


if __name__ == "__main__":
    sys.exit(main())
