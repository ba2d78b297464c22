"""Re-check certificates and saved results with the standard library of Python alone.

Nothing of the rest of `lakatos` is used: no solver, no NumPy, no floating point, only integers, fractions and searches in
graphs. What each kind of certificate has to contain, and why it then implies its facts, is written beside its check, in the
files ``_checker_*.py`` next to this one. All data may be hostile: it checks, or it is `Invalid`.

Run as ``python -m lakatos.checker RESULT.json``, or this file as a script (``python -I -S checker.py RESULT.json``).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

if not __package__:  # run as a script, perhaps with a Python that finds no installed packages
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lakatos._checker_connectivity import check_connectivity
from lakatos._checker_conservation import check_conservation
from lakatos._checker_files import instance_problems, read_json
from lakatos._checker_geometry import check_no_singular_point, check_rank, check_singular_point, check_vanishing
from lakatos._checker_homology import check_betti
from lakatos._checker_identifiability import check_assignment_margin, check_coherence, check_realization_costs
from lakatos._checker_laws import check_law_count
from lakatos._checker_lift import check_lift_group
from lakatos._checker_orbits import check_orbit_ranks
from lakatos._checker_paths import check_different_components, check_path, check_rescaling
from lakatos._checker_rays import check_ray_ranks
from lakatos._checker_reading import Invalid, number, record, sequence, show
from lakatos._checker_sets import Fact, check_empty, check_point
from lakatos._checker_signs import check_sign_flow

__all__ = ["CHECKS", "Fact", "Invalid", "check_certificate", "check_result", "main"]

CHECKS: dict[str, Callable[[Any, Mapping[str, Any]], dict[str, Fact]]] = {
    "invariant_set_empty": check_empty,
    "invariant_set_point": check_point,
    "connectivity": check_connectivity,
    "conservation_identity": check_conservation,
    "law_count": check_law_count,
    "lift_group": check_lift_group,
    "orbit_ranks": check_orbit_ranks,
    "ray_ranks": check_ray_ranks,
    "sign_flow": check_sign_flow,
    "jacobian_rank": check_rank,
    "singular_point": check_singular_point,
    "no_singular_point": check_no_singular_point,
    "vanishing_weights": check_vanishing,
    "path_of_knots": check_path,
    "different_components": check_different_components,
    "rescaling": check_rescaling,
    "betti_numbers": check_betti,
    "realization_costs": check_realization_costs,
    "assignment_margin": check_assignment_margin,
    "coherence": check_coherence,
}
"""For each kind the function that takes the instance and the certificate and returns the facts, or raises `Invalid`."""

_VERDICTS = "lakatos/verdict/1"
_CERTIFICATE = "lakatos/certificate/1"
_OUTCOMES = ("proved", "supported", "refuted", "inconclusive", "inapplicable")
_RELATIONS = ("=", "<=", ">=")
_LONGEST_LABEL = 500
_MISFITS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError)
_INFINITIES = {math.inf: "inf", -math.inf: "-inf"}


def check_certificate(fields: Any, certificate: Any) -> dict[str, Fact]:
    """Return the facts that `certificate` establishes about the instance `fields`, by quantity.

    Parameters
    ----------
    fields : mapping
        Plain data of the instance; exact numbers are integers, fractions or text.
    certificate : mapping
        Plain data, in the format of its kind.

    Raises
    ------
    Invalid
        If anything does not check, whatever the two arguments are.

    Examples
    --------
    >>> fields = {"edges": [["x", "v"]], "inputs": ["x"], "outputs": [], "balance": {"v": "2"}}
    >>> check_certificate(fields, {"kind": "invariant_set_point", "squares": {"0": "2"}})
    {'feasible': True}
    """
    if not isinstance(certificate, Mapping):
        raise Invalid(f"certificate={show(certificate)}: an object is needed")
    kind = certificate.get("kind")
    if not isinstance(kind, str) or kind not in CHECKS:
        raise Invalid(f"certificate: kind={show(kind)} is unknown; known are {', '.join(CHECKS)}")
    try:
        return CHECKS[kind](fields, certificate)
    except _MISFITS as error:  # data of another form than its kind has: nothing was established
        raise Invalid(f"{kind}: instance and certificate do not fit together ({type(error).__name__})") from error


def check_result(document: Any, folder: str | Path) -> list[str]:
    """Return what is wrong with a saved result, one line per problem; nothing if it is valid.

    Parameters
    ----------
    document : mapping
        The content of a file with verdicts (schema ``lakatos/verdict/1``) or one certificate (``lakatos/certificate/1``).
    folder : str or Path
        Relative paths of instance files are looked up here, and in the current folder.
    """
    try:
        entries = _entries(document)
    except Invalid as error:
        return [str(error)]
    return [f"{label}: {problem}" for label, check in entries for problem in check(Path(folder))]


def main(argv: Sequence[str] | None = None) -> int:
    """Print a line per verdict; return 0 if all are valid, 1 if one is not, 2 if the file cannot be read as a result."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.stderr.write("usage: lakatos check RESULT.json\n  0 valid, 1 not, 2 not a result\n")
        return 0 if arguments in (["--help"], ["-h"]) else 2
    path = Path(arguments[0])
    try:
        document = read_json(path)
        entries = _entries(document)
    except Invalid as error:
        sys.stderr.write(f"{arguments[0]!a}: {error}\n")
        return 2
    status = 0
    for label, check in entries:
        problems = check(path.parent)
        status = 1 if problems else status
        sys.stdout.write(f"INVALID: {label}: {'; '.join(problems)}\n" if problems else f"valid: {label}\n")
    if status == 0 and (rest := _derived(document)):
        sys.stdout.write(f"{rest} claim(s) rest on a symbolic derivation, which is not repeated here\n")
    return status


