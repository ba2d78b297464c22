"""At which steps of a training to look."""

from __future__ import annotations

__all__ = ["record_steps"]


def record_steps(steps: int, count: int) -> tuple[int, ...]:
    """Return at most `count` numbers from 1 to `steps`, about evenly spaced in the logarithm, with both ends.

    Examples
    --------
    >>> record_steps(100, 5)
    (1, 3, 10, 32, 100)
    """
    if count < 2:
        return (steps,)
    return tuple(sorted({max(1, round(steps ** (k / (count - 1)))) for k in range(count)}))
