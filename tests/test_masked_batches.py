"""Networks trained as one batch are those that ordinary modules train one by one, and alignment changes no function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from lakatos.core import InputError
from lakatos.numerics.masked import MaskedLinear
from lakatos.numerics.masked_batches import (
    FixedLayer,
    MlpShape,
    Optimizer,
    Part,
    drawn_layers,
    hidden_outputs,
    logits,
    parts_of,
)
from lakatos.numerics.paired_mlps import aligned_second, segments, trained_pairs

KINDS = ["standard", "w_asymmetric", "sparse", "additive", "residual"]
NETWORKS = 3


def double(layers: list[FixedLayer]) -> list[FixedLayer]:
    return [FixedLayer(layer.F.double(), layer.D.double()) for layer in layers]


def drawn(shape: MlpShape, kind: Any, seed: int = 0) -> tuple[list[FixedLayer], list[list[Part]], torch.Generator]:
    depth = shape.depth
    layers = double(drawn_layers(shape, kind, [0.3, 0.3, 0.5][:depth], [1.0, 2.0, 0.5][:depth], seed))
    generator = torch.Generator().manual_seed(seed)
    parts = [
        [Part(part.values.detach().double().requires_grad_(), part.layer) for part in own]
        for own in parts_of(shape, [FixedLayer(x.F.float(), x.D.float()) for x in layers], NETWORKS, generator)
    ]
    parts = [
        [Part(p.values, layer if p.layer else None) for p in own] for own, layer in zip(parts, layers, strict=True)
    ]
    return layers, parts, generator


def module(shape: MlpShape, layers: list[FixedLayer], parts: list[list[Part]], network: int) -> nn.Sequential:
    """Return one of the networks as an ordinary module, whose weights below the masks are anything."""
    made: list[nn.Module] = []
    for i, own in enumerate(parts):
        n, m = shape.widths[i : i + 2]
        part = MaskedLinear(nn.Linear(n, m).double(), layers[i].F.T, layers[i].D.T)
        W = torch.where(layers[i].D == 1, own[0].values[network] - layers[i].F, 7.0)
        with torch.no_grad():
            part.weight.copy_(W.T)
            assert part.bias is not None
            part.bias.copy_(own[1].values[network, 0])
        made.append(part)
        if i < shape.depth - 1:
            made += [nn.LayerNorm(m).double()] * shape.layer_norm
            made.append(nn.ReLU() if shape.activation == "relu" else nn.GELU())
    return nn.Sequential(*made)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("activation", "layer_norm"), [("relu", False), ("gelu", True)])
def test_batch_trains_as_modules_do(kind: Any, activation: Any, layer_norm: bool) -> None:
    shape = MlpShape((6, 5, 4, 3), activation, layer_norm)
    layers, parts, generator = drawn(shape, kind)
    modules = [module(shape, layers, parts, network) for network in range(NETWORKS)]
    x = torch.randn(NETWORKS, 12, 6, generator=generator, dtype=torch.float64)
    y = torch.randint(3, (NETWORKS, 12), generator=generator)
    weights = [[part.values for part in own] for own in parts]
    together = Optimizer([part for own in parts for part in own], rate=1e-2, decay=0.1)
    apart = [torch.optim.AdamW(one.parameters(), lr=1e-2, weight_decay=0.1) for one in modules]
    before = logits(shape, weights, x).detach()
    for _ in range(10):
        outputs = logits(shape, weights, x)
        together.step(functional.cross_entropy(outputs.mT, y, reduction="none").mean(1))
        for network, optimizer in enumerate(apart):
            optimizer.zero_grad()
            functional.cross_entropy(modules[network](x[network]), y[network]).backward()
            optimizer.step()
    after = logits(shape, weights, x).detach()
    assert (after - before).abs().max() > 0.01
    for network, one in enumerate(modules):
        assert torch.allclose(after[network], one(x[network]), rtol=0, atol=1e-9)
    for own, layer in zip(parts, layers, strict=True):
        assert torch.equal(own[0].values * (1 - layer.D), (layer.F * (1 - layer.D)).expand_as(own[0].values))


def test_parts_without_decay_only_descend() -> None:
    values = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
    Optimizer([Part(values, decays=False)], rate=0.1, decay=0.5).step(0 * values.sum(1))
    assert torch.equal(values, torch.ones_like(values))


@pytest.mark.parametrize("layer_norm", [False, True])
def test_alignment_undoes_a_permutation_and_changes_no_function(layer_norm: bool) -> None:
    shape = MlpShape((6, 5, 4, 3), "relu", layer_norm)
    _, parts, generator = drawn(shape, "additive")
    first = [[part.values.detach().clone() for part in own] for own in parts]
    second = [[tensor.clone() for tensor in own] for own in first]
    for layer, m in ((0, 5), (1, 4)):
        for network in range(NETWORKS):
            order = torch.randperm(m, generator=generator)
            for tensor in second[layer]:
                tensor[network] = tensor[network][..., order]
            second[layer + 1][0][network] = second[layer + 1][0][network][order]
    x = torch.randn(40, 6, generator=generator, dtype=torch.float64)
    rows = x.expand(NETWORKS, -1, -1)
    assert not torch.allclose(first[0][0], second[0][0])
    moved, stayed = aligned_second(shape, first, second, x)
    assert torch.allclose(logits(shape, moved, rows), logits(shape, second, rows))
    alive = hidden_outputs(shape, first, rows)[0].amax((0, 1)) > 0  # neurons that are dead on the data match at will
    assert torch.allclose(moved[0][0][..., alive], first[0][0][..., alive])
    assert max(stayed) < 1
    still, stayed = aligned_second(shape, first, first, x)
    assert stayed == (1.0,) * NETWORKS
    assert all(
        torch.equal(a, b) for own, same in zip(still, first, strict=True) for a, b in zip(own, same, strict=True)
    )


def test_segments_are_those_of_single_networks() -> None:
    shape = MlpShape((6, 5, 3))
    layers = drawn_layers(shape, "w_asymmetric", [0.3, 0.0], [1.0, 0.0], 0)
    generator = torch.Generator().manual_seed(0)
    data = torch.randn(40, 6, generator=generator), torch.randint(3, (40,), generator=generator)
    first, second = trained_pairs(shape, layers, data, pairs=2, epochs=3, batch=16, generator=generator)
    found = segments(shape, first, second, data, points=5)
    for pair in range(2):
        for i, t in enumerate(np.linspace(0, 1, 5)):
            (E, b), (A, c) = [
                [(1 - t) * a[pair] + t * z[pair] for a, z in zip(*own, strict=True)]
                for own in zip(first, second, strict=True)
            ]
            outputs = torch.relu(data[0] @ E + b) @ A + c
            assert float(found.losses[i, pair]) == pytest.approx(
                float(functional.cross_entropy(outputs, data[1])), rel=1e-5
            )
            assert float(found.accuracies[i, pair]) == float((outputs.argmax(1) == data[1]).double().mean())
    chord = torch.lerp(found.losses[0], found.losses[-1], torch.linspace(0, 1, 5, dtype=torch.float64)[:, None])
    assert found.barriers("above_chord") == pytest.approx((found.losses - chord).amax(0).tolist())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MlpShape((3,)), r"widths=\(3,\)"),
        (lambda: MlpShape((3, 0)), r"widths=\(3, 0\)"),
        (lambda: MlpShape((3, 2), "tanh"), "activation='tanh'"),  # type: ignore[arg-type]
        (lambda: drawn_layers(MlpShape((3, 2, 2)), "sparse", [0.5], [1.0, 1.0], 0), r"shares=\(0.5,\)"),
        (lambda: drawn_layers(MlpShape((3, 2)), "sparse", [1.5], [1.0], 0), r"shares=\(1.5,\)"),
        (lambda: drawn_layers(MlpShape((3, 2)), "sparse", [0.5], [float("nan")], 0), r"sigmas=\(nan,\)"),
    ],
)
def test_what_does_not_fit_is_named(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
