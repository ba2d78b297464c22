"""One page for each theorem, and their index, made from the registry, the shipped instances and what is found of them."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lakatos.catalog import bibtex, fields_of, paragraphs, shipped_instances, theorems
from lakatos.core import Theorem, Verdict
from lakatos.refute import Counterexample, search
from lakatos.report import value_text

from .typeset import code_block, inline, table

__all__ = ["index", "page", "pages", "title"]

ROOT = Path(__file__).resolve().parents[1]
_SMALL = 1500  # characters of an instance file that a page shows
_WHOSE = {
    "paper": "stated in the source in this form",
    "sharpened": "ours, with proof, from a published result",
    "ours": "ours",
}


def pages(verdicts: Mapping[Path, Verdict]) -> Iterator[tuple[str, str]]:
    """Yield file names and MyST Markdown, the index first; `verdicts` are those of the shipped instances by path."""
    yield "theorems.md", index()
    for members in theorems().values():
        for theorem in members:
            yield f"{theorem.name}.md", page(theorem, verdicts)


def index() -> str:
    """Return the table of all theorems, by family."""
    return "\n\n".join(_index(theorems()))


def page(theorem: Theorem, verdicts: Mapping[Path, Verdict]) -> str:
    """Return the page of one theorem; each of its false variants is refuted while it is made."""
    return "\n\n".join(_page(theorem, verdicts))


def title(theorem: Theorem) -> str:
    """Return the name as words."""
    words = theorem.name.replace("_", " ")
    return words[:1].upper() + words[1:]


def _index(families: Mapping[str, tuple[Theorem, ...]]) -> Iterator[str]:
    yield "# Theorems"
    yield (
        "A name says the statement, the conclusion first. *Whose* tells what a source states in this form (paper), "
        "what we proved from a published result (sharpened), and what is ours."
    )
    instances = shipped_instances()
    for family, members in families.items():
        name = family.replace("_", " ").capitalize()
        rows = [
            (
                ", ".join(theorem.ids),
                f"[{title(theorem)}]({theorem.name}.md)<br>{inline(theorem.statement)}",
                str(theorem.source.provenance),
                str(len(instances.get(theorem.name, ()))),
                str(len(theorem.variants)),
            )
            for theorem in members
        ]
        yield f"## {name}"
        yield table(("id", "theorem", "whose", "instances", "false variants"), rows)
        names = "\n".join(theorem.name for theorem in members)
        yield f"```{{toctree}}\n:hidden:\n:caption: {name}\n\n{names}\n```"


def _page(theorem: Theorem, verdicts: Mapping[Path, Verdict]) -> Iterator[str]:
    paths = shipped_instances().get(theorem.name, ())
    found = {path: verdicts[path] for path in paths if path in verdicts}
    yield f"# {title(theorem)}"
    yield f"`{theorem.name}` · {theorem.family.replace('_', ' ')}, {', '.join(theorem.ids)} · {theorem.source.provenance}"
    for heading, lines in paragraphs(theorem):
        if heading == "Source":
            break
        if heading:
            yield f"## {heading}"
        text = inline("\n".join(lines))
        yield text if heading else f"**{text}**"
    yield from _derived(found)
    yield from _measured(theorem, found)
    yield from _instances(theorem, found)
    yield from _variants(theorem)
    yield from _source(theorem)


def _derived(found: Mapping[Path, Verdict]) -> Iterator[str]:
    yield "## What is derived"
    examples = [(path, verdict.derivation) for path, verdict in found.items() if verdict.derivation is not None]
    kinds = sorted({certificate.kind for verdict in found.values() for certificate in verdict.certificates})
    if examples:
        path, derivation = next((pair for pair in examples if pair[1].latex), examples[0])
        settled = ", ".join(f"`{quantity}`" for quantity in derivation.settles)
        yield f"{inline(derivation.identity)}, with the residual {inline(derivation.residual)} on `{_shown(path)}`" + (
            f"; it settles {settled}." if settled else "."
        )
        if derivation.latex:
            yield f"```{{math}}\n{derivation.latex}\n```"
    else:
        yield "No identity is derived with symbols; the prediction is computed for each instance."
    if kinds:
        names = ", ".join(f"`{kind}`" for kind in kinds)
        yield f"Certificates, which `lakatos check` checks again: {names} ({{doc}}`formats <certificates>`)."


def _measured(theorem: Theorem, found: Mapping[Path, Verdict]) -> Iterator[str]:
    yield "## What is measured"
    if text := inspect.getdoc(theorem.measure):
        yield inline(text.split("\n\n")[0])
    ways: dict[str, list[str]] = defaultdict(list)
    for verdict in found.values():
        for row in verdict.claims:
            quantity = re.sub(r"\[.*?\]", "[…]", row.claim.quantity)
            if row.estimate is not None and quantity not in ways[row.estimate.how]:
                ways[row.estimate.how].append(quantity)
    items = [
        f"* {', '.join(f'`{q}`' for q in names)}" + (f": {inline(how)}" if how else "") for how, names in ways.items()
    ]
    yield "\n".join(items) or "Nothing: what is claimed is established by its certificates or the derivation alone."


def _instances(theorem: Theorem, found: Mapping[Path, Verdict]) -> Iterator[str]:
    yield "## Instances"
    if rows := list(_fields(theorem)):
        yield table(("field", "type", "meaning"), rows)
    if not found:
        yield "None are shipped."
        return
    yield table(
        ("instance", "verdict", "evidence"),
        [
            (
                f"{inline(verdict.title or path.stem)}<br>`{_shown(path)}`"
                + (f"<br>*{verdict.outcome}*: {inline(verdict.explanation)}" if verdict.explanation else ""),
                f"[{verdict.outcome}]{{.{verdict.outcome}}}",
                str(verdict.evidence),
            )
            for path, verdict in found.items()
        ],
    )
    path = min(found, key=lambda path: (found[path].outcome.exit_status, path.stat().st_size))
    text = path.read_text("utf-8")
    if len(text) <= _SMALL:
        yield f"The smallest of them, `{_shown(path)}`:"
        yield code_block("toml", text)
        if claims := [_claim(row) for row in found[path].claims]:
            yield "What it claims, and what was measured:"
            yield table(("claim", "predicted", "measured", "error"), claims)


def _claim(row: Any) -> tuple[str, ...]:
    value, error = ("", "") if row.estimate is None else (value_text(row.estimate.value), f"{row.estimate.error:.2g}")
    return (
        f"`{row.claim.quantity}`",
        inline(f"{row.claim.relation} {value_text(row.claim.value)}"),
        inline(value),
        error,
    )


def _fields(theorem: Theorem) -> Iterator[tuple[str, str, str]]:
    for field in fields_of(theorem):
        default = "" if field.default is None else f" = {field.default}"
        yield f"`{field.name}`", f"`{field.type}{default}`", inline(field.meaning)


def _variants(theorem: Theorem) -> Iterator[str]:
    yield "## False variants"
    yield "Each is wrong in one place, and each is refuted by the instance below it: replay it with `lakatos verify`."
    for name, variant in theorem.variants.items():
        yield f"### {name.replace('_', ' ').capitalize()}"
        yield f"`{name}`: {inline(variant.change)}."
        counterexample = search(theorem, name, examples=200).counterexample
        if counterexample is None:
            yield "No counterexample was found when this page was made."
        else:
            yield from _refutation(counterexample)


def _refutation(found: Counterexample) -> Iterator[str]:
    yield f"*Refuted*: {inline(found.verdict.explanation)}."
    text = found.text if len(found.text) <= _SMALL else found.text[:_SMALL] + "\n# …"
    yield code_block("toml", text)


def _source(theorem: Theorem) -> Iterator[str]:
    yield "## Source"
    yield from _section("Source", theorem)
    note = f": {inline(theorem.source.note)}" if theorem.source.note else ""
    provenance = str(theorem.source.provenance)
    yield f"Provenance: {provenance} ({_WHOSE[provenance]}){note}."
    if theorem.source.keys:
        yield code_block("bibtex", bibtex(theorem))
    yield code_block("sh", f"lakatos show {theorem.name}\nlakatos refute {theorem.name}")


def _section(name: str, theorem: Theorem) -> Iterator[str]:
    """Yield the paragraphs of the section `name`."""
    current = ""
    for heading, lines in paragraphs(theorem):
        current = heading or current
        if current == name:
            yield inline("\n".join(lines))


def _shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
