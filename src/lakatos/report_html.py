"""Verdicts as an HTML page: a table to filter and order, and below it every claim, hypothesis and certificate."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence

from .core import Judged, Verdict
from .html_page import download
from .html_page import page as framed
from .markup import Html, details, element, heading, join, name, table
from .notebook import CLAIM_HEADER, claim_cells
from .report import OUTCOMES, Entry, exit_status, outcome_text, summary, surprise
from .report_plots import error_chart, outcome_bar
from .results import results_to_json

__all__ = ["page"]

_HEADER = ("instance", "theorem", "outcome", "expected", "evidence", "seconds")
_LARGEST_EMBEDDED = 1 << 20  # characters of one result file


def page(entries: Sequence[Entry], *, require_proved: bool = False) -> str:
    """Return the page as text."""
    outcomes = [outcome_text(entry) for entry in entries]
    parts = [
        heading(1, "Verdicts"),
        element("p", summary(entries, require_proved=require_proved), class_="verdict"),
        outcome_bar(outcomes),
        *_surprises(entries, require_proved),
        _overview(entries, require_proved),
        *_charts(entries),
        heading(2, "Instances"),
        *(_item(number, entry, require_proved) for number, entry in enumerate(entries)),
    ]
    return framed("lakatos: verdicts", parts)


def _surprises(entries: Sequence[Entry], require_proved: bool) -> Iterator[Html]:
    lines = [
        element("li", element("a", line, href=f"#i{number}"))
        for number, entry in enumerate(entries)
        if (line := surprise(entry, require_proved=require_proved))
    ]
    if lines:
        yield heading(2, "Not as expected")
        yield element("ul", join(lines, "\n"))


def _overview(entries: Sequence[Entry], require_proved: bool) -> Html:
    rows = [_row(number, entry, require_proved) for number, entry in enumerate(entries)]
    attributes = [
        {"data-outcome": outcome, "data-rank": str(OUTCOMES.index(outcome)), "data-details": f"i{number}"}
        for number, outcome in enumerate(map(outcome_text, entries))
    ]
    listed = table(
        _HEADER, rows, label="verdicts", numbers={5}, optional={1, 3, 4, 5}, kind="sortable", row_attributes=attributes
    )
    return element("div", listed, class_="full")


def _row(number: int, entry: Entry, require_proved: bool) -> tuple[str, ...]:
    verdict = entry.verdict
    return (
        element("a", entry.title, href=f"#i{number}"),
        name(entry.theorem),
        _outcome(entry, require_proved),
        str(verdict.expected or "") if verdict else "",
        str(verdict.evidence) if verdict else "",
        f"{verdict.seconds:.2f}" if verdict else "",
    )


def _outcome(entry: Entry, require_proved: bool) -> Html:
    wrong = exit_status(entry, require_proved=require_proved) != 0
    kind = outcome_text(entry) if entry.verdict else "missing"
    return element("span", outcome_text(entry), class_=f"{kind} wrong" if wrong else kind)


def _charts(entries: Sequence[Entry]) -> Iterator[Html]:
    """Yield pictures of how far measurements are from predictions, theorem by theorem."""
    measured: dict[str, list[tuple[str, str, float]]] = {}
    for number, entry in enumerate(entries):
        for judged in entry.verdict.claims if entry.verdict else ():
            if (share := _share(judged)) is not None:
                place = measured.setdefault(entry.theorem, [])
                place.append((f"#i{number}", f"{entry.title}: {judged.claim.quantity}", share))
    if measured:
        yield heading(2, "How close the measurements are")
        yield error_chart(measured)


def _share(judged: Judged) -> float | None:
    """Return the distance of a measured number from the claimed one as a share of the resolution."""
    claim, estimate = judged.claim, judged.estimate
    if estimate is None or not claim.resolution > 0 or claim.relation != "=":
        return None
    if isinstance(claim.value, str) or isinstance(estimate.value, str):
        return None
    try:
        share = abs(float(estimate.value) - float(claim.value)) / claim.resolution  # type: ignore[arg-type]
    except (TypeError, OverflowError):
        return None
    return share if math.isfinite(share) else None


def _item(number: int, entry: Entry, require_proved: bool) -> Html:
    title = join([_outcome(entry, require_proved), " ", entry.title])
    parts: list[str] = [element("p", join([element("code", entry.path), " ", name(entry.theorem)]))]
    line = surprise(entry, require_proved=require_proved)
    if line:
        parts.append(element("p", line, class_="wrong"))
    if entry.verdict is not None:
        parts += _sections(number, entry.verdict)
    inner = join([element("summary", title), *parts], "\n")
    return element("details", inner, id=f"i{number}", class_="item", open="" if line else None)


def _sections(number: int, verdict: Verdict) -> Iterator[Html]:
    if verdict.explanation:
        yield element("p", verdict.explanation)
    if verdict.claims:
        numbers = {2, 3, 4}
        yield table(CLAIM_HEADER, map(_claim, verdict.claims), label="claims", numbers=numbers, kind="sortable")
    if verdict.hypotheses:
        met = [(item.name, _yes(item.met, "met", "not met"), item.how) for item in verdict.hypotheses]
        yield table(("hypothesis", "", "how it was checked"), met, label="hypotheses")
    if verdict.derivation is not None:
        row = (verdict.derivation.identity, element("code", verdict.derivation.residual))
        yield table(("derived identity", "residual"), [row], label="derivation")
    if verdict.certificates:
        kinds = [element("code", certificate.kind) for certificate in verdict.certificates]
        yield element("p", join(["Certificates: ", join(kinds, ", "), *_download(number, verdict)]))
    if verdict.provenance:
        rows: list[tuple[str, str]] = [(key, element("code", str(value))) for key, value in verdict.provenance.items()]
        rows.append(("evidence", str(verdict.evidence)))
        yield details("How it was computed", table(("", ""), rows, label="provenance"))


def _download(number: int, verdict: Verdict) -> Iterator[Html]:
    text = json.dumps(results_to_json([verdict]), ensure_ascii=False) + "\n"
    if len(text) <= _LARGEST_EMBEDDED:
        file = f"result-{number}.json"
        yield join([" ", download(file, text, f"{file} ({max(1, len(text) // 1000):,} kB)")])
        yield join([" ", element("span", "for ", class_="soft"), element("code", "lakatos check")])
    else:
        yield join([" ", element("span", "too large for this page; --certificates writes them.", class_="soft")])


def _yes(is_so: bool, yes: str = "yes", no: str = "no") -> Html:
    return element("span", yes if is_so else no, class_="yes" if is_so else "no")


def _claim(judged: Judged) -> tuple[str, ...]:
    *cells, agrees, _ = claim_cells(judged)
    return (*cells, agrees if judged.agrees is None else _yes(judged.agrees), _yes(judged.established))
