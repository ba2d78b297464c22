"""Times of certified law counts, beside symbolic brackets in SymPy's polynomial rings.

Run as ``python benchmarks/conservation.py [NAME ...]``; without names everything runs. Times are of the process, on one
core if ``OMP_NUM_THREADS=1``. The peer computes all brackets of generators and of the new elements as polynomials until the
rank at a random rational point stops rising: the method a computer algebra system offers.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import sympy
from ratios import record
from scipy.linalg import null_space
from sympy.polys.domains import QQ
from sympy.polys.matrices import DomainMatrix
from sympy.polys.rings import ring

from lakatos._checker_dynamics import systems
from lakatos._checker_groups import action
from lakatos.checker import check_certificate
from lakatos.numerics.averaged_training import lightning_moments
from lakatos.numerics.model_losses import scouted
from lakatos.numerics.rotation_averages import icosian_average, pairing_average
from lakatos.theory.law_count import law_count
from lakatos.theory.law_search import polynomial_laws
from lakatos.theory.lift_group import lift_group

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import golden_laws as golden


def table() -> None:
    """The 25 linear and 25 ReLU nets of the published table (a repeated one is counted once)."""
    for name, nets in (
        ("linear nets", [("linear", sizes, False, value[:2]) for sizes, value in golden.LINEAR.items()]),
        ("ReLU nets", [("relu", sizes, bias, value) for (sizes, bias), value in golden.RELU.items()]),
    ):
        began = time.process_time()
        for architecture, sizes, bias, expected in nets:
            plain = law_count({"architecture": architecture, "sizes": sizes, "bias": bias}).plain
            assert (plain.system.dimension, plain.count) == expected
        report(f"{len(nets)} {name}, certified", time.process_time() - began)


def single() -> None:
    """Single counts, and the check of their certificates with the standard library."""
    for sizes in ((4, 5, 3), (5, 5, 4, 4, 5), (10, 10, 10, 10)):
        fields = {"architecture": "linear", "sizes": sizes}
        count = timed(f"linear {sizes}", lambda fields=fields: law_count(fields))
        timed(
            "  its certificate",
            lambda fields=fields, count=count: check_certificate(fields, count.certificate.to_json()),
        )


def averages() -> None:
    """Averaged squared losses; the last by pairings instead of elimination in the sixth tensor power."""
    for architecture, sizes, group, output_map, _, laws in (*golden.AVERAGED, *golden.AVERAGED_SLOW):
        if architecture == "linear" and sizes[1] == 1:
            continue
        fields = {"architecture": architecture, "sizes": sizes, "group": group, "output_map": output_map}
        label = f"{architecture} {sizes} {group['name']}{' with output' if output_map else ''}"
        count = timed(label, lambda fields=fields: law_count(fields))
        assert count.averaged is not None
        assert count.averaged.count == laws


def lift() -> None:
    """Types, multiplicities and exact bases of four spaces; the peer finds one of them by singular values, in floats."""
    cases = [("C3", {"copies": 2}), ("Heis3", {"copies": 2}), ("O(3)", {"tensor": 3})]
    for name, options in (*cases, ("O(3)", {"tensor": 3, "natural_labels": True})):
        act = action(name, **options)
        n = act.inputs
        began = time.process_time()
        group = lift_group(act)
        ours = time.process_time() - began
        report(f"lift group of {name}, dimension {n}{', labels' if act.labels > 1 else ''}", ours)
        system = np.concatenate(
            [
                np.kron(np.array(g, float), np.eye(n)) - np.kron(np.eye(n), np.array(g, float).T)
                for g, _ in (*act.generators, *act.lie)
            ]
        )
        began = time.process_time()
        kernel = null_space(system, rcond=1e-10)
        peer = time.process_time() - began
        assert kernel.shape[1] == group.dimensions["dim_end"]
        size = f"{name}, dimension {n}"
        record("lift group, exact: four spaces, types", size, ours, "SciPy, singular values, for one space", peer)
        report(f"  SciPy, commutant alone, {peer / ours:.2f} times as long", peer)


def pairings() -> None:
    """Averages over O(4) in the sixth tensor power by 15 pairings, against the sum over a design of 7200 rotations."""
    samples = np.random.default_rng(0).standard_normal((6, 3, 4))
    labels = np.zeros((6, 3))
    tensor = lightning_moments(samples, labels).a  # symmetric in ways that leave no difference between SO(4) and O(4)
    pairing_average(tensor, 4), icosian_average(tensor, 3)  # what is cached is computed
    began = time.process_time()
    for _ in range(100):
        fast = pairing_average(tensor, 4)
    ours = (time.process_time() - began) / 100
    began = time.process_time()
    slow = icosian_average(tensor, 3)
    theirs = time.process_time() - began
    assert np.abs(fast - slow).max() < 1e-12 * np.abs(slow).max()
    record("average over O(4)", "6 axes of length 4", ours, "sum over 7200 rotations", theirs)
    report(f"average over O(4), 6 axes: 7200 rotations {theirs:.2f} s, {theirs / ours:.0f} times as long as", ours)


def search() -> None:
    """All polynomial laws of degree two of ten nets with at most 40 parameters."""
    began = time.process_time()
    nets = [sizes for sizes, (parameters, *_) in golden.LINEAR.items() if parameters <= 40][:10]
    for sizes in nets:
        system = systems({"architecture": "linear", "sizes": sizes})["plain"]
        polynomial_laws(system.fields, system.dimension, 2)
    report(f"laws of degree 2 of {len(nets)} nets", time.process_time() - began)


def scouts() -> None:
    """Floating-point brackets; the first call also loads torch."""
    scouted("linear", (1, 1, 1))
    for sizes in ((3, 3, 3), (4, 5, 3)):
        timed(f"floating-point brackets, linear {sizes}", lambda sizes=sizes: scouted("linear", sizes))


def symbolic() -> None:
    """The same count by symbolic brackets."""
    _against_symbolic_brackets((2, 2, 2), (3, 3, 3))


def symbolic_large() -> None:
    """A size for which symbolic brackets take minutes."""
    _against_symbolic_brackets((4, 5, 3))


def _against_symbolic_brackets(*nets: tuple[int, ...]) -> None:
    for sizes in nets:
        fields = {"architecture": "linear", "sizes": sizes}
        began = time.process_time()
        ours = law_count(fields).plain.count
        fast = time.process_time() - began
        began = time.process_time()
        theirs = _symbolic_laws(sizes)
        slow = time.process_time() - began
        assert ours == theirs
        record("certified count of laws", f"linear {sizes}", fast, "SymPy, symbolic brackets", slow)
        report(f"linear {sizes}: SymPy rings {slow:.2f} s, {slow / fast:.0f} times as long as", fast)


def _symbolic_laws(sizes: tuple[int, ...]) -> int:
    system = systems({"architecture": "linear", "sizes": sizes})["plain"]
    d = system.dimension
    polynomial_ring, *variables = ring([f"x{i}" for i in range(d)], QQ)
    fields = []
    for field in system.fields:
        components = [polynomial_ring.zero] * d
        for i, component in field.items():
            for monomial, coefficient in component.items():
                term = polynomial_ring(coefficient)
                for j in monomial:
                    term *= variables[j]
                components[i] += term
        fields.append(components)
    random = Random(0)
    point = [QQ(random.randrange(1, 1000)) for _ in range(d)]
    everything, level, rank = list(fields), list(fields), 0
    while True:
        rows = [
            [component.evaluate(list(zip(variables, point, strict=True))) for component in field]
            for field in everything
        ]
        new_rank = DomainMatrix([[QQ(entry) for entry in row] for row in rows], (len(rows), d), QQ).rank()
        if new_rank == rank:
            return d - rank
        rank = new_rank
        level = [_symbolic_bracket(f, g, variables) for f in level for g in fields]
        level = [field for field in level if any(field)]
        everything += level


def _symbolic_bracket(f: list[sympy.Expr], g: list[sympy.Expr], variables: list[sympy.Expr]) -> list[sympy.Expr]:
    return [
        sum((g[i].diff(x) * f[j] - f[i].diff(x) * g[j] for j, x in enumerate(variables)), f[i].ring.zero)
        for i in range(len(variables))
    ]


def timed(label: str, work: Callable[[], object]) -> object:
    """Print how long `work` takes and return what it does."""
    began = time.process_time()
    result = work()
    report(label, time.process_time() - began)
    return result


def report(label: str, seconds: float) -> None:
    """Print one line."""
    sys.stdout.write(f"{label:70} {seconds:8.2f} s\n")
    sys.stdout.flush()


BENCHMARKS = {
    f.__name__: f for f in (table, single, averages, lift, pairings, search, scouts, symbolic, symbolic_large)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*BENCHMARKS, []], default=[])
    for name in parser.parse_args().names or BENCHMARKS:
        BENCHMARKS[name]()


if __name__ == "__main__":
    main()
