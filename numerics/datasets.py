"""Data sets for experiments: two clouds of points, and two that come with scikit-learn (extra ``examples``)."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal, TypeAlias

import torch

from ..core import InputError
from .penalized_training import Labeled

__all__ = ["DataName", "digits", "labeled"]

DataName: TypeAlias = Literal["clouds", "breast_cancer"]

_CLOUD, _CLOUD_TEST = 60, 40
_CANCER_ROWS = 400


def labeled(name: DataName, seed: int) -> tuple[Labeled, Labeled]:
    """Return rows for training and for testing, with labels 0 and 1.

    ``clouds``: 60 and 40 points of two normal clouds in the plane around (3, 3) and (−3, −3). ``breast_cancer``: 400 and 169
    rows of 30 features, standardized over all rows. `seed` draws the points, or the split.

    Raises
    ------
    InputError
        If scikit-learn is needed and not installed, or the name is unknown.
    """
    generator = torch.Generator().manual_seed(seed)
    if name == "clouds":
        labels = (torch.arange(_CLOUD + _CLOUD_TEST) % 2).double()[:, None]
        noise = torch.randn(len(labels), 2, generator=generator, dtype=torch.float64)
        features, cut = noise + 3 * (2 * labels - 1), _CLOUD
    elif name == "breast_cancer":
        _require_sklearn(name)
        from sklearn.datasets import load_breast_cancer

        bunch = load_breast_cancer()
        x = torch.tensor(bunch.data, dtype=torch.float64)
        order = torch.randperm(len(x), generator=generator)
        features = ((x - x.mean(0)) / x.std(0, correction=0))[order]
        labels, cut = torch.tensor(bunch.target, dtype=torch.float64)[order, None], _CANCER_ROWS
    else:
        raise InputError(f"data={name!r}: not known; choose 'clouds' or 'breast_cancer'")
    return Labeled(features[:cut], labels[:cut]), Labeled(features[cut:], labels[cut:])


def digits() -> tuple[torch.Tensor, torch.Tensor]:
    """Return the 1797 images of 8 × 8 handwritten digits as rows of numbers in [0, 1], and their classes.

    Raises
    ------
    InputError
        If scikit-learn is not installed.
    """
    _require_sklearn("digits")
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return torch.tensor(bunch.data / 16, dtype=torch.float64), torch.tensor(bunch.target)


def _require_sklearn(name: str) -> None:
    if find_spec("sklearn") is None:
        raise InputError(
            f"data={name!r}: comes with scikit-learn, which is not installed; pip install 'lakatos[examples]'"
        )
