"""PyTorch layers whose effective weights are F + D ⊙ W: fixed offsets, scales or masks, and trainable weights.

F and D are drawn from an explicit seed, stored as buffers, and stamped with a fingerprint that travels in checkpoints:
two networks are interpolated only if they share them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..core import InputError

__all__ = [
    "Asymmetry",
    "MaskedConv2d",
    "MaskedLinear",
    "asymmetric",
    "dense_state",
    "draw_fixed",
    "effective_weight",
    "interpolated_state",
    "partly_fixed_layers",
    "require_same_architecture",
]

Asymmetry: TypeAlias = Literal["standard", "w_asymmetric", "sparse", "additive", "residual"]
"""Standard: F = 0, D = 1. W-asymmetric: some entries fixed to σ N(0, 1), the others free. Sparse: some fixed to 0. Additive:
D = 1, F = σ N(0, 1). Residual: D = 1, F = 1 on the diagonal."""

_NUMBERS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def draw_fixed(
    shape: tuple[int, ...], kind: Asymmetry, *, fixed_entries: int = 0, sigma: float = 1.0, seed: int = 0
) -> tuple[Tensor, Tensor]:
    """Return F and D of this shape, float64: one row for each neuron, of the same number of fixed entries.

    Parameters
    ----------
    fixed_entries : int
        In each row, for ``w_asymmetric`` and ``sparse``; the subset is random.
    sigma : float
        Standard deviation of fixed weights.
    seed : int
        Of the positions and values of fixed weights.

    Raises
    ------
    InputError
        For an unknown kind, or more fixed entries than a row has.
    """
    m, n = shape[0], int(torch.Size(shape[1:]).numel())
    if not 0 <= fixed_entries <= n:
        raise InputError(f"fixed_entries={fixed_entries!r}: a row has {n} entries; choose 0 to {n}")
    generator = torch.Generator().manual_seed(seed)
    order = torch.rand(m, n, generator=generator, dtype=torch.float64).argsort(1)
    normal = sigma * torch.randn(m, n, generator=generator, dtype=torch.float64)
    ones, zeros = torch.ones(m, n, dtype=torch.float64), torch.zeros(m, n, dtype=torch.float64)
    masked = ones.scatter(1, order[:, :fixed_entries], 0.0)
    drawn = {
        "standard": (zeros, ones),
        "w_asymmetric": ((1 - masked) * normal, masked),
        "sparse": (zeros, masked),
        "additive": (normal, ones),
        "residual": (torch.eye(m, n, dtype=torch.float64), ones),
    }
    if kind not in drawn:
        raise InputError(f"kind={kind!r}: choose one of {', '.join(drawn)}")
    F, D = drawn[kind]
    return F.reshape(shape), D.reshape(shape)


class _PartlyFixed(nn.Module):
    """What masked layers share: F, D, the fingerprint of both, and the effective weight."""

    weight: nn.Parameter
    bias: nn.Parameter | None
    fixed: Tensor
    scale: Tensor
    fingerprint: Tensor

    def _fix(self, layer: nn.Linear | nn.Conv2d, F: Tensor, D: Tensor) -> None:
        if F.shape != layer.weight.shape or D.shape != layer.weight.shape:
            raise InputError(
                f"F {tuple(F.shape)}, D {tuple(D.shape)}: the weight has shape {tuple(layer.weight.shape)}"
            )
        if not bool((torch.isfinite(F) & torch.isfinite(D)).all()):
            raise InputError("F, D: entries must be finite")
        self.weight = nn.Parameter(layer.weight.detach().clone())
        self.bias = None if layer.bias is None else nn.Parameter(layer.bias.detach().clone())
        self.register_buffer("fixed", F.to(self.weight))
        self.register_buffer("scale", D.to(self.weight))
        self.register_buffer("fingerprint", torch.tensor(_fingerprint(self.fixed, self.scale)))

    def effective_weight(self) -> Tensor:
        """Return F + D ⊙ W, differentiable in W."""
        return self.fixed + self.scale * self.weight


class MaskedLinear(_PartlyFixed):
    """A linear layer with weights F + D ⊙ W, made from an ordinary one; F and D have the shape of its weight."""

    def __init__(self, layer: nn.Linear, F: Tensor, D: Tensor) -> None:
        super().__init__()
        self._fix(layer, F, D)

    def forward(self, x: Tensor) -> Tensor:
        """Return the pre-activations."""
        return functional.linear(x, self.effective_weight(), self.bias)


class MaskedConv2d(_PartlyFixed):
    """A convolution with weights F + D ⊙ W, made from an ordinary one without groups; a channel is a neuron."""

    def __init__(self, layer: nn.Conv2d, F: Tensor, D: Tensor) -> None:
        super().__init__()
        if layer.padding_mode != "zeros":
            raise InputError(f"padding_mode={layer.padding_mode!r}: only 'zeros' is supported")
        self._fix(layer, F, D)
        self.stride, self.padding = layer.stride, layer.padding
        self.dilation, self.groups = layer.dilation, layer.groups

    def forward(self, x: Tensor) -> Tensor:
        """Return the pre-activations."""
        return functional.conv2d(
            x, self.effective_weight(), self.bias, self.stride, self.padding, self.dilation, self.groups
        )


def asymmetric(
    module: nn.Module, kind: Asymmetry, *, fixed_share: float = 0.125, sigma: float = 1.0, seed: int = 0
) -> nn.Module:
    """Replace, in place, every Linear and Conv2d but the last by a layer with fixed parts; return the module.

    Parameters
    ----------
    kind : Asymmetry
        Which entries are fixed, and to what; see `Asymmetry`.
    sigma : float
        Standard deviation of fixed weights.
    fixed_share : float
        Of the entries of each row, rounded to a whole number of at least one.
    seed : int
        Layer i uses the seed ``seed + i``: networks made with equal arguments share F and D.

    Raises
    ------
    InputError
        For a share out of [0, 1], or a module without two layers.
    """
    if not 0 <= fixed_share <= 1:
        raise InputError(f"fixed_share={fixed_share!r}: a share in [0, 1] is needed")
    found = [(name, part) for name, part in module.named_modules() if type(part) in (nn.Linear, nn.Conv2d)]
    if len(found) < 2:
        raise InputError(f"module: {len(found)} Linear or Conv2d layers; the last one stays, so two are needed")
    for i, (name, part) in enumerate(found[:-1]):
        assert isinstance(part, (nn.Linear, nn.Conv2d))
        width = part.weight[0].numel()
        entries = max(1, round(fixed_share * width)) if fixed_share else 0
        F, D = draw_fixed(tuple(part.weight.shape), kind, fixed_entries=entries, sigma=sigma, seed=seed + i)
        made = MaskedLinear(part, F, D) if isinstance(part, nn.Linear) else MaskedConv2d(part, F, D)
        parent, _, attribute = name.rpartition(".")
        setattr(module.get_submodule(parent), attribute, made)
    return module


def partly_fixed_layers(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Yield name and layer of everything with a weight matrix, ordinary Linear and Conv2d layers included, in order."""
    for name, part in module.named_modules():
        if isinstance(part, (_PartlyFixed, nn.Linear, nn.Conv2d)):
            yield name, part


