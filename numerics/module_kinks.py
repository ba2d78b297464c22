"""What in a module the derivative correlations cannot be computed through, found by running it once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd
from torch.utils._python_dispatch import TorchDispatchMode

from ..core import InputError

__all__ = ["kinks", "places_of", "require_differentiable"]

# fmt: off
_KINKED = frozenset(
    {
        "relu",
        "leaky_relu",
        "threshold",
        "prelu",
        "prelu_kernel",
        "rrelu_with_noise",
        "elu",
        "celu",
        "selu",
        "hardtanh",
        "hardswish",
        "hardsigmoid",
        "softshrink",
        "hardshrink",
        "abs",
        "sign",
        "clamp",
        "clamp_min",
        "clamp_max",
        "maximum",
        "minimum",
        "fmax",
        "fmin",
        "amax",
        "amin",
        "max",
        "min",
        "median",
        "sort",
        "topk",
        "max_pool2d_with_indices",
        "max_pool3d_with_indices",
        "adaptive_max_pool2d",
        "adaptive_max_pool3d",
    }
)
# fmt: on
"""Operations whose second derivative is not everywhere there; automatic differentiation gives it as 0."""

_RANDOM_INSIDE = (nn.RNNBase, nn.MultiheadAttention)
"""Modules with a dropout of their own, which is no submodule."""


class _Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self, places: list[str]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.places, self.found = places, dict[str, None]()

    def __torch_dispatch__(
        self, function: Any, types: Any, arguments: tuple[Any, ...] = (), keywords: Mapping[str, Any] | None = None
    ) -> Any:
        name = str(function.__name__).partition(".")[0].strip("_")  # those in place end with an underscore
        if name in _KINKED:
            self.found[f"{name} ({self.places[-1]})" if self.places else name] = None
        return function(*arguments, **(keywords or {}))


def kinks(module: nn.Module, inputs: Tensor) -> tuple[str, ...]:
    """Return the operations with kinks that the module runs on `inputs`, with the submodules that run them."""
    places: list[str] = []
    recorder = _Recorder(places)
    with torch.no_grad(), places_of(module, places), recorder:
        module(inputs)
    return tuple(recorder.found)


@contextmanager
def places_of(module: nn.Module, places: list[str]) -> Iterator[None]:
    """Keep in `places` the paths of the submodules that run, the innermost last; after an error, those it happened in."""
    handles = []
    for name, part in module.named_modules():
        handles.append(part.register_forward_pre_hook(lambda part, given, name=name: places.append(name or "model")))
        handles.append(part.register_forward_hook(lambda part, given, output: places.pop() and None))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def require_differentiable(module: nn.Module) -> None:
    """Raise InputError, naming the parameter or the submodule, for what has no well-defined correlations.

    Parameters that occur twice, no parameters at all, and modules whose outputs depend on other samples or on chance.
    """
    names: dict[int, str] = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        if isinstance(parameter, nn.parameter.UninitializedParameter):
            raise InputError(f"{name}: its shape is not known yet; call the module once before it is returned")
        if (first := names.setdefault(id(parameter), name)) != name:
            raise InputError(
                f"{name}: is the same parameter as {first}; tied parameters are not supported, give each its own"
            )
        if not parameter.is_floating_point():
            raise InputError(f"{name}: type {parameter.dtype}; real parameters are needed")
        if not bool(torch.isfinite(parameter).all()):
            raise InputError(f"{name}: holds values that are not finite")
    if not any(parameter.requires_grad for parameter in module.parameters()):
        raise InputError("model: none of its parameters requires a gradient; there is nothing to train")
    for name, part in module.named_modules():
        if isinstance(part, _BatchNorm) and (part.training or part.running_mean is None):
            raise InputError(
                f"{name}: BatchNorm in training mode makes outputs depend on the other samples of a batch; return "
                "model.eval(), or use another normalization"
            )
        inside = part.dropout if isinstance(part, _RANDOM_INSIDE) else part.p if isinstance(part, _DropoutNd) else 0
        if part.training and inside > 0:
            raise InputError(f"{name}: dropout in training mode is random; return model.eval(), or set p=0")
