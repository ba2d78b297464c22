"""What `proved` rests on, theorem by theorem, read off the shipped instances: ``python tests/trust.py`` writes the docs."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from pathlib import Path

from shipped import FILES, shipped, small_files

from lakatos.results import write_atomically
from lakatos.theorems import NAMES, load

PAGE = Path(__file__).parents[1] / "docs" / "trust.md"
BEGIN, END = "<!-- written by tests/trust.py -->", "<!-- end -->"


def table() -> str:
    """Return the table: a row for every theorem, with what establishes its claims on the instances it is shipped with."""
    kinds: dict[str, set[str]] = defaultdict(set)
    derived: dict[str, bool] = defaultdict(bool)
    measured: dict[str, bool] = defaultdict(bool)
    for path in small_files():
        if (proved := shipped(path)) is None:
            continue
        (verdict,) = proved.result["verdicts"]
        settled = set(verdict["derivation"]["settles"]) if verdict["derivation"] else set()
        claimed = {claim.quantity for claim in proved.prediction.claims}
        kinds[proved.theorem] |= {certificate["kind"] for certificate in proved.certificates}
        derived[proved.theorem] |= bool((settled & claimed) - set(proved.facts))
        measured[proved.theorem] |= bool(claimed - set(proved.facts) - settled)
    outcomes: dict[str, set[str]] = defaultdict(set)
    for path in FILES:
        header = tomllib.loads(path.read_text("utf-8"))
        if header.get("expect", "proved") in ("proved", "supported"):
            outcomes[header["theorem"]].add(header.get("expect", "proved"))
    rows = ["| theorem | whose | certificates | other claims | shipped as |", "|---|---|---|---|---|"]
    for name in NAMES:
        certificates = ", ".join(f"`{kind}`" for kind in sorted(kinds[name])) or "—"
        others = ["derived"] * derived[name] + ["measured"] * measured[name]
        whose = load(name).source.provenance.value
        rows.append(
            f"| `{name}` | {whose} | {certificates} | {', '.join(others) or '—'} | {', '.join(sorted(outcomes[name]))} |"
        )
    return "\n".join(rows)


def written(page: str) -> str:
    """Return the part of `page` between the two marks."""
    return page.partition(BEGIN)[2].partition(END)[0].strip()


def main() -> None:
    """Write the table into the page."""
    head, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    write_atomically(PAGE, f"{head}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
