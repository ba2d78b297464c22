"""What pages advise, done: rescaling, widening and skips free locked weights, and rescaling keeps the function."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from test_rescaling import function_change, weighted

from lakatos import Network, connectivity, read_network
from lakatos.cli import main
from lakatos.graphs.remedies import skipped, widened
from lakatos.testing import balanced_dags

BOTTLENECK = Path(__file__).parent.parent / "examples" / "bottleneck.json"
WEIGHTS = [1, -1, 1, 1, -1, 1, -2]


@pytest.mark.parametrize("change", [widened, skipped])
def test_a_wider_layer_or_a_skip_connects_the_shipped_example(change: Any) -> None:
    result = connectivity(read_network(BOTTLENECK))
    assert result.frozen_edges == (6,)
    after = connectivity(change(result))
    assert after.connected
    assert after.regular_connected


@pytest.mark.parametrize("edge", [("a", "y"), ("x1", "y"), ("x1", "v")])
def test_a_weight_that_leaves_no_blocked_set_does_not_help(edge: tuple[str, str]) -> None:
    """Skips past the bottleneck from the layers before it, and one more weight into it."""
    fields = json.loads(BOTTLENECK.read_text("utf-8"))
    fields["edges"].append(list(edge))
    assert connectivity(Network.from_edges(**fields)).frozen_edges == (6,)


def test_rescaling_frees_the_network_and_keeps_its_outputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fields = json.loads(BOTTLENECK.read_text("utf-8"))
    del fields["balance"]
    fields["edges"] = [[*edge, str(w)] for edge, w in zip(fields["edges"], WEIGHTS, strict=True)]
    locked, free = tmp_path / "locked.json", tmp_path / "free.json"
    locked.write_text(json.dumps(fields))
    assert main(["connectivity", str(locked)]) == 1
    assert main(["connectivity", str(locked), "--rescale", "unlocked", "--output", str(free)]) == 0
    capsys.readouterr()
    assert main(["connectivity", str(free), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["regular_connected"]
    found = np.array([float(w) for w in read_network(free).weights or ()])
    assert np.abs(found - WEIGHTS).max() > 0.1
    after = weighted(read_network(free), found)
    assert function_change(weighted(read_network(locked), WEIGHTS), after) < 1e-12


@given(balanced_dags(max_hidden=5, max_edges=12))
@settings(max_examples=60, deadline=None)
def test_remedies_keep_the_network_and_never_lock_what_was_free(fields: dict[str, Any]) -> None:
    result = connectivity(Network.from_edges(**fields))
    assume(result.feasible and result.regular_frozen_edges)
    network = result.network
    for changed in (widened(result), skipped(result)):
        count = network.edge_count
        kept = [
            (changed.names[a], changed.names[b])
            for a, b in zip(changed.tail[:count], changed.head[:count], strict=True)
        ]
        assert kept == [(network.names[a], network.names[b]) for a, b in zip(network.tail, network.head, strict=True)]
        assert all(changed.balance(name) == network.balance(name) for name in network.hidden_names)
        after = connectivity(changed)
        assert after.feasible
        freed = set(result.regular_frozen_edges) - set(after.regular_frozen_edges)
        assert freed
        assert {e for e in after.frozen_edges if e < count} <= set(result.frozen_edges)
