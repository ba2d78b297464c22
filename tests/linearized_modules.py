"""Modules to train beside their linearization, supported and not, and data for them."""

from __future__ import annotations

import torch
from torch import nn

from lakatos.numerics import mlps
from lakatos.numerics.mlps import Mlp


class Wrapped(nn.Module):
    """An `Mlp` without leading axes as a module."""

    def __init__(self, mlp: Mlp) -> None:
        super().__init__()
        self.mlp = mlp
        self.parts = nn.ParameterList([p[0] for p in mlp.parameters])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return mlps.forward(self.mlp.with_parameters(list(self.parts)), x).outputs


class InPlace(nn.Module):
    """Counts its calls by changing a buffer with what it computes."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.register_buffer("total", torch.zeros(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)
        self.total += y.sum(0)
        return y


class Several(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.linear(x), x


def smooth() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))


def linear() -> nn.Module:
    return nn.Linear(3, 2)


def kinked() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))


def tied() -> nn.Module:
    made = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))
    made[2].weight = made[0].weight
    return made


def in_place() -> nn.Module:
    return InPlace()


def several() -> nn.Module:
    return Several()


class Wrapper(nn.Module):
    """Another module inside, so that nothing can be said from its type."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = self.inner(x)
        return made


class Normalizing(nn.Module):
    """Writes a mean of what it is given into a buffer, as batch normalizations do."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.mean.mul_(0.9).add_(x.mean(0))
        return x - self.mean


def in_place_inside() -> nn.Module:
    inner = nn.Sequential(nn.Linear(3, 4), Normalizing())
    return nn.Sequential(Wrapper(inner), nn.Tanh(), nn.Linear(4, 2))


def gated() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 4), Wrapper(nn.ELU()), nn.Linear(4, 2))


def images() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 4), nn.Unflatten(1, (2, 2)))


def normalized() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 2))


def dropped() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 2))


def data(outputs: int = 2, samples: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(samples, 3, generator=generator, dtype=torch.float64)
    return x, torch.arange(samples) % outputs
