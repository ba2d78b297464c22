"""Verdicts as one HTML page without scripts or outside resources: the table, and every claim and hypothesis on demand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from .core import Judged, Verdict
from .report import Entry, exit_status, outcome_text, summary, surprise, value_text

__all__ = ["page"]

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #8884; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
code { overflow-wrap: anywhere; }
.proved, .supported { color: #1a7f37; } .refuted { color: #cf222e; } .inconclusive { color: #9a6700; }
.inapplicable { color: #0969da; } .missing { color: #8250df; } .wrong { font-weight: bold; }
"""
_HEADER = ("instance", "theorem", "outcome", "expected", "evidence", "seconds")


def page(entries: Sequence[Entry], *, require_proved: bool = False) -> str:
    """Return the page as text."""
    rows = "\n".join(_row(number, entry, require_proved) for number, entry in enumerate(entries))
    details = "\n".join(_details(number, entry, require_proved) for number, entry in enumerate(entries))
    heads = "".join(f"<th>{name}</th>" for name in _HEADER)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>lakatos: verdicts</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>Verdicts</h1>\n"
        f"<p>{escape(summary(entries, require_proved=require_proved))}</p>\n"
        f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n{details}\n</body>\n</html>\n"
    )


def _row(number: int, entry: Entry, require_proved: bool) -> str:
    verdict = entry.verdict
    outcome = outcome_text(entry)
    wrong = " wrong" if exit_status(entry, require_proved=require_proved) else ""
    cells = [
        f'<a href="#i{number}">{escape(entry.title)}</a>',
        f"<code>{escape(entry.theorem)}</code>",
        f'<span class="{outcome if verdict else "missing"}{wrong}">{outcome}</span>',
        str(verdict.expected or "") if verdict else "",
        str(verdict.evidence) if verdict else "",
    ]
    seconds = f"{verdict.seconds:.2f}" if verdict else ""
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + f'<td class="number">{seconds}</td></tr>'


def _details(number: int, entry: Entry, require_proved: bool) -> str:
    parts = [f'<h2 id="i{number}">{escape(entry.title)}</h2>', f"<p><code>{escape(entry.path)}</code></p>"]
    if line := surprise(entry, require_proved=require_proved):
        parts.append(f'<p class="wrong">{escape(line)}</p>')
    if entry.verdict is not None:
        parts += _sections(entry.verdict)
    return "\n".join(parts)


def _sections(verdict: Verdict) -> Iterable[str]:
    if verdict.hypotheses:
        met = [(item.name, "met" if item.met else "not met", item.how) for item in verdict.hypotheses]
        yield _table(("hypothesis", "", "how it was checked"), met)
    if verdict.derivation is not None:
        yield _table(("derived identity", "residual"), [(verdict.derivation.identity, verdict.derivation.residual)])
    if verdict.claims:
        yield _table(("claim", "predicted", "measured", "error", "agrees"), map(_claim, verdict.claims))
    if verdict.certificates:
        kinds = ", ".join(certificate.kind for certificate in verdict.certificates)
        yield f"<p>Certificates: <code>{escape(kinds)}</code></p>"
    if verdict.provenance:
        rows = [(key, str(value)) for key, value in verdict.provenance.items()]
        yield f"<details><summary>How it was computed</summary>{_table(('', ''), rows)}</details>"


def _claim(judged: Judged) -> tuple[str, ...]:
    estimate = judged.estimate
    agrees = {True: "yes", False: "no", None: "established" if judged.established else "not compared"}[judged.agrees]
    return (
        judged.claim.quantity,
        f"{judged.claim.relation} {value_text(judged.claim.value)}",
        value_text(estimate.value) if estimate else "",
        f"{estimate.error:.2g}" if estimate else "",
        agrees,
    )


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    heads = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
