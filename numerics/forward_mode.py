"""`torch.func.jvp` and `vjp`, after the rules of forward mode were loaded without the deprecation warning that they give."""

from __future__ import annotations

import warnings
from contextlib import suppress
from importlib import import_module

from torch.func import grad, jvp, vjp

__all__ = ["grad", "jvp", "vjp"]

with warnings.catch_warnings(), suppress(ImportError):
    warnings.simplefilter(
        "ignore", DeprecationWarning
    )  # PyTorch compiles these rules by its own deprecated `jit.script`
    import_module("torch._decomp.decompositions_for_jvp")
