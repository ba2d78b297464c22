"""Drift curves as an SVG picture, with nothing but text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .laws_simulation import DriftCurve

__all__ = ["drift_svg"]

_WIDTH, _HEIGHT, _MARGIN = 640, 400, 60
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_FLOOR = 1e-17  # what is exactly zero is drawn at the bottom


def drift_svg(curves: Sequence[DriftCurve], title: str) -> str:
    """Return a picture of the curves, time to the right and the logarithm of the drift upwards."""
    latest = max(curve.times[-1] for curve in curves)
    top = math.ceil(math.log10(max(max(curve.drifts) for curve in curves) or 1.0))
    bottom = math.floor(math.log10(_FLOOR))

    def x(time: float) -> float:
        return _MARGIN + (_WIDTH - 2 * _MARGIN) * time / latest

    def y(drift: float) -> float:
        share = (math.log10(max(drift, _FLOOR)) - bottom) / max(1, top - bottom)
        return _HEIGHT - _MARGIN - (_HEIGHT - 2 * _MARGIN) * share

    parts = [f'<text x="{_WIDTH / 2}" y="24" text-anchor="middle" font-size="15">{escape(title)}</text>']
    for exponent in range(bottom, top + 1, 4):
        height = y(10.0**exponent)
        parts.append(
            f'<line x1="{_MARGIN}" x2="{_WIDTH - _MARGIN}" y1="{height:.1f}" y2="{height:.1f}" stroke="#dddddd"/>'
        )
        parts.append(f'<text x="{_MARGIN - 6}" y="{height + 4:.1f}" text-anchor="end">1e{exponent}</text>')
    for i, curve in enumerate(curves):
        color = _COLORS[i % len(_COLORS)]
        dash = ' stroke-dasharray="6 3"' if curve.laws == "new" else ""
        points = " ".join(f"{x(t):.1f},{y(d):.1f}" for t, d in zip(curve.times, curve.drifts, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"{dash}/>')
        label = escape(f"{curve.training}, {curve.laws} laws")
        parts.append(f'<text x="{_MARGIN + 8}" y="{_MARGIN + 14 * i + 4}" fill="{color}">{label}</text>')
    parts.append(f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 16}" text-anchor="middle">time</text>')
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" font-family="sans-serif" '
        f'font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
    )
