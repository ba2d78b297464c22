"""Perceptrons on images that share fixed weights: barriers with and without alignment, against the size of those weights."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from ..core import InputError
from .datasets import digits
from .experiments import Outcomes
from .image_files import read_images
from .masked import Asymmetry
from .masked_batches import Activation, MlpShape, drawn_layers
from .paired_mlps import aligned_second, segments, trained_pairs

__all__ = ["ImageSettings", "image_barriers", "standardized_images"]

_DIGITS_TRAINING = 1400


@dataclass(frozen=True)
class ImageSettings:
    """Pairs of perceptrons on images.

    Parameters
    ----------
    data : str
        ``digits`` of scikit-learn (8 × 8), or a folder as `lakatos.numerics.image_files.read_images` reads it.
    kind : str
        Of the fixed weights; ``w_asymmetric`` with sigma 0 is the control.
    sigma : float
        Standard deviation of the fixed weights.
    fixed_share : float
        Share of the entries of a row that is fixed, for ``w_asymmetric`` and ``sparse``.
    shares, profile : tuple of float
        In place of `fixed_share` in all hidden layers and no fixed weights in the outputs: a share for each layer from the
        first to the outputs, and a factor of `sigma` for each.
    hidden : tuple of int
        Widths of hidden layers.
    activation, layer_norm : str, bool
        Of hidden layers.
    pairs, epochs, batch : int
    samples, test_samples : int
        At most so many images, the first of the files, to train and to test on.
    """

    data: str = "digits"
    kind: Asymmetry = "w_asymmetric"
    sigma: float = 1.0
    fixed_share: float = 0.125
    shares: tuple[float, ...] = ()
    profile: tuple[float, ...] = ()
    hidden: tuple[int, ...] = (64, 64)
    activation: Activation = "gelu"
    layer_norm: bool = True
    pairs: int = 4
    epochs: int = 40
    batch: int = 64
    samples: int = 60_000
    test_samples: int = 10_000

    def __post_init__(self) -> None:
        if min(self.pairs, self.epochs, self.batch, self.samples, self.test_samples) < 1:
            raise InputError(f"{self!r}: positive sizes are needed")
        depth = len(self.hidden) + 1
        for name, values in (("shares", self.shares), ("profile", self.profile)):
            if len(values) not in (0, depth):
                raise InputError(f"{name}={values!r}: {depth} entries are needed, one for each layer, or none")


def image_barriers(settings: ImageSettings, seed: int, *, device: str = "cpu") -> Outcomes:
    """Return the drop of test accuracy between networks that share fixed weights and differ in initialization.

    W is normal with variance 1/inputs at first. AdamW, learning rate 1e−3, weight decay 1e−2; 21 points. Notes: the barrier
    of the test loss above its chord (``loss_barrier``), both barriers after the second network's neurons were matched to
    those of the first (``aligned``, ``aligned_loss_barrier``), the share of neurons that matching leaves in place
    (``matched``), the drop on training images (``training_drop``), and the accuracy along the segment (``accuracies``).

    Raises
    ------
    InputError
        Naming the file or the field: data that cannot be read, settings that do not fit them.
    """
    generator = torch.Generator().manual_seed(seed)
    train, test = ((x.flatten(1).to(device), y.to(device)) for x, y in standardized_images(settings))
    outputs = 1 + int(max(train[1].max(), test[1].max()))
    shape = MlpShape((train[0].shape[1], *settings.hidden, outputs), settings.activation, settings.layer_norm)
    hidden = len(settings.hidden)
    shares = settings.shares or (settings.fixed_share,) * hidden + (0.0,)
    factors = settings.profile or (1.0,) * hidden + (1.0 if settings.shares else 0.0,)
    sigmas = [settings.sigma * factor for factor in factors]
    layers = drawn_layers(shape, settings.kind, shares, sigmas, seed, device)
    first, second = trained_pairs(
        shape,
        layers,
        train,
        pairs=settings.pairs,
        epochs=settings.epochs,
        batch=settings.batch,
        generator=generator,
    )
    unaligned = segments(shape, first, second, test)
    training = segments(shape, first, second, (train[0][: len(test[0])], train[1][: len(test[0])]))
    moved, stayed = aligned_second(shape, first, second, train[0])
    aligned = segments(shape, first, moved, test)
    return Outcomes(
        unaligned.barriers("relative_accuracy"),
        unaligned.end_accuracies,
        "relative_accuracy",
        "accuracy",
        {
            "loss_barrier": _mean(unaligned.barriers("above_chord")),
            "aligned": _mean(aligned.barriers("relative_accuracy")),
            "aligned_loss_barrier": _mean(aligned.barriers("above_chord")),
            "matched": _mean(stayed),
            "training_drop": _mean(training.barriers("relative_accuracy")),
            "accuracies": unaligned.mean_accuracies,
        },
    )


def standardized_images(settings: ImageSettings) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Return pixels (N, channels, height, width), float32, and classes, to train and to test on.

    All pixels are shifted and scaled by two numbers, so that those to train on have mean 0 and variance 1.

    Raises
    ------
    InputError
        Naming the folder or file that cannot be read.
    """
    if settings.data == "digits":
        rows, classes = digits()
        pixels = rows.float().reshape(-1, 1, 8, 8)
        cut = min(settings.samples, _DIGITS_TRAINING)
        stop = _DIGITS_TRAINING + settings.test_samples
        parts = [(pixels[:cut], classes[:cut]), (pixels[_DIGITS_TRAINING:stop], classes[_DIGITS_TRAINING:stop])]
    else:
        folder = Path(settings.data)
        train, test = (
            read_images(folder, "train", limit=settings.samples),
            read_images(folder, "test", limit=settings.test_samples),
        )
        if train.shape != test.shape:
            raise InputError(
                f"{folder}: images of shapes {train.shape} to train and {test.shape} to test on; one shape is needed"
            )
        parts = [(images.scaled(torch.float32), images.classes) for images in (train, test)]
    mean, deviation = parts[0][0].mean(), parts[0][0].std(correction=0)
    if not deviation > 0:
        raise InputError(f"data={settings.data!r}: all pixels are equal")
    train_part, test_part = (((x - mean) / deviation, y.long()) for x, y in parts)
    return train_part, test_part


def _mean(values: tuple[float, ...]) -> float:
    return sum(values) / len(values)
