"""Constants and exponents of the correlations of one hidden layer: ``python benchmarks/correlations.py``.

Prints, for six activations, the Gaussian constants at K = 1 beside means over random networks with their z-scores, and the
exponents in the width of C_{0,1}, …, C_{0,6}, ‖C_{1,0}‖, …, ‖C_{1,4}‖ with half-widths; then those of other parametrizations,
and for D ≥ 2 the fraction of networks below the exact median. ``--full`` takes 200 networks of widths 64 to 16384.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from fractions import Fraction

import numpy as np

from lakatos.numerics.activations import Activation
from lakatos.numerics.one_hidden import SCALINGS, correlation_samples
from lakatos.numerics.power_laws import power_law
from lakatos.theory import gaussian_constants as constants
from lakatos.theory.maximum_law import maximum_quantile

ACTIVATIONS = ("identity", "tanh", "erf", "sin", "softplus", "relu")
ORDERS = [*((0, d) for d in range(1, 7)), *((1, d) for d in range(5))]
MAXIMA = [(2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (3, 2)]
KERNEL = 0.5309


def report(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def print_constants(networks: int, n: int) -> None:
    """Print constants at K = 1, and means over `networks` networks of width n."""
    report(f"| φ (K = 1, n = {n}, {networks} networks) | constant | exact | mean | z |\n|---|---|---|---|---|")
    for name in [name for name in ACTIVATIONS if name != "relu"]:
        wanted = [(0, 1), (0, 2), (0, 3), (0, 5), (1, 1)]
        found = correlation_samples(
            Activation(name), [n], wanted, np.ones((2, 2)), np.ones(1), networks=networks, seed=123
        )
        values = {
            "Θ": (found[0, 1][0], constants.mean(1)),
            "n E C_{0,3}": (n * found[0, 3][0], constants.mean(3)),
            "n² Var C_{0,2}": ((n * found[0, 2][0]) ** 2, constants.variance(2)),
            "n E‖C_{1,1}‖²": (n * found[1, 1][0] ** 2, constants.slope_square(1)),
            "n² E C_{0,5}": (n**2 * found[0, 5][0], constants.mean(5)),
        }
        for label, (sample, constant) in values.items():
            exact = float(constants.expectation(name, (), constant, Fraction(1)).value)
            error = float(sample.std(ddof=1)) / math.sqrt(len(sample))
            z = (float(sample.mean()) - exact) / error if error else 0.0
            report(f"| {name} | {label} | {exact:.8g} | {sample.mean():.5g} ± {error:.2g} | {z:+.2f} |")


def print_exponents(widths: list[int], networks: int) -> None:
    """Print a row of exponents for each activation and parametrization."""
    report("\n| | " + " | ".join(f"C{D}{d}" for D, d in ORDERS) + " |\n" + "|---" * (len(ORDERS) + 1) + "|")
    cases = [(name, "ntk") for name in ACTIVATIONS] + [("tanh", "mean_field"), ("tanh", "standard")]
    for name, parametrization in cases:
        began = time.process_time()
        samples = correlation_samples(
            Activation(name),
            widths,
            ORDERS,
            np.full((2, 2), KERNEL),
            np.ones(1),
            networks=networks,
            seed=0,
            scaling=SCALINGS[parametrization],
        )
        cells = []
        for order in ORDERS:
            if all(not values.any() for values in samples[order]):
                cells.append("0")
                continue
            law = power_law(widths, samples[order])
            cells.append(f"{law.exponent:+.3f} ({law.half_width:.3f})")
        report(f"| {name} {parametrization}, {time.process_time() - began:.0f} s | " + " | ".join(cells) + " |")


def print_medians(widths: list[int], networks: int) -> None:
    """Print the fraction of networks whose norm is below the exact median, for D ≥ 2."""
    K = Fraction(5309, 10000)
    report("\n| below the exact median | " + " | ".join(f"C{D}{d}" for D, d in MAXIMA) + " |\n" + "|---" * 7 + "|")
    for name in ("tanh", "erf", "softplus"):
        for n in widths[::4]:
            samples = correlation_samples(
                Activation(name), [n], MAXIMA, np.full((2, 2), float(K)), np.ones(1), networks=networks, seed=0
            )
            below = [
                np.mean(samples[D, d][0] * n ** ((d + 1) / 2) < maximum_quantile(name, (), D, d, K, n))
                for D, d in MAXIMA
            ]
            report(f"| {name}, n = {n} | " + " | ".join(f"{share:.2f}" for share in below) + " |")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--full", action="store_true", help="200 networks of widths 64 to 16384; 20000 for the constants"
    )
    full = parser.parse_args().full
    widths = [2**k for k in range(6, 15 if full else 12)]
    print_constants(20_000 if full else 2_000, 4)
    print_constants(4_000 if full else 200, 4096 if full else 1024)
    print_exponents(widths, 200 if full else 60)
    print_medians(widths, 200 if full else 60)


if __name__ == "__main__":
    main()
