"""Counting laws in floating point: those of a PyTorch module, and those of averages that are not exact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from ._checker_groups import elements
from .core import InputError, Undecided
from .laws import LawsAnswer, read_group
from .laws_subjects import input_shape_of
from .numerics.law_fits import MOST_PRODUCTS, Polynomial, fitted_laws
from .numerics.law_scout import Loss, Sampler, Scout, lie_scout
from .numerics.model_losses import LARGEST, SCOUTED, scouted
from .numerics.rotated_training import lightning_scout
from .numerics.simulated_networks import module_network, trainable
from .numerics.simulated_training import LOSSES
from .theory.known_laws import parameter_matrices
from .theory.law_count import law_text, model_systems
from .theory.model_fields import ModelFields
from .theory.range_laws import minor_ratios

if TYPE_CHECKING:
    from ._checker_laws import Law

__all__ = ["averaged_laws", "in_context_laws", "numeric_laws"]

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
    count, network = module_network(module)
    if not 1 <= count <= _MOST_PARAMETERS:
        raise InputError(f"{source}: {count} parameters; laws are counted numerically for 1 to {_MOST_PARAMETERS}")
    shape = tuple(input_shape) if input_shape else input_shape_of(module, source)
    theta = torch.randn(count, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    try:
        outputs = tuple(network(theta, torch.zeros(shape, dtype=torch.float64)).shape)
    except Exception as error:
        raise InputError(
            f"{source}: cannot be run on an input of shape {list(shape)} ({type(error).__name__}: {error})"
        ) from error
    if loss == "cross-entropy" and outputs[-1:] == (1,):
        raise InputError(f"loss={loss!r}: is constant for one output, and {source} has one; use the squared loss")
    sampler = _sampler(shape, outputs)
    plain_loss = _loss(network, loss, [])
    plain = _scouted(source, plain_loss, theta, sampler, seed)
    names = [
        f"{name}[{','.join(map(str, at))}]" for name, p in module.named_parameters() for at in np.ndindex(*p.shape)
    ]
    held = fitted_laws(plain_loss, count, sampler, seed=seed)
    shared = held if loss == "squared" else fitted_laws(_loss(network, "squared", []), count, sampler, seed=seed)
    main, new = plain, []
    if group is not None:
        averaged = _loss(network, loss, _maps(group, shape, outputs, natural_labels))
        main = _scouted(source, averaged, theta, sampler, seed)
        new = fitted_laws(averaged, count, sampler, known=held, seed=seed)
    of_loss = [] if loss == "squared" else fitted_laws(plain_loss, count, sampler, known=shared, seed=seed)
    formulas = [law_text(law, names) for law in _as_laws([*shared, *of_loss, *new])]
    tried = "degree two" if count <= MOST_PRODUCTS else "sums of parameters and of their squares"
    return LawsAnswer(
        parameters=count,
        loss=loss,
        group=group,
        laws=main.laws,
        plain_laws=plain.laws,
        at_least=main.laws,
        exact=False,
        certified=False,
        formulas=tuple(formulas),
        new=tuple(formulas[len(formulas) - len(new) :]),
        tensors=(),
        how=f"ranks of brackets of gradients at random weights; gaps {plain.gap:.0e} and {main.gap:.0e}; formulas ({tried}) "
        "fitted to gradients",
        names=tuple(names),
        classical=_as_laws(shared),
        of_loss=_as_laws(of_loss),
        added=_as_laws(new),
    )


def _as_laws(polynomials: Sequence[Polynomial]) -> tuple[Law, ...]:
    return tuple((dict(law), {(): 1}) for law in polynomials)


def in_context_laws(plain: LawsAnswer, model: ModelFields, group: str | None, seed: int) -> LawsAnswer:
    """Return the answer for lightning attention where rotations leave the first coordinates of each token alone.

    Tokens are then pairs of a number or more that stay and a vector that rotates, as where attention learns in context. The
    range of the rows of [Q, K, V] that meet the vector is conserved.

    Raises
    ------
    InputError
        If the group is no O(d) on one copy, or the model is too large.
    Undecided
        If a rank is not clear.
    """
    assert model.group is not None
    d, a, c = model.sizes
    turned = d - model.group.trivial
    if model.output_map or model.group.natural_labels or model.group.plain.get("name") != f"O({turned})" or turned < 2:
        raise InputError(
            f"group={group!r}: lightning attention is averaged over O(d), d >= 2, on all coordinates of a token or, without "
            "an output map and with labels that stay, on all but the first `trivial` ones"
        )
    if plain.parameters > LARGEST:
        raise InputError(f"group={group!r}: is counted in floating point, for at most {LARGEST} parameters")
    scout = lightning_scout(model.sizes, turned, seed=seed)
    system = model_systems(replace(model, group=None).plain)["plain"]
    matrices = parameter_matrices(system.names)
    rows = [[entry for name in "QKV" for entry in matrices[name][i]] for i in range(model.group.trivial, d)]
    added = tuple(minor_ratios(rows))[: max(0, scout.laws - plain.laws)] if 2 * a + c < turned else ()
    texts = tuple(law_text(law, system.names) for law in added)
    counted = _counted(plain, group, scout)
    how = f"{counted.how}; new ones: ratios of minors of the rows of [Q, K, V] that rotate"
    return replace(counted, formulas=plain.formulas + texts, new=texts, added=added, how=how)


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
    if model.architecture not in SCOUTED:
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
    trained = trainable(model.architecture, model.sizes, bias=model.bias)
    shape, outputs = trained.shape, trained.outputs
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
    return _counted(plain, group, scout)


def _counted(plain: LawsAnswer, group: str | None, scout: Scout) -> LawsAnswer:
    """The answer for all data, with the count under a group that a scout found."""
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


def _loss(network: Callable[[Tensor, Tensor], Tensor], loss: str, maps: Sequence[tuple[Tensor, Tensor]]) -> Loss:
    of_sample = LOSSES[loss]

    def squared(t: Tensor, z: tuple[Tensor, ...]) -> Tensor:
        x, y = z
        if not maps:
            return of_sample(network(t, x), y)
        return torch.stack([of_sample(network(t, g @ x), h @ y) for g, h in maps]).mean()

    def cross_entropy(t: Tensor, z: tuple[Tensor, ...]) -> Tensor:
        return of_sample(network(t, z[0]), torch.softmax(z[1], dim=-1))

    return squared if loss == "squared" else cross_entropy


def _sampler(shape: tuple[int, ...], outputs: tuple[int, ...]) -> Sampler:
    def sampler(count: int, generator: torch.Generator) -> tuple[Tensor, ...]:
        x = torch.randn((count, *shape), generator=generator, dtype=torch.float64)
        return x, torch.randn((count, *outputs), generator=generator, dtype=torch.float64)

    return sampler


def _scouted(source: str, loss: Loss, theta: Tensor, sampler: Sampler, seed: int) -> Scout:
    try:
        return lie_scout(loss, theta, sampler, seed=seed)
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
