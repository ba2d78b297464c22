"""Models that others made: ours in ``examples``, transformers at random, and trained files that packages ship."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from autograd import laws, random_loss
from torch import nn

from lakatos import connectivity
from lakatos.cli import main
from lakatos.graphs.models import ModelNetwork
from lakatos.network_onnx import network_from_onnx
from lakatos.numerics.modules import network_of

# Exact identities leave less than this, relative to their summands, in double precision (wrong laws leave above 1e-3).
EXACT = 1e-12


@pytest.fixture(autouse=True)
def _examples_are_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[1])


def example(place: str) -> nn.Module:
    name, _, factory = place.partition(":")
    module: nn.Module = getattr(import_module(f"examples.{name}"), factory)()
    return module


@pytest.mark.parametrize(("place", "hidden"), [("vit:model", 832), ("vit:relu", 1344)])
def test_vision_transformer_obeys_its_laws(place: str, hidden: int) -> None:
    module = example(place).double()
    network = network_of(module, x := torch.randn(2, 3, 32, 32, dtype=torch.float64))
    # Per block: the features behind both normalizations and the values, with ReLU also its neurons; then the last norm.
    assert len(network.hidden_nodes) == hidden == 4 * (3 * 64 + (128 if "relu" in place else 0)) + 64
    assert laws(module, network, random_loss(module, x)).relative <= EXACT


@pytest.mark.slow
@pytest.mark.parametrize(("place", "hidden"), [("resnet18:model", 2880), ("resnet18:evaluated", 7680)])
def test_resnet18_obeys_its_laws(place: str, hidden: int) -> None:
    module = example(place).double()
    network = network_of(module, x := torch.randn(4, 3, 64, 64, dtype=torch.float64))
    assert network.edge_count == sum(parameter.numel() for parameter in module.parameters()) == 11_689_512
    assert len(network.hidden_nodes) == hidden
    assert network.parameter(9408 + 128 + 5) == "layer1.0.conv1.weight[0, 0, 1, 2]"
    assert laws(module, network, random_loss(module, x)).relative <= EXACT


@pytest.mark.slow
def test_resnet18_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["connectivity", "examples.resnet18:model", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["edges"], data["hidden"], data["connected"]) == (11_689_512, 2880, True)
    assert any("normalization with ε > 0" in notice for notice in data["notices"])


def tiny(name: str) -> tuple[nn.Module, dict[str, torch.Tensor]]:
    """Return a model of transformers with random weights and what to call it with."""
    transformers = pytest.importorskip("transformers")
    small = {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 24,
        "vocab_size": 50,
    }
    make: dict[str, Callable[[], Any]] = {
        "Bert": lambda: transformers.BertModel(transformers.BertConfig(**small)),
        "GPT2": lambda: transformers.GPT2LMHeadModel(
            transformers.GPT2Config(n_embd=16, n_layer=2, n_head=4, vocab_size=50, n_positions=32)
        ),
        "Llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(**small, num_key_value_heads=2)),
    }
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        # What a third party says about its own future is not what is tested.
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        module = make[name]()
    module.config.use_cache = False
    return module.double().eval(), {"input_ids": torch.arange(12).reshape(2, 6)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        # Normalizations come after the sums, so that what they scale is added to terminals: the values alone are left.
        ("Bert", 2 * 16),
        # Two normalizations and the values; the last normalization is read by the embedding, which is tied.
        ("GPT2", 2 * (16 + 16 + 16)),
        # Two normalizations, the values of two heads, the ungated half of the MLP; the last normalization.
        ("Llama", 2 * (16 + 8 + 16 + 24) + 16),
    ],
)
def test_transformers_obey_their_laws(name: str, hidden: int) -> None:
    module, inputs = tiny(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = network_of(module, inputs)
        outputs = module(**inputs).values()
    loss = sum(((part - 1) ** 2).mean() for part in outputs)
    assert laws(module, network, loss).relative <= EXACT
    assert len(network.hidden_nodes) == hidden


SHIPPED = [
    ("magika", "model.onnx", 513),
    ("rapidocr-onnxruntime", "ch_PP-OCRv4_det_infer.onnx", 952),
    ("rapidocr-onnxruntime", "ch_PP-OCRv4_rec_infer.onnx", 1036),
    ("rapidocr-onnxruntime", "ch_ppocr_mobile_v2.0_cls_infer.onnx", 394),
    ("silero-vad", "silero_vad_16k_op15.onnx", 256),
]


@pytest.mark.slow
@pytest.mark.parametrize(("package", "name", "hidden"), SHIPPED)
def test_trained_files_of_packages(package: str, name: str, hidden: int) -> None:
    found = []
    with contextlib.suppress(PackageNotFoundError):
        found = [Path(str(item.locate())) for item in files(package) or [] if item.name == name]
    if not found:
        pytest.skip(f"the package {package} is not installed")
    network = network_from_onnx(found[0])
    assert isinstance(network, ModelNetwork)
    assert len(network.hidden_nodes) == hidden
    assert np.isfinite(network.weights).all()
    result = connectivity(network)
    assert result.feasible
