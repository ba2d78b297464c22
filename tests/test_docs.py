"""The site: its parts on their own, and (slow) the whole of it without a warning."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="needs the extra [docs]")
pytest.importorskip("latex2mathml", reason="needs the extra [docs]")

from lakatos.catalog import shipped_instances, theorems
from lakatos.theorems import load
from lakatos.verification import verify_file

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
sys.path.insert(0, str(ROOT))  # `docs` is a folder of the source tree, not an installed package

from docs import api_pages, docstrings, mathml, theorem_pages, typeset  # noqa: E402

NAME = "quadratic_law_step_error"


@pytest.mark.parametrize("module", [docstrings, mathml, typeset], ids=lambda module: module.__name__)
def test_examples(module: object) -> None:
    failed, tried = doctest.testmod(module)
    assert (failed, tried > 0) == (0, True)


def test_the_page_of_a_theorem() -> None:
    theorem = load(NAME)
    paths = shipped_instances()[NAME]
    page = theorem_pages.page(theorem, {path: verify_file(path) for path in paths})
    for heading in (
        "Hypotheses",
        "Statement",
        "What is derived",
        "What is measured",
        "Instances",
        "False variants",
        "Source",
    ):
        assert f"\n## {heading}\n" in page
    for path in paths:
        assert path.name in page
    for name in theorem.variants:
        assert f"`{name}`" in page
    assert page.count("*Refuted*") == len(theorem.variants)
    assert f"lakatos refute {NAME}" in page


def test_the_index_lists_every_theorem() -> None:
    page = theorem_pages.index()
    assert all(f"({theorem.name}.md)" in page for members in theorems().values() for theorem in members)


def test_the_reference_has_every_public_module() -> None:
    text = "\n".join(content for _, content in api_pages.pages())
    for name in ("lakatos.testing", "lakatos.graphs.connectivity", "lakatos.theory.steps", "lakatos.numerics.descent"):
        assert f".. automodule:: {name}\n" in text
    assert "_checker" not in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("θ_e² ≥ max_{W ∈ 𝒮} c", "θ{sub}`e`² ≥ max{sub}`W ∈ 𝒮` c"),
        ("Δ_(12) e^(−2λt)", "Δ{sub}`(12)` e{sup}`−2λt`"),
        ("n^−½ and x_½", "n{sup}`−½` and x{sub}`½`"),
        ("a* < |b|", r"a\* \< \|b\|"),
        ("`rank_of` W_⊥'", "`rank_of` W{sub}`⊥`'"),
        ("n_hidden_units", "n{sub}`hidden`{sub}`units`"),
    ],
)
def test_formulas_in_text(text: str, shown: str) -> None:
    assert typeset.inline(text) == shown


def test_formulas_that_are_not_understood_are_told() -> None:
    with pytest.raises(ValueError, match="not understood"):
        mathml.mathml(r"\unknowncommand{x}")


@pytest.mark.parametrize("line", ["|x| and |y|", "W_* of", "2 * 3"])
def test_bars_and_stars_of_docstrings_are_no_markup(line: str) -> None:
    (shown,) = docstrings.escaped([line])
    assert shown != line
    assert shown.replace("\\", "") == line


def test_terms_of_the_glossary_have_one_meaning() -> None:
    text = (DOCS / "glossary.md").read_text("utf-8")
    terms = [line for line in re.findall(r"^([^\s:#].*)\n  ", text, re.MULTILINE)]
    assert len(terms) > 50
    assert len(terms) == len(set(terms))


class Outside(HTMLParser):
    """Collects what a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("script", "img", "iframe", "source"):
            self.loaded.append(given.get("src") or "")
        if tag == "link" and given.get("rel") in ("stylesheet", "preload", "icon"):
            self.loaded.append(given.get("href") or "")


@pytest.mark.slow
def test_the_site_is_built_without_warnings_and_loads_nothing_from_outside() -> None:
    done = subprocess.run([sys.executable, "-m", "docs.build"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = sorted((DOCS / "_build" / "html").glob("*.html"))
    names = {path.stem for path in pages}
    assert {theorem.name for members in theorems().values() for theorem in members} <= names
    for page in pages:
        parser = Outside()
        parser.feed(page.read_text("utf-8"))
        assert [source for source in parser.loaded if "//" in source] == [], page.name
