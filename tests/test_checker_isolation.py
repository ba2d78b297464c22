"""The checker runs where nothing but Python is installed, and loads nothing but the standard library and itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import lakatos
from lakatos import Network, checker, connectivity

SCRIPT = Path(checker.__file__)

WATCHED = """
import sys, importlib.abc

def is_allowed(name):
    if name.partition(".")[0] == "lakatos":
        return name in ("lakatos", "lakatos.checker") or name.startswith("lakatos._checker_")
    return name.partition(".")[0] in sys.stdlib_module_names

class Watch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        # An ImportError, since the standard library itself asks for modules of Jython and goes on without them.
        if not is_allowed(name):
            raise ImportError(f"{name} is forbidden")

sys.meta_path.insert(0, Watch())
sys.path.insert(0, sys.argv[1])
from lakatos.checker import main
raise SystemExit(main(sys.argv[2:]))
"""


@pytest.fixture
def result(tmp_path: Path) -> Path:
    """A valid certificate file that uses every kind of number and both sides."""
    network = Network.from_edges([["x", "a", "1/2"], ["a", "v", "-3"], ["a", "v", "0.1"], ["v", "y", "2"]])
    path = tmp_path / "result.json"
    document = {
        "schema": "lakatos/certificate/1",
        "network": network.to_fields(),
        "certificate": connectivity(network).certificate.to_json(),
        "claims": {"feasible": True},
    }
    path.write_text(json.dumps(document))
    return path


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-S", "-W", "error", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_as_a_script_without_site_packages(result: Path) -> None:
    done = run(SCRIPT, result)
    assert (done.returncode, done.stdout, done.stderr) == (0, "valid: certificate\n", "")


def test_as_a_script_it_refuses(result: Path) -> None:
    result.write_text(result.read_text().replace('"feasible": true', '"feasible": false'))
    done = run(SCRIPT, result)
    assert done.returncode == 1
    assert done.stdout.startswith("INVALID: certificate: 'feasible' is claimed otherwise")


def test_as_a_script_on_a_missing_file(tmp_path: Path) -> None:
    done = run(SCRIPT, tmp_path / "missing.json")
    assert done.returncode == 2
    assert "missing.json" in done.stderr


def test_only_the_standard_library_is_loaded(result: Path) -> None:
    done = run("-c", WATCHED, Path(lakatos.__file__).parents[1], result)
    assert (done.returncode, done.stdout, done.stderr) == (0, "valid: certificate\n", "")


@pytest.mark.parametrize("forbidden", ["numpy", "lakatos.core"])
def test_the_watch_sees_other_imports(result: Path, forbidden: str) -> None:
    """Otherwise the test before this one could not fail."""
    watched = WATCHED.replace("from lakatos.checker", f"import {forbidden}\nfrom lakatos.checker")
    done = run("-c", watched, Path(lakatos.__file__).parents[1], result)
    assert f"{forbidden} is forbidden" in done.stderr


def test_as_a_module(result: Path) -> None:
    command = [sys.executable, "-m", "lakatos.checker", str(result)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "valid: certificate\n", "")
