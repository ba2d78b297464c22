"""``lakatos list``: the theorems there are."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .cli_boundary import print_json, screen
from .core import Theorem

__all__ = ["command"]


def command(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> int:
    """List all theorems by family: the name says the statement, the id is that of the theory file.

    Example: `lakatos list --json`
    """
    from .catalog import shipped_instances, theorems

    counts = {name: len(paths) for name, paths in shipped_instances().items()}
    families = theorems()
    if as_json:
        rows = [_row(theorem, counts) for members in families.values() for theorem in members]
        print_json({"schema": "lakatos/list/1", "theorems": rows})
        return 0
    console = screen()
    for family, members in families.items():
        console.print(Text(family.replace("_", " "), style="bold"))
        console.print(Padding(_table(members, counts), (0, 0, 1, 2)))
    console.print(Text("lakatos show THEOREM tells more."))
    return 0


def _row(theorem: Theorem, counts: dict[str, int]) -> dict[str, Any]:
    return {
        "name": theorem.name,
        "family": theorem.family,
        "ids": list(theorem.ids),
        "statement": theorem.statement,
        "provenance": str(theorem.source.provenance),
        "variants": list(theorem.variants),
        "instances": counts.get(theorem.name, 0),
    }


def _table(members: tuple[Theorem, ...], counts: dict[str, int]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", overflow="fold")
    table.add_column(overflow="fold")
    for theorem in members:
        # Instances are part of the source tree: where only the package is installed, none are known.
        shipped = (counts.get(theorem.name, 0), "instance")
        kept = ", ".join(_counted(*pair) for pair in (shipped, (len(theorem.variants), "false variant")) if pair[0])
        table.add_row(", ".join(theorem.ids), Text(theorem.name, style="cyan"))
        table.add_row("", Text(theorem.statement))
        table.add_row("", Text(f"{theorem.source.provenance}; {kept}", style="dim"))
    return table


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
