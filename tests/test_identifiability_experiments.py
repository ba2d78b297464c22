"""Small versions of the experiments show the trends, and depend on settings and seed only."""

from __future__ import annotations

import pytest

from lakatos.core import InputError
from lakatos.numerics.experiments import CoherenceSettings, SubspaceSettings, coherence_barriers, subspace_barriers


def test_barriers_rise_as_coherence_falls() -> None:
    low, high = (coherence_barriers(CoherenceSettings(active=active, pairs=4, epochs=15), seed=0) for active in (10, 1))
    assert low.notes["coherence"] == pytest.approx(0.1, rel=1e-6)  # float32
    assert high.notes["coherence"] == 1
    assert low.notes["full_rank"] > 20 * high.notes["full_rank"]
    assert low.mean > 0.1 > 0.05 > high.mean
    assert low.definition == "midpoint_above_worse"


def test_frames_have_the_coherence_of_copies() -> None:
    settings = CoherenceSettings(active=5, pairs=1, epochs=1, samples=64, frames=True)
    assert coherence_barriers(settings, seed=1).notes["coherence"] == pytest.approx(0.2, rel=1e-6)  # float32


def test_fixed_weights_lower_the_drop_of_accuracy() -> None:
    fixed, control = (
        subspace_barriers(SubspaceSettings(dimension=2, sigma=sigma, pairs=2, epochs=3), seed=0) for sigma in (1.0, 0.0)
    )
    assert control.mean < fixed.mean < 0
    assert abs(fixed.ends[0] - control.ends[0]) < 0.1


def test_results_depend_on_the_seed_only() -> None:
    settings = SubspaceSettings(pairs=1, epochs=1, samples=200)
    assert subspace_barriers(settings, 3) == subspace_barriers(settings, 3)
    assert subspace_barriers(settings, 3) != subspace_barriers(settings, 4)


def test_bad_settings_are_named() -> None:
    with pytest.raises(InputError, match="active=11"):
        CoherenceSettings(active=11)
    with pytest.raises(InputError, match="dimension=200"):
        SubspaceSettings(dimension=200)
