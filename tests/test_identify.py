"""Partly fixed layers, alignment, and the command that compares two runs."""

from __future__ import annotations

import copy
import json
import math
import struct
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from lakatos.cli import main
from lakatos.core import InputError
from lakatos.numerics import alignment, masked
from lakatos.numerics import identification as identification_module
from lakatos.numerics.identification import identification
from lakatos.numerics.layer_rows import layer_rows


def mlp(seed: int, kind: masked.Asymmetry = "w_asymmetric", *, fixed_seed: int = 0, sigma: float = 1.0) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 7), nn.ReLU(), nn.Linear(7, 3)).double()
    return masked.asymmetric(made, kind, fixed_share=0.25, sigma=sigma, seed=fixed_seed)


def problem(samples: int = 50) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randn(samples, 6, generator=generator, dtype=torch.float64)
    return inputs, inputs[:, :3].argmax(1)


# Layers ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["standard", "w_asymmetric", "sparse", "additive", "residual"])
def test_effective_weights_have_the_structure_of_their_kind(kind: Any) -> None:
    F, D = masked.draw_fixed((5, 8), kind, fixed_entries=3, sigma=2.0, seed=1)
    assert {float(x) for x in D.flatten()} <= {0.0, 1.0}
    zeros = (D == 0).sum(1).tolist()
    assert zeros == ([3] * 5 if kind in ("w_asymmetric", "sparse") else [0] * 5)
    fixed = {"standard": 0, "sparse": 0, "w_asymmetric": 15, "additive": 40, "residual": 5}[kind]
    assert int((F != 0).sum()) == fixed
    assert kind != "w_asymmetric" or bool(((F != 0) == (D == 0)).all())


