"""A small residual network and a small vision transformer for images, and the symmetries of their weights."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..core import InputError
from .permutation_groups import PermutationGroup

__all__ = ["SmallResNet", "SmallTransformer"]

State = Mapping[str, Tensor]


class _ResidualBlock(nn.Module):
    """relu(norm(conv(relu(norm(conv(x))))) + skip(x)); the skip is a convolution where the number of channels changes."""

    def __init__(self, channels: int, outputs: int) -> None:
        super().__init__()
        stride = 1 if channels == outputs else 2
        self.first = nn.Conv2d(channels, outputs, 3, padding=1, stride=stride, bias=False)
        self.first_norm = nn.GroupNorm(1, outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.second_norm = nn.GroupNorm(1, outputs)
        self.skip = nn.Identity() if stride == 1 else nn.Conv2d(channels, outputs, 1, stride=2, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(self.first_norm(self.first(x)))
        total: Tensor = self.second_norm(self.second(h)) + self.skip(x)
        return torch.relu(total)


class SmallResNet(nn.Module):
    """Stages of `blocks` residual blocks each; every further stage halves the images and doubles the channels."""

    def __init__(self, image: tuple[int, int, int], classes: int, *, width: int, blocks: int, stages: int = 2) -> None:
        super().__init__()
        self.stem = nn.Conv2d(image[0], width, 3, padding=1, bias=False)
        self.stem_norm = nn.GroupNorm(1, width)
        sizes = [width * 2**stage for stage in range(stages) for _ in range(blocks)]
        self.blocks = nn.ModuleList(_ResidualBlock(a, b) for a, b in zip([width, *sizes], sizes, strict=False))
        self.head = nn.Linear(sizes[-1], classes)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of images (N, channels, height, width)."""
        h = torch.relu(self.stem_norm(self.stem(x)))
        for block in self.blocks:
            h = block(h)
        logits: Tensor = self.head(h.mean((2, 3)))
        return logits

    def permutation_groups(self) -> list[PermutationGroup]:
        """Return the channels within each block, and those that all blocks of a stage share because of their skips."""
        groups = []
        stream = [("stem.weight", 0), ("stem_norm.weight", 0), ("stem_norm.bias", 0)]
        for i, block in enumerate(self.blocks):
            assert isinstance(block, _ResidualBlock)
            at = f"blocks.{i}"
            inner = [(f"{at}.first.weight", 0), (f"{at}.first_norm.weight", 0), (f"{at}.first_norm.bias", 0)]
            groups.append(PermutationGroup(f"{at}.inner", (*inner, (f"{at}.second.weight", 1))))
            stream.append((f"{at}.first.weight", 1))
            if isinstance(block.skip, nn.Conv2d):
                groups.append(PermutationGroup(f"{at}.stream", (*stream, (f"{at}.skip.weight", 1))))
                stream = [(f"{at}.skip.weight", 0)]
            stream += [(f"{at}.second.weight", 0), (f"{at}.second_norm.weight", 0), (f"{at}.second_norm.bias", 0)]
        return [*groups, PermutationGroup("stream", (*stream, ("head.weight", 1)))]

    def mixed(self, state: State, generator: torch.Generator) -> dict[str, Tensor]:
        """Return another state of the same function: what a block's ReLU passes on is rescaled, channel by channel."""
        made = dict(state)
        for i in range(len(self.blocks)):
            gain, shift, following = (
                f"blocks.{i}.{x}" for x in ("first_norm.weight", "first_norm.bias", "second.weight")
            )
            draw = torch.rand(len(made[gain]), generator=generator, dtype=torch.float64)
            scales = (4.0**draw / 2).to(made[gain])
            made[gain], made[shift] = made[gain] * scales, made[shift] * scales
            made[following] = made[following] / scales[:, None, None]
        return made


