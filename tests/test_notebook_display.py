"""What notebooks show: well-formed HTML with everything escaped, and formulas."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest

import lakatos
from lakatos import Claim, Estimate, Hypothesis, Network, Outcome, Verdict, connectivity
from lakatos.core import Derivation, Evidence, Judged, Relation
from lakatos.graphs.layered import layered_network
from lakatos.markup import Html, element, join, number, table


class Balanced(HTMLParser):
    """Fails where tags are not closed in order; collects the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag != "wbr":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def shown(html: str) -> str:
    parser = Balanced()
    parser.feed(html)
    assert parser.open == []
    return " ".join(" ".join(parser.words).split())


def test_verdict() -> None:
    verdict = lakatos.verify(
        "invariant_set_connected_iff_no_weight_frozen",
        edges=[["<x>", "h"], ["z", "h"], ["h", "y"]],
        balance={"h": -4},
    )
    words = shown(verdict._repr_html_())
    assert words.startswith("proved (exact): invariant_ set_ connected_ iff")
    assert "invariant set is not empty met" in words


def test_verdict_of_many_claims_with_markup_in_every_text() -> None:
    claims = tuple(
        Judged(Claim(f"<q{i}>", Relation.AT_MOST, 0.5, 0.1), Estimate(7.0, 0.25), False, False) for i in range(30)
    )
    verdict = Verdict(
        "a_theorem",
        Outcome.REFUTED,
        Evidence.INTERVAL,
        explanation="a < b & c",
        hypotheses=(Hypothesis("<i>", False, "<b>"),),
        derivation=Derivation("x = x", "0", r"x = x^{2}"),
        claims=claims,
    )
    html = verdict._repr_html_()
    words = shown(html)
    assert "<q" not in html
    assert "<i>" not in html
    assert "<q19> <= 0.5 7 0.25 0.1 no no" in words
    assert "10 more claims" in words
    assert "<i> not met <b>" in words
    assert verdict._repr_latex_() == "$$\nx = x^{2}\n$$"
    assert verdict.derivation is not None
    assert verdict.derivation._repr_latex_() == verdict._repr_latex_()


def test_a_verdict_without_derivation_has_no_formula() -> None:
    assert Verdict("t", Outcome.PROVED, Evidence.EXACT)._repr_latex_() is None
    assert Derivation("x = x", "0")._repr_latex_() is None


@pytest.mark.parametrize(
    ("balance", "words", "formula"),
    [
        (-4, "cannot change the sign", "$$\\left|\\pi_0(\\mathcal H)\\right| = 2^{1}"),
        (0, "is connected as a set", "$$\\left|\\pi_0(\\mathcal H)\\right| = 2^{0}"),
    ],
)
def test_connectivity(balance: int, words: str, formula: str) -> None:
    result = connectivity(Network.from_edges([("x", "<v>"), ("z", "<v>"), ("<v>", "y")], balance={"<v>": balance}))
    html = result._repr_html_()
    assert words in shown(html)
    assert "<v>" not in html
    assert (result._repr_latex_() or "").startswith(formula)
    assert "= 2^{1}$$" in (result._repr_latex_() or "")


def test_an_empty_set_has_no_number_of_components() -> None:
    result = connectivity(Network.from_edges([("x", "v")], inputs=["x"], outputs=[], balance={"v": -1}))
    assert result._repr_latex_() is None
    assert "empty" in shown(result._repr_html_())


def test_laws() -> None:
    answer = lakatos.laws_of("relu:1,2,2")
    words = shown(answer._repr_html_())
    assert words.startswith("2 independent laws among 6 parameters (certified)")
    assert "diag (W1^T W1 - W2 W2^T)" in words
    assert "W1[0,0]^2 - W2[0,0]^2 - W2[0,1]^2" in words
    assert answer._repr_latex_() == (
        "$$\n\\begin{aligned}\n"
        r"& {\mathrm{W1}}_{0,0}^{2} - {\mathrm{W2}}_{0,0}^{2} - {\mathrm{W2}}_{0,1}^{2} \\"
        "\n"
        r"& {\mathrm{W1}}_{0,1}^{2} - {\mathrm{W2}}_{1,0}^{2} - {\mathrm{W2}}_{1,1}^{2}"
        "\n\\end{aligned}\n$$"
    )


def test_laws_of_a_symmetry_are_fractions_and_come_first() -> None:
    answer = lakatos.laws_of("linear:1,3", group="C3")
    assert "0 of all data, 1 new under C3" in shown(answer._repr_html_())
    assert r"\frac{" in (answer._repr_latex_() or "")


def test_laws_with_markup_in_every_text() -> None:
    laws = tuple(({(i, i): 1}, {(): 1}) for i in range(20))
    answer = lakatos.LawsAnswer(
        20, "<squared>", "<C3>", 20, 0, 20, False, False, tuple(f"<b>{i}" for i in range(20)), ("<b>19",), ("<W>",), "<how>",
        classical=laws, names=tuple(f"<w_{i}>$" for i in range(20)),
    )  # fmt: skip
    html = answer._repr_html_()
    assert not any(f"<{tag}>" in html for tag in ("b", "W", "C3", "how", "squared"))
    words = shown(html)
    assert "<b>19 new" in words
    assert "8 more: .formulas" in words
    latex = answer._repr_latex_() or ""
    assert r"\mathrm{<w\_0>\$}" in latex
    assert r"\text{and 8 more}" in latex
    assert lakatos.laws_of("power:2,1,2")._repr_latex_() is not None
    assert lakatos.laws_of("linear:2,2")._repr_latex_() is None


def test_network() -> None:
    network = layered_network([2, 20, 1], [[-1] * 20])
    words = shown(network._repr_html_())
    assert "neurons 20 weights 60 inputs x0, x1 outputs y0 balances h1.0: -1" in words
    assert "h1.11: -1, … (20 in all)" in words
    assert "balances" not in shown(layered_network([2, 1])._repr_html_())


def test_only_what_is_marked_is_markup() -> None:
    assert element("p", "<b>") == "<p>&lt;b&gt;</p>"
    assert element("p", Html("<b></b>"), title='"') == '<p title="&quot;"><b></b></p>'
    assert join(["<", Html("<i></i>")], "&amp;") == "&lt;&amp;<i></i>"
    assert shown(table(("<a>",), [("<b>",)], label="x")) == "<a> <b>"
    assert number("-1/2") == "<mrow><mo>−</mo><mfrac><mn>1</mn><mn>2</mn></mfrac></mrow>"