def test_masked_convolution_computes_with_effective_weights() -> None:
    plain = nn.Conv2d(2, 3, 3, stride=2, padding=1).double()
    F, D = masked.draw_fixed((3, 2, 3, 3), "w_asymmetric", fixed_entries=4)
    layer = masked.MaskedConv2d(plain, F, D)
    x = torch.randn(2, 2, 7, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    dense = copy.deepcopy(plain)
    with torch.no_grad():
        dense.weight.copy_(F + D * plain.weight)
    assert torch.allclose(layer(x), dense(x))
    layer(x).sum().backward()
    assert layer.weight.grad is not None
    assert bool((layer.weight.grad[D == 0] == 0).all())


def test_interpolation_mixes_trainable_weights_and_keeps_fixed_ones() -> None:
    first, second = mlp(1), mlp(2)
    state = masked.interpolated_state(first, second, 0.25)
    a, b = first.state_dict(), second.state_dict()
    assert torch.allclose(state["0.weight"], 0.75 * a["0.weight"] + 0.25 * b["0.weight"])
    assert torch.equal(state["0.fixed"], a["0.fixed"])
    assert torch.equal(state["0.fingerprint"], a["0.fingerprint"])


def test_interpolation_refuses_other_fixed_weights_and_architectures() -> None:
    with pytest.raises(InputError, match="different fixed weights"):
        masked.interpolated_state(mlp(1), mlp(2, fixed_seed=5), 0.5)
    with pytest.raises(InputError, match="different architectures"):
        masked.interpolated_state(mlp(1), nn.Linear(6, 3), 0.5)


def test_bad_masks_are_named() -> None:
    with pytest.raises(InputError, match="fixed_entries=9"):
        masked.draw_fixed((5, 8), "sparse", fixed_entries=9)
    with pytest.raises(InputError, match="F, D: entries"):
        masked.MaskedLinear(nn.Linear(1, 1), torch.tensor([[math.nan]]), torch.ones(1, 1))
    with pytest.raises(InputError, match="two are needed"):
        masked.asymmetric(nn.Sequential(nn.Linear(1, 1)), "sparse")


# Comparing two runs ------------------------------------------------------------------------------------------------------


def test_alignment_keeps_the_function_and_undoes_a_permutation() -> None:
    first = mlp(1, "standard")
    second = copy.deepcopy(first)
    order = torch.tensor([3, 0, 1, 2, 5, 4, 7, 6])
    with torch.no_grad():
        second[0].weight.copy_(second[0].weight[order])  # type: ignore[index]
        second[0].bias.copy_(second[0].bias[order])  # type: ignore[index]
        second[2].weight.copy_(second[2].weight[:, order])  # type: ignore[index]
    inputs, targets = problem()
    assert torch.allclose(first(inputs), second(inputs))
    found = identification(first, second, inputs, targets, explained=1.0)
    assert not found.layers[0].activation_matching_identity
    assert found.layers[1].activation_matching_identity
    assert found.aligned is not None
    assert abs(found.aligned.value) < 1e-12


def test_network_merges_with_itself() -> None:
    inputs, targets = problem()
    network = mlp(1)
    found = identification(network, network, inputs, targets)
    assert found.merges
    assert abs(found.unaligned.value) < 1e-12
    assert found.predicted_bound < 1e-12
    assert all(layer.activation_matching_identity and layer.measured_deviation == 0 for layer in found.layers)


def test_barrier_stays_below_its_bound_and_deviations_below_theirs() -> None:
    inputs, targets = problem()
    generator = torch.Generator().manual_seed(0)
    first = mlp(1, "additive", sigma=3.0)
    second = copy.deepcopy(first)
    with torch.no_grad():
        for layer in (second[0], second[2]):  # type: ignore[index]
            layer.weight.add_(0.1 * torch.randn(layer.weight.shape, generator=generator, dtype=torch.float64))
    found = identification(first, second, inputs, targets, explained=1.0)
    assert found.unaligned.value <= found.predicted_bound
    assert all(np.isfinite(layer.center_dominance).all() for layer in found.layers)


def test_neurons_without_fixed_weights_are_interchangeable() -> None:
    inputs, targets = problem()
    layer = identification(mlp(1, "standard"), mlp(2, "standard"), inputs, targets).layers[0]
    assert np.isinf(layer.center_dominance).all()
    assert abs(layer.margin) < 1e-9
    assert np.abs(layer.swaps).max() < 1e-9


def cnn(seed: int, *norm: nn.Module, fixed_seed: int = 0, kind: masked.Asymmetry = "w_asymmetric") -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        features = nn.Sequential(nn.Conv2d(1, 4, 3, padding="same"), *norm, nn.ReLU(), nn.MaxPool2d(2))
        made = nn.Sequential(
            features,
            nn.Conv2d(4, 6, 3, padding=1, stride=2),
            nn.GELU(),
            nn.Flatten(),
            nn.Linear(24, 5),
            nn.ReLU(),
            nn.Linear(5, 3),
        ).double()
    return masked.asymmetric(made, kind, seed=fixed_seed)


def pictures(samples: int = 60) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(samples, 1, 8, 8, generator=generator, dtype=torch.float64), torch.arange(samples) % 3


def test_convolutions_are_compared_too() -> None:
    found = identification(cnn(1), cnn(2), *pictures())
    assert [(layer.name, layer.neurons) for layer in found.layers] == [("0.0", 4), ("1", 6), ("4", 5)]
    assert found.left_out == {}


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
@pytest.mark.parametrize("padding", [0, 1, "same", "valid"])
def test_rows_of_convolutions_give_their_outputs(padding: Any) -> None:
    x = pictures(20)[0].expand(-1, 2, -1, -1)
    for kernel, dilation in ((3, 1), (2, 1), ((2, 3), (2, 1))):
        layer = nn.Conv2d(2, 3, kernel, padding=padding, dilation=dilation).double()
        with torch.no_grad():
            rows, _ = layer_rows(layer, x)
            F, D, W = masked.effective_weight(layer)
            assert layer.bias is not None
            assert torch.allclose(rows[""].inputs @ (F + D * W).T + layer.bias, rows[""].outputs)
        assert len(rows[""].inputs) > 500


def test_rows_are_a_bounded_sample_that_networks_share() -> None:
    x = pictures(300)[0]
    with torch.no_grad():
        rows, others = (layer_rows(cnn(seed), x)[0] for seed in (1, 2))
    assert all(300 <= len(part.inputs) <= 4096 + 300 for part in rows.values())
    assert torch.equal(rows["0.0"].inputs, others["0.0"].inputs)
    assert not torch.equal(rows["1"].inputs, others["1"].inputs)


@pytest.mark.parametrize("norm", [(), (nn.BatchNorm2d(4),), (nn.GroupNorm(1, 4), nn.AvgPool2d(1))])
def test_alignment_of_channels_keeps_the_function_and_undoes_a_permutation(norm: tuple[nn.Module, ...]) -> None:
    inputs, targets = pictures()
    first = cnn(1, *norm, kind="standard")
    for part in first.modules():  # as after training: channels are told apart by their normalization too
        if isinstance(part, (nn.BatchNorm2d, nn.GroupNorm)):
            part.weight.data = torch.tensor([0.5, 1.0, 1.5, 2.0], dtype=torch.float64)
        elif isinstance(part, (masked.MaskedConv2d, masked.MaskedLinear, nn.Linear)):
            part.weight.data *= 4
    second = copy.deepcopy(first)
    with torch.no_grad():
        convolution, following, linear = second[0][0], second[1], second[4]  # type: ignore[index]
        for layer, after, order in (
            (convolution, following, torch.tensor([2, 0, 3, 1])),
            (following, linear, torch.tensor([5, 3, 1, 0, 2, 4])),
        ):
            for tensor in (layer.weight, layer.bias):
                tensor.copy_(tensor[order])
            blocks = torch.arange(after.weight.shape[1]).reshape(len(order), -1)[order].flatten()
            after.weight.copy_(after.weight[:, blocks])
        for part in second[0]:  # type: ignore[union-attr, index]
            if isinstance(part, (nn.BatchNorm2d, nn.GroupNorm)):
                part.weight.copy_(part.weight[torch.tensor([2, 0, 3, 1])])
    assert torch.allclose(first(inputs), second(inputs))
    found = identification(first, second, inputs, targets, batch_norm="reestimate")
    assert not any(layer.activation_matching_identity for layer in found.layers[:2])
    assert found.layers[2].activation_matching_identity
    assert found.aligned is not None
    assert found.unaligned.value > 1e-3 > 1e-12 > abs(found.aligned.value)


def test_networks_that_permutations_do_not_cover_are_not_aligned() -> None:
    grouped = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Conv2d(4, 4, 3, groups=2), nn.Flatten(), nn.Linear(64, 3)).double()
    found = identification(grouped, grouped, *pictures())
    assert found.aligned is None
    assert found.left_out == {"1": "a convolution with groups=2"}


