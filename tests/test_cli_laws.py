"""The command laws, as people and programs use it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from importlib.resources import files
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import lakatos
from lakatos.checker import check_certificate
from lakatos.cli import main
from lakatos.laws import laws_of
from lakatos.laws_simulation import drift_curves
from lakatos.laws_subjects import subject_of

SCHEMA = json.loads(files("lakatos").joinpath("schemas/laws-1.json").read_text())


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["laws", *arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_json_follows_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "linear:1,2,5", "--group", "S5", "--simulate", "--json")
    data = json.loads(out)
    jsonschema.validate(data, SCHEMA)
    assert (status, err) == (0, "")
    assert (data["laws"], data["plain_laws"], data["new_laws"], data["certified"]) == (7, 3, 4, True)
    assert len(data["formulas"]) == 7
    assert len(data["new_formulas"]) == 4
    drifts = {(curve["training"], curve["laws"]): curve["drifts"][-1] for curve in data["simulation"]}
    assert max(drifts["averaged", "new"], drifts["averaged", "classical"], drifts["plain", "classical"]) < 1e-12
    assert min(drifts["plain", "new"], drifts["log cosh", "new"]) > 1e-4


@pytest.mark.parametrize(
    ("arguments", "counts"),
    [
        (["relu:1,4,3", "--group", "C3"], (4, 4)),
        (["relu:3,2,3+b", "--group", "S3", "--natural-labels"], (2, 2)),
        (["attention:1,2", "--group", "C2", "--natural-labels"], (2, 2)),
        # Attention is odd, so that labels drop out, and what is left of the loss moves O along O.
        (["attention:1,2,1", "--group", "sign(2)"], (3, 2)),
        (["swiglu:1,2,2", "--group", "C2"], (2, 2)),
    ],
    ids=str,
)
def test_averages_that_are_not_exact_are_counted_numerically(
    arguments: list[str], counts: tuple[int, int], capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = run(capsys, *arguments, "--json")
    data = json.loads(out)
    jsonschema.validate(data, SCHEMA)
    assert (status, data["evidence"], data["certified"]) == (0, "numeric", False)
    assert (data["laws"], data["plain_laws"]) == counts
    assert len(data["formulas"]) == counts[1]


@pytest.mark.parametrize(
    ("source", "group", "ways", "new"),
    [
        ("power:2,2,3", "O(3)", {"averaged", "plain"}, True),
        ("power:2,1,2", "C2", {"averaged", "plain", "log cosh"}, False),
        ("power:3,1,3", "O(3)", {"averaged", "plain"}, True),
        ("layer-norm:4,3+eps", None, {"plain", "log cosh"}, False),
        ("rms-norm:3,2", None, {"plain", "log cosh"}, False),
        ("lightning:2,1,1+output", "O(2)", {"averaged", "plain"}, False),
        ("linear:1,2,4", "O(4)", {"averaged", "plain"}, True),
        ("relu:1,3,3", "C3", {"averaged", "plain", "log cosh"}, False),
        pytest.param("attention:1,2", None, {"plain", "log cosh"}, False, marks=pytest.mark.slow),
        pytest.param("lightning:4,1,1", "O(4)", {"averaged", "plain"}, True, marks=pytest.mark.slow),
        pytest.param("attention:2,3", "C3", {"averaged", "plain", "log cosh"}, False, marks=pytest.mark.slow),
    ],
)
def test_laws_stay_and_what_is_none_drifts(source: str, group: str | None, ways: set[str], new: bool) -> None:
    curves = drift_curves(subject_of(source, group=group), laws_of(source, group=group))
    last = {(curve.training, curve.laws): curve.drifts[-1] for curve in curves}
    assert {training for training, _ in last} == ways
    assert (("averaged", "new") in last) == new
    # Tolerances of the flow are 1e-12, or 1e-9 where the field jumps; what drifts does so at every tolerance.
    conserved = 1e-7 if source.startswith(("relu", "convolution")) else 1e-10
    assert all(last[way, "classical"] < conserved for way in ways)
    assert all(last[way, "none"] > 1e-4 for way in ways)
    if new:
        assert last["averaged", "new"] < conserved
        assert last["plain", "new"] > 1e-3


def test_cross_entropy_keeps_column_sums_that_the_squared_loss_breaks(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "linear:3,2,2", "--loss", "cross-entropy", "--simulate", "--json")
    data = json.loads(out)
    jsonschema.validate(data, SCHEMA)
    assert (status, data["laws"], data["loss"]) == (0, 5, "cross-entropy")
    drifts = {(curve["training"], curve["laws"]): curve["drifts"][-1] for curve in data["simulation"]}
    assert max(drifts["plain", "classical"], drifts["plain", "loss"], drifts["squared", "classical"]) < 1e-12
    assert min(drifts["squared", "loss"], drifts["plain", "none"]) > 1e-3


def test_a_softmax_layer_has_no_other_loss(capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(run(capsys, "softmax-layer:3,2", "--simulate", "--json")[1])
    drifts = {(curve["training"], curve["laws"]): curve["drifts"][-1] for curve in data["simulation"]}
    assert data["loss"] == "cross-entropy"
    assert drifts["plain", "loss"] < 1e-12
    assert drifts["squared", "loss"] > 1e-3


def test_rotations_of_a_part_of_each_token(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Learning in context: the first coordinate is the label of a token and stays."""
    path = tmp_path / "rest.toml"
    path.write_text('name = "O(4)"\ntrivial = 1\n')
    data = json.loads(run(capsys, "lightning:5,1,1", "--group", str(path), "--simulate", "--json")[1])
    jsonschema.validate(data, SCHEMA)
    assert (data["laws"], data["plain_laws"], data["evidence"]) == (5, 2, "numeric")
    drifts = {(curve["training"], curve["laws"]): curve["drifts"][-1] for curve in data["simulation"]}
    # The rows of [Q, K, V] become nearly dependent, which ratios of their minors amplify.
    assert drifts["averaged", "new"] < 1e-8
    assert drifts["plain", "new"] > 1e-2


