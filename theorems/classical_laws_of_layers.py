"""The laws of a layer are known in closed form: balances of adjacent matrices, of units, of heads, of channels.

Hypotheses
----------
The units of ReLU nets have distinct hyperplanes and every path is active for some inputs.
Gradient flow of a loss that sees the parameters in the form listed, on all data sets; generic parameters; a net of
linear layers does not have a single input and a single output.

Statement
---------
With L(s, r) = t(2r + 1 − t)/2, t = min(s, r), the number of laws is, by architecture (widths from the output to the
input): linear Σ over hidden widths of L(sum of the neighboring widths, width); on logits the same with one output
less, plus the first hidden width; ReLU with or without biases one per hidden unit, and on logits the last hidden
width more; convolution with ReLU one per hidden channel; softmax attention 2 L(2 dim, d₁/heads) per head; lightning
attention L(2d, a) + 1; SwiGLU one per unit; a softmax layer one per input; a product of q numbers q − 1; residual
ReLU blocks one per hidden unit; attention with rotary positions one per pair of rows and L(2 dim, d₁); experts
behind a softmax gate one per input. A skip connection and a causal mask change nothing.

Proof idea
----------
UᵀU − VᵀV is the momentum map of U ↦ UR, V ↦ VR⁻ᵀ, which the product UVᵀ does not see; other products alike. Its
independent entries number L(s, r). Completeness is by count: brackets reach all other directions.

Source
------
Marcotte, Gribonval, Peyré (2023) and (2025); the sum over deep nets and its completeness are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..core import Hypothesis, Measurement, Prediction, Provenance, Source, Variant
from ..theory.model_fields import ModelFields
from ._laws_of_models import claimed, measured_laws

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "conservation"
IDS = ("CL15",)
SOURCE = Source(("marcotte2023", "marcotte2025"), Provenance.PAPER, "deep linear nets and completeness are ours")

Instance = ModelFields


def hypotheses(instance: ModelFields) -> tuple[Hypothesis, ...]:
    listed = instance.architecture in FORMULAS and not instance.output_map
    sizes = instance.sizes
    scalar = instance.architecture == "linear" and len(sizes) > 3 and sizes[0] == sizes[-1] == 1
    return (
        Hypothesis("gradient flow", instance.dynamics == "flow", f"dynamics = {instance.dynamics}"),
        Hypothesis("all data sets are allowed", instance.group is None, f"group = {instance.group}"),
        Hypothesis("the form of the layer is listed", listed, f"architecture = {instance.architecture}"),
        Hypothesis("ReLU units have distinct hyperplanes", _distinct_hyperplanes(instance), f"sizes = {list(sizes)}"),
        Hypothesis("not a single field", not scalar, f"sizes = {list(sizes)}"),
    )


def _distinct_hyperplanes(instance: ModelFields) -> bool:
    """Without bias, all units that see a single input switch at 0, and then act like linear ones."""
    if instance.architecture == "residual":
        return instance.sizes[0] > 1
    return instance.architecture != "relu" or instance.bias or instance.sizes[-1] > 1


def predict(instance: ModelFields) -> Prediction:
    return claimed(instance, {"laws": _formula(instance)})


def measure(instance: ModelFields, seed: int, device: str) -> Measurement:
    """Rank of brackets of sample gradients of the network itself, in floating point."""
    return measured_laws(instance, seed)


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    layered = st.fixed_dictionaries(
        {
            "architecture": st.sampled_from(["linear", "relu"]),
            "sizes": st.tuples(st.integers(2, 3), st.integers(1, 3), st.integers(2, 3)).map(list),
            "loss": st.sampled_from(["squared", "logits"]),
        }
    )
    attention = st.fixed_dictionaries(
        {"architecture": st.just("attention"), "sizes": st.tuples(st.integers(1, 3), st.integers(2, 3)).map(list)}
    )
    return st.one_of(layered, attention)


def _scalar_ends() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    return st.builds(
        lambda a, b: {"architecture": "linear", "sizes": [1, a, b, 1]}, st.integers(1, 3), st.integers(1, 3)
    )


def independent_entries(s: int, r: int) -> int:
    """Return L(s, r), the dimension of the space of symmetric r × r matrices of rank at most s."""
    t = min(s, r)
    return t * (2 * r + 1 - t) // 2


def _linear(sizes: Sequence[int], logits: bool) -> int:
    widths = (sizes[0] - logits, *sizes[1:])
    triples = zip(widths, widths[1:], widths[2:], strict=False)
    return sum(independent_entries(before + after, r) for before, r, after in triples) + logits * sizes[1]


def _relu(sizes: Sequence[int], logits: bool) -> int:
    return sum(sizes[1:-1]) + logits * sizes[1]


def _attention(sizes: Sequence[int], logits: bool) -> int:
    rows, columns, heads = (*sizes, 1)[:3]
    return 2 * heads * independent_entries(2 * columns, rows // heads)


FORMULAS: dict[str, Callable[[Sequence[int], bool], int]] = {
    "linear": _linear,
    "relu": _relu,
    "convolution": lambda sizes, logits: sizes[1],
    "attention": _attention,
    "lightning": lambda sizes, logits: independent_entries(2 * sizes[0], sizes[1]) + 1,
    "swiglu": lambda sizes, logits: sizes[1],
    "softmax-layer": lambda sizes, logits: sizes[1],
    "product": lambda sizes, logits: sizes[0] - 1,
    "residual": lambda sizes, logits: sum(sizes[1:]),
    "rope": lambda sizes, logits: sizes[0] // 2 + independent_entries(2 * sizes[1], sizes[0]),
    "gated-experts": lambda sizes, logits: sizes[2],
}


def _formula(instance: ModelFields) -> int:
    assert instance.architecture is not None
    return FORMULAS[instance.architecture](instance.sizes, instance.loss == "logits")


def _all_entries(instance: ModelFields) -> Prediction:
    """r(r + 1)/2 entries of every balance, independent or not."""
    return claimed(instance, {"laws": sum(r * (r + 1) // 2 for r in instance.sizes[1:-1])})


def _loss_ignored(instance: ModelFields) -> Prediction:
    assert instance.architecture is not None
    return claimed(instance, {"laws": FORMULAS[instance.architecture](instance.sizes, False)})


def _transposed(instance: ModelFields) -> Prediction:
    """QᵀQ − KᵀK for φ = QᵀK: rows and columns exchanged."""
    rows, columns, *heads = instance.sizes
    return claimed(instance, {"laws": _attention((columns, rows, *heads), False)})


def _single_field_too(instance: ModelFields) -> tuple[Hypothesis, ...]:
    return hypotheses(instance)[:-1]


VARIANTS = {
    "every_entry_independent": Variant(
        "all r(r + 1)/2 entries of a balance are independent laws",
        predict=_all_entries,
        examples=({"architecture": "linear", "sizes": [1, 4, 2]},),
    ),
    "logits_like_outputs": Variant(
        "cross-entropy on logits has the laws of the squared loss",
        predict=_loss_ignored,
        examples=({"architecture": "linear", "sizes": [3, 2, 2], "loss": "logits"},),
    ),
    "wrong_transpose": Variant(
        "QᵀQ − KᵀK for blocks in ℝ^{d₁ × dim}",
        predict=_transposed,
        examples=({"architecture": "attention", "sizes": [2, 3]},),
    ),
    "scalar_ends_alike": Variant(
        "also for a deep linear net from one input to one output",
        hypotheses=_single_field_too,
        instances=_scalar_ends,
        examples=({"architecture": "linear", "sizes": [1, 2, 2, 1]},),
    ),
}
