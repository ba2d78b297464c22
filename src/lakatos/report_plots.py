"""Plots of verdicts as SVG within a page, with nothing but text: they take the colors of the page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from .core import Outcome
from .markup import Html, element, join
from .report import OUTCOMES

__all__ = ["error_chart", "outcome_bar"]

_WIDTH, _BAR = 640, 18
_ROW, _NAMES, _MARGIN = 18, 250, 12
_LEAST, _MOST = -6.0, 1.0  # decimal logarithms of the share of the resolution
_NAME_SHOWN = 38


def outcome_bar(outcomes: Sequence[str]) -> Html:
    """Return one bar with a piece for each outcome that occurs, as wide as its share."""
    counts = Counter(outcomes)
    pieces, at = [], 0.0
    for kind in OUTCOMES:
        if not counts[kind]:
            continue
        width = _WIDTH * counts[kind] / len(outcomes)
        css = kind if kind in tuple(Outcome) else "missing"
        title = element("title", f"{counts[kind]} {kind}")
        span = {"x": f"{at:.2f}", "width": f"{max(width - 1, 0.5):.2f}"}
        pieces.append(element("rect", title, y=0, height=_BAR, class_=css, fill="currentColor", **span))
        at += width
    label = ", ".join(f"{counts[kind]} {kind}" for kind in OUTCOMES if counts[kind])
    return _svg(_WIDTH, _BAR, pieces, f"outcomes: {label}", stretch=True)


def error_chart(measured: Mapping[str, Sequence[tuple[str, str, float]]]) -> Html:
    """Return a row for each theorem with a dot for each measured number, by its distance from the claimed one.

    Parameters
    ----------
    measured : mapping from theorem to (link, description, share of the resolution)
    """
    height = _ROW * (len(measured) + 2)
    parts = []
    for power in range(int(_LEAST), int(_MOST) + 1):
        x = _across(10.0**power)
        width = 1.5 if power == 0 else 0.5
        parts.append(
            element(
                "line",
                x1=f"{x:.1f}",
                x2=f"{x:.1f}",
                y1=_ROW - 4,
                y2=height - _ROW + 2,
                stroke="currentColor",
                stroke_width=str(width),
                stroke_dasharray="" if power == 0 else "1 3",
            )
        )
        name = "resolution" if power == 0 else "≤ 10⁻⁶" if power == int(_LEAST) else f"10{_raised(power)}"
        if power <= 0 or power == int(_MOST):
            parts.append(_label(x, _ROW - 8, name, "middle"))
    for i, (theorem, points) in enumerate(measured.items()):
        y = _ROW * (i + 1.5)
        short = theorem if len(theorem) <= _NAME_SHOWN else f"{theorem[: _NAME_SHOWN - 1]}…"
        parts.append(element("text", join([element("title", theorem), short]), x="0", y=f"{y + 4:.1f}", class_="tick"))
        for link, words, share in points:
            inside = "yes" if share <= 1 else "no"
            dot = element(
                "circle",
                element("title", f"{words}: {share:.2g} of the resolution"),
                cx=f"{_across(share):.1f}",
                cy=f"{y:.1f}",
                r="3.5",
                fill="currentColor",
                fill_opacity="0.55",
                class_=inside,
            )
            parts.append(element("a", dot, href=link, tabindex="-1"))
    chart = _svg(
        _WIDTH, height, parts, f"distances of {sum(map(len, measured.values()))} measured numbers from the claimed ones"
    )
    caption = (
        "Distance of measured from predicted numbers as a share of the resolution that was fixed before measuring; right of "
        "the thick line a claim is contradicted, unless the error is as large."
    )
    return element(
        "figure",
        join(
            [
                element("div", chart, class_="scroll", tabindex=0, role="region", aria_label="plot"),
                element("figcaption", caption),
            ]
        ),
    )


def _across(share: float) -> float:
    exponent = math.log10(share) if share > 0 else _LEAST
    exponent = min(max(exponent, _LEAST), _MOST)
    return _NAMES + (_WIDTH - _NAMES - 3 * _MARGIN) * (exponent - _LEAST) / (_MOST - _LEAST) + _MARGIN


def _label(x: float, y: float, text: str, anchor: str) -> Html:
    return element("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_="tick")


def _raised(power: int) -> str:
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _svg(width: int, height: int, parts: Sequence[str], label: str, *, stretch: bool = False) -> Html:
    return element(
        "svg",
        join(parts, "\n"),
        width="100%" if stretch else width,
        height=height,
        viewBox=f"0 0 {width} {height}",
        preserveAspectRatio="none" if stretch else None,
        role="img",
        aria_label=label,
        class_="plot",
    )
