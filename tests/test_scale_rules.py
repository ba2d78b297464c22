"""Every rule of the conversion against autograd: the laws that it keeps hold, and those that it drops or denies do not.

Wrong laws are formed from the same gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from autograd import laws, random_loss
from models_by_rule import CASES, made, vectors

from lakatos.numerics.modules import network_of

# Identities that are exact in real arithmetic leave less than this, relative to their summands, in double precision;
# wrong laws leave at least WRONG. With ε = 1e-14 instead of 0, laws of normalizations are violated below it as well.
EXACT = 1e-12
WRONG = 1e-3


@pytest.mark.parametrize("name", CASES)
def test_laws_that_are_kept_hold(name: str) -> None:
    module, x = made(name)
    network = network_of(module, x, vanishing_epsilon=True)
    assert len(network.hidden_nodes) == CASES[name][2]
    assert laws(module, network, random_loss(module, x)).relative <= EXACT


def theta_g(parameter: torch.Tensor) -> torch.Tensor:
    assert parameter.grad is not None
    return parameter.detach() * parameter.grad


def into(layer: Any) -> torch.Tensor:
    """Σ_in θg of the units of a layer, its bias included."""
    return theta_g(layer.weight).flatten(1).sum(1) + (0 if layer.bias is None else theta_g(layer.bias))


def out_of(layer: Any) -> torch.Tensor:
    return theta_g(layer.weight).flatten(2).sum(2).sum(0) if layer.weight.ndim > 2 else theta_g(layer.weight).sum(0)


WRONG_LAWS: dict[str, tuple[str, Callable[[Any], torch.Tensor]]] = {
    "sign": ("R1 linear", lambda m: into(m[0]) + out_of(m[2])),
    "bias omitted": ("R1 linear", lambda m: into(m[0]) - theta_g(m[0].bias) - out_of(m[2])),
    "one tap of a kernel": ("R1 convolutions", lambda m: into(m[0]) - theta_g(m[2].weight).sum(0)[:, 0, 0]),
    "one position after flattening": ("R1 convolutions", lambda m: into(m[2]) - out_of(m[5]).view(6, 9)[:, 0]),
    "per neuron across a fixed layer": ("R4 fixed layer", lambda m: into(m[0])),
    "embedding alone against all reads": (
        "R4 stream",
        lambda m: into(m.embed) - out_of(m.in0) - out_of(m.in1) - out_of(m.head),
    ),
    "stream from the raw input": ("R4 skip from the raw input", lambda m: into(m.out0) + into(m.out1) - out_of(m.head)),
    "neuron of GELU": ("R5 activation without a law", lambda m: into(m[0]) - out_of(m[2])),
    "gate of SiLU": ("R5 gated by SiLU", lambda m: into(m.gate) - out_of(m.out)),
    "input of an evaluated batch norm": ("R6 batch norm, evaluated", lambda m: into(m[0]) - theta_g(m[1].weight)),
    "batch norm without its shift": ("R6 batch norm", lambda m: theta_g(m[1].weight) - out_of(m[3])),
    "per row before a layer norm": ("R6' layer norm", lambda m: into(m[0])),
    "queries, as if they were values": ("R7 attention", lambda m: into(m.q)),
    "recurrent weights left out": ("R8 recurrence", lambda m: theta_g(m.r.weight_ih_l1).sum(1) - out_of(m.o)),
}


@pytest.mark.parametrize("wrong", WRONG_LAWS)
def test_laws_that_are_denied_fail(wrong: str) -> None:
    name, law = WRONG_LAWS[wrong]
    module, x = made(name)
    random_loss(module, x).backward()
    scale = max(abs(theta_g(p)).max().item() for p in module.parameters() if p.grad is not None)
    assert abs(law(module)).max().item() > WRONG * scale


@pytest.mark.parametrize("name", ["R6 batch norm", "R6 group norm", "R6' layer norm", "R6' root mean square"])
def test_a_normalization_with_epsilon_leaves_no_exact_law_of_its_input(name: str) -> None:
    module, x = made(name)
    for part in module.modules():
        if hasattr(part, "eps"):
            part.eps = 1e-2
    kept = network_of(module, x)
    limit = network_of(module, x, vanishing_epsilon=True)
    assert any("ε > 0" in notice for notice in kept.notices)
    assert laws(module, kept, random_loss(module, x)).relative <= EXACT
    assert laws(module, limit, random_loss(module, x)).relative > WRONG


def test_what_became_a_terminal_is_said_with_its_place() -> None:
    module, x = made("R7 attention of torch")
    first, second, *_, last = network_of(module, x).notices
    assert first.startswith("module a: ")
    assert "queries and keys" in first or "softmax" in first
    assert "softmax" in first or "softmax" in second
    assert last.startswith("Gradient flow keeps every law that was found")
    assert network_of(made("R1 linear")[0], vectors()).notices == ()
