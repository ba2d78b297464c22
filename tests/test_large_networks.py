"""Networks too large for plain loops: the same answers on arrays, clear errors, clean stops."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_cli_connectivity import BALANCED, CYCLE, EMPTY, FREE, LOCKED, NESTED, write

from lakatos import InputError, Network, certified, connectivity
from lakatos.checker import main as check
from lakatos.cli import main
from lakatos.core import Certificate, Reason, Undecided
from lakatos.graphs import connectivity as engine
from lakatos.graphs import layered, memory
from lakatos.graphs.checking import check_connectivity
from lakatos.graphs.layered import layered_network


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every network counts as large."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(certified, "_LARGE", -1)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize(
    ("network", "status"), [(LOCKED, 1), (FREE, 0), (BALANCED, 0), (EMPTY, 4), (NESTED, 1), (CYCLE, 1)]
)
def test_the_command_answers_alike(
    network: dict[str, Any], status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = []
    for limit in (-1, 10):
        monkeypatch.setattr(certified, "_LARGE", limit)
        assert main(["connectivity", write(network), "--json", "--certificate", "proof.json"]) == status
        answers.append({**json.loads(capsys.readouterr().out), "seconds": None})
        assert check(["proof.json"]) == 0
        capsys.readouterr()
    assert answers[0] == answers[1]


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("change", [{"kind": "nonsense"}, {"data": {"point": {}}}])
def test_a_certificate_that_does_not_check_is_a_bug(
    change: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    decide = engine.connectivity

    def broken(network: Any) -> Any:
        result = decide(network)
        data = {**result.certificate.data, **change.get("data", {})}
        result.__dict__["certificate"] = Certificate(change.get("kind", result.certificate.kind), data)
        return result

    monkeypatch.setattr(engine, "connectivity", broken)
    assert main(["connectivity", write(LOCKED)]) == 5
    assert "the certificate is not valid" in capsys.readouterr().err


@pytest.mark.usefixtures("large")
def test_an_answer_that_differs_from_its_certificate_is_a_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    decide = engine.connectivity

    def broken(network: Any) -> Any:
        result = decide(network)
        result.__dict__["frozen_edges"] = ()
        return result

    monkeypatch.setattr(engine, "connectivity", broken)
    assert main(["connectivity", write(LOCKED)]) == 5
    assert "the certificate establishes" in capsys.readouterr().err


@pytest.mark.usefixtures("large")
def test_too_little_memory_leaves_it_undecided(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 100)
    assert main(["connectivity", write(LOCKED), "--certificate", "proof.json"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "undecided (memory): net.json: writing out the network of the certificate needs about" in err
    assert not Path("proof.json").exists()
    assert main(["connectivity", "net.json"]) == 1


def test_memory_is_estimated_before_large_networks_are_made_or_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    network = layered_network([3, 4, 2], [[1, -1, 0, 2]])
    monkeypatch.setattr(memory, "available_memory", lambda: 100)
    for module in (layered, engine):
        monkeypatch.setattr(module, "_LARGE", 10)
    with pytest.raises(Undecided, match="a network of 20 edges needs about") as caught:
        layered_network([3, 4, 2])
    assert caught.value.reason is Reason.MEMORY
    with pytest.raises(Undecided, match="deciding a network of 20 edges needs about"):
        connectivity(network)


def test_witnesses_that_contain_each_other_are_not_written_out_beyond_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 60
    edges = [("x", "v0"), *[(f"v{i}", f"v{i + 1}") for i in range(n)], (f"v{n}", "y")]
    result = connectivity(Network.from_edges(edges, balance={f"v{i}": -(i == 0) for i in range(n + 1)}))
    monkeypatch.setattr(engine, "available_memory", lambda: 100_000)
    assert result.log2_components == n + 1  # this needs no witnesses
    with pytest.raises(Undecided, match="which contain each other, take all memory") as caught:
        _ = result.certificate
    assert caught.value.reason is Reason.MEMORY


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_weight_that_is_no_number_is_named_before_anything_is_summed(bad: float) -> None:
    m = 1_000_000
    weights = np.ones(m)
    weights[654_321] = bad
    with pytest.raises(InputError, match=r"weight\[654321\]=.*(nan|inf).*: weights must be finite"):
        Network.from_arrays(np.zeros(m, np.int64), np.ones(m, np.int64), weights=weights)


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        (np.array([2**63], np.uint64), "node number 9223372036854775808; numbers below 2147483648"),
        (np.array([2**31]), "node number 2147483648; numbers below"),
        (np.array([-1]), "node number -1 is negative"),
    ],
)
def test_node_numbers_that_do_not_fit_are_refused(tail: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Network.from_arrays(tail, [0])


@pytest.mark.parametrize("c", [2**60, 2**62, -(2**63), 2**63 - 1])
def test_balances_at_the_end_of_64_bits(c: int) -> None:
    """x, z → a → b → y with two edges from a to b: sums of two such balances do not fit."""
    tail, head = [0, 1, 2, 2, 3], [2, 2, 3, 3, 4]
    network = Network.from_arrays(tail, head, balance=np.array([0, 0, c, c, 0]))
    result = connectivity(network)
    assert result.minima == ({4: -2 * c} if c < 0 else {})
    assert check_connectivity(network, result.certificate.to_json())["frozen"] == result.frozen_edges


@given(st.lists(st.floats(-30, 30), min_size=7, max_size=7), st.lists(st.booleans(), min_size=7, max_size=7))
@settings(max_examples=60)
def test_weights_from_1e_30_to_1e30(exponents: list[float], signs: list[bool]) -> None:
    """The toy network whose last weight is locked by a stable set, with exact sums over sixty orders of magnitude."""
    weights = [(-1.0 if sign else 1.0) * 10**x for x, sign in zip(exponents, signs, strict=True)]
    pairs = [["x1", "a"], ["x2", "a"], ["x1", "b"], ["x2", "b"], ["a", "v"], ["b", "v"], ["v", "y"]]
    network = Network.from_edges([[*pair, w] for pair, w in zip(pairs, weights, strict=True)])
    result = connectivity(network)
    square = [Fraction(w) ** 2 for w in weights]
    c = {"a": square[0] + square[1] - square[4], "b": square[2] + square[3] - square[5]}
    least = max(Fraction(0), -(square[4] + square[5] - square[6] + min(c["a"], 0) + min(c["b"], 0)))
    assert result.minima.get(6, 0) == least
    assert check_connectivity(network, result.certificate.to_json())["frozen"] == result.frozen_edges


@pytest.mark.slow
def test_ten_million_edges(tmp_path: Path) -> None:
    """Decided and checked exactly in seconds; one NaN among the weights is named in less."""
    rng = np.random.default_rng(0)
    network = layered_network([784, 2000, 2000, 2000, 1])
    arrays = {"tail": network.tail, "head": network.head, "inputs": network.inputs, "outputs": network.outputs}
    weight = rng.normal(0, 0.02, network.edge_count)
    np.savez(tmp_path / "net.npz", **arrays, weight=weight)
    assert main(["connectivity", str(tmp_path / "net.npz")]) == 0
    weight[5_000_000] = np.nan
    began = time.process_time()
    with pytest.raises(InputError, match=r"weight\[5000000\]"):
        Network.from_arrays(network.tail, network.head, inputs=network.inputs, outputs=network.outputs, weights=weight)
    assert time.process_time() - began < 2  # checks of the arrays only; the sums would come after


@pytest.mark.slow
def test_an_interrupt_in_the_middle_stops_cleanly(tmp_path: Path) -> None:
    network = layered_network([400, 1500, 1500, 1500, 1])
    arrays = {"tail": network.tail, "head": network.head, "inputs": network.inputs, "outputs": network.outputs}
    weight = np.random.default_rng(0).normal(0, 0.02, network.edge_count)
    np.savez(tmp_path / "net.npz", **arrays, weight=weight)
    program = (
        "import sys\nfrom lakatos import cli, cli_app, graphs\nprint('ready', file=sys.stderr, flush=True)\n"
        "sys.exit(cli.main(['connectivity', 'net.npz', '--certificate', 'proof.json', '--json']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "ready\n"
    time.sleep(1)  # by now it has begun to read, and it takes far longer to write so large a certificate
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == ["net.npz"]