def effective_weight(layer: nn.Module) -> tuple[Tensor, Tensor, Tensor]:
    """Return F, D and W of a layer as matrices (neurons, inputs), float64; F = 0 and D = 1 for an ordinary one.

    Raises
    ------
    InputError
        For a module without weights.
    """
    if isinstance(layer, _PartlyFixed):
        F, D, W = layer.fixed, layer.scale, layer.weight.detach()
    elif isinstance(layer, (nn.Linear, nn.Conv2d)):
        W = layer.weight.detach()
        F, D = torch.zeros_like(W), torch.ones_like(W)
    else:
        raise InputError(f"layer: {type(layer).__name__} has no weight matrix")
    return F.double().flatten(1), D.double().flatten(1), W.double().flatten(1)


def dense_state(module: nn.Module) -> dict[str, Tensor]:
    """Return the state dict of the network with ordinary layers, of weights F + D ⊙ W, in place of partly fixed ones."""
    state = module.state_dict()
    for name, part in module.named_modules():
        if isinstance(part, _PartlyFixed):
            prefix = f"{name}." if name else ""
            state[f"{prefix}weight"] = part.effective_weight().detach()
            for key in ("fixed", "scale", "fingerprint"):
                del state[f"{prefix}{key}"]
    return state


def interpolated_state(first: nn.Module, second: nn.Module, weight: float) -> dict[str, Tensor]:
    """Return the state dict (1 − λ)·first + λ·second at λ = `weight`; integers are those of the first.

    Raises
    ------
    InputError
        If the two have different parameters or shapes, or fixed parts with different fingerprints.
    """
    require_same_architecture(first, second)
    a, b = first.state_dict(), second.state_dict()
    return {
        key: torch.lerp(value, b[key].to(value), weight) if value.dtype in _NUMBERS and not _is_fixed(key) else value
        for key, value in a.items()
    }


def require_same_architecture(first: nn.Module, second: nn.Module) -> None:
    """Raise InputError unless two networks have the same parameters, shapes, fixed weights and masks.

    Raises
    ------
    InputError
        Naming the entry of the state dict.
    """
    a, b = first.state_dict(), second.state_dict()
    if odd := sorted(a.keys() ^ b.keys()):
        raise InputError(f"{odd[0]}: in one of the networks only; they have different architectures")
    for key, value in a.items():
        if value.shape != b[key].shape:
            raise InputError(
                f"{key}: shapes {tuple(value.shape)} and {tuple(b[key].shape)}; they have different architectures"
            )
        if key.rpartition(".")[2] == "fingerprint" and not torch.equal(value, b[key]):
            raise InputError(
                f"{key}: {int(value):x} and {int(b[key]):x}; the networks have different fixed weights or masks; train "
                "both with the same seed of F and D"
            )


def _is_fixed(key: str) -> bool:
    return key.rpartition(".")[2] in ("fixed", "scale")


def _fingerprint(F: Tensor, D: Tensor) -> int:
    """Return 62 bits of a hash of both tensors, as float64."""
    content = b"".join(t.detach().cpu().double().contiguous().numpy().tobytes() for t in (F, D))
    return int.from_bytes(hashlib.sha256(str(tuple(F.shape)).encode() + content).digest()[:8], "big") >> 2
