"""ResNet-18 in plain PyTorch, at its initialization: ``lakatos connectivity examples.resnet18:model``.

K. He, X. Zhang, S. Ren, J. Sun, *Deep residual learning for image recognition*, 2016: 11,689,512 parameters. The skip
connections make the channels of a stage one class each, so that the graph has cycles. In training mode (``model``) batch
normalization hides the scale of what it normalizes; ``evaluated`` has fixed statistics.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["Block", "ResNet18", "evaluated", "model"]

_WIDTHS = (64, 128, 256, 512)


class Block(nn.Module):
    """Two 3×3 convolutions and a skip, which is a 1×1 convolution where the shape changes."""

    def __init__(self, below: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(below, width, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = (
            nn.Sequential(nn.Conv2d(below, width, 1, stride, bias=False), nn.BatchNorm2d(width))
            if stride > 1 or below != width
            else nn.Identity()
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return the activations of the next block."""
        inner = functional.relu(self.bn1(self.conv1(x)))
        return functional.relu(self.bn2(self.conv2(inner)) + self.downsample(x))


class ResNet18(nn.Module):
    """Images (N, 3, height, width) to logits (N, classes)."""

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.maxpool = nn.MaxPool2d(3, 2, padding=1)
        below = 64
        for stage, width in enumerate(_WIDTHS, start=1):
            blocks = nn.Sequential(Block(below, width, 1 if stage == 1 else 2), Block(width, width, 1))
            self.add_module(f"layer{stage}", blocks)
            below = width
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(below, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits."""
        x = self.maxpool(functional.relu(self.bn1(self.conv1(x))))
        for stage in range(1, len(_WIDTHS) + 1):
            x = self.get_submodule(f"layer{stage}")(x)
        return self.fc(self.avgpool(x).flatten(1))


def model(seed: int = 0) -> ResNet18:
    """Return the network at PyTorch's default initialization, in training mode."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return ResNet18()


def evaluated(seed: int = 0) -> nn.Module:
    """Return the same network in evaluation mode."""
    return model(seed).eval()
