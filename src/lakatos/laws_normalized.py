"""Laws of layers with a normalization: known in closed form, counted in floating point."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .core import InputError
from .laws import LawsAnswer

if TYPE_CHECKING:
    from ._checker_laws import Law
    from ._checker_polynomials import Polynomial

__all__ = ["known_laws", "normalized_laws"]

_LARGEST = 40


def normalized_laws(
    source: str, architecture: str, sizes: tuple[int, ...], suffix: str | None, loss: str, group: str | None, seed: int
) -> LawsAnswer:
    """Return the laws of ``layer-norm:n,m`` and its kin, n units and m inputs, with eps = 0, or positive for ``+eps``.

    Raises
    ------
    InputError
        If there is no such layer, or it is too large.
    Undecided
        If a floating-point rank is not clear.
    """
    from .laws_subjects import EPS
    from .numerics.normalized_layers import normalized_scout
    from .numerics.simulated_networks import NORMALIZED_NAMES, trainable
    from .theory.law_count import law_text

    if architecture not in NORMALIZED_NAMES:
        raise InputError(
            f"architecture={architecture!r}: unknown; of normalizations choose {', '.join(NORMALIZED_NAMES)}"
        )
    if suffix not in (None, "+eps"):
        raise InputError(
            f"{source}: {architecture} takes no {suffix!r}; only +eps, a positive number added to the variance"
        )
    if loss != "squared" or group is not None:
        raise InputError(f"{source}: laws of normalizations are counted for the squared loss without a group")
    if len(sizes) != 2 or min(sizes) < 2:
        raise InputError(f"sizes={list(sizes)!r}: {architecture} takes (units, inputs), two of each or more")
    parameters = trainable(architecture, sizes).parameters
    if parameters > _LARGEST:
        raise InputError(
            f"{source}: {parameters} parameters; laws of normalizations are counted for at most {_LARGEST}"
        )
    eps = EPS if suffix else 0.0
    scout = normalized_scout(NORMALIZED_NAMES[architecture], *sizes, eps, seed=seed)
    names, laws = known_laws(architecture, *sizes, has_eps=bool(suffix))
    return LawsAnswer(
        parameters=parameters,
        loss=loss,
        group=None,
        laws=scout.laws,
        plain_laws=scout.laws,
        at_least=scout.laws,
        exact=False,
        certified=False,
        formulas=tuple(law_text(law, names) for law in laws),
        new=(),
        tensors=tuple(t for t in _TENSORS[architecture] if not (suffix and "|" in t)),
        how=f"rank of brackets of gradients at random weights, gap {scout.gap:.0e}; formulas from shifts and scales that the "
        "normalization removes" + (f", with {EPS} added to the variance" if suffix else ""),
        names=tuple(names),
        classical=tuple(laws),
    )


def known_laws(architecture: str, units: int, inputs: int, *, has_eps: bool) -> tuple[list[str], list[Law]]:
    """Return the names of the parameters and the laws that the theory lists."""
    n, m = units, inputs
    layered = "relu" in architecture
    rows, columns = (m, n) if layered else (n, m)
    first = "U" if layered else "W"
    names = [f"{first}[{i},{j}]" for i in range(rows) for j in range(columns)]
    if layered:
        names += [f"V[{j},{k}]" for j in range(n) for k in range(m)]
    return names, [(part, {(): 1}) for part in _polynomials(architecture, rows, columns, n, m, has_eps)]


def _polynomials(architecture: str, rows: int, columns: int, n: int, m: int, has_eps: bool) -> Iterator[Polynomial]:
    entries = range(rows * columns)
    if "relu" in architecture:
        for j in range(n):
            out: Polynomial = {(i * n + j, i * n + j): 1 for i in range(m)}
            yield out | {(m * n + j * m + k, m * n + j * m + k): -1 for k in range(m)}
    if architecture == "pre-layer-norm-relu":
        for j in range(n):
            yield {(m * n + j * m + k,): 1 for k in range(m)}
        return
    if "layer-norm" in architecture:
        for j in range(columns):
            yield {(i * columns + j,): 1 for i in range(rows)}
    if architecture == "batch-norm" and not has_eps:
        for i in range(rows):
            yield {(i * columns + j, i * columns + j): 1 for j in range(columns)}
    elif not has_eps:
        yield {(i, i): 1 for i in entries}


_TENSORS = {
    "layer-norm": ("1^T W", "|W|^2"),
    "rms-norm": ("|W|^2",),
    "batch-norm": ("|W_i,:|^2 for every unit i",),
    "pre-layer-norm-relu": ("diag (U^T U - V V^T)", "V 1"),
    "relu-layer-norm": ("diag (U^T U - V V^T)", "1^T U", "|U|^2"),
    "relu-rms-norm": ("diag (U^T U - V V^T)", "|U|^2"),
}
