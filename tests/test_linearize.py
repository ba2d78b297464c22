"""A module beside its linearization: against networks whose runs are known, refusals by name, and the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import torch
from torch import nn

import lakatos
from lakatos.cli import main
from lakatos.core import InputError
from lakatos.numerics import mlps, taylor_mode
from lakatos.numerics.linearization import Settings, linearization
from lakatos.numerics.linearized_training import Schedule, runs_beside_linearization
from lakatos.numerics.mlps import Architecture, Mlp
from lakatos.numerics.module_kinks import kinks
from lakatos.numerics.module_mlps import sequential_mlp
from lakatos.numerics.schedules import record_steps

SCHEMA = json.loads((Path(lakatos.__file__).parent / "schemas" / "linearize-1.json").read_text(encoding="utf-8"))
MODULE = Path(__file__).stem


class Wrapped(nn.Module):
    """An `Mlp` without leading axes as a module."""

    def __init__(self, mlp: Mlp) -> None:
        super().__init__()
        self.mlp = mlp
        self.parts = nn.ParameterList([p[0] for p in mlp.parameters])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return mlps.forward(self.mlp.with_parameters(list(self.parts)), x).outputs


class InPlace(nn.Module):
    """Counts its calls by changing a buffer with what it computes."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.register_buffer("total", torch.zeros(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)
        self.total += y.sum(0)
        return y


class Several(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.linear(x), x


def smooth() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))


def linear() -> nn.Module:
    return nn.Linear(3, 2)


def kinked() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))


def tied() -> nn.Module:
    made = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 3))
    made[2].weight = made[0].weight
    return made


def in_place() -> nn.Module:
    return InPlace()


def several() -> nn.Module:
    return Several()


class Wrapper(nn.Module):
    """Another module inside, so that nothing can be said from its type."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = self.inner(x)
        return made


class Normalizing(nn.Module):
    """Writes a mean of what it is given into a buffer, as batch normalizations do."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.mean.mul_(0.9).add_(x.mean(0))
        return x - self.mean


def in_place_inside() -> nn.Module:
    inner = nn.Sequential(nn.Linear(3, 4), Normalizing())
    return nn.Sequential(Wrapper(inner), nn.Tanh(), nn.Linear(4, 2))


def gated() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 4), Wrapper(nn.ELU()), nn.Linear(4, 2))


def images() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 4), nn.Unflatten(1, (2, 2)))


def normalized() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 2))


def dropped() -> nn.Module:
    return nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 2))


