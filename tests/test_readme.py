"""What the README counts is what there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakatos.catalog import shipped_instances, theorems

README = Path(__file__).parent.parent / "README.md"


@pytest.mark.parametrize("family", theorems())
def test_table_of_theorems(family: str) -> None:
    there = theorems()[family]
    instances = sum(len(shipped_instances().get(theorem.name, ())) for theorem in there)
    counts = [len(there), instances, sum(len(theorem.variants) for theorem in there)]
    start = f"| {family.replace('_', ' ')} |"
    row = next(line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith(start))
    assert [int(cell) for cell in row.strip("|").split("|")[2:]] == counts
