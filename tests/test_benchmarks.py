"""The command that runs all benchmarks and gathers their ratios."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
SCRIPT = """
from ratios import record

record("a task", "10 edges", 0.5, "a peer", 1.0, aim=3)
record("another", "1,000 edges", 0.001, "a peer", 2.0)
print("a line of its own")
raise SystemExit({status})
"""


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location("all_benchmarks", FOLDER / "__main__.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "all_benchmarks", module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("status", [0, 3])
def test_ratios_of_a_script_are_gathered(
    benchmarks: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    (tmp_path / "fake.py").write_text(SCRIPT.format(status=status), "utf-8")
    monkeypatch.setattr(benchmarks, "FOLDER", tmp_path)
    monkeypatch.setattr(benchmarks, "SCRIPTS", (benchmarks.Script("fake"),))
    monkeypatch.setenv("PYTHONPATH", str(FOLDER))
    assert benchmarks.main(["--output", str(tmp_path / "ratios.md")]) == (1 if status else 0)
    written = (tmp_path / "ratios.md").read_text("utf-8")
    assert "| a task | 10 edges | 0.5 | a peer | 1 | **2** | 3 (missed) |" in written
    assert "| another | 1,000 edges | 0.001 | a peer | 2 | **2,000** |  |" in written
    assert "`fake.py` 0." in written
    assert "lakatos " in written


def test_every_script_is_there_and_records_a_ratio(benchmarks: ModuleType) -> None:
    without_peer = {"connectivity_growth", "correlations"}
    for script in benchmarks.SCRIPTS:
        source = (FOLDER / f"{script.name}.py").read_text("utf-8")
        assert ("record(" in source) != (script.name in without_peer), script.name