def data(outputs: int = 2, samples: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(samples, 3, generator=generator, dtype=torch.float64)
    return x, torch.arange(samples) % outputs


def test_runs_equal_those_of_networks_and_correlations_those_of_taylor_mode() -> None:
    mlp = mlps.draw(Architecture(3, 8, 2, 2, "tanh"), [5])
    x, y = data()
    settings = Settings(rate=0.5, steps=4, train=4)
    found = linearization(Wrapped(mlp), x, y, settings)
    runs = runs_beside_linearization(
        mlp, x, nn.functional.one_hot(y[:4]).double(), Schedule(0.5, 4, loss="cross_entropy"), records=[1, 2, 3, 4]
    )
    assert found.records == (1, 2, 3, 4)
    expected = runs.deviation[:, 0].square().mean((1, 2)).sqrt()
    np.testing.assert_allclose(found.measured, expected, rtol=1e-8)
    movement = (runs.linear - runs.start)[:, 0].square().mean((1, 2)).sqrt()
    np.testing.assert_allclose(found.movement, movement, rtol=1e-10)
    one = mlp.with_parameters([p[0] for p in mlp.parameters])
    outputs = mlps.forward(one, x[:4]).outputs
    c = (outputs.softmax(1) - nn.functional.one_hot(y[:4])) / 4
    direction = taylor_mode.gradient_direction(one, x[:4], c)
    values = taylor_mode.correlations(one, x, direction, 3, rate=0.5)
    np.testing.assert_allclose(found.correlations, values.square().mean((1, 2)).sqrt(), rtol=1e-8)
    norms = taylor_mode.first_order_norms(one, x[:4], direction, 2, rate=0.5)
    np.testing.assert_allclose(found.norms, norms.square().mean((1, 2)).sqrt(), rtol=1e-8)


LAYERS: dict[str, Any] = {
    "tanh": nn.Tanh,
    "sigmoid": nn.Sigmoid,
    "softplus": nn.Softplus,
    "gelu": nn.GELU,
    "silu": nn.SiLU,
}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", LAYERS)
def test_taylor_mode_of_sequences_agrees_with_nested_forward_mode(name: str, bias: bool) -> None:
    torch.manual_seed(1)
    inner = nn.Sequential(nn.Linear(3, 5, bias=bias), LAYERS[name](), nn.Linear(5, 4, bias=bias), LAYERS[name]())
    module = nn.Sequential(nn.Flatten(), nn.Identity(), inner, nn.Linear(4, 2, bias=bias)).double()
    x, y = data()
    mlp = sequential_mlp(module)
    assert mlp is not None
    assert mlp.activation == name
    torch.testing.assert_close(mlps.forward(mlp, x).outputs, module(x))
    settings = Settings(rate=0.3, steps=1, order=4)
    found, nested = (linearization(m, x, y, settings) for m in (module, Wrapper(module)))
    np.testing.assert_allclose(found.correlations, nested.correlations, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(found.norms, nested.norms, rtol=1e-9, atol=1e-14)


def test_high_orders_sum_to_the_step() -> None:
    """Along the gradient, Σ (−1)^d C_{0,d} is what a step does, up to terms of higher order."""
    torch.manual_seed(3)
    module = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1)).double()
    x, y = torch.tensor([[0.3, -0.7, 1.1]], dtype=torch.float64), torch.tensor([[2.0]], dtype=torch.float64)
    errors = []
    mlp = sequential_mlp(module)
    assert mlp is not None
    direction = taylor_mode.gradient_direction(mlp, x, mlps.forward(mlp, x).outputs - y)
    stepped = [p - 0.05 * v for p, v in zip(mlp.parameters, direction.dense(True), strict=True)]
    after = mlps.forward(mlp.with_parameters(stepped), x).outputs
    for order in (3, 6, 9):
        found = linearization(module, x, y, Settings(loss="squared", rate=0.05, steps=1, order=order))
        values = taylor_mode.correlations(mlp, x, direction, order, rate=0.05)[:, 0, 0]
        np.testing.assert_allclose(found.correlations, values.abs(), rtol=1e-12)
        errors.append(abs(float(sum((-1) ** d * c for d, c in enumerate(values)) - after)))
    assert errors[2] < errors[1] / 100 < errors[0] / 10_000


@pytest.mark.parametrize(
    "module",
    [
        nn.Linear(3, 2),
        nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4), nn.Sigmoid(), nn.Linear(4, 2)),
        nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)),
        nn.Sequential(nn.Linear(3, 4), nn.GELU("tanh"), nn.Linear(4, 2)),
        nn.Sequential(nn.Linear(3, 4), nn.Softplus(2.0), nn.Linear(4, 2)),
        nn.Sequential(nn.Linear(3, 4, bias=False), nn.Tanh(), nn.Linear(4, 2)),
        nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2).requires_grad_(False)),
        nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2), nn.Tanh()),
        nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2), nn.Flatten(0)),
        Wrapper(smooth()),
    ],
)
def test_other_modules_are_no_sequences(module: nn.Module) -> None:
    assert sequential_mlp(module) is None
    assert sequential_mlp(smooth(), 3) is None
    x, y = data()
    if module(x.float()).shape == (6, 2) and not any(isinstance(part, nn.ReLU) for part in module.modules()):
        with pytest.raises(InputError, match=r"order=5: more than 4 only for an nn\.Sequential"):
            linearization(module, x, y, Settings(order=5, steps=1))


def test_prediction_is_right_to_first_order_in_the_deviation() -> None:
    """Halving the rate at a fixed number of steps halves the relative error of the prediction, at least."""
    x, y = data()
    torch.manual_seed(0)
    module, errors = smooth(), []
    for rate in (0.02, 0.01, 0.005):
        found = linearization(module, x, y, Settings(rate=rate, steps=5))
        assert found.predicted is not None
        errors.append(abs(found.predicted[-1] / found.measured[-1] - 1))
    assert errors[1] < 0.7 * errors[0]
    assert errors[2] < 0.7 * errors[1]


def test_a_linear_model_is_its_own_linearization() -> None:
    x, y = data()
    found = linearization(linear(), x, y, Settings(rate=1.0, steps=30))
    assert max(found.measured) < 1e-12
    assert found.predicted is not None
    assert max(found.predicted) < 1e-12
    assert found.correlations[2] == found.correlations[3] == found.norms[1] == 0
    assert found.verdict == "linear regime"