def test_people_see_counts_and_formulas(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "relu:2,1,2+b")
    assert status == 0
    assert "1 independent laws among 5 parameters (certified)" in out
    assert "W1[0,0]^2 + W1[1,0]^2 - W2[0,0]^2 - W2[0,1]^2 - b1[0]^2" in out


def test_a_network_file_is_a_relu_net(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.json"
    path.write_text(json.dumps({"edges": [["x", "a"], ["x", "b"], ["a", "c"], ["b", "c"], ["c", "y"], ["b", "y"]]}))
    status, out, _ = run(capsys, str(path), "--json")
    data = json.loads(out)
    assert (status, data["laws"], data["certified"]) == (0, 3, True)
    assert "[a->c]^2 + [b->c]^2 - [c->y]^2" in data["formulas"]


def test_network_files_under_cross_entropy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The graph of relu:3,2,2 has the laws of relu:3,2,2; where an output is not reached, its column has none."""
    path = tmp_path / "net.json"
    edges = [[f"x{i}", f"h{j}"] for i in range(2) for j in range(2)] + [
        [f"h{j}", f"y{k}"] for j in range(2) for k in range(3)
    ]
    path.write_text(json.dumps({"edges": edges}))
    data = json.loads(run(capsys, str(path), "--loss", "cross-entropy", "--simulate", "--json")[1])
    by_name = json.loads(run(capsys, "relu:3,2,2", "--loss", "cross-entropy", "--json")[1])
    assert (data["laws"], data["certified"]) == (by_name["laws"], True) == (4, True)
    drifts = {(curve["training"], curve["laws"]): curve["drifts"][-1] for curve in data["simulation"]}
    assert max(drifts["plain", "classical"], drifts["plain", "loss"], drifts["squared", "classical"]) < 1e-7
    path.write_text(json.dumps({"edges": edges[:-1]}))
    data = json.loads(run(capsys, str(path), "--loss", "cross-entropy", "--json")[1])
    assert (data["laws"], data["certified"]) == (3, True)
    path.write_text(json.dumps({"edges": [["x", "h"], ["h", "y"]]}))
    status, _, err = run(capsys, str(path), "--loss", "cross-entropy")
    assert (status, "constant for one output" in err) == (2, True)


def test_the_certificate_checks_by_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "certificate.json"
    assert run(capsys, "lightning:4,1,1", "--group", "O(4)", "--certificate", str(path))[0] == 0
    saved = json.loads(path.read_text())
    assert check_certificate(saved["fields"], saved["certificate"])["new_laws"] == 3


def test_the_picture_is_svg(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "drift.svg"
    assert run(capsys, "linear:1,1,3", "--group", "C3", "--picture", str(path))[0] == 0
    root = ElementTree.fromstring(path.read_text("utf-8"))
    # Two kinds of laws and the control under three ways of training.
    assert len(root.findall("{http://www.w3.org/2000/svg}polyline")) == 9


def test_generators_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "shift.toml"
    path.write_text("inputs = [[[0, 0, 1], [1, 0, 0], [0, 1, 0]]]\n")
    status, out, _ = run(capsys, "linear:2,3", "--group", str(path), "--json")
    data = json.loads(out)
    assert (status, data["laws"], data["certified"]) == (0, 3, False)


MODULES = """
import torch
from torch import nn

def mlp():
    return nn.Sequential(nn.Linear(3, 4, bias=False), nn.ReLU(), nn.Linear(4, 2, bias=False))

def linear():
    return nn.Linear(3, 1, bias=False)

def deep():
    return nn.Sequential(nn.Linear(3, 2, bias=False), nn.Linear(2, 2, bias=False))

class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x) if float(x.sum()) > 0 else x

