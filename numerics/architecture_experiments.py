"""Where permutations end: residual networks and transformers that share fixed weights, merged with and without alignment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from ..core import InputError
from .barriers import barrier
from .experiments import Outcomes
from .image_experiments import ImageSettings, standardized_images
from .masked import Asymmetry, asymmetric, dense_state
from .permutation_groups import permuted, weight_matching
from .small_networks import SmallResNet, SmallTransformer

__all__ = ["ArchitectureName", "ArchitectureSettings", "architecture_barriers"]

ArchitectureName: TypeAlias = Literal["resnet", "transformer"]

_POINTS = 21
_EVALUATED = 500
_TWIN_ROWS = 200


@dataclass(frozen=True)
class ArchitectureSettings:
    """Pairs of small residual networks or transformers on images.

    Parameters
    ----------
    architecture : str
        ``resnet`` or ``transformer``, as in `lakatos.numerics.small_networks`.
    data, samples, test_samples : str, int, int
        As in `lakatos.numerics.image_experiments.ImageSettings`.
    kind, sigma, fixed_share : str, float, float
        Of the fixed weights of every layer but the last; ``w_asymmetric`` with sigma 0 is the control.
    width, blocks : int
        Channels of the first stage or coordinates of a token, and residual blocks of a stage or blocks of the transformer.
    pairs, epochs, batch : int
    rate : float
        Largest learning rate; it rises over the first tenth of the steps and falls to 0 along a cosine.
    """

    architecture: ArchitectureName = "resnet"
    data: str = "digits"
    kind: Asymmetry = "w_asymmetric"
    sigma: float = 1.0
    fixed_share: float = 0.125
    width: int = 16
    blocks: int = 1
    pairs: int = 1
    epochs: int = 15
    batch: int = 64
    rate: float = 3e-3
    samples: int = 60_000
    test_samples: int = 10_000

    def __post_init__(self) -> None:
        if self.architecture not in ("resnet", "transformer"):
            raise InputError(f"architecture={self.architecture!r}: choose 'resnet' or 'transformer'")
        sizes = (self.width, self.blocks, self.pairs, self.epochs, self.batch, self.samples, self.test_samples)
        if min(sizes) < 1 or not self.rate > 0:
            raise InputError(f"{self!r}: positive sizes and a positive rate are needed")


Network: TypeAlias = "SmallResNet | SmallTransformer"


def architecture_barriers(settings: ArchitectureSettings, seed: int, *, device: str = "cpu") -> Outcomes:
    """Return the drop of test accuracy between networks that share fixed weights and differ in initialization.

    AdamW with weight decay 1e−2; 21 points. Notes: the barrier of the test loss above its chord (``loss_barrier``); both
    barriers after weight matching over all permutations that the architecture allows (``aligned``, ``aligned_loss_barrier``);
    and the barrier of the loss between the first network and copies of the same function, after matching: ``permuted_twin``,
    whose neurons, channels and heads are permuted, and ``mixed_twin``, which differs by symmetries that are no permutations
    (channels rescaled behind a ReLU; queries and keys, values and outputs of a head multiplied by matrices that cancel).

    Raises
    ------
    InputError
        Naming the file or the field: data that cannot be read, settings that do not fit them.
    """
    images = ImageSettings(data=settings.data, samples=settings.samples, test_samples=settings.test_samples)
    (x, y), (x_test, y_test) = ((x.to(device), y.to(device)) for x, y in standardized_images(images))
    image = (x.shape[1], x.shape[2], x.shape[3])
    classes = 1 + int(max(y.max(), y_test.max()))
    test = (x_test, y_test)

    def build(init: int) -> Network:
        make = SmallResNet if settings.architecture == "resnet" else SmallTransformer
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(init)
            return make(image, classes, width=settings.width, blocks=settings.blocks)

    plain = build(seed).double().to(device)
    groups = plain.permutation_groups()
    generator = torch.Generator().manual_seed(seed)
    inits = torch.randint(1 << 62, (settings.pairs, 2), generator=generator).tolist()
    curves, aligned, twins = [], [], []
    for pair in inits:
        states = []
        for init in pair:
            network = asymmetric(
                build(init), settings.kind, fixed_share=settings.fixed_share, sigma=settings.sigma, seed=seed
            )
            states.append(dense_state(_trained(network.to(device), x, y, settings, init)))
        first, second = states
        curves.append(_curve(plain, first, second, test))
        aligned.append(_curve(plain, first, weight_matching(first, second, groups), test))
        permuted_twin = first
        for group in groups:
            permuted_twin = permuted(permuted_twin, group, torch.randperm(group.count(first), generator=generator))
        few = (x_test[:_TWIN_ROWS], y_test[:_TWIN_ROWS])
        twins.append(
            [
                _loss_barrier(_curve(plain, first, weight_matching(first, twin, groups), few))
                for twin in (permuted_twin, plain.mixed(first, generator))
            ]
        )
    ends = tuple(float(c[1][0] + c[1][-1]) / 2 for c in curves)
    return Outcomes(
        tuple(barrier(accuracies, "relative_accuracy").value for _, accuracies in curves),
        ends,
        "relative_accuracy",
        "accuracy",
        {
            "loss_barrier": float(np.mean([_loss_barrier(c) for c in curves])),
            "aligned": float(np.mean([barrier(c[1], "relative_accuracy").value for c in aligned])),
            "aligned_loss_barrier": float(np.mean([_loss_barrier(c) for c in aligned])),
            "permuted_twin": float(np.mean([twin[0] for twin in twins])),
            "mixed_twin": float(np.mean([twin[1] for twin in twins])),
        },
    )


def _trained(network: nn.Module, x: Tensor, y: Tensor, settings: ArchitectureSettings, seed: int) -> nn.Module:
    optimizer = torch.optim.AdamW(network.parameters(), lr=settings.rate, weight_decay=1e-2, fused=True)
    batch = min(settings.batch, len(y))
    per_epoch = len(y) // batch
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, settings.rate, settings.epochs * per_epoch, pct_start=0.1, cycle_momentum=False
    )
    generator = torch.Generator().manual_seed(seed)
    for _ in range(settings.epochs):
        order = torch.randperm(len(y), generator=generator).to(x.device)
        for rows in torch.split(order[: per_epoch * batch], batch):
            optimizer.zero_grad()
            torch.autograd.backward(functional.cross_entropy(network(x[rows]), y[rows]))
            optimizer.step()
            schedule.step()
    return network


def _curve(
    network: nn.Module, first: Mapping[str, Tensor], second: Mapping[str, Tensor], data: tuple[Tensor, Tensor]
) -> tuple[np.ndarray, np.ndarray]:
    """Return losses and accuracies along the segment between two states."""
    losses, accuracies = [], []
    for t in np.linspace(0, 1, _POINTS).tolist():
        network.load_state_dict({key: torch.lerp(a.double(), second[key].double(), t) for key, a in first.items()})
        with torch.no_grad():
            logits = torch.cat([network(x.double()) for x in torch.split(data[0], _EVALUATED)])
        losses.append(float(functional.cross_entropy(logits, data[1])))
        accuracies.append(float((logits.argmax(1) == data[1]).double().mean()))
    return np.array(losses), np.array(accuracies)


def _loss_barrier(curve: tuple[np.ndarray, np.ndarray]) -> float:
    return barrier(curve[0]).value
