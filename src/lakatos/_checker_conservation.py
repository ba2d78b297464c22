"""Certificates of kind ``conservation_identity`` (standard library only, integers only).

The law of degree p at a hidden node v says that, for every output f,
sum_in theta_e df/dtheta_e = p * sum_out theta_e df/dtheta_e. With a symbol s_v for the slope, a_v = s_v z_v**p and
z_v = sum of theta_e a_tail(e), what a terminal receives is a polynomial. The difference of the two sides multiplies each
of its monomials by the integer

    grade_v = (exponents of weights into v) - p * (exponents of weights out of v).

So the laws hold if every monomial has grade 0 at every hidden node. Grades add up in products, so they can be followed
through the network without expanding anything: all monomials of z_v have the same grade, 1 at v and 0 elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from lakatos._checker_degrees import topological_order
from lakatos._checker_network import Subject, read_subject
from lakatos._checker_reading import Invalid, record, sequence, show
from lakatos._checker_sets import Fact

__all__ = ["check_conservation"]

_DEGREE = {"relu": 1, "leaky_relu": 1, "abs": 1, "identity": 1, "relu_squared": 2, "cube": 3}
_LARGEST_DEGREE = 64
_TRAINING_KEYS = frozenset({"activation", "bias", "fixed", "loss", "samples", "tied"})


def check_conservation(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """The network is acyclic, and no monomial that a terminal receives has a grade other than 0.

    A terminal sends on a symbol of its own, and what it receives is treated like an output: if all of that obeys the laws, so
    does any function of it, by the chain rule. Hence the loss and what the inputs are do not matter. Quantities of a degree
    other than 1 have other names, since they are other laws.
    """
    degree = record(certificate, "certificate", frozenset({"kind", "degree"}))["degree"]
    if type(degree) is not int or not 1 <= degree <= _LARGEST_DEGREE:
        raise Invalid(f"degree={show(degree)}: an integer from 1 to {_LARGEST_DEGREE} is needed")
    if not isinstance(fields, Mapping):
        raise Invalid(f"fields={show(fields)}: an object is needed")
    # A layered network has a field `bias` of its own.
    training = {} if "widths" in fields else {key: fields[key] for key in fields if key in _TRAINING_KEYS}
    subject = read_subject({key: value for key, value in fields.items() if key not in training})
    _check_grades(subject, degree, _degree_of_activation(training, default=degree))
    _require_trained(subject, training.get("fixed", ()))
    if sequence(training.get("tied", ()), "tied"):
        raise Invalid(
            "tied: a shared weight has one gradient for all its edges, which the law of one edge each is not about"
        )
    names = [label for label, hidden in zip(subject.names, subject.hidden, strict=True) if hidden]
    law = "residual" if degree == 1 else f"residual_{degree}"
    return {"degree": degree, **{f"{law}[{label}]": Fraction(0) for label in names}}


def _check_grades(subject: Subject, degree: int, power: int) -> None:
    """Check the laws of `degree` in a network of slopes times powers, a = s z**power.

    Grades are kept where they are not 0. A node is left out if its value is 0: it receives nothing, or only zeros.
    """
    grades: dict[int, dict[int, int]] = {}
    for v in topological_order(subject):
        if not subject.hidden[v]:
            grades[v] = {}
        for e in subject.entering[v]:
            u = subject.tail[e]
            if u not in grades:
                continue
            term = {w: power * grade for w, grade in grades[u].items()}
            if subject.hidden[u]:
                term[u] = term.get(u, 0) - degree
            if subject.hidden[v]:
                term[v] = term.get(v, 0) + 1
            term = {w: grade for w, grade in term.items() if grade != 0}
            if term != ({v: 1} if subject.hidden[v] else {}):
                raise Invalid(f"the law of degree {degree} fails on what edge {e} carries")
            grades[v] = term


def _degree_of_activation(training: Mapping[str, Any], default: int) -> int:
    activation = training.get("activation")
    if activation is None:
        return default
    if not isinstance(activation, str) or activation not in _DEGREE:
        raise Invalid(f"activation={show(activation)} is not known to be homogeneous; known are {', '.join(_DEGREE)}")
    return _DEGREE[activation]


def _require_trained(subject: Subject, fixed: Any) -> None:
    """Refuse weights at hidden nodes that are not trained: their summands are missing in the law."""
    for e in sequence(fixed, "fixed"):
        if type(e) is not int or not 0 <= e < len(subject.tail):
            raise Invalid(f"fixed: {show(e)} is no edge number")
        if subject.hidden[subject.tail[e]] or subject.hidden[subject.head[e]]:
            raise Invalid(f"fixed: edge {e} is at a hidden node, whose law needs its weight to be trained")