def test_kinks_are_found_where_they_are() -> None:
    assert kinks(kinked(), torch.zeros(2, 3)) == ("relu (1)",)
    assert kinks(smooth(), torch.zeros(2, 3)) == ()
    x, y = data()
    found = linearization(kinked(), x, y, Settings(steps=2))
    assert found.predicted is None
    assert len(found.correlations) == 2
    with pytest.raises(InputError, match=r"order=2: relu \(1\) has kinks"):
        linearization(kinked(), x, y, Settings(steps=2, order=2))


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        (tied, r"2\.weight: is the same parameter as 0\.weight"),
        (in_place, "model: cannot be differentiated"),
        (in_place_inside, r"0\.inner\.1: cannot be differentiated"),
        (several, "model: returns tuple"),
        (images, r"model: returns \(6, 2, 2\)"),
        (normalized, "1: BatchNorm in training mode"),
        (dropped, "1: dropout in training mode"),
        (nn.Identity, "none of its parameters"),
    ],
)
def test_what_is_not_supported_is_named(factory: Any, message: str) -> None:
    x, y = data()
    with pytest.raises(InputError, match=message):
        linearization(factory(), x, y, Settings(steps=1))


def test_evaluation_mode_is_accepted() -> None:
    x, y = data()
    for factory in (normalized, dropped):
        linearization(factory().eval(), x, y, Settings(steps=2))


@pytest.mark.parametrize(
    ("y", "loss", "message"),
    [
        (torch.tensor([0, 1, 2, 0, 1, 0]), "cross_entropy", "classes 0 to 2; the model has 2 outputs"),
        (torch.zeros(6, dtype=torch.float64), "cross_entropy", "loss='cross_entropy'"),
        (torch.zeros(6, 3, dtype=torch.float64), "squared", "2 numbers for each sample"),
        (torch.zeros(6, 2, dtype=torch.float64), "logistic", "labels 1 and -1"),
        (torch.zeros(5, dtype=torch.int64), "cross_entropy", "y has 5 entries for 6 samples"),
    ],
)
def test_targets_that_do_not_fit(y: torch.Tensor, loss: Any, message: str) -> None:
    x, _ = data()
    with pytest.raises(InputError, match=message):
        linearization(smooth(), x, y, Settings(loss=loss, steps=1))


def test_one_output_and_batches() -> None:
    x, y = data()
    module = nn.Sequential(nn.Linear(3, 8), nn.Sigmoid(), nn.Linear(8, 1), nn.Flatten(0))
    signs = 2.0 * y - 1
    for loss in ("squared", "logistic"):
        found = linearization(module, x, signs, Settings(loss=loss, steps=6, batch=2, rate=0.3))  # type: ignore[arg-type]
        assert found.outputs == 1
        again = linearization(module, x, signs, Settings(loss=loss, steps=6, batch=2, rate=0.3))  # type: ignore[arg-type]
        assert found == again
        other = linearization(module, x, signs, Settings(loss=loss, steps=6, batch=2, rate=0.3, seed=1))  # type: ignore[arg-type]
        assert found.measured != other.measured


@pytest.mark.parametrize(
    "fields", [{"rate": 0.0}, {"rate": float("nan")}, {"steps": 0}, {"batch": 0}, {"order": 17}, {"loss": "hinge"}]
)
def test_bad_settings(fields: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(fields))}="):
        Settings(**fields)


def test_steps_that_are_recorded() -> None:
    assert record_steps(1, 24) == (1,)
    assert record_steps(3, 24) == (1, 2, 3)
    assert record_steps(1000, 4) == (1, 10, 100, 1000)


# The command -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(Path(__file__).parent)
    x, y = data()
    np.savez(tmp_path / "data.npz", x=x.numpy(), y=y.numpy())
    return tmp_path / "data.npz"