def branches():
    return Branches()

def convolution():
    return nn.Conv1d(1, 1, 2)
"""


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of factories on the import path, under a name of its own for each test."""
    name = f"factories_{abs(hash(str(tmp_path))) % 10**9}"
    (tmp_path / f"{name}.py").write_text(MODULES)
    monkeypatch.chdir(tmp_path)
    return name


def test_modules_are_counted_numerically(modules: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, f"{modules}:mlp", "--json")
    data = json.loads(out)
    jsonschema.validate(data, SCHEMA)
    assert (status, data["laws"], data["evidence"], data["certified"]) == (0, 4, "numeric", False)
    status, out, _ = run(capsys, f"{modules}:linear", "--group", "C3", "--json")
    data = json.loads(out)
    assert (status, data["laws"], data["plain_laws"]) == (0, 1, 0)
    status, out, _ = run(capsys, f"{modules}:convolution", "--input-shape", "1,4", "--json")
    assert (status, json.loads(out)["laws"]) == (0, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["linear:1,2,4", "--group", "S5"], "there are 4 inputs"),
        (["linear:1,2,5", "--group", "Z5"], "known are"),
        (["linear:3,2", "--loss", "hinge"], "choose one of"),
        (["linear:1,5", "--group", "S5", "--loss", "cross-entropy"], "averages over a group"),
        (["perceptron:1,2"], "choose one of"),
        (["linear:2,2,2", "--degree", "9"], "degree from 0"),
        (["missing.json"], "missing.json"),
        (["missing.json", "--group", "C3"], "architectures given by name"),
        (["lightning:4,1,1", "--group", "S4"], "O(4)"),
        (["power:2,1,3", "--loss", "cross-entropy"], "counted for linear, relu, softmax-layer"),
        (["linear:1,3", "--loss", "cross-entropy"], "is constant for one output"),
        (["attention:2,2+output"], "takes no '+output'"),
        (["relu:2,2,2+eps"], "+eps for normalizations"),
        (["layer-norm:2,2+b"], "only +eps"),
        (["group-norm:2,2"], "choose layer-norm"),
        (["layer-norm:3"], "takes (units, inputs)"),
        (["rms-norm:9,9"], "at most 40"),
        (["layer-norm:3,3", "--group", "C3"], "without a group"),
        (["linear:2,2", "--seed", "-1"], "seed=-1"),
        (["linear:2,2", "--data", "missing.npz"], "missing.npz: no such file"),
        (["relu:1,4,3", "--group", "O(3)"], "relu models are averaged over finite groups"),
        (["relu:3,3,3", "--group", "C3", "--natural-labels", "--loss", "cross-entropy"], "averages over a group"),
        (["relu:2,4,3", "--group", "C3", "--natural-labels"], "dimensions 3 and 3, but the model has 3 and 2"),
        (["attention:5,4", "--group", "C4"], "at most 40 parameters, not 80"),
        (["attention:3,2", "--group", "C3"], "there are 2 inputs"),
        (["linear:1,2", "--group", "missing.toml"], "cannot be read"),
        (["linear:1,2", "--input-shape", "a"], "positive integers"),
        (["linear:1,60", "--group", "S60"], "no finite group, or one of more than 92 elements"),
        (
            ["linear:1,2,3", "--group", "C3", "--natural-labels"],
            "labels of dimensions 3 and 3, but the model has 3 and 1",
        ),
        (["linear:2,7", "--group", "C7", "--degree", "6"], "about 11461 MB"),
        (["convolution:1,1,1,3,3", "--group", "C3"], "averages over groups are known for linear, power"),
        (["residual:2,2", "--certificate", "/nowhere/out.json"], "/nowhere"),
    ],
    ids=str,
)
def test_bad_input_is_named(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (2, "")
    assert message in err


def test_modules_have_formulas_and_are_trained_on_given_data(
    modules: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generator = np.random.default_rng(0)
    x = generator.standard_normal((5, 3))
    np.savez(tmp_path / "classes.npz", x=x, y=np.array([0, 1, 1, 0, 1]))
    status, out, _ = run(
        capsys, f"{modules}:deep", "--loss", "cross-entropy", "--data", str(tmp_path / "classes.npz"), "--json"
    )
    data = json.loads(out)
    jsonschema.validate(data, SCHEMA)
    assert (status, data["laws"]) == (0, lakatos.laws_of("linear:2,2,3", loss="cross-entropy").laws)
    assert "1.weight[0,0] + 1.weight[1,0]" in data["formulas"]
    drifts = {(curve["training"], curve["laws"]): curve["drifts"][-1] for curve in data["simulation"]}
    assert max(drifts["plain", "classical"], drifts["plain", "loss"], drifts["squared", "classical"]) < 1e-6
    assert min(drifts["squared", "loss"], drifts["plain", "none"]) > 1e-4
    for arrays, message in (
        ({"x": x[:, :2], "y": np.zeros((5, 2))}, "cannot be run on an input of shape [2]"),
        ({"x": x, "y": np.zeros((5, 3))}, "y has shape [5, 3]; labels of shape [5, 2] are needed"),
        ({"x": x, "y": np.zeros((4, 2))}, "y has 4 labels for 5 samples"),
        ({"x": x, "y": np.full((5, 2), np.nan)}, "not finite"),
        ({"x": np.full((5, 3), np.inf), "y": np.zeros((5, 2))}, "x has entries that are not finite"),
        ({"x": np.zeros((6000, 3)), "y": np.zeros((6000, 2))}, "x has 6000 samples; at most 5000"),
    ):
        np.savez(tmp_path / "bad.npz", **arrays)
        status, out, err = run(capsys, f"{modules}:deep", "--data", str(tmp_path / "bad.npz"))
        assert (status, out) == (2, "")
        assert message in err
    np.savez(tmp_path / "bad.npz", x=x, y=np.array([0, 1, 2, 0, 1]))
    err = run(capsys, f"{modules}:deep", "--loss", "cross-entropy", "--data", str(tmp_path / "bad.npz"))[2]
    assert "bad.npz: y has classes from 0 to 2; the model tells 0 to 1 apart" in err


@pytest.mark.parametrize(
    ("factory", "options", "message"),
    [
        ("branches", [], "cannot be traced by torch.func"),
        ("convolution", [], "--input-shape"),
        ("mlp", ["--input-shape", "5"], "cannot be run"),
        ("mlp", ["--group", "O(3)"], "infinite"),
        ("mlp", ["--certificate", "out.json"], "have none"),
    ],
)
def test_bad_modules_are_named(
    factory: str, options: list[str], message: str, modules: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, f"{modules}:{factory}", *options)
    assert (status, out) == (2, "")
    assert message in err


SWAP = "inputs = [[[0, 1], [1, 0]]]\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("inputs = [[[1, 1], [0, 1]]]", "generators[0] on inputs: not orthogonal"),
        ('inputs = [[["3/5", "-4/5"], ["4/5", "3/5"]]]', "no finite group, or one of more than 4000 elements"),
        ("inputs = [[[0, 1, 0], [1, 0, 0]]]", "generators[0] on inputs: a 2 x 2 matrix"),
        ("inputs = [[[0, 1], [1, 0]], [[1]]]", "generators[1] on inputs: a 2 x 2 matrix"),
        ("inputs = [[[0, 0, 1], [1, 0, 0], [0, 1, 0]]]", "acts on 3 coordinates, but there are 2 inputs"),
        (SWAP + "labels = [[[2]]]", "generators[0] on labels: not orthogonal"),
        (SWAP + "labels = [[[1]], [[1]]]", "group.labels: 2 matrices for 1 generators"),
        (SWAP + "labels = [[[0, 1], [1, 0]]]", "labels of dimensions 2 and 2, but the model has 2 and 1"),
        ("name = 3", "name"),
        ("inputs = [", "cannot be read"),
        ("colour = 1", "colour"),
    ],
)
def test_bad_group_files_are_named(
    content: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "group.toml"
    path.write_text(content)
    status, out, err = run(capsys, "linear:1,2", "--group", str(path))
    assert (status, out) == (2, "")
    assert err.startswith("lakatos: error: ")
    assert message in err
    assert "Traceback" not in err


def test_a_degree_that_is_asked_for_is_searched(capsys: pytest.CaptureFixture[str]) -> None:
    """35 parameters are too many for a search unasked, and nobody is told that there was one."""
    _, out, _ = run(capsys, "linear:5,7", "--group", "C7")
    assert "none were searched, see --degree" in out
    assert "at most 27 new" in out
    _, out, _ = run(capsys, "linear:5,7", "--group", "C7", "--degree", "1")
    assert "none were searched" not in out
