"""`jvp`, `vjp` and `grad` of `torch.func`, after the rules of forward mode were loaded without their deprecation warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

import torch.func

__all__ = ["grad", "jvp", "vjp"]

with warnings.catch_warnings(), suppress(ImportError):
    warnings.simplefilter(
        "ignore", DeprecationWarning
    )  # PyTorch compiles these rules by its own deprecated `jit.script`
    import_module("torch._decomp.decompositions_for_jvp")


def jvp(function: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the value of `function` at `primals` and its derivative along `tangents`."""
    found = torch.func.jvp(function, primals, tangents)
    return found[0], found[1]


def vjp(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Return the value of `function` at `primals` and the map from cotangents of it to those of each argument."""
    found = torch.func.vjp(function, *primals)
    return found[0], found[1]


def grad(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the gradient of a scalar function in its first argument."""
    found: Callable[..., Any] = torch.func.grad(function)
    return found
