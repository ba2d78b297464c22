"""The vocabulary: instances, claims, certificates, estimates and verdicts.

Everything here is a frozen record without behaviour of its own, but for how it shows itself in notebooks; nothing here knows
any mathematics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = [
    "Certificate",
    "Claim",
    "Derivation",
    "Estimate",
    "Evidence",
    "Exact",
    "Hypothesis",
    "InputError",
    "InternalError",
    "Judged",
    "Measurement",
    "MeasurementKind",
    "Outcome",
    "Prediction",
    "Provenance",
    "Reason",
    "Relation",
    "Source",
    "Theorem",
    "Undecided",
    "Value",
    "Variant",
    "Verdict",
]

Exact: TypeAlias = "bool | int | Fraction | str | tuple[Exact, ...] | None"
"""A discrete or rational value; equality of two of them is decided, not estimated."""

Value: TypeAlias = "Exact | float | tuple[Value, ...]"
"""What a claim or an estimate may hold: exact values, floats, or (nested) tuples of them."""


class InputError(ValueError):
    """Bad input of a user: the message names the file and the field. The command line exits with 2."""


class InternalError(RuntimeError):
    """A defect of this program, e.g. a certificate that does not check. The command line exits with 5."""


class Undecided(Exception):
    """Raised by a method that cannot decide; becomes the outcome `inconclusive` with this reason."""

    def __init__(self, reason: Reason, explanation: str) -> None:
        super().__init__(explanation)
        self.reason = reason
        self.explanation = explanation


class Outcome(StrEnum):
    """What a verification can end in."""

    PROVED = "proved"
    SUPPORTED = "supported"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"
    INAPPLICABLE = "inapplicable"

    @property
    def exit_status(self) -> int:
        """Exit status of the command line for this outcome alone."""
        return _EXIT_STATUS[self]


_EXIT_STATUS = {
    Outcome.PROVED: 0,
    Outcome.SUPPORTED: 0,
    Outcome.REFUTED: 1,
    Outcome.INCONCLUSIVE: 3,
    Outcome.INAPPLICABLE: 4,
}


class Reason(StrEnum):
    """Why a verification was inconclusive."""

    PRECISION = "precision"
    SAMPLING = "sampling"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    INCOMPLETE_METHOD = "incomplete-method"
    UNSUPPORTED_OP = "unsupported-op"


class Evidence(StrEnum):
    """The weakest kind of evidence that a verdict rests on."""

    EXACT = "exact"
    INTERVAL = "interval"
    STATISTICAL = "statistical"
    HEURISTIC = "heuristic"


class Relation(StrEnum):
    """How a measured value has to stand to the claimed one: measured `relation` value."""

    EQUAL = "="
    AT_MOST = "<="
    AT_LEAST = ">="


class Provenance(StrEnum):
    """Whose statement it is: a paper's, our proved sharpening of one, or ours."""

    PAPER = "paper"
    SHARPENED = "sharpened"
    OURS = "ours"


class MeasurementKind(StrEnum):
    """Whether repeating a measurement with another seed can change it."""

    DETERMINISTIC = "deterministic"
    STATISTICAL = "statistical"


@dataclass(frozen=True)
class Source:
    """Where a statement comes from.

    Parameters
    ----------
    keys : tuple of str
        Keys in ``references.bib``.
    provenance : Provenance
        ``paper`` only if the paper states it in this form.
    note : str
        What was sharpened, or which part is whose.
    """

    keys: tuple[str, ...]
    provenance: Provenance
    note: str = ""


@dataclass(frozen=True)
class Hypothesis:
    """A hypothesis of a theorem, evaluated on an instance: `met` or not, and how that was checked."""

    name: str
    met: bool
    how: str


@dataclass(frozen=True)
class Claim:
    """measured `relation` value, within `resolution` (fixed before anything is measured).

    A tuple value is compared entry by entry. `resolution` is 0 for discrete quantities.
    """

    quantity: str
    relation: Relation
    value: Value
    resolution: float = 0.0


@dataclass(frozen=True)
class Estimate:
    """A measured value and a bound on its error (0 for an exact measurement)."""

    value: Value
    error: float = 0.0
    how: str = ""


