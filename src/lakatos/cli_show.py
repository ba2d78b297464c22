"""``lakatos show``: one theorem in full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from .catalog import Field, fields_of, paragraphs
from .cli_boundary import print_json, screen
from .core import InputError, Theorem

__all__ = ["command"]


def command(
    theorem: Annotated[str, typer.Argument(metavar="THEOREM", help="A name that `lakatos list` prints.")],
    bibtex: Annotated[bool, typer.Option("--bibtex", help="Print the BibTeX entries of its sources instead.")] = False,
    latex: Annotated[
        bool, typer.Option("--latex", help="Print what it derives on an instance as LaTeX instead.")
    ] = False,
    example: Annotated[
        bool, typer.Option("--example", help="Print a small instance file that meets its hypotheses instead.")
    ] = False,
    instance: Annotated[Path | None, typer.Option(help="The instance for --latex; default: the first shipped.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Show a theorem: its statement, hypotheses, proof idea, source, fields of instances, false variants, and instances.

    Example: `lakatos show invariant_set_connected_iff_no_weight_frozen --example > mine.toml`
    """
    from .catalog import bibtex as entries
    from .catalog import shipped_instances
    from .theorems import load

    if bibtex + latex + example + as_json > 1:
        raise InputError("--bibtex, --latex, --example, --json: choose one of them")
    shown = load(theorem)
    paths = shipped_instances().get(shown.name, ())
    if as_json:
        print_json(_data(shown, paths))
    elif bibtex:
        typer.echo(entries(shown))
    elif latex:
        typer.echo(_latex(shown, instance, paths))
    elif example:
        typer.echo(_example(shown), nl=False)
    else:
        console = screen()
        for heading, text in _sections(shown, paths):
            if text:
                console.print(Text.assemble((heading + "\n" if heading else "", "bold"), text, "\n"), overflow="fold")
    return 0


def _sections(theorem: Theorem, paths: tuple[Path, ...]) -> Iterator[tuple[str, str]]:
    """Yield headings and texts; the first heading is the name of the theorem."""
    for i, (heading, lines) in enumerate(paragraphs(theorem)):
        yield theorem.name if i == 0 else heading, _flowing(lines)
    source = theorem.source
    note = f": {source.note}" if source.note else ""
    yield "Provenance", f"{source.provenance} ({', '.join(source.keys)}){note}"
    yield "Family", f"{theorem.family}, {', '.join(theorem.ids)}"
    yield "Fields of an instance", "\n".join(_described(field) for field in fields_of(theorem))
    yield "False variants", "\n".join(f"{name}: {variant.change}" for name, variant in theorem.variants.items())
    yield "Instances", "\n".join(map(_relative, paths))


def _flowing(lines: list[str]) -> str:
    """Return a paragraph without its line breaks, so that it fits any width; lists and displayed formulas keep theirs."""
    is_laid_out = any(line[:1] in (" ", "*", "-", "|") for line in lines)
    return ("\n" if is_laid_out else " ").join(lines)


def _described(field: Field) -> str:
    default = "" if field.default is None else f" = {field.default}"
    return f"{field.name}: {field.type}{default}" + (f"\n    {field.meaning}" if field.meaning else "")


def _example(theorem: Theorem) -> str:
    """Return the text of the smallest instance that a search with the strategy of the theorem finds."""
    if theorem.instances is None:
        raise InputError(
            f"theorem={theorem.name!r}: registers no strategy for instances; its fields are shown without --example"
        )
    from hypothesis import Phase, find, settings

    from .conversion import build_instance
    from .instance_text import instance_text

    def is_met(fields: Mapping[str, Any]) -> bool:
        return all(item.met for item in theorem.hypotheses(build_instance(theorem.instance_class, fields)))

    options = settings(database=None, derandomize=True, deadline=None, phases=(Phase.generate, Phase.shrink))
    fields = find(theorem.instances(), is_met, settings=options)
    return instance_text(theorem.name, build_instance(theorem.instance_class, fields), title="an example")


def _relative(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _data(theorem: Theorem, paths: tuple[Path, ...]) -> dict[str, Any]:
    return {
        "schema": "lakatos/show/1",
        "name": theorem.name,
        "family": theorem.family,
        "ids": list(theorem.ids),
        "statement": theorem.statement,
        "doc": theorem.doc.strip(),
        "provenance": str(theorem.source.provenance),
        "sources": list(theorem.source.keys),
        "note": theorem.source.note,
        "fields": [f"{field.name}: {field.type}" for field in fields_of(theorem)],
        "meanings": {field.name: field.meaning for field in fields_of(theorem)},
        "variants": {name: variant.change for name, variant in theorem.variants.items()},
        "derives": theorem.derive is not None,
        "instances": [_relative(path) for path in paths],
    }


def _latex(theorem: Theorem, instance: Path | None, paths: tuple[Path, ...]) -> str:
    """Return the LaTeX of the derivation on an instance: what is derived is an identity of that instance."""
    from .instance import read_instance

    if theorem.derive is None:
        raise InputError(f"theorem={theorem.name!r}: derives nothing symbolically; its docstring has the formulas")
    if instance is None and not paths:
        raise InputError("--latex: no instances are installed; name one with --instance FILE")
    file = read_instance(instance or paths[0])
    if file.theorem.name != theorem.name:
        raise InputError(f"{file.path}: an instance of {file.theorem.name!r}, not of {theorem.name!r}")
    return theorem.derive(file.instance).latex
