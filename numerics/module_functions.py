"""A module as a function of its parameters: evaluated on data, and refused by name where it cannot be differentiated."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.func import functional_call

from ..core import InputError
from .forward_mode import jvp, vjp
from .module_kinks import places_of

__all__ = ["ModuleFunction", "Weights"]

Weights: TypeAlias = "dict[str, Tensor]"


class ModuleFunction:
    """A module as a function of its trainable parameters by name, on rows of `inputs`; outputs have shape (N, k).

    Raises
    ------
    InputError
        If the module does not take these inputs, returns anything but finite real numbers (N,) or (N, k), or cannot be
        differentiated: then with the path of the submodule that was running.
    """

    def __init__(self, module: nn.Module, inputs: Tensor) -> None:
        self.module = module
        free = {name for name, p in module.named_parameters() if p.requires_grad}
        self.start = {name: p.detach() for name, p in module.named_parameters() if name in free}
        self.fixed = {name: p.detach() for name, p in module.named_parameters() if name not in free}
        self.fixed |= {name: b.detach() for name, b in module.named_buffers()}
        self.inputs = inputs
        self.outputs = self._tried()

    def on(self, rows: Tensor) -> Callable[[Weights], Tensor]:
        """Return θ ↦ F(θ)(x) for these samples."""
        x = self.inputs[rows]

        def function(weights: Weights) -> Tensor:
            outputs: Tensor = functional_call(self.module, (weights, self.fixed), (x,))
            return outputs[:, None] if outputs.ndim == 1 else outputs

        return function

    def _tried(self) -> Tensor:
        rows = torch.arange(len(self.inputs), device=self.inputs.device)
        try:
            with torch.no_grad():
                raw = functional_call(self.module, (self.start, self.fixed), (self.inputs,))
        except RuntimeError as error:
            raise InputError(
                f"data: inputs of shape {tuple(self.inputs.shape)} do not fit the model ({_line(error)})"
            ) from None
        if (
            not isinstance(raw, Tensor)
            or raw.ndim not in (1, 2)
            or len(raw) != len(rows)
            or not raw.is_floating_point()
        ):
            got = f"{tuple(raw.shape)} of {raw.dtype}" if isinstance(raw, Tensor) else type(raw).__name__
            raise InputError(
                f"model: returns {got}; a tensor of real outputs (samples,) or (samples, outputs) is needed"
            )
        if not bool(torch.isfinite(raw).all()):
            raise InputError("model: its outputs on the data are not finite")
        return self._differentiated(rows)

    def _differentiated(self, rows: Tensor) -> Tensor:
        """Try on two samples what will be done with all: a derivative of the gradient."""
        places: list[str] = []
        try:
            with places_of(self.module, places):
                jvp(lambda w: vjp(self.on(rows[:2]), w)[0], (self.start,), (self.start,))
            return self.on(rows)(self.start)
        except (RuntimeError, NotImplementedError) as error:
            place = places[-1] if places else "model"
            raise InputError(
                f"{place}: cannot be differentiated as a function of its parameters ({_line(error)}); operations that change "
                "tensors in place, or leave torch, are the usual reasons"
            ) from None


def _line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
