"""The search for a counterexample: draw instances, verify, and shrink what refutes.

Adversarial fixtures come first: examples of the theorem, and those of its false variants, which lie close to where it could
fail. Then Hypothesis draws from the strategy of the theorem and, where a claim is an inequality or has a resolution, aims at
small margins.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from .conversion import build_instance
from .core import InputError, InternalError, Outcome, Reason, Theorem, Undecided, Variant, Verdict
from .instance import require_variant
from .instance_text import instance_text, short_fields
from .judge import closeness
from .verification import verify_instance

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["Counterexample", "Search", "search"]

DEFAULT_EXAMPLES = 1000


@dataclass(frozen=True)
class Counterexample:
    """An instance that refutes a statement, as small as the search could make it.

    Parameters
    ----------
    text : str
        As an instance file that replays to the same outcome.
    size : int
        Number of names, numbers and other scalars in its fields.
    verdict : Verdict
        What was found on it.
    is_fixture : bool
        It was a fixture, tried before anything was drawn.
    """

    text: str
    size: int
    verdict: Verdict
    is_fixture: bool


@dataclass(frozen=True)
class Search:
    """What a search did and found.

    Parameters
    ----------
    variant : str or None
        The false variant that was searched; None for the theorem itself.
    examples : int
        Instances verified that meet the hypotheses, up to and including the first that refutes; those of shrinking are
        not counted.
    inapplicable, undecided : int
        Drawn instances that fail a hypothesis; verified instances without a decision.
    seconds : float
        Until the first refutation; if there is none, of the whole search.
    stopped : str
        Why it ended: ``found``, ``examples`` (as many as asked for), ``time``, or ``interrupt``.
    """

    theorem: str
    variant: str | None
    examples: int
    inapplicable: int
    undecided: int
    seconds: float
    counterexample: Counterexample | None
    stopped: Literal["found", "examples", "time", "interrupt"]

    @property
    def outcome(self) -> Literal["refuted", "survived"]:
        """``refuted`` if there is a counterexample."""
        return "survived" if self.counterexample is None else "refuted"


def search(
    theorem: Theorem,
    variant: str | None = None,
    *,
    examples: int = DEFAULT_EXAMPLES,
    time_limit: float | None = None,
    seed: int = 0,
    database: Path | None = None,
    fixtures: bool = True,
    on_example: Callable[[], None] = lambda: None,
) -> Search:
    """Return what a search for a counterexample to `theorem`, or to a false `variant` of it, has found.

    Parameters
    ----------
    examples : int
        Number of instances to draw that meet the hypotheses.
    time_limit : float, optional
        Seconds for searching and shrinking together, looked at between two verifications.
    seed : int
        Of the search and of all measurements; the same seed finds the same counterexample.
    database : Path, optional
        Folder where Hypothesis keeps what refuted, to try it first the next time.
    fixtures : bool
        Try the adversarial fixtures first.
    on_example : callable
        Called after each instance that meets the hypotheses.

    Raises
    ------
    InputError
        If there is no such variant, or the theorem has no strategy.
    InternalError
        If verification breaks down on an instance, which the message holds, or a refutation cannot be repeated.
    Undecided
        If no instance met the hypotheses: nothing was tested.
    """
    require_variant(theorem, variant)
    run = _Run(theorem, variant, seed, time_limit, on_example)
    try:
        for fields in _fixtures(theorem, variant) if fixtures else ():
            run.is_fixture = True
            if run.refutes(fields):
                break
        else:
            run.is_fixture = False
            _draw(run, _strategy(theorem, variant), examples, database)
    except _OutOfTime:
        run.stopped = "time"
    except KeyboardInterrupt:
        run.stopped = "interrupt"
    if run.examples == 0 and run.stopped != "interrupt":
        reason = Reason.TIMEOUT if run.stopped == "time" else Reason.SAMPLING
        raise Undecided(reason, f"none of {run.inapplicable} instances drawn meets the hypotheses of {theorem.name}")
    return run.result()


class _Refuted(Exception):
    """The failure that Hypothesis shrinks."""


class _OutOfTime(BaseException):
    """Ends a search at its time limit; no Exception, since Hypothesis would take that for a failure of the test."""


@dataclass
class _Run:
    """One search while it runs."""

    theorem: Theorem
    variant: str | None
    seed: int
    time_limit: float | None
    on_example: Callable[[], None]
    is_fixture: bool = False
    examples: int = 0
    inapplicable: int = 0
    undecided: int = 0
    stopped: Literal["found", "examples", "time", "interrupt"] = "examples"
    began: float = field(default_factory=time.monotonic)
    found: float | None = None
    smallest: tuple[Any, Verdict] | None = None
    crash: tuple[Any, Exception] | None = None

    def verify(self, fields: Mapping[str, Any]) -> Verdict:
        """Return the verdict on an instance; the last that refutes is kept, since shrinking only gets smaller."""
        if self.time_limit is not None and time.monotonic() - self.began > self.time_limit:
            raise _OutOfTime
        try:
            instance = build_instance(self.theorem.instance_class, fields)
        except InputError as error:
            raise InternalError(f"{self.theorem.name}: {fields!r} is no instance: {error}") from error
        try:
            verdict = verify_instance(self.theorem, instance, seed=self.seed, variant=self.variant)
        except Exception as error:
            self.crash = instance, error
            raise
        if verdict.outcome is Outcome.REFUTED:
            self.smallest = instance, verdict
        if self.found is None:
            self._count(verdict.outcome)
        return verdict

    def refutes(self, fields: Mapping[str, Any]) -> bool:
        return self.verify(fields).outcome is Outcome.REFUTED

    def _count(self, outcome: Outcome) -> None:
        if outcome is Outcome.INAPPLICABLE:
            self.inapplicable += 1
            return
        self.examples += 1
        self.undecided += outcome is Outcome.INCONCLUSIVE
        if outcome is Outcome.REFUTED:
            self.found, self.stopped = time.monotonic(), "found"
        self.on_example()

    def text(self, instance: Any, title: str, expect: Outcome | None = None) -> str:
        return instance_text(
            self.theorem.name, instance, variant=self.variant, title=title, expect=expect, seed=self.seed
        )

    def result(self) -> Search:
        counterexample = None
        if self.smallest is not None:
            instance, verdict = self.smallest
            refuted = "the theorem" if self.variant is None else f"the false variant {self.variant!r}"
            counterexample = Counterexample(
                text=self.text(instance, f"a counterexample to {refuted}", Outcome.REFUTED),
                size=_size(short_fields(instance)),
                verdict=verdict,
                is_fixture=self.is_fixture,
            )
        return Search(
            theorem=self.theorem.name,
            variant=self.variant,
            examples=self.examples,
            inapplicable=self.inapplicable,
            undecided=self.undecided,
            seconds=(self.found or time.monotonic()) - self.began,
            counterexample=counterexample,
            stopped=self.stopped,
        )


def _draw(run: _Run, strategy: SearchStrategy[Mapping[str, Any]], examples: int, database: Path | None) -> None:
    """Let Hypothesis search and shrink; `run` keeps what it finds."""
    from hypothesis import HealthCheck, Phase, Verbosity, given, reject, seed, settings, target
    from hypothesis.database import DirectoryBasedExampleDatabase
    from hypothesis.errors import Flaky, Unsatisfiable

    kept = None if database is None else database / run.theorem.name / (run.variant or "theorem")

    # `seed` forgets the database, so the settings come last.
    @settings(
        max_examples=examples,
        database=None if kept is None else DirectoryBasedExampleDatabase(kept),
        deadline=None,
        derandomize=False,  # the seed decides
        phases=(Phase.reuse, Phase.generate, Phase.target, Phase.shrink),
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @seed(run.seed)
    @given(strategy)
    def holds(fields: Mapping[str, Any]) -> None:
        verdict = run.verify(fields)
        if verdict.outcome is Outcome.INAPPLICABLE:
            reject()
        if (score := _score(verdict)) is not None:
            target(score, label="closeness to a contradiction")
        if verdict.outcome is Outcome.REFUTED:
            raise _Refuted

    try:
        with _storage_elsewhere():
            holds()
    except (_Refuted, Unsatisfiable):
        return
    except Exception as error:
        if run.crash is not None:
            instance, cause = run.crash
            text = run.text(instance, "verification breaks down here")
            raise InternalError(f"{type(cause).__name__}: {cause}, on the instance\n{text}") from cause
        if isinstance(error, Flaky):
            raise InternalError(
                f"{run.theorem.name}: verifying an instance twice gave two outcomes: {error}"
            ) from error
        raise


def _strategy(theorem: Theorem, variant: str | None) -> SearchStrategy[Mapping[str, Any]]:
    own = theorem.instances if variant is None else theorem.variants[variant].instances or theorem.instances
    if own is None:
        raise InputError(f"theorem={theorem.name!r}: its module has no `instances()` to draw from; define one")
    return own()


def _fixtures(theorem: Theorem, variant: str | None) -> Iterator[Mapping[str, Any]]:
    """Yield the examples: of the variant itself, of the theorem, and of the other variants."""

    def is_other(item: tuple[str, Variant]) -> bool:
        return item[0] != variant

    for _, registered in sorted(theorem.variants.items(), key=is_other):
        yield from registered.examples
    yield from theorem.examples


def _score(verdict: Verdict) -> float | None:
    """Return how close the verdict is to a contradiction; None if no claim has a margin."""
    scores = [closeness(row.claim, row.estimate) for row in verdict.claims if row.estimate is not None]
    return max((score for score in scores if score is not None), default=None)


def _size(fields: Any) -> int:
    if isinstance(fields, Mapping):
        return sum(map(_size, fields.values()))
    return sum(map(_size, fields)) if isinstance(fields, list) else 1


@contextmanager
def _storage_elsewhere() -> Iterator[None]:
    """Keep Hypothesis from leaving its caches in the current folder of someone who only runs a command."""
    from hypothesis.configuration import set_hypothesis_home_dir, storage_directory

    before = storage_directory(intent_to_write=False).path
    with TemporaryDirectory() as folder:
        set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            set_hypothesis_home_dir(before)
