"""Sphinx extension: formulas as MathML, which browsers show without scripts and without a network."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

__all__ = ["mathml", "setup"]

_LOGGER = logging.getLogger(__name__)


def mathml(latex: str, *, block: bool = False) -> str:
    """Return a formula as a MathML element.

    Raises
    ------
    ValueError
        If it has a command that the converter does not know.

    Examples
    --------
    >>> mathml("x^2").removeprefix('<math xmlns="http://www.w3.org/1998/Math/MathML" ')
    'display="inline"><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow></math>'
    """
    text = latex.strip().replace("{aligned}", "{align*}")
    # Primes and an exponent are one exponent to TeX, and two to the converter.
    text = re.sub(r"('+)\^\{([^{}]*)\}", lambda match: "^{" + r"\prime" * len(match[1]) + f" {match[2]}}}", text)
    markup = convert(text, display="block" if block else "inline")
    if "\\" in markup or "<mi>&</mi>" in markup:
        raise ValueError(f"latex={latex!r}: not understood; see latex2mathml for the commands there are")
    return markup


def _shown(node: nodes.math | nodes.math_block, *, block: bool) -> str:
    try:
        return mathml(node.astext(), block=block)
    except Exception as error:  # of the converter, of any kind: the page is built, and the build fails at its end
        _LOGGER.warning("%s: %s", type(error).__name__, error, location=node)
        return ""


def _visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(_shown(node, block=False))
    raise nodes.SkipNode


def _visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(f'<div class="formula" tabindex="0">{_shown(node, block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