class _TransformerBlock(nn.Module):
    """Attention and a perceptron, each behind a normalization and beside a skip."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.first_norm, self.second_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        h = self.first_norm(x)
        q, k, v = (
            part(h).unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        attended = functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        x = x + self.out(attended)
        after: Tensor = x + self.down(functional.gelu(self.up(self.second_norm(x))))
        return after


class SmallTransformer(nn.Module):
    """A vision transformer on square patches, with the mean of all tokens before its head."""

    def __init__(
        self, image: tuple[int, int, int], classes: int, *, width: int, blocks: int, heads: int = 4, patch: int = 2
    ) -> None:
        super().__init__()
        if width % heads or image[1] % patch or image[2] % patch:
            raise InputError(
                f"width={width!r}: a multiple of {heads} heads, and images of patches of {patch} are needed"
            )
        self.embedding = nn.Conv2d(image[0], width, patch, stride=patch)
        self.positions = nn.Parameter(0.02 * torch.randn(image[1] * image[2] // patch**2, width))
        self.blocks = nn.ModuleList(_TransformerBlock(width, heads) for _ in range(blocks))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)
        self.heads = heads

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of images (N, channels, height, width)."""
        h = self.embedding(x).flatten(2).mT + self.positions
        for block in self.blocks:
            h = block(h)
        logits: Tensor = self.head(self.norm(h).mean(1))
        return logits

    def permutation_groups(self) -> list[PermutationGroup]:
        """Return the heads and the perceptron of each block, and the coordinates of the tokens."""
        groups = []
        stream = [("embedding.weight", 0), ("embedding.bias", 0), ("positions", 1)]
        for i in range(len(self.blocks)):
            at = f"blocks.{i}"
            heads = [(f"{at}.{part}.{what}", 0) for part in ("query", "key", "value") for what in ("weight", "bias")]
            groups.append(PermutationGroup(f"{at}.heads", (*heads, (f"{at}.out.weight", 1)), size=self.heads))
            up = [(f"{at}.up.weight", 0), (f"{at}.up.bias", 0), (f"{at}.down.weight", 1)]
            groups.append(PermutationGroup(f"{at}.inner", tuple(up)))
            stream += [
                (f"{at}.{norm}.{what}", 0) for norm in ("first_norm", "second_norm") for what in ("weight", "bias")
            ]
            stream += [(f"{at}.{part}.weight", 1) for part in ("query", "key", "value", "up")]
            stream += [(f"{at}.{part}.{what}", 0) for part in ("out", "down") for what in ("weight", "bias")]
        return [
            *groups,
            PermutationGroup("stream", (*stream, ("norm.weight", 0), ("norm.bias", 0), ("head.weight", 1))),
        ]

    def mixed(self, state: State, generator: torch.Generator) -> dict[str, Tensor]:
        """Return another state of the same function: in every head, queries against keys, and values against what reads them.

        Products of queries and keys stay if the former are multiplied by an invertible matrix and the latter by its inverse,
        transposed; so do values and outputs. No permutation undoes that.
        """
        made = dict(state)
        for i in range(len(self.blocks)):
            at = f"blocks.{i}"
            for left, right in (("query", "key"), ("value", "out")):
                mixes, inverses = zip(
                    *(self._mix(made[f"{at}.query.weight"], generator) for _ in range(self.heads)), strict=True
                )
                G, inverse = torch.block_diag(*mixes), torch.block_diag(*inverses)  # type: ignore[no-untyped-call]
                for what in ("weight", "bias"):
                    made[f"{at}.{left}.{what}"] = G @ made[f"{at}.{left}.{what}"]
                    if right == "key":
                        made[f"{at}.key.{what}"] = inverse.mT @ made[f"{at}.key.{what}"]
                if right == "out":
                    made[f"{at}.out.weight"] = made[f"{at}.out.weight"] @ inverse
        return made

    def _mix(self, like: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return a random matrix with singular values from ½ to 2, and its inverse."""
        size = len(like) // self.heads
        left, right = (
            torch.linalg.qr(torch.randn(size, size, generator=generator, dtype=torch.float64))[0] for _ in "lr"
        )
        scales = 4.0 ** torch.rand(size, generator=generator, dtype=torch.float64) / 2
        return (left * scales @ right.mT).to(like), (right / scales @ left.mT).to(like)
