"""Counting laws in floating point: those of a PyTorch module, and those of averages that are not exact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from ._checker_groups import elements
from .core import InputError, Undecided
from .laws import LawsAnswer, read_group
from .numerics.law_scout import Scout, lie_scout
from .numerics.model_losses import LARGEST, scouted
from .numerics.simulated_training import is_simulated, shapes_of
from .theory.model_fields import ModelFields

__all__ = ["averaged_laws", "numeric_laws"]

_MOST_PARAMETERS = 400


def numeric_laws(
    module: nn.Module,
    source: str,
    loss: str,
    group: str | None,
    natural_labels: bool,
    input_shape: Sequence[int] | None,
    seed: int,
) -> LawsAnswer:
    """Return the numbers of laws of a module at random weights, by ranks of brackets of its gradients.

    Raises
    ------
    InputError
        If the module has no or too many parameters, cannot be traced by `torch.func`, or does not fit input or group.
    Undecided
        If a rank is not clear.
    """
    module = module.double()
    parameters = dict(module.named_parameters())
    count = sum(p.numel() for p in parameters.values())
    if not 1 <= count <= _MOST_PARAMETERS:
        raise InputError(f"{source}: {count} parameters; laws are counted numerically for 1 to {_MOST_PARAMETERS}")
    shape = tuple(input_shape) if input_shape else _shape_of(module, source)
    network = _network(module, {name: tuple(p.shape) for name, p in parameters.items()})
    theta = torch.randn(count, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    try:
        outputs = tuple(network(theta, torch.zeros(shape, dtype=torch.float64)).shape)
    except Exception as error:
        raise InputError(
            f"{source}: cannot be run on an input of shape {list(shape)} ({type(error).__name__}: {error})"
        ) from error
    plain = _scout(source, network, theta, shape, outputs, loss, [], seed)
    main = plain
    if group is not None:
        main = _scout(source, network, theta, shape, outputs, loss, _maps(group, shape, outputs, natural_labels), seed)
    return LawsAnswer(
        parameters=count,
        loss=loss,
        group=group,
        laws=main.laws,
        plain_laws=plain.laws,
        at_least=main.laws,
        exact=False,
        certified=False,
        formulas=(),
        new=(),
        tensors=(),
        how=f"ranks of brackets of gradients at random weights; gaps {plain.gap:.0e} and {main.gap:.0e}",
    )


def averaged_laws(plain: LawsAnswer, model: ModelFields, group: str | None, seed: int) -> LawsAnswer:
    """Return the answer for a model whose averages over a group are not exact: `plain` and a count in floating point.

    Raises
    ------
    InputError
        If the group is infinite or does not fit, or the model is too large or not known to be counted so.
    Undecided
        If a rank is not clear.
    """
    assert model.group is not None
    if not is_simulated(model.architecture):
        raise InputError(
            f"architecture={model.architecture!r}: averages over groups are known for linear, power, lightning, relu, "
            "attention, rope, swiglu, residual and gated-experts"
        )
    assert model.architecture is not None
    if plain.parameters > LARGEST:
        raise InputError(
            f"group={group!r}: averages of {model.architecture} models are counted in floating point, for at most {LARGEST} "
            f"parameters, not {plain.parameters}"
        )
    _, shape, outputs = shapes_of(model.architecture, model.sizes, bias=model.bias)
    act = model.group.action(outputs[-1])
    if act.lie:
        raise InputError(f"group={group!r}: is infinite; {model.architecture} models are averaged over finite groups")
    if (act.inputs, act.labels) != (shape[-1], outputs[-1]):
        raise InputError(
            f"group={group!r}: acts on inputs and labels of dimensions {act.inputs} and {act.labels}, but the model has "
            f"{shape[-1]} and {outputs[-1]}"
        )
    pairs = [(_tensor(x).numpy(), _tensor(y).numpy()) for x, y in elements(act)]
    scout = scouted(model.architecture, model.sizes, bias=model.bias, elements=pairs, seed=seed)
    assert scout is not None
    return replace(
        plain,
        group=group,
        laws=scout.laws,
        at_least=scout.laws,
        exact=False,
        certified=False,
        certificate=None,
        how="laws of all data: certified; under the symmetry: rank of brackets of averaged gradients at random weights, "
        f"gap {scout.gap:.0e}",
    )


def _network(module: nn.Module, shapes: dict[str, tuple[int, ...]]) -> Callable[[Tensor, Tensor], Tensor]:
    def network(theta: Tensor, x: Tensor) -> Tensor:
        values, first = {}, 0
        for name, shape in shapes.items():
            size = torch.Size(shape).numel()
            values[name] = theta[first : first + size].reshape(shape)
            first += size
        out: Tensor = functional_call(module, values, (x[None],))[0]
        return out

    return network


def _scout(
    source: str,
    network: Callable[[Tensor, Tensor], Tensor],
    theta: Tensor,
    shape: tuple[int, ...],
    outputs: tuple[int, ...],
    loss: str,
    maps: list[tuple[Tensor, Tensor]],
    seed: int,
) -> Scout:
    def squared(t: Tensor, z: tuple[Tensor, ...]) -> Tensor:
        x, y = z
        if not maps:
            return 0.5 * ((network(t, x) - y) ** 2).sum()
        return torch.stack([0.5 * ((network(t, g @ x) - h @ y) ** 2).sum() for g, h in maps]).mean()

    def cross_entropy(t: Tensor, z: tuple[Tensor, ...]) -> Tensor:
        x, y = z
        return -(torch.softmax(y, dim=-1) * functional.log_softmax(network(t, x), dim=-1)).sum()

    def sampler(count: int, generator: torch.Generator) -> tuple[Tensor, ...]:
        x = torch.randn((count, *shape), generator=generator, dtype=torch.float64)
        return x, torch.randn((count, *outputs), generator=generator, dtype=torch.float64)

    try:
        return lie_scout(squared if loss == "squared" else cross_entropy, theta, sampler, seed=seed)
    except Undecided:
        raise
    except Exception as error:
        raise InputError(f"{source}: cannot be traced by torch.func ({type(error).__name__}: {error})") from error


def _maps(
    group: str, shape: tuple[int, ...], outputs: tuple[int, ...], natural_labels: bool
) -> list[tuple[Tensor, Tensor]]:
    if len(shape) != 1 or len(outputs) != 1:
        raise InputError(
            f"group={group!r}: acts on inputs and outputs that are vectors, not {list(shape)} and {list(outputs)}"
        )
    act = read_group(group, shape[0], natural_labels).action(outputs[0])
    if act.lie:
        raise InputError(f"group={group!r}: is infinite; modules are averaged over finite groups")
    if act.labels != outputs[0]:
        raise InputError(
            f"group={group!r}: acts on labels of dimension {act.labels}, but there are {outputs[0]} outputs"
        )
    return [(_tensor(x), _tensor(y)) for x, y in elements(act)]


def _tensor(matrix: Sequence[Sequence[Any]]) -> Tensor:
    return torch.tensor([[float(entry) for entry in row] for row in matrix], dtype=torch.float64)


def _shape_of(module: nn.Module, source: str) -> tuple[int, ...]:
    for part in module.modules():
        if isinstance(part, nn.Linear):
            return (part.in_features,)
    raise InputError(f"{source}: has no linear layer to read the shape of an input from; give --input-shape")
