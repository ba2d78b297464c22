"""Answers and certificates do not depend on the order in which Python iterates over sets of text."""

from __future__ import annotations

import os
import subprocess
import sys

_PROGRAM = """
import json
from golden import GOLDEN
from lakatos import connectivity
for row in GOLDEN:
    result = connectivity(row.network)
    print(row.id, json.dumps(result.certificate.to_json()), sorted(result.minima.items()), result.regular_frozen_edges)
"""


def test_eight_hash_seeds_give_the_same_certificates() -> None:
    here = os.path.dirname(__file__)
    outputs = set()
    for seed in range(8):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": here}
        run = subprocess.run(
            [sys.executable, "-c", _PROGRAM], env=environment, capture_output=True, text=True, check=True, timeout=120
        )
        outputs.add(run.stdout)
    assert len(outputs) == 1
    assert len(next(iter(outputs)).splitlines()) == 45