class Attention(nn.Module):
    """An attention layer that uses the weights of a layer that it never calls, and a layer that nothing uses."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Linear(8, 8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.unused = nn.Linear(2, 2)
        self.head = nn.Linear(64, 3)
        self.double()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h: torch.Tensor = self.embedding(x[:, 0])
        return self.head(self.attention(h, h, h)[0].flatten(1))  # type: ignore[no-any-return]


def test_layers_that_are_never_called_are_left_out_by_name() -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = Attention()
    found = identification(network, network, *pictures())
    assert [layer.name for layer in found.layers] == ["embedding"]
    assert found.left_out == dict.fromkeys(("attention.out_proj", "unused"), "the network does not call it")


def test_convolutions_with_other_fixed_weights_are_refused() -> None:
    with pytest.raises(InputError, match=r"0\.0\.fingerprint: .* different fixed weights or masks"):
        identification(cnn(1), cnn(2, fixed_seed=7), *pictures())
    with pytest.raises(InputError, match="different fixed weights or masks"):
        identification(cnn(1), cnn(2, kind="standard"), *pictures())
    with pytest.raises(InputError, match="in one of the networks only"):
        identification(cnn(1), cnn(2, nn.BatchNorm2d(4)), *pictures(), batch_norm="reestimate")


def test_batches_do_not_change_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = identification(cnn(1), cnn(2), *pictures())
    monkeypatch.setattr(identification_module, "_BATCH", 7)
    parts = identification(cnn(1), cnn(2), *pictures())
    assert np.allclose(whole.losses, parts.losses, rtol=1e-12)
    assert whole.predicted_bound == pytest.approx(parts.predicted_bound, rel=1e-12)


def test_dead_layers_are_named() -> None:
    network = mlp(1)
    with torch.no_grad():
        network[0].bias.fill_(-1e6)  # type: ignore[index]
    with pytest.raises(InputError, match="2: data: zero or constant"):
        identification(network, network, *problem())


def test_batch_norm_is_refused_or_estimated_anew() -> None:
    inputs, targets = problem()
    networks = []
    for seed in (1, 2):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            networks.append(nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Linear(5, 3)))
    with pytest.raises(InputError, match="BatchNorm"):
        identification(*networks, inputs, targets)
    found = identification(*networks, inputs, targets, batch_norm="reestimate")
    assert np.isfinite(found.losses).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x, y: (x[:, :5], y), "do not fit the model"),
        (lambda x, y: (x * math.nan, y), "NaN or infinity"),
        (lambda x, y: (x, y[:-1]), "one class"),
        (lambda x, y: (x, y + 1), "classes 1 to 3"),
    ],
)
def test_data_that_do_not_fit_are_named(change: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        identification(mlp(1), mlp(2), *change(*problem()))


# The command -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two runs of the example, trained for two epochs, and the folder of examples on the import path."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[1]))
        digits = import_module("examples.digits")
        _train(digits, folder)
        yield folder


def _train(digits: Any, folder: Path) -> None:
    for seed, name in ((1, "first"), (2, "second")):
        network = digits.train(digits.w_asymmetric(seed), seed, epochs=2)
        torch.save(network.state_dict(), folder / f"{name}.pt")
    torch.save(digits.standard(1).state_dict(), folder / "other.pt")
    inputs, targets = digits.data()
    np.savez(folder / "digits.npz", x=inputs[1400:].numpy(), y=targets[1400:].numpy())


def command(folder: Path, second: str, *options: str) -> int:
    paths = [str(folder / "first.pt"), str(folder / second)]
    data = str(folder / "digits.npz")
    return main(["identify", *paths, "--model", "examples.digits:w_asymmetric", "--data", data, *options])


def test_command_prints_json_with_the_keys_of_the_interface(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = command(runs, "second.pt", "--json")
    found = json.loads(capsys.readouterr().out)
    assert status == (0 if "merge without alignment:" in found["verdict"] else 1)
    assert found["schema"] == "lakatos/identify/1"
    keys = {"name", "neurons", "dimension", "coherence", "center_dominance", "margin", "identity_optimal"}
    assert [layer["neurons"] for layer in found["layers"]] == [64, 64]
    assert all(keys <= layer.keys() and len(layer["center_dominance"]) == 64 for layer in found["layers"])
    barrier = found["barrier"]
    assert set(barrier) == {"definition", "predicted_bound", "measured_unaligned", "measured_aligned"}
    assert barrier["measured_unaligned"] <= barrier["predicted_bound"]


def test_command_writes_a_page_with_a_map_for_each_layer(runs: Path, tmp_path: Path) -> None:
    page = tmp_path / "merge.html"
    command(runs, "second.pt", "--html", str(page))
    text = page.read_text("utf-8")
    assert text.count("<figure>") == 3  # the losses, and two maps
    assert text.count("<rect") == 2 * 64 * 64
    assert "default-src 'none'" in text  # nothing is loaded from elsewhere


def test_command_says_words_for_people(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command(runs, "first.pt")
    assert "These networks merge without alignment" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("second", "options", "message"),
    [
        ("other.pt", (), "different fixed weights"),
        ("missing.pt", (), "no such file"),
        ("second.pt", ("--support", "round"), "support='round'"),
        ("second.pt", ("--batch-norm", "ignore"), "batch_norm='ignore'"),
        ("second.pt", ("--points", "4"), "points=4"),
        ("second.pt", ("--explained", "2"), "explained=2.0"),
    ],
)
def test_bad_input_exits_with_two(
    runs: Path, capsys: pytest.CaptureFixture[str], second: str, options: tuple[str, ...], message: str
) -> None:
    assert command(runs, second, *options) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err


def test_data_file_without_classes_exits_with_two(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "data.npz"
    np.savez(path, x=np.zeros((3, 64)))
    paths = [str(runs / name) for name in ("first.pt", "second.pt")]
    assert main(["identify", *paths, "--model", "examples.digits:w_asymmetric", "--data", str(path)]) == 2
    assert "no array 'y'" in capsys.readouterr().err


FACTORY = """
import torch
from torch import nn
from lakatos.numerics.masked import asymmetric

