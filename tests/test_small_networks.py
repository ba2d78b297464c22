"""Permutations and other symmetries of small residual networks and transformers keep the function; what undoes them."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import nn

from lakatos.core import InputError
from lakatos.numerics.architecture_experiments import ArchitectureSettings, architecture_barriers
from lakatos.numerics.masked import asymmetric, dense_state
from lakatos.numerics.permutation_groups import PermutationGroup, permuted, weight_matching
from lakatos.numerics.small_networks import SmallResNet, SmallTransformer


def resnet(seed: int = 0) -> SmallResNet:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = SmallResNet((1, 8, 8), 3, width=4, blocks=2).double()
        for part in made.modules():  # gains and shifts that tell channels apart
            if isinstance(part, nn.GroupNorm):
                nn.init.uniform_(part.weight, 0.5, 2)
                nn.init.normal_(part.bias)
    return made


def transformer(seed: int = 0) -> SmallTransformer:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = SmallTransformer((2, 4, 6), 3, width=8, blocks=2, heads=2).double()
        for part in made.modules():
            if isinstance(part, nn.LayerNorm):
                nn.init.uniform_(part.weight, 0.5, 2)
                nn.init.normal_(part.bias)
    return made


def images(network: nn.Module) -> torch.Tensor:
    shape = (5, 1, 8, 8) if isinstance(network, SmallResNet) else (5, 2, 4, 6)
    return torch.randn(shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def outputs(network: nn.Module, state: Any) -> torch.Tensor:
    network.load_state_dict(state)
    with torch.no_grad():
        return network(images(network))  # type: ignore[no-any-return]


@pytest.mark.parametrize("make", [resnet, transformer])
def test_groups_keep_the_function_and_matching_undoes_them(make: Any) -> None:
    network = make()
    state = {key: value.clone() for key, value in network.state_dict().items()}
    before, generator, moved = outputs(network, state), torch.Generator().manual_seed(0), dict(state)
    for group in network.permutation_groups():
        one = permuted(state, group, torch.randperm(group.count(state), generator=generator).flip(0))
        assert torch.allclose(outputs(network, one), before, atol=1e-10), group.name
        moved = permuted(moved, group, torch.randperm(group.count(state), generator=generator))
    assert torch.allclose(outputs(network, moved), before, atol=1e-10)
    assert any(not torch.equal(moved[key], state[key]) for key in state)
    matched = weight_matching(state, moved, network.permutation_groups())
    assert all(torch.equal(matched[key], state[key]) for key in state)


@pytest.mark.parametrize("make", [resnet, transformer])
def test_every_axis_of_hidden_units_is_in_a_group(make: Any) -> None:
    network = make()
    covered = {member for group in network.permutation_groups() for member in group.members}
    free = {("head.weight", 0), ("head.bias", 0), ("positions", 0)}
    free |= {("stem.weight", 1), ("embedding.weight", 1)}
    axes = {(key, axis) for key, value in network.state_dict().items() for axis in range(min(value.ndim, 2))}
    assert axes - free == covered


@pytest.mark.parametrize("make", [resnet, transformer])
def test_mixed_copies_have_the_function_but_are_no_permutation(make: Any) -> None:
    network = make()
    state = {key: value.clone() for key, value in network.state_dict().items()}
    before = outputs(network, state)
    mixed = network.mixed(state, torch.Generator().manual_seed(0))
    assert torch.allclose(outputs(network, mixed), before, atol=1e-10)
    matched = weight_matching(state, mixed, network.permutation_groups())
    assert max(float((matched[key] - state[key]).abs().max()) for key in state) > 0.1


def test_a_product_of_a_head_needs_its_inverse() -> None:
    """Otherwise the test above would say nothing about the matrices."""
    network = transformer()
    state = {key: value.clone() for key, value in network.state_dict().items()}
    mixed = network.mixed(state, torch.Generator().manual_seed(0))
    mixed["blocks.0.key.weight"] = state["blocks.0.key.weight"]
    assert not torch.allclose(outputs(network, mixed), outputs(network, state), atol=1e-3)


@pytest.mark.parametrize("make", [resnet, transformer])
def test_dense_states_have_the_function_of_partly_fixed_networks(make: Any) -> None:
    network = asymmetric(make(), "w_asymmetric", sigma=2.0)
    with torch.no_grad():
        wanted = network(images(make()))
    assert torch.allclose(outputs(make(), dense_state(network)), wanted, atol=1e-12)


def test_matching_starts_at_the_identity_and_leaves_ties_alone() -> None:
    state = {"a": torch.ones(4, 3, dtype=torch.float64)}
    assert torch.equal(weight_matching(state, state, [PermutationGroup("g", (("a", 0),))])["a"], state["a"])


def test_what_does_not_fit_is_named() -> None:
    group = PermutationGroup("g", (("a", 0), ("b", 1)))
    with pytest.raises(InputError, match="b: axis 1 has length 3; a has 2"):
        group.count({"a": torch.zeros(2), "b": torch.zeros(2, 3)})
    with pytest.raises(InputError, match="width=6"):
        SmallTransformer((1, 8, 8), 3, width=6, blocks=1)
    with pytest.raises(InputError, match="architecture='mixer'"):
        ArchitectureSettings(architecture="mixer")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="rate=0"):
        ArchitectureSettings(rate=0)


@pytest.mark.parametrize("architecture", ["resnet", "transformer"])
def test_experiment_depends_on_settings_and_seed_only(architecture: Any) -> None:
    settings = ArchitectureSettings(architecture, width=4, epochs=2, samples=256, test_samples=100)
    seed = (1 << 63) - 9  # as sweeps draw them
    found = architecture_barriers(settings, seed)
    assert found == architecture_barriers(settings, seed)
    assert abs(found.notes["permuted_twin"]) < 1e-9  # type: ignore[arg-type]
    assert all(math.isfinite(x) for x in found.notes.values())  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["resnet", "transformer"])
def test_permutations_do_not_merge_transformers_and_fixed_weights_lower_barriers(architecture: Any) -> None:
    found = {
        sigma: architecture_barriers(ArchitectureSettings(architecture, sigma=sigma, epochs=20), 0)
        for sigma in (0.0, 1.0)
    }
    assert all(one.ends[0] > 0.6 for one in found.values())
    fixed, control = found[1.0].notes, found[0.0].notes
    assert 0.1 < fixed["loss_barrier"] < control["loss_barrier"] / 1.5  # type: ignore[operator]
    assert control["permuted_twin"] < 1e-9  # type: ignore[operator]
    if architecture == "transformer":
        assert control["mixed_twin"] > 0.1  # type: ignore[operator]
        assert control["aligned_loss_barrier"] > 0.7 * control["loss_barrier"]  # type: ignore[operator]