@dataclass(frozen=True)
class Certificate:
    """Evidence as plain JSON data, re-checked by `lakatos.checker` with the standard library alone.

    Parameters
    ----------
    kind : str
        Key of `lakatos.checker.CHECKS`.
    data : mapping
        JSON-able; exact numbers are strings ``"p/q"``.
    """

    kind: str
    data: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The certificate as it is written into result files."""
        return {"kind": self.kind, **self.data}


@dataclass(frozen=True)
class Derivation:
    """An identity derived symbolically on the instance; it holds iff `residual` is ``"0"``.

    If it holds, it establishes the claims whose quantities are listed in `settles`.
    """

    identity: str
    residual: str
    latex: str = ""
    settles: tuple[str, ...] = ()

    def _repr_latex_(self) -> str | None:
        from .notebook import derivation_latex

        return derivation_latex(self)


@dataclass(frozen=True)
class Prediction:
    """What the theorem says about the instance, with the certificates that establish it."""

    claims: tuple[Claim, ...]
    certificates: tuple[Certificate, ...] = ()


@dataclass(frozen=True)
class Measurement:
    """What was measured, by quantity. It is made without access to the prediction.

    Parameters
    ----------
    false_alarm_rate : float
        For a statistical measurement: the declared chance, over seeds, that it contradicts a claim that is true.
    """

    estimates: Mapping[str, Estimate]
    kind: MeasurementKind = MeasurementKind.DETERMINISTIC
    evidence: Evidence = Evidence.INTERVAL
    false_alarm_rate: float = 1e-3


@dataclass(frozen=True)
class Judged:
    """One claim beside what was measured; `agrees` is None where nothing could be compared."""

    claim: Claim
    estimate: Estimate | None
    established: bool
    agrees: bool | None


@dataclass(frozen=True)
class Verdict:
    """The outcome for one theorem on one instance, with everything that led to it.

    Parameters
    ----------
    variant : str or None
        The registered false variant that was verified in place of the theorem.
    reason : str
        What decided, for programs: a `Reason` if inconclusive, the unmet hypothesis if inapplicable, the contradicted
        quantity or identity if refuted, otherwise empty.
    explanation : str
        The same for people, in one sentence.
    """

    theorem: str
    outcome: Outcome
    evidence: Evidence
    variant: str | None = None
    reason: str = ""
    explanation: str = ""
    hypotheses: tuple[Hypothesis, ...] = ()
    derivation: Derivation | None = None
    claims: tuple[Judged, ...] = ()
    certificates: tuple[Certificate, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    instance: str | None = None
    title: str = ""
    expected: Outcome | None = None
    seconds: float = 0.0
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def as_expected(self) -> bool:
        """True if the instance expects this outcome, or expects nothing and nothing is refuted."""
        if self.expected is None:
            return self.outcome.exit_status == 0
        return self.outcome is self.expected

    def _repr_html_(self) -> str:
        from .notebook import verdict_html

        return verdict_html(self)

    def _repr_latex_(self) -> str | None:
        from .notebook import verdict_latex

        return verdict_latex(self)


@dataclass(frozen=True)
class Variant:
    """A registered false variant of a theorem: what is changed, and the overridden functions.

    Every variant is wrong; a search has to find an instance that refutes it.

    Parameters
    ----------
    examples : tuple of mappings
        Fields of instances that refute it.
    instances : callable, optional
        A strategy for fields, where the theorem's own draws nothing that tells the two apart, e.g. because the variant drops
        a hypothesis.
    """

    change: str
    predict: Callable[[Any], Prediction] | None = None
    hypotheses: Callable[[Any], tuple[Hypothesis, ...]] | None = None
    derive: Callable[[Any], Derivation] | None = None
    examples: tuple[Mapping[str, Any], ...] = ()
    instances: Callable[[], SearchStrategy[Mapping[str, Any]]] | None = None


@dataclass(frozen=True)
class Theorem:
    """A theorem module, loaded. See `lakatos.theorems` for what a module has to define.

    Parameters
    ----------
    instances : callable, optional
        Returns a Hypothesis strategy for the fields of instances that meet the hypotheses; without it there is no search for
        counterexamples.
    examples : tuple of mappings
        Fields of instances that come close to refuting it and that random ones miss; a search tries them first.
    bibtex : str
        Entries of its sources that ``references.bib`` does not have, for theorems of plug-ins.
    """

    name: str
    family: str
    ids: tuple[str, ...]
    doc: str
    source: Source
    instance_class: type[Any]
    hypotheses: Callable[[Any], tuple[Hypothesis, ...]]
    predict: Callable[[Any], Prediction]
    measure: Callable[[Any, int, str], Measurement]
    derive: Callable[[Any], Derivation] | None = None
    variants: Mapping[str, Variant] = field(default_factory=dict)
    instances: Callable[[], SearchStrategy[Mapping[str, Any]]] | None = None
    examples: tuple[Mapping[str, Any], ...] = ()
    bibtex: str = ""

    @property
    def statement(self) -> str:
        """First line of the module docstring."""
        return self.doc.strip().splitlines()[0]
