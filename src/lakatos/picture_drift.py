"""Drift curves as an SVG picture, with nothing but text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .laws_simulation import DriftCurve

__all__ = ["drift_svg"]

_WIDTH, _HEIGHT = 760, 400
_LEFT, _RIGHT, _MARGIN = 80, 200, 60
_COLORS = {"averaged": "#0072b2", "plain": "#d55e00", "log cosh": "#009e73"}
_QUANTITIES = {"classical": "classical laws", "new": "new laws", "none": "no law"}
_FLOOR = 1e-17  # what is exactly zero is drawn at the bottom


def drift_svg(curves: Sequence[DriftCurve], title: str) -> str:
    """Return a picture of the curves, time to the right and the logarithm of the drift upwards.

    New laws are dashed, what is no law is dotted.
    """
    latest = max(curve.times[-1] for curve in curves)
    top = math.ceil(math.log10(max(max(curve.drifts) for curve in curves) or 1.0))
    bottom = math.floor(math.log10(_FLOOR))

    def x(time: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * time / latest

    def y(drift: float) -> float:
        share = (math.log10(max(drift, _FLOOR)) - bottom) / max(1, top - bottom)
        return _HEIGHT - _MARGIN - (_HEIGHT - 2 * _MARGIN) * share

    center = (x(0.0) + x(latest)) / 2
    parts = [f'<text x="{center:.0f}" y="24" text-anchor="middle" font-size="15">{escape(title)}</text>']
    for exponent in range(bottom, top + 1, 4):
        height = y(10.0**exponent)
        parts.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{height:.1f}" y2="{height:.1f}" stroke="#dddddd"/>'
        )
        parts.append(f'<text x="{_LEFT - 6}" y="{height + 4:.1f}" text-anchor="end">1e{exponent}</text>')
    for quarter in range(5):
        time = latest * quarter / 4
        parts.append(f'<text x="{x(time):.1f}" y="{_HEIGHT - _MARGIN + 18}" text-anchor="middle">{time:g}</text>')
    middle = _HEIGHT / 2
    parts.append(
        f'<text x="20" y="{middle:.0f}" text-anchor="middle" transform="rotate(-90 20 {middle:.0f})">relative drift</text>'
    )
    for i, curve in enumerate(curves):
        color = _COLORS[curve.training]
        style = f'fill="none" stroke="{color}" stroke-width="2"'
        style += {"new": ' stroke-dasharray="6 3"', "none": ' stroke-dasharray="1 4"'}.get(curve.laws, "")
        # Without the start, where every drift is zero by definition.
        places = list(zip(curve.times, curve.drifts, strict=True))[1:]
        parts.append(f'<polyline points="{" ".join(f"{x(t):.1f},{y(d):.1f}" for t, d in places)}" {style}/>')
        height = _MARGIN + 20 * i
        parts.append(f'<path d="M {_WIDTH - _RIGHT + 12} {height - 4} h 24" {style}/>')
        label = escape(f"{curve.training}, {_QUANTITIES[curve.laws]}")
        parts.append(f'<text x="{_WIDTH - _RIGHT + 42}" y="{height}">{label}</text>')
    parts.append(f'<text x="{center:.0f}" y="{_HEIGHT - 16}" text-anchor="middle">time</text>')
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" font-family="sans-serif" '
        f'font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
    )
