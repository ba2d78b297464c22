"""Small versions of the experiments show the trends, and depend on settings and seed only."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
import torch

from lakatos.core import InputError
from lakatos.numerics.experiments import CoherenceSettings, SubspaceSettings, coherence_barriers, subspace_barriers
from lakatos.numerics.image_experiments import ImageSettings, image_barriers, standardized_images
from lakatos.numerics.masked import draw_fixed
from lakatos.numerics.realization import realization_costs, swap_costs
from lakatos.numerics.subspaces import random_basis


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


def test_swaps_are_dear_with_fixed_weights_and_nearly_free_without() -> None:
    fixed, control = (
        subspace_barriers(SubspaceSettings(dimension=8, sigma=sigma, pairs=1, epochs=3), seed=0).notes
        for sigma in (1.0, 0.0)
    )
    assert fixed["swap_10"] > 2 * control["swap_90"]  # type: ignore[operator]
    assert fixed["negative_swaps"] == 0 < 0.2 < control["negative_swaps"] < 0.8  # type: ignore[operator]
    assert fixed["center_dominance"] < 1 < control["center_dominance"]  # type: ignore[operator]


def test_class_scales_are_shared_and_rotated() -> None:
    settings = SubspaceSettings(dimension=3, rotated=True, hidden=2, layer_norm=True, pairs=1, epochs=1, samples=300)
    assert 0 < subspace_barriers(settings, 0).ends[0] <= 1


@pytest.mark.parametrize(("k", "roots"), [(2, (0.34, 0.88, 1.65)), (8, (1.44, 2.09, 2.89)), (32, (3.48, 4.25, 5.15))])
def test_roots_of_swap_costs_of_centers_are_the_predicted_ones(k: int, roots: tuple[float, ...]) -> None:
    """Width 64, 64 of 512 weights fixed at scale 1, features at their centers: the 10 %, 50 % and 90 % points."""
    found, means = [], []
    for seed in range(16):
        F, D = (x.numpy() for x in draw_fixed((64, 512), "w_asymmetric", fixed_entries=64, seed=seed))
        U = random_basis(512, k, seed)
        swaps = swap_costs(realization_costs(F, D, U, F @ U).values)[np.triu_indices(64, 1)]
        found.append(np.percentile(np.sqrt(swaps), (10, 50, 90)))
        means.append(swaps.mean())
    deviations = np.std(found, axis=0, ddof=1)  # what was predicted are the points of one drawing
    assert (np.abs(np.mean(found, axis=0) - roots) <= 4 * deviations).all()
    assert (deviations < 0.15).all()
    mean = 4 * k * (1 - 0.875) / 0.875
    # The mean of the inverse of a Gram matrix exceeds the inverse of its mean, 8/7, by a share of about this.
    excess = k / 512 * (1 - 0.875) / 0.875
    assert np.mean(means) == pytest.approx(mean * (1 + excess), abs=4 * np.std(means, ddof=1) / 4 + mean * excess)


# Images ------------------------------------------------------------------------------------------------------------------


def test_perceptrons_on_digits_merge_with_fixed_weights_or_after_alignment() -> None:
    small = {"pairs": 2, "epochs": 12, "shares": (0.125, 0.125, 0.5)}
    fixed, control, standard = (
        image_barriers(ImageSettings(kind=kind, sigma=sigma, **small), seed=0)  # type: ignore[arg-type]
        for kind, sigma in (("w_asymmetric", 1.0), ("w_asymmetric", 0.0), ("standard", 0.0))
    )
    assert all(sum(found.ends) / 2 > 0.8 for found in (fixed, control, standard))
    assert fixed.notes["matched"] > 0.5 > 0.2 > control.notes["matched"]  # type: ignore[operator]
    for found in (control, standard):
        assert found.mean < 2 * fixed.mean < 0
        assert found.notes["loss_barrier"] > 3 * fixed.notes["loss_barrier"]  # type: ignore[operator]
        assert found.notes["aligned_loss_barrier"] < found.notes["loss_barrier"] / 2  # type: ignore[operator]
    assert len(fixed.notes["accuracies"]) == 21  # type: ignore[arg-type]


def test_images_in_a_folder_are_standardized(tmp_path: Path) -> None:
    generator = torch.Generator().manual_seed(0)
    for split, count in (("train", 40), ("t10k", 20)):
        pixels = torch.randint(256, (count, 4, 3), generator=generator).byte().numpy().tobytes()
        (tmp_path / f"{split}-images-idx3-ubyte").write_bytes(struct.pack(">4i", 0x803, count, 4, 3) + pixels)
        labels = bytes(i % 2 for i in range(count))
        (tmp_path / f"{split}-labels-idx1-ubyte").write_bytes(struct.pack(">2i", 0x801, count) + labels)
    settings = ImageSettings(data=str(tmp_path), samples=30, hidden=(4,), fixed_share=0.2, pairs=1, epochs=1)
    (pixels, classes), (test_pixels, _) = standardized_images(settings)
    assert pixels.shape == (30, 1, 4, 3)
    assert test_pixels.shape == (20, 1, 4, 3)
    assert abs(float(pixels.mean())) < 1e-6
    assert float(pixels.std(correction=0)) == pytest.approx(1)
    assert classes.tolist() == [0, 1] * 15
    assert image_barriers(settings, 1) == image_barriers(settings, 1)


def test_bad_settings_of_images_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"shares=\(0.1,\).*3 entries"):
        ImageSettings(shares=(0.1,))
    with pytest.raises(InputError, match="epochs=0"):
        ImageSettings(epochs=0)
    with pytest.raises(InputError, match="no images of the split 'train'"):
        image_barriers(ImageSettings(data=str(tmp_path)), 0)
