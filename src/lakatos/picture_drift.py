"""Drift curves as an SVG picture, with nothing but text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from .laws_simulation import DriftCurve

__all__ = ["drift_svg"]

_Scale: TypeAlias = Callable[[float], float]

_WIDTH, _HEIGHT = 860, 460
_LEFT, _RIGHT, _TOP, _BOTTOM = 90, 300, 70, 76
_COLORS = {"averaged": "#0072b2", "plain": "#d55e00"}
_OTHER = "#009e73"
_WAYS = {
    "averaged": "trained on symmetrized data",
    "plain": "trained on plain data",
    "log cosh": "trained with the loss log cosh",
    "squared": "trained with the squared loss",
}
_QUANTITIES = {
    "classical": "laws of all data",
    "new": "laws of the symmetry",
    "loss": "laws of cross-entropy",
    "none": "no law",
}
_DASHES = {"new": ' stroke-dasharray="8 4"', "loss": ' stroke-dasharray="8 4"', "none": ' stroke-dasharray="1 5"'}
_MARKS = {"classical": "circle", "new": "square", "loss": "square", "none": ""}
_FLOOR = 1e-17  # what is exactly zero is drawn at the bottom
_KEPT = 1e-6  # the flow is followed to 1e-9 at least; a curve that ends between is named by neither word
_BROKEN = 1e-5


def drift_svg(curves: Sequence[DriftCurve], title: str) -> str:
    """Return a picture of the curves, time to the right and the logarithm of the drift upwards.

    A color for each way of training; laws that only the symmetry or the loss brings are dashed, what is no law is dotted.
    Labels say how far each quantity moved. What stays within rounding runs in the shaded band.
    """
    latest = max(curve.times[-1] for curve in curves)
    top = max(0, math.ceil(math.log10(max(max(curve.drifts) for curve in curves) or 1.0)))
    bottom = math.floor(math.log10(_FLOOR))

    def x(time: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * time / latest

    def y(drift: float) -> float:
        share = (math.log10(max(drift, _FLOOR)) - bottom) / (top - bottom)
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * share

    ends = [f"{c.training}, {_QUANTITIES[c.laws]}: {c.drifts[-1]:.0e}" for c in curves]
    parts = [
        f"<title>{escape(title)}</title>",
        f"<desc>Relative drift at time {latest:g}. {escape('; '.join(ends))}.</desc>",
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{_LEFT}" y="28" font-size="16" font-weight="bold">How far the laws drift: {escape(title)}</text>',
        f'<text x="{_LEFT}" y="48" fill="#555555">relative change along gradient flow, logarithmic</text>',
        *_axes(x, y, latest, range(bottom, top + 1)),
    ]
    for curve in curves:
        parts += _curve(curve, x, y)
    parts += _legend(curves)
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" font-family="sans-serif" font-size="13">\n{body}\n</svg>\n'
    )


def _axes(x: _Scale, y: _Scale, latest: float, exponents: range) -> Iterator[str]:
    right, low = _WIDTH - _RIGHT, y(_FLOOR)
    band = y(1e-11)
    yield f'<rect x="{_LEFT}" y="{band:.1f}" width="{right - _LEFT}" height="{low - band:.1f}" fill="#eef3f7"/>'
    yield f'<text x="{right - 6}" y="{band + 16:.1f}" text-anchor="end" fill="#44586b">rounding: conserved</text>'
    for exponent in exponents:
        if exponent % 4 == 0:
            at = y(10.0**exponent)
            yield f'<line x1="{_LEFT}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}" stroke="#dddddd"/>'
            label = (
                "1" if exponent == 0 else f'10<tspan dy="-5" font-size="9">{str(exponent).replace("-", "−")}</tspan>'
            )
            yield f'<text x="{_LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{label}</text>'
    yield f'<path d="M {_LEFT} {_TOP} V {low:.1f} H {right}" fill="none" stroke="#333333"/>'
    for quarter in range(5):
        time = latest * quarter / 4
        yield f'<text x="{x(time):.1f}" y="{low + 20:.1f}" text-anchor="middle">{time:g}</text>'
    yield f'<text x="{x(latest / 2):.0f}" y="{low + 42:.1f}" text-anchor="middle">time of training</text>'


def _curve(curve: DriftCurve, x: _Scale, y: _Scale) -> Iterator[str]:
    # Without the start, where every drift is zero by definition.
    places = [(x(t), y(d)) for t, d in list(zip(curve.times, curve.drifts, strict=True))[1:]]
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
    yield f'<polyline points="{points}" {_style(curve)}/>'
    yield _mark(curve, *places[-1])


def _legend(curves: Sequence[DriftCurve]) -> Iterator[str]:
    at, training = _TOP + 4, None
    left = _WIDTH - _RIGHT + 22
    for curve in curves:
        if curve.training != training:
            training = curve.training
            at += 8
            yield (
                f'<text x="{left}" y="{at}" font-weight="bold" fill="{_color(curve)}">'
                f"{escape(_WAYS.get(training, training))}</text>"
            )
            at += 20
        yield f'<path d="M {left} {at - 4} h 30" {_style(curve)}/>' + _mark(curve, left + 15, at - 4)
        label = f"{_QUANTITIES[curve.laws]}: {_meaning(curve)}"
        yield f'<text x="{left + 38}" y="{at}">{escape(label)}</text>'
        at += 20


def _meaning(curve: DriftCurve) -> str:
    largest = max(curve.drifts)
    size = f"{largest:.0e}".replace("e-0", "e-")
    if curve.laws == "none":
        return size
    return f"kept ({size})" if largest < _KEPT else f"broken ({size})" if largest > _BROKEN else size


def _color(curve: DriftCurve) -> str:
    return _COLORS.get(curve.training, _OTHER)


def _style(curve: DriftCurve) -> str:
    return f'fill="none" stroke="{_color(curve)}" stroke-width="2"' + _DASHES.get(curve.laws, "")


def _mark(curve: DriftCurve, x: float, y: float) -> str:
    """A shape for each kind of law, for those who cannot tell colors apart."""
    fill = f'fill="{_color(curve)}"'
    if _MARKS[curve.laws] == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" {fill}/>'
    return f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" {fill}/>' if _MARKS[curve.laws] else ""
