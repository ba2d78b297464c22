"""Experiments with penalties and optimizers, and their pictures."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch

from lakatos.core import InputError
from lakatos.numerics.balances import Balances
from lakatos.numerics.descent import Method, descend
from lakatos.numerics.obstruction_experiments import ToySettings, toy_runs
from lakatos.numerics.penalized_training import Labeled, PenaltySettings, accuracy, classifier, penalized_run
from lakatos.numerics.reference import optimizer_runs, reference_problem


@pytest.fixture
def examples(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Imports a module of the examples, which are not installed."""
    monkeypatch.syspath_prepend(Path(__file__).parents[1])
    pytest.importorskip("matplotlib")
    pytest.importorskip("sklearn")
    return lambda name: import_module(f"examples.{name}")


def clouds() -> tuple[Labeled, Labeled]:
    """Two separable clouds of points in the plane."""
    generator = torch.Generator().manual_seed(0)
    labels = (torch.arange(80) % 2).double()[:, None]
    features = torch.randn(80, 2, generator=generator, dtype=torch.float64) + 3 * (2 * labels - 1)
    rows = Labeled(features, labels)
    return Labeled(rows.features[:60], rows.labels[:60]), Labeled(rows.features[60:], rows.labels[60:])


@pytest.mark.parametrize("penalty", ["l1", "nuclear"])
def test_penalties_disconnect_neurons(penalty: str) -> None:
    train, test = clouds()
    run = penalized_run(train, test, PenaltySettings((6,), penalty, 0.02, rate=0.01, steps=800), 0, records=4)
    pruning = run.pruning
    assert run.defect >= 3
    assert pruning.disconnection.count == len(pruning.removed) == run.defect
    assert pruning.disconnection.gap > 30
    assert pruning.is_smaller
    assert run.pruned_accuracy == run.accuracy == 1
    assert pruning.relative_change < 1e-3
    assert run.steps == (0, 200, 400, 600, 800)
    assert len(run.spectra[0]) == 6


def test_frozen_scheme_disconnects_neurons_too() -> None:
    train, test = clouds()
    settings = PenaltySettings((6,), "nuclear", 0.02, rate=0.01, steps=800, refresh=10)
    largest, *others = penalized_run(train, test, settings, 0, records=1).pruning.disconnection.singular_values
    # Where the gap lies among small values depends on rounding: weights frozen for ten steps jitter about zero.
    assert sum(value < 0.1 * largest for value in others) == 4


def test_no_penalty_disconnects_nothing() -> None:
    train, test = clouds()
    run = penalized_run(train, test, PenaltySettings((6,), "none", 0.0, rate=0.01, steps=200), 0, records=1)
    assert (run.defect, run.pruning.removed, run.pruning.change) == (0, (), 0)
    assert run.losses[-1] < 0.1 * run.losses[0]


def test_runs_repeat_and_depend_on_the_seed() -> None:
    train, test = clouds()
    settings = PenaltySettings((4,), "l2", 1e-3, steps=20)
    one, same, other = (penalized_run(train, test, settings, seed, records=1) for seed in (0, 0, 1))
    assert one.losses == same.losses
    assert one.losses != other.losses
    with pytest.raises(InputError, match="penalty='l0': not known"):
        penalized_run(train, test, PenaltySettings(penalty="l0"), 0)


def test_accuracy_counts_signs() -> None:
    module = classifier(2, [3], 0)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
        module[-1].bias.fill_(1.0)
    assert (
        accuracy(module, Labeled(torch.zeros(4, 2, dtype=torch.float64), torch.tensor([[1.0], [1], [0], [1]]))) == 0.75
    )


def test_decay_recursion_and_its_limit() -> None:
    """400 steps of rate 0.01 with λ = 0.3: c is e^(−2.4) times that of the start, up to the drift of gradient descent."""
    problem = reference_problem()
    B = Balances(problem.network)
    *_, last = descend(problem.objective(), problem.start, Method("gd", 0.01, decay=0.3), 400)
    distance = float((B(last.after**2) - math.exp(-2.4) * B(problem.start**2)).abs().max())
    assert distance == pytest.approx(1.1e-4, rel=0.05)  # stated with two digits


def test_optimizers_on_the_reference_problem() -> None:
    stated = {
        Method("gd", 0.005): 1.07e-4,
        Method("heavy_ball", 0.0005, momentum=0.9): 1.99e-3,
        Method("sign", 0.005): 0.76,
        Method("clip_norm", 0.005, clip=0.1): 1.0e-5,
    }
    for run in optimizer_runs([(method, 800) for method in stated], records=1):
        assert run.drifts[-1] == pytest.approx(stated[run.method], rel=0.05)  # stated with two or three digits
        lawful = run.method.name in ("gd", "clip_norm", "heavy_ball")
        assert (run.first_step_defect < 1e-9) == lawful
        assert (run.largest_defect < 1e-9) == (run.method.name in ("gd", "clip_norm"))


@pytest.mark.slow
def test_breast_cancer(examples: Callable[[str], Any]) -> None:
    """At the strength 0.005, L1 and the nuclear norm disconnect most of 20 neurons; no penalty and a small L2 none.

    The bounds are regression bounds.
    """
    classifiers = examples("pruned_classifier")
    for seed in (0, 1, 2):
        for name, settings in classifiers.SETTINGS.items():
            run = classifiers.run(settings, seed)
            if name.startswith(("L1", "nuclear")):
                assert run.defect >= 12
                assert len(run.pruning.removed) == run.defect
            else:
                assert run.defect == 0
                assert not run.pruning.removed
            assert abs(run.pruned_accuracy - run.accuracy) <= 0.006


def test_pictures(tmp_path: Path, examples: Callable[[str], Any]) -> None:
    optimizers = examples("optimizers")
    train, test = clouds()
    run = penalized_run(train, test, PenaltySettings((4,), "l1", 0.01, steps=20), 0, records=4)
    runs = optimizer_runs([(method, 20) for method in optimizers.METHODS[:3]])
    toys = toy_runs([ToySettings(output_weight=w, steps=20) for w in (0.3, 1.2)], [0, 0])
    pictures = {
        "a.png": examples("pruned_classifier").figure({"L1": run}),
        "b.svg": optimizers.figure(runs),
        "c.svg": examples("obstructed_training").figure(toys),
    }
    for name, picture in pictures.items():
        picture.savefig(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 5000
        assert all(axis.lines for axis in picture.axes)