def network(seed=0):
    torch.manual_seed(seed)
    parts = nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(108, 3)
    return asymmetric(nn.Sequential(*parts), "w_asymmetric", seed=0)
"""


@pytest.fixture
def convolutional(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two checkpoints of a convolutional network in a folder that is on the import path, and images to test on."""
    (tmp_path / "tiny_cnn_of_tests.py").write_text(FACTORY)
    monkeypatch.syspath_prepend(str(tmp_path))
    with torch.random.fork_rng(devices=[]):
        for seed, name in ((1, "first"), (2, "second")):
            torch.save(import_module("tiny_cnn_of_tests").network(seed).state_dict(), tmp_path / f"{name}.pt")
    pixels = torch.randint(256, (40, 8, 8), generator=torch.Generator().manual_seed(0)).byte().numpy().tobytes()
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(struct.pack(">4i", 0x803, 40, 8, 8) + pixels)
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(struct.pack(">2i", 0x801, 40) + bytes(i % 3 for i in range(40)))
    return tmp_path


def compare_convolutional(folder: Path, *options: str, data: str = ".") -> int:
    paths = [str(folder / name) for name in ("first.pt", "second.pt")]
    return main(["identify", *paths, "--model", "tiny_cnn_of_tests:network", "--data", str(folder / data), *options])


