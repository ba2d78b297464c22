"""A small vision transformer in plain PyTorch: ``lakatos connectivity examples.vit:model``.

Attention, GELU and layer normalization are not homogeneous, so queries, keys and the neurons of the MLP are terminals; the
values of every head and the features behind every normalization keep their balance. ``relu`` has neurons with ReLU instead.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["Attention", "Block", "VisionTransformer", "model", "relu"]

Activation = Callable[[Tensor], Tensor]


class Attention(nn.Module):
    """Self-attention of several heads over tokens (N, tokens, width)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Return what the tokens read from each other."""
        query, key, value = (
            part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        return self.out(functional.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2))


class Block(nn.Module):
    """Attention and an MLP, each added to the stream that it reads through a normalization."""

    def __init__(self, width: int, heads: int, hidden: int, activation: Activation) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.fc1, self.fc2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.activation = activation

    def forward(self, x: Tensor) -> Tensor:
        """Return the stream behind the block."""
        x = x + self.attention(self.norm1(x))
        return x + self.fc2(self.activation(self.fc1(self.norm2(x))))


class VisionTransformer(nn.Module):
    """Images (N, 3, 32, 32) to logits (N, classes), by 64 patches and a class token."""

    def __init__(
        self,
        *,
        width: int = 64,
        heads: int = 4,
        hidden: int = 128,
        depth: int = 4,
        classes: int = 10,
        activation: Activation = functional.gelu,
    ) -> None:
        super().__init__()
        self.example_input_array = torch.zeros(2, 3, 32, 32)
        self.patches = nn.Conv2d(3, width, 4, stride=4)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, 65, width) / 50)
        self.blocks = nn.Sequential(*(Block(width, heads, hidden, activation) for _ in range(depth)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits."""
        patches = self.patches(x).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.token.expand(len(x), -1, -1), patches], dim=1) + self.positions
        return self.head(self.norm(self.blocks(tokens))[:, 0])


def model(seed: int = 0) -> VisionTransformer:
    """Return the transformer with GELU at initialization."""
    return _seeded(seed, functional.gelu)


def relu(seed: int = 0) -> VisionTransformer:
    """Return the transformer with ReLU at initialization."""
    return _seeded(seed, functional.relu)


def _seeded(seed: int, activation: Activation) -> VisionTransformer:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return VisionTransformer(activation=activation)
