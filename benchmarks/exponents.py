"""Exponents in the width beside what is expected: ``python benchmarks/exponents.py [--full] [-j N] [--output FILE]``.

One row for each exponent of derivative correlations at the start, of the distance of training from its linearization, and of
that distance where the rate is a power of the width. *Claim* is what theory says; *verdict* is by the rule of
`lakatos.numerics.power_laws`, which refutes only if the fits of all widths and of the upper half both do. *Reference* is the
exponent that an independent implementation with other networks found; *apart* marks those beyond the reach of the measured
one. Exit status 1 if a verdict is the opposite of what is expected, or a zero is none. Without ``--full`` the widths of
deeper networks and of training are smaller (minutes); ``--only start deep trained rates`` selects tables.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch

from lakatos.core import Relation
from lakatos.numerics.activations import Activation
from lakatos.numerics.correlation_exponents import correlation_laws
from lakatos.numerics.linearization_exponents import Ensemble, deviation_laws
from lakatos.numerics.linearized_training import Schedule
from lakatos.numerics.mlps import Architecture
from lakatos.numerics.one_hidden import SCALINGS, correlation_samples
from lakatos.numerics.power_laws import PowerLaw, exponent_verdict, power_law
from lakatos.results import write_atomically
from lakatos.theory.width_exponents import one_hidden_exponent

EQUAL, AT_MOST = Relation.EQUAL, Relation.AT_MOST
ORDERS = [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (1, 1), (1, 2), (1, 3), (1, 4)]
KERNEL = 0.5309
START, TRAINING = 0.1, 0.2  # resolutions

# Measured by an independent implementation: 200 networks of widths 64 to 16384; None where it is an exact zero.
AT_START: dict[tuple[str, str], Sequence[float | None]] = {
    ("tanh", "ntk"): (0.000, -0.998, -1.016, -2.011, -2.096, -3.026, -0.500, -1.000, -1.503, -2.010),
    ("erf", "ntk"): (0.000, -0.995, -1.015, -2.008, -2.081, -3.021, -0.500, -1.000, -1.502, -2.010),
    ("softplus", "ntk"): (-0.001, -0.999, -1.003, -2.006, -2.170, -2.997, -0.500, -1.000, -1.504, -2.033),
    ("identity", "ntk"): (-0.001, -0.992, None, None, None, None, -0.500, None, None, None),
    ("relu", "ntk"): (-0.002, -0.997, None, None, None, None, -0.500, None, None, None),
    ("tanh", "mean_field"): (0.000, -0.498, -0.016, -0.511, -0.096, -0.526, 0.000, 0.000, -0.003, -0.010),
    ("tanh", "standard"): (-0.003, -1.989, -3.012, -4.985, -6.031, -7.976, -1.002, -2.505, -3.993, -5.510),
}
# Widths 64 to 2048, 100 networks: C_{0,2}, C_{0,3}, C_{1,1}, C_{1,2}.
DEEP: dict[tuple[str, int], Sequence[float | None]] = {
    ("tanh", 2): (-1.009, -1.069, -0.508, -0.98),
    ("tanh", 3): (-0.997, -1.082, None, None),
    ("relu", 2): (-0.975, -2.01, None, None),
    ("identity", 2): (-0.969, -1.97, None, None),
}
# 40 full-batch steps, rate 1/2, 60 networks of widths 64 to 8192 (two hidden layers: 64 to 2048): train, test.
TRAINED: dict[tuple[str, str, int], tuple[float, float]] = {
    ("tanh", "ntk", 1): (-0.992, -0.966),
    ("erf", "ntk", 1): (-0.994, -0.959),
    ("softplus", "ntk", 1): (-1.005, -0.954),
    ("identity", "ntk", 1): (-1.013, -0.957),
    ("relu", "ntk", 1): (-0.615, -0.744),
    ("tanh", "standard", 1): (-1.945, -1.972),
    ("tanh", "gamma 3/4", 1): (-0.451, -0.690),
    ("tanh", "mean_field", 1): (-0.022, -0.247),
    ("tanh", "ntk", 2): (-0.964, -0.990),
    ("identity", "ntk", 2): (-0.959, -0.982),
    ("relu", "ntk", 2): (-0.507, -0.768),
}
# rate · steps at the smallest width 10 (20 steps) or 0.06 (3 steps), 60 networks of widths 256 to 8192.
RATES: dict[tuple[str, str], dict[str, float]] = {
    ("tanh", "20 steps, test"): {"0": -1.043, "-1/4": -1.270, "-1/2": -1.585, "-3/4": -1.988, "-1": -2.449},
    ("relu", "20 steps, test"): {"0": -0.738, "-1/4": -0.892, "-1/2": -1.095, "-3/4": -1.424, "-1": -1.818},
    ("tanh", "fixed time, test"): {"-1/4": -1.039, "-1/2": -1.038},
    ("relu", "fixed time, test"): {"-1/4": -0.744, "-1/2": -0.748},
    ("tanh", "3 small steps, train"): {"0": -0.970, "-1/2": -1.967, "-1": -2.966},
}


@dataclass(frozen=True)
class Row:
    """An exponent; `law` is None where all values are exactly zero. `expected` is the verdict on the claim."""

    section: str
    case: str
    quantity: str
    law: PowerLaw | None
    reference: float | None
    claim: tuple[Relation, Fraction] | None = None
    expected: str = ""
    resolution: float = TRAINING

    @property
    def verdict(self) -> str:
        """What the law says about the claim; a zero that is expected is one."""
        if self.law is None:
            return "zero"
        return (
            ""
            if self.claim is None
            else exponent_verdict(self.law, float(self.claim[1]), self.claim[0], self.resolution)
        )

    @property
    def is_wrong(self) -> bool:
        """Whether the verdict contradicts what is expected; undecided is no contradiction."""
        return bool(self.expected) and self.verdict not in (self.expected, "inconclusive")

    def line(self) -> str:
        """Return the row of the table."""
        symbol = {EQUAL: "", AT_MOST: "≤ "}
        claim = "" if self.claim is None else f"{symbol[self.claim[0]]}{self.claim[1]}".replace("-", "−")
        measured = "0" if self.law is None else f"{self.law.exponent:.3f} ± {self.law.half_width:.3f}".replace("-", "−")
        apart = self.law is not None and self.reference is not None
        apart = apart and not abs(self.law.exponent - self.reference) <= self.law.reach + 0.01  # type: ignore[union-attr,operator]
        reference = (
            "" if self.reference is None else f"{self.reference:.3f}".replace("-", "−") + " (apart)" * bool(apart)
        )
        verdict = self.verdict + f" (expected: {self.expected})" * (
            self.verdict != self.expected and bool(self.expected)
        )
        return f"| {self.case} | {self.quantity} | {claim} | {measured} | {reference} | {verdict} |"


def widths(first: int, last: int, per_octave: int) -> list[int]:
    """Return a geometric sequence."""
    octaves = round(np.log2(last / first))
    return [round(first * 2 ** (k / per_octave)) for k in range(octaves * per_octave + 1)]


def at_start(activation: str, parametrization: str, _full: bool) -> list[Row]:
    """Return the exponents of one hidden layer at one input, in closed form."""
    # Terms that are smaller by 1/n bend the law of higher orders below a thousand neurons: the reference starts at 64.
    ns = widths(1024, 65536, 1)
    samples = correlation_samples(
        Activation(activation), ns, ORDERS, np.full((2, 2), KERNEL), np.ones(1), networks=200, seed=1,
        scaling=SCALINGS[parametrization],
    )  # fmt: skip
    rows = []
    gamma = Fraction(1) if parametrization == "mean_field" else Fraction(1, 2)
    for order, reference in zip(ORDERS, AT_START[activation, parametrization], strict=True):
        exponent = one_hidden_exponent(*order, gamma=gamma, is_standard=parametrization == "standard").value
        is_zero = not any(values.any() for values in samples[order])
        law = None if is_zero else power_law(ns, samples[order])
        claim = None if reference is None or exponent is None else (EQUAL, exponent)
        expected = "zero" if reference is None else "supported"
        case = f"{activation}, {parametrization}" + ", automatic differentiation" * (activation == "relu")
        rows.append(
            Row("One hidden layer", case, f"C_{{{order[0]},{order[1]}}}", law, reference, claim,
                expected, START)
        )  # fmt: skip
    return rows


def deep(activation: str, hidden: int, full: bool) -> list[Row]:
    """Return the exponents of deeper networks by Taylor mode."""
    ns = widths(64, 2048, 1) if full else widths(32, 256, 2)
    # F² in C_{0,3} = K F²/n² of networks without curvature has heavy tails: 200 networks leave it undecided.
    networks = 100 if full else 200 if activation == "tanh" else 1600
    laws = correlation_laws(lambda n: Architecture(8, n, hidden, activation=activation), ns, networks, 3, 1)
    claims = {(0, 2): -1, (0, 3): -1 if activation == "tanh" else -2, (1, 1): Fraction(-1, 2), (1, 2): -1}
    is_law = activation == "tanh"  # the other two: C_{0,3} = K F²/n², and first orders as at most
    rows = []
    for order, reference in zip([(0, 2), (0, 3), (1, 1), (1, 2)], DEEP[activation, hidden], strict=True):
        if not is_law and order[0]:
            continue
        case = f"{activation}, {hidden} hidden layers"
        rows.append(
            Row("Deeper networks", case, f"C_{{{order[0]},{order[1]}}}", laws[order], reference,
                (AT_MOST, Fraction(claims[order])), "supported")
        )  # fmt: skip
    return rows


def trained(activation: str, parametrization: str, hidden: int, full: bool) -> list[Row]:
    """Return the exponents of F − F_lin after 40 steps; O(1/n) is refuted for kinks, and in the mean field."""
    gamma = 0.75 if parametrization == "gamma 3/4" else None
    name = "ntk" if gamma else parametrization
    rate = 0.3 if (activation, hidden) == ("identity", 2) else 0.5
    if hidden == 1:
        ns, networks = (widths(64, 8192, 1), 200) if full else (widths(64, 1024, 2), 200)
    else:
        ns, networks = (widths(64, 1024, 2), 100) if full else (widths(32, 256, 2), 200)

    def architecture(n: int) -> Architecture:
        return Architecture(8, n, hidden, activation=activation, parametrization=name, gamma=gamma)  # type: ignore[arg-type]

    ensemble = Ensemble(architecture, ns, networks)
    laws = deviation_laws(ensemble, lambda n: Schedule(rate * architecture(n).rate_factor, 40), 1)
    power = Fraction(2 if parametrization == "standard" else 1)
    # Kinks show at the widths of the full run only: in narrow networks other terms are as large.
    expected = "refuted" if full or activation != "relu" else ""
    if activation != "relu" and parametrization in ("ntk", "standard"):
        expected = "supported"
    case = f"{activation}, {parametrization}" + f", {hidden} hidden layers" * (hidden > 1)
    references = dict(zip(("train", "test"), TRAINED[activation, parametrization, hidden], strict=True))
    return [
        Row("Distance from the linearization", case, which, laws[which], references[which],
            (AT_MOST, -power), expected)
        for which in ("train", "test")
    ]  # fmt: skip


def rates(activation: str, protocol: str, _full: bool) -> list[Row]:
    """Return the exponents with rates η (n/n_0)^α; of the bounds, O(r/m) holds, and for small steps O(r²/m) is the order."""
    ns, networks = widths(256, 8192, 1), 200
    small, timed = protocol.startswith("3"), protocol.startswith("fixed")
    rows = []
    for text, reference in RATES[activation, protocol].items():
        alpha = Fraction(text)
        schedule = partial(_schedule, ns[0], float(alpha), small, timed)
        laws = deviation_laws(Ensemble(partial(_one_layer, activation), ns, networks), schedule, 1)
        bound = 2 * alpha - 1 if small else Fraction(-1) if timed else alpha - 1
        claim = (EQUAL if small else AT_MOST, bound) if activation == "tanh" else None
        which = protocol.rpartition(" ")[2]
        rows.append(
            Row("Rates that are powers of the width", f"{activation}, {protocol}", f"α = {text}".replace("-", "−"),
                laws[which], reference, claim, "supported" if claim else "")
        )  # fmt: skip
    return rows


def _one_layer(activation: str, n: int) -> Architecture:
    return Architecture(8, n, activation=activation)


def _schedule(first: int, alpha: float, small: bool, timed: bool, n: int) -> Schedule:
    r = (n / first) ** alpha
    steps = 3 if small else 20
    return Schedule((0.02 if small else 0.5) * r, round(steps / r) if timed else steps)


TABLES: dict[str, tuple[Callable[..., list[Row]], Sequence[tuple[str | int, ...]]]] = {
    "start": (at_start, list(AT_START)),
    "deep": (deep, list(DEEP)),
    "trained": (trained, list(TRAINED)),
    "rates": (rates, list(RATES)),
}


def jobs(tables: Sequence[str], full: bool) -> list[Callable[[], list[Row]]]:
    """Return everything that is measured, in the order of the table."""
    return [partial(TABLES[name][0], *case, full) for name in TABLES if name in tables for case in TABLES[name][1]]


def run(job: Callable[[], list[Row]]) -> list[Row]:
    """Do one job on one thread."""
    torch.set_num_threads(1)
    return job()


def main() -> int:
    """Measure, print and write; return 1 if a verdict is not as expected."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--full", action="store_true", help="deeper networks and training at the widths of the reference"
    )
    parser.add_argument("--only", nargs="+", choices=list(TABLES), default=list(TABLES), metavar="TABLE")
    parser.add_argument("-j", type=int, default=2, help="processes")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the table there, too")
    options = parser.parse_args()
    began, section, lines, wrong = time.perf_counter(), "", [], 0
    with ProcessPoolExecutor(options.j, mp_context=get_context("spawn")) as pool:
        for rows in pool.map(run, jobs(options.only, options.full)):
            for row in rows:
                if row.section != section:
                    section = row.section
                    header = [
                        "",
                        f"### {section}",
                        "",
                        "| networks | exponent of | claim | measured | reference | verdict |",
                    ]
                    lines += [*header, "|---" * 6 + "|"]
                    sys.stdout.write("\n".join([*header, "|---" * 6 + "|"]) + "\n")
                wrong += row.is_wrong
                lines.append(row.line())
                sys.stdout.write(row.line() + "\n")
                sys.stdout.flush()
    sys.stderr.write(f"{time.perf_counter() - began:.0f} s; {wrong} verdicts not as expected\n")
    if options.output:
        write_atomically(options.output, "\n".join(lines).lstrip() + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
