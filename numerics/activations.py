"""Activations with all their derivatives, in torch, by recurrences; most take complex arguments as well.

ReLU has the derivatives of automatic differentiation, 0 from the second on: they miss the kink, and `Activation.is_analytic`
says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

import torch
from torch import Tensor
from torch.nn import functional

from ..core import InputError

__all__ = ["ACTIVATIONS", "Activation"]


@dataclass(frozen=True)
class Activation:
    """The function φ(scale · z) of a name in `ACTIVATIONS`, or ``polynomial`` with coefficients c_0, c_1, ….

    Raises
    ------
    InputError
        For an unknown name, and for coefficients of anything but a polynomial.

    Examples
    --------
    >>> z = torch.tensor([0.0, 1.0], dtype=torch.float64)
    >>> [value.tolist() for value in Activation("polynomial", (0.0, -1.0, 0.0, 1.0)).derivatives(z, 3)]
    [[0.0, 0.0], [-1.0, 2.0], [0.0, 6.0], [6.0, 6.0]]
    >>> [round(float(value[1]), 6) for value in Activation("tanh").derivatives(z, 2)]
    [0.761594, 0.419974, -0.6397]
    """

    name: str
    coefficients: tuple[float, ...] = ()
    scale: float = 1.0

    def __post_init__(self) -> None:
        if self.name != "polynomial" and self.name not in ACTIVATIONS:
            raise InputError(f"activation={self.name!r}: choose one of polynomial, {', '.join(ACTIVATIONS)}")
        if (self.name == "polynomial") != bool(self.coefficients):
            raise InputError(f"coefficients={self.coefficients!r}: a polynomial has them, {self.name} does or does not")
        if not (math.isfinite(self.scale) and all(map(math.isfinite, self.coefficients))):
            raise InputError(f"scale={self.scale!r}, coefficients={self.coefficients!r}: finite numbers are needed")

    @property
    def is_analytic(self) -> bool:
        """Whether derivatives of all orders describe it: not for ReLU."""
        return self.name != "relu"

    def __call__(self, z: Tensor) -> Tensor:
        """Return φ at `z`, any shape."""
        return self.derivatives(z, 0)[0]

    def derivatives(self, z: Tensor, order: int) -> tuple[Tensor, ...]:
        """Return φ, φ', …, φ^(order) at `z`, each of its shape. ``erf``, ``gelu`` and ``relu`` take real arguments only."""
        if self.name == "polynomial":
            found = _polynomial(self.coefficients, self.scale * z, order)
        else:
            found = ACTIVATIONS[self.name](self.scale * z, order)
        return tuple(self.scale**k * value for k, value in enumerate(found))


def _horner(coefficients: Sequence[float], z: Tensor) -> Tensor:
    value = torch.zeros_like(z)
    for c in reversed(coefficients):
        value = value * z + float(c)
    return value


def _differentiated(coefficients: Sequence[float]) -> tuple[float, ...]:
    return tuple(k * c for k, c in enumerate(coefficients))[1:]


def _multiplied(p: Sequence[int], q: Sequence[int]) -> tuple[int, ...]:
    product = [0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            product[i + j] += a * b
    return tuple(product)


def _polynomial(coefficients: Sequence[float], z: Tensor, order: int) -> list[Tensor]:
    found = []
    for _ in range(order + 1):
        found.append(_horner(coefficients, z))
        coefficients = _differentiated(coefficients)
    return found


@cache
def _in_terms_of_itself(rule: tuple[int, ...], order: int) -> tuple[int, ...]:
    """Return the derivative of order `order` as a polynomial in y, where y' = rule(y)."""
    if order == 0:
        return (0, 1)
    before = _in_terms_of_itself(rule, order - 1)
    return _multiplied(tuple(k * c for k, c in enumerate(before))[1:], rule)


_TANH = (1, 0, -1)


def _tanh(z: Tensor, order: int) -> list[Tensor]:
    y = torch.tanh(z)
    return [_horner(_in_terms_of_itself(_TANH, k), y) for k in range(order + 1)]


def _sigmoid(z: Tensor, order: int) -> list[Tensor]:
    """Return the derivatives of (1 + tanh(z/2))/2: in powers of the sigmoid itself they cancel where it is close to 1."""
    found = [value * 2.0 ** -(k + 1) for k, value in enumerate(_tanh(z / 2, order))]
    found[0] = found[0] + 0.5
    return found


def _softplus(z: Tensor, order: int) -> list[Tensor]:
    value = torch.log1p(torch.exp(z)) if z.is_complex() else torch.logaddexp(z, torch.zeros_like(z))
    return [value, *(_sigmoid(z, order - 1) if order else ())]


def _gaussian(z: Tensor, order: int) -> list[Tensor]:
    """Return the derivatives of exp(−z²): (−1)^k H_k(z) exp(−z²)."""
    weight = torch.exp(-z * z)
    last, hermite = torch.zeros_like(z), torch.ones_like(z)
    found = []
    for k in range(order + 1):
        found.append((-1) ** k * hermite * weight)
        last, hermite = hermite, 2 * z * hermite - 2 * k * last
    return found


def _erf(z: Tensor, order: int) -> list[Tensor]:
    rest = _gaussian(z, order - 1) if order else []
    return [torch.erf(z), *(2 / math.sqrt(math.pi) * value for value in rest)]


def _times_argument(factor: Sequence[Tensor], z: Tensor) -> list[Tensor]:
    """Return the derivatives of z·f(z) from those of f."""
    return [z * value + (k * factor[k - 1] if k else 0) for k, value in enumerate(factor)]


def _gelu(z: Tensor, order: int) -> list[Tensor]:
    normal = [value / (2 * 2 ** (k / 2)) for k, value in enumerate(_erf(z / math.sqrt(2), order))]
    normal[0] = normal[0] + 0.5
    return _times_argument(normal, z)


def _lorentzian(z: Tensor, order: int) -> list[Tensor]:
    """Return the derivatives of 1/(1 + z²) = (1/2i)(1/(z − i) − 1/(z + i))."""
    above, below = (1 / (z - 1j), 1 / (z + 1j))
    found = []
    for k in range(order + 1):
        value = (-1) ** k * float(math.factorial(k)) * (above ** (k + 1) - below ** (k + 1)) / 2j
        found.append(value if z.is_complex() else value.real)
    return found


def _arctan(z: Tensor, order: int) -> list[Tensor]:
    return [torch.atan(z), *(_lorentzian(z, order - 1) if order else ())]


def _sin(z: Tensor, order: int) -> list[Tensor]:
    s, c = torch.sin(z), torch.cos(z)
    return [(s, c, -s, -c)[k % 4] for k in range(order + 1)]


def _relu(z: Tensor, order: int) -> list[Tensor]:
    return [functional.relu(z), (z > 0).to(z.dtype), *([torch.zeros_like(z)] * (order - 1))][: order + 1]


ACTIVATIONS: Mapping[str, Callable[[Tensor, int], list[Tensor]]] = MappingProxyType(
    {
        "identity": lambda z, order: _polynomial((0, 1), z, order),
        "tanh": _tanh,
        "erf": _erf,
        "sin": _sin,
        "sigmoid": _sigmoid,
        "softplus": _softplus,
        "silu": lambda z, order: _times_argument(_sigmoid(z, order), z),
        "gelu": _gelu,
        "gaussian": _gaussian,
        "arctan": _arctan,
        "lorentzian": _lorentzian,
        "relu": _relu,
    }
)
"""By name the function that returns φ and its derivatives. ``gaussian`` is exp(−z²), ``lorentzian`` 1/(1 + z²)."""