def test_command_compares_convolutional_networks_on_images(
    convolutional: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare_convolutional(convolutional) == 2
    assert "batch_norm='refuse'" in capsys.readouterr().err
    assert compare_convolutional(convolutional, "--batch-norm", "reestimate", "--json", "--samples", "30") in (0, 1)
    found = json.loads(capsys.readouterr().out)
    assert [layer["neurons"] for layer in found["layers"]] == [3]
    assert isinstance(found["barrier"]["measured_aligned"], float)
    assert found["left_out"] == {}


@pytest.mark.parametrize(("options", "message"), [(("--samples", "0"), "samples=0"), ((), "batch_norm")])
def test_bad_options_of_images_exit_with_two(
    convolutional: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], message: str
) -> None:
    assert compare_convolutional(convolutional, *options) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": np.zeros((3, 1, 7, 7)), "y": np.zeros(3, int)}, "do not fit the model"),
        ({"x": np.full((3, 1, 8, 8), np.nan), "y": np.zeros(3, int)}, "NaN or infinity"),
        ({"x": np.zeros((3, 1, 8, 8)), "y": np.zeros(3)}, "y has shape (3,) and type float64"),
        ({"x": np.zeros((3, 1, 8, 8)), "y": np.zeros(2, int)}, "y has shape (2,)"),
        ({"x": np.array(1.0), "y": np.array(1)}, "x has shape ()"),
        ({"x": np.array([["a"]]), "y": np.zeros(1, int)}, "x has shape (1, 1) and type <U1"),
        ({"x": np.eye(8)[None, None].repeat(3, 0), "y": np.array([0, 1, 9])}, "classes 0 to 9; the model has 3"),
    ],
)
def test_arrays_that_do_not_fit_exit_with_two(
    convolutional: Path, capsys: pytest.CaptureFixture[str], arrays: dict[str, Any], message: str
) -> None:
    np.savez(convolutional / "data.npz", **arrays)
    assert compare_convolutional(convolutional, "--batch-norm", "reestimate", data="data.npz") == 2
    assert message in capsys.readouterr().err


def test_pickles_and_damaged_archives_exit_with_two(convolutional: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(convolutional / "data.npz", x=np.array([{}], object), y=np.zeros(1, int))
    assert compare_convolutional(convolutional, "--batch-norm", "reestimate", data="data.npz") == 2
    assert "Python objects, which are not unpickled" in capsys.readouterr().err
    (convolutional / "data.npz").write_bytes(b"PK\x03\x04")
    assert compare_convolutional(convolutional, "--batch-norm", "reestimate", data="data.npz") == 2
    assert "not an .npz file" in capsys.readouterr().err


def test_correlations_of_constant_activations_are_zero() -> None:
    found = alignment.correlations(torch.tensor([[1.0, 2.0], [1.0, 4.0]]), torch.tensor([[0.0], [3.0]]))
    assert found.tolist() == [[0.0], [pytest.approx(1.0)]]