def _entries(document: Any) -> list[tuple[str, Callable[[Path], list[str]]]]:
    """Return for every verdict, or the one certificate, its name and the function that finds its problems."""
    if not isinstance(document, Mapping):
        raise Invalid("the document is not an object")
    schema = document.get("schema")
    if schema == _CERTIFICATE:
        return [("certificate", lambda _: _problems(_check_certificate_file, document))]
    if schema != _VERDICTS:
        raise Invalid(f"schema={show(schema)}: unknown; known are {_VERDICTS!r} and {_CERTIFICATE!r}")
    verdicts = document.get("verdicts")
    if not isinstance(verdicts, (list, tuple)):
        raise Invalid(f"verdicts={show(verdicts)}: a list is needed")
    return [(_label(i, verdict), _checker_of(verdict)) for i, verdict in enumerate(verdicts)]


def _label(i: int, verdict: Any) -> str:
    about = verdict if isinstance(verdict, Mapping) else {}
    parts = [
        f"{key} {show(about[key], _LONGEST_LABEL)}"
        for key in ("theorem", "instance", "outcome")
        if about.get(key) is not None
    ]
    return ", ".join([f"verdicts[{i}]", *parts])


def _checker_of(verdict: Any) -> Callable[[Path], list[str]]:
    return lambda folder: _problems(_check_verdict, verdict, folder)


def _problems(check: Callable[..., list[str]], *arguments: Any) -> list[str]:
    try:
        return check(*arguments)
    except Invalid as error:
        return [str(error)]
    except RecursionError:
        return ["the data is nested too deeply"]


def _check_certificate_file(document: Mapping[str, Any]) -> list[str]:
    record(document, "document", frozenset({"schema", "network", "certificate", "claims"}))
    facts = check_certificate(document["network"], document["certificate"])
    claims = document["claims"]
    if not isinstance(claims, Mapping):
        raise Invalid(f"claims={show(claims)}: an object is needed")
    problems = [f"{show(q)} is claimed, but not established" for q in claims if q not in facts]
    return problems + [
        _disagreement(q, facts[q]) for q in claims if q in facts and not _holds(facts[q], "=", claims[q])
    ]