@pytest.mark.parametrize(
    ("factory", "status", "rate"), [("linear", 0, "1"), ("smooth", None, "0.5"), ("kinked", None, "0.5")]
)
def test_answers_follow_the_schema(
    factory: str, status: int | None, rate: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["linearize", f"{MODULE}:{factory}", "--data", str(file), "--rate", rate, "--steps", "20"]
    code = main([*arguments, "--json"])
    answer = json.loads(capsys.readouterr().out)
    jsonschema.validate(answer, SCHEMA)
    assert code == {"linear regime": 0, "feature learning": 1, "undecided": 3}[answer["verdict"]]
    assert status is None or code == status
    assert main(arguments) == code
    assert "F − F_lin" in capsys.readouterr().out


def test_large_steps_learn_features(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["linearize", f"{MODULE}:smooth", "--data", str(file), "--rate", "2", "--steps", "200"]) == 1
    assert "Feature learning" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_pictures(suffix: str, file: Path, tmp_path: Path) -> None:
    picture = tmp_path / f"course.{suffix}"
    arguments = ["linearize", f"{MODULE}:smooth", "--data", str(file), "--steps", "5", "--picture", str(picture)]
    assert main(arguments) in (0, 1, 3)
    assert picture.read_bytes()[:5] in (b"<?xml", b"\x89PNG\r")


def test_checkpoints(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.manual_seed(11)
    torch.save(smooth().state_dict(), tmp_path / "weights.pt")
    answers = []
    for more in ([], ["--checkpoint", str(tmp_path / "weights.pt")]):
        main(["linearize", f"{MODULE}:smooth", "--data", str(file), "--steps", "2", "--json", *more])
        answers.append(json.loads(capsys.readouterr().out)["measured_deviation"])
    assert answers[0] != answers[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rate", "1e9", "--steps", "50", "--loss", "squared"], "is not finite after step"),
        (["--order", "17"], "order=17"),
        (["--loss", "hinge"], "loss='hinge'"),
        (["--picture", "out.gif"], "out.gif"),
        (["--picture", "nowhere/out.svg"], "does not exist"),
        (["--train", "7"], "train=7: 1 to 6"),
        (["--device", "tpu"], "device='tpu'"),
        (["--data", "missing.npz"], "missing.npz: no such file"),
    ],
)
def test_bad_input(arguments: list[str], message: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["linearize", f"{MODULE}:smooth", "--data", str(file), *arguments]) == 2
    streams = capsys.readouterr()
    assert message in streams.err
    assert not streams.out


@pytest.mark.parametrize(
    ("factory", "arguments", "message"),
    [
        ("several", [], "model: returns tuple"),
        ("images", [], "model: returns (6, 2, 2)"),
        ("tied", [], "2.weight: is the same parameter as 0.weight"),
        ("in_place", [], "model: cannot be differentiated"),
        ("in_place_inside", [], "0.inner.1: cannot be differentiated"),
        ("normalized", [], "1: BatchNorm in training mode"),
        ("dropped", [], "1: dropout in training mode"),
        ("smooth", ["--loss", "squared", "--rate", "1e99", "--steps", "9"], "of the network is not finite after step"),
        ("kinked", ["--order", "2"], "relu (1) has kinks"),
        ("gated", ["--order", "3"], "elu (1.inner) has kinks"),
        ("gated", ["--order", "17"], "order=17: 1 to 16"),
    ],
)
def test_bad_models(
    factory: str, arguments: list[str], message: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["linearize", f"{MODULE}:{factory}", "--data", str(file), *arguments]) == 2
    streams = capsys.readouterr()
    assert message in " ".join(streams.err.split())
    assert not streams.out


def test_data_that_are_none(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x, y = data()
    cases: list[tuple[dict[str, Any], str]] = [
        ({"x": x.numpy()}, "no array 'y'"),
        ({"x": x.numpy(), "y": np.array(["a"] * 6)}, "y has shape"),
        ({"x": np.full((6, 3), np.nan), "y": y.numpy()}, "x holds values that are not finite"),
        ({"x": np.zeros((6, 5)), "y": y.numpy()}, "do not fit the model"),
    ]
    for arrays, message in cases:
        np.savez(tmp_path / "bad.npz", **arrays)
        assert main(["linearize", f"{MODULE}:smooth", "--data", str(tmp_path / "bad.npz"), "--steps", "1"]) == 2
        error = capsys.readouterr().err
        assert "bad.npz" in error
        assert message in error
    (tmp_path / "bad.npz").write_bytes(b"no archive")
    assert main(["linearize", f"{MODULE}:smooth", "--data", str(tmp_path / "bad.npz")]) == 2
    assert main(["linearize", "graph.json", "--data", str(file)]) == 2
