"""How verdicts show themselves in notebooks: as HTML, and what was derived as LaTeX."""

from __future__ import annotations

from .core import Derivation, Judged, Verdict
from .markup import Html, element, join, name, table
from .values import value_text

__all__ = ["CLAIM_HEADER", "claim_cells", "derivation_latex", "verdict_html", "verdict_latex"]

CLAIM_HEADER = ("claim", "predicted", "measured", "error", "resolution", "agrees", "established")
_CLAIMS_SHOWN = 20


def verdict_html(verdict: Verdict) -> str:
    """Return the outcome, the reason, the claims beside what was measured, and the hypotheses."""
    theorem = name(verdict.theorem)
    variant = f" [{verdict.variant}]" if verdict.variant else ""
    outcome = element("strong", str(verdict.outcome))
    parts = [element("p", join([outcome, f" ({verdict.evidence}): ", theorem, variant]))]
    if verdict.title:
        parts.append(element("p", verdict.title))
    if verdict.explanation:
        parts.append(element("p", verdict.explanation))
    if verdict.claims:
        shown = verdict.claims[:_CLAIMS_SHOWN]
        parts.append(table(CLAIM_HEADER, map(claim_cells, shown), label="claims"))
        if len(verdict.claims) > len(shown):
            parts.append(element("p", f"{len(verdict.claims) - len(shown)} more claims: .claims"))
    met = [(item.name, "met" if item.met else "not met", item.how) for item in verdict.hypotheses]
    if met:
        parts.append(table(("hypothesis", "", "how it was checked"), met, label="hypotheses"))
    if verdict.certificates:
        kinds = join((element("code", certificate.kind) for certificate in verdict.certificates), ", ")
        parts.append(element("p", join(["Certificates: ", kinds])))
    return Html(element("div", join(parts, "\n")))


def verdict_latex(verdict: Verdict) -> str | None:
    """Return what was derived as a displayed formula; None if nothing was."""
    return derivation_latex(verdict.derivation) if verdict.derivation is not None else None


def derivation_latex(derivation: Derivation) -> str | None:
    """Return the identity as a displayed formula; None if it has none."""
    return f"$$\n{derivation.latex}\n$$" if derivation.latex else None


def claim_cells(judged: Judged) -> tuple[str, ...]:
    """Return the row of a claim, for the columns of `CLAIM_HEADER`."""
    claim, estimate = judged.claim, judged.estimate
    agrees = {True: "yes", False: "no", None: "not compared"}[judged.agrees]
    return (
        claim.quantity,
        f"{claim.relation} {value_text(claim.value)}",
        value_text(estimate.value) if estimate else "",
        f"{estimate.error:.2g}" if estimate else "",
        f"{claim.resolution:.2g}",
        agrees,
        "yes" if judged.established else "no",
    )