def _check_verdict(verdict: Any, folder: Path) -> list[str]:
    """Return the problems of one verdict: of its certificates, of its claims, and of its instance file where there is one."""
    if not isinstance(verdict, Mapping):
        raise Invalid("an object is needed")
    outcome = verdict.get("outcome")
    if outcome not in _OUTCOMES:
        raise Invalid(f"outcome={show(outcome)}: unknown")
    problems = instance_problems(verdict, folder)
    facts: dict[str, Fact] = {}
    for i, certificate in enumerate(sequence(verdict.get("certificates"), "certificates")):
        try:
            found = check_certificate(verdict.get("fields"), certificate)
        except Invalid as error:
            problems.append(f"certificates[{i}]: {error}")
            continue
        problems += [
            f"certificates[{i}] contradicts another on {show(q)}" for q in found if facts.get(q, found[q]) != found[q]
        ]
        facts |= found
    claims = [_claim(i, claim) for i, claim in enumerate(sequence(verdict.get("claims"), "claims"))]
    if outcome == "proved":
        # Vacuous truth is no truth; and what only the prover has seen is not proved to a reader of the file. A derivation
        # is on record as a formula that a reader can follow; `main` says that it was not repeated.
        settled = _settled(verdict)
        problems += [] if claims else ["proved, but nothing is claimed"]
        problems += [
            f"proved, but no certificate establishes {show(q)}"
            for q, _, _ in claims
            if q not in facts and q not in settled
        ]
    if outcome != "refuted":  # there a certificate that contradicts a claim is the evidence
        problems += [
            _disagreement(q, facts[q]) for q, r, value in claims if q in facts and not _holds(facts[q], r, value)
        ]
    return problems


def _settled(verdict: Mapping[str, Any]) -> frozenset[str]:
    """Return the quantities that the verdict says a symbolic derivation without residual settles."""
    derivation = verdict.get("derivation")
    if derivation is None:
        return frozenset()
    if not isinstance(derivation, Mapping) or not isinstance(derivation.get("identity"), str):
        raise Invalid(f"derivation={show(derivation)}: an object with an identity is needed")
    if derivation.get("residual") != "0":
        return frozenset()
    settles = sequence(derivation.get("settles", ()), "derivation: settles")
    return frozenset(quantity for quantity in settles if isinstance(quantity, str))


def _derived(document: Mapping[str, Any]) -> int:
    """Return how many claims of proved verdicts a derivation settles; the document has been found valid."""
    return sum(len(_settled(v)) for v in document.get("verdicts", ()) if v["outcome"] == "proved")


def _claim(i: int, claim: Any) -> tuple[str, str, Any]:
    if not isinstance(claim, Mapping) or "predicted" not in claim:
        raise Invalid(f"claims[{i}]: an object with a predicted value is needed")
    quantity, relation = claim.get("quantity"), claim.get("relation")
    if not isinstance(quantity, str) or relation not in _RELATIONS:
        raise Invalid(f"claims[{i}]: quantity={show(quantity)}, relation={show(relation)}")
    return quantity, relation, claim["predicted"]


def _disagreement(quantity: str, fact: Fact) -> str:
    return (
        f"{show(quantity)} is claimed otherwise, but is {show(fact) if not isinstance(fact, tuple) else 'another list'}"
    )


def _holds(fact: Fact, relation: str, predicted: Any) -> bool:
    """Return whether fact `relation` predicted; lists are compared entry by entry."""
    if isinstance(fact, tuple):
        same_length = isinstance(predicted, (list, tuple)) and len(predicted) == len(fact)
        return same_length and all(_holds(f, relation, p) for f, p in zip(fact, predicted, strict=True))
    if fact is None or isinstance(fact, (bool, str)):
        return relation == "=" and type(predicted) is type(fact) and predicted == fact
    if isinstance(fact, float):
        return relation == "=" and fact in _INFINITIES and predicted == _INFINITIES[fact]
    try:
        value = number(predicted, "predicted")
    except Invalid:
        return False
    return {"=": fact == value, "<=": fact <= value, ">=": fact >= value}[relation]


if __name__ == "__main__":
    sys.exit(main())
