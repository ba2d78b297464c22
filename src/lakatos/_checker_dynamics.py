"""From the fields of an instance to the vector fields its training follows (standard library only).

Fields that describe a model::

    architecture, sizes, bias, loss, heads     a key of `ARCHITECTURES` or `NETWORKS`; loss is squared or logits
    parameters, potentials                     or any polynomials whose gradients span those of the loss
    dynamics                                   flow (default), momentum or mirror
    group                                      a symmetry of the data: a name, or exact orthogonal generators
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lakatos._checker_architectures import Malformed, Parameters, lift, matmul, transposed
from lakatos._checker_averages import NETWORKS, lightning_potentials, network_potentials
from lakatos._checker_groups import Action, Square, action
from lakatos._checker_polynomials import Polynomial, VectorField, gradient, multiplied, scaled, variable
from lakatos._checker_reading import Invalid, number
from lakatos._checker_text import read_polynomial

__all__ = ["MODEL_KEYS", "System", "group_action", "is_orthogonal", "systems"]

MODEL_KEYS = frozenset(
    {"architecture", "sizes", "bias", "loss", "parameters", "potentials", "dynamics", "group", "output_map"}
)
_GROUP_KEYS = frozenset({"name", "copies", "trivial", "tensor", "natural_labels", "inputs", "labels"})

_NEUTRAL = {"copies": 1, "trivial": 0, "tensor": 1, "natural_labels": False}


@dataclass(frozen=True)
class System:
    """Vector fields on the space of `names`; `potentials` are given where all fields are gradients."""

    names: tuple[str, ...]
    fields: tuple[VectorField, ...]
    potentials: tuple[Polynomial, ...] = ()

    @property
    def dimension(self) -> int:
        """Dimension of the space."""
        return len(self.names)


def systems(fields: Mapping[str, Any]) -> dict[str, System]:
    """Return the systems of an instance: ``plain``, and ``averaged`` if it has a group.

    Raises
    ------
    Malformed
        If the fields do not describe a model.
    """
    dynamics = fields.get("dynamics", "flow")
    names, potentials = _plain(fields)
    if dynamics != "flow":
        if fields.get("group") is not None:
            raise Malformed("group: averages are taken for dynamics='flow' only")
        return {"plain": _other_dynamics(dynamics, names, potentials)}
    found = {"plain": _gradient_system(names, potentials)}
    if fields.get("group") is not None:
        found["averaged"] = _gradient_system(names, _averaged(fields))
    return found


def group_action(fields: Mapping[str, Any], labels: int) -> Action:
    """Return the group of an instance with labels of dimension `labels`.

    Raises
    ------
    Malformed
        If it is not a known name and no list of orthogonal matrices.
    """
    group = fields["group"]
    if not isinstance(group, Mapping) or set(group) - _GROUP_KEYS:
        raise Malformed(f"group: an object with keys among {', '.join(sorted(_GROUP_KEYS))} is needed")
    try:
        if group.get("name") is not None:
            return action(
                group["name"],
                copies=group.get("copies", 1),
                trivial=group.get("trivial", 0),
                tensor=group.get("tensor", 1),
                labels=labels,
                natural_labels=group.get("natural_labels", False),
            )
        inputs = [_matrix(m, f"group.inputs[{i}]") for i, m in enumerate(group["inputs"])]
        if group.get("labels") is None:
            one = tuple(tuple(int(i == j) for j in range(labels)) for i in range(labels))
            return Action(tuple((x, one) for x in inputs))
        on_labels = [_matrix(m, f"group.labels[{i}]") for i, m in enumerate(group["labels"])]
        if len(on_labels) != len(inputs):
            raise Malformed(
                f"group.labels: {len(on_labels)} matrices for {len(inputs)} generators on inputs; give one for each"
            )
        return Action(tuple(zip(inputs, on_labels, strict=True)))
    except Malformed:
        raise
    except (ValueError, TypeError, KeyError, IndexError, Invalid) as error:
        raise Malformed(f"group: {error}") from error


def is_orthogonal(group: Any) -> bool:
    """Return whether a group is O(d) or SO(d), whose averages are integrals rather than sums."""
    return str(group.get("name")).startswith(("O(", "SO("))


def _plain(fields: Mapping[str, Any]) -> tuple[list[str], list[Polynomial]]:
    architecture = fields.get("architecture")
    if architecture is None:
        names = list(fields.get("parameters") or ())
        if not names or len(set(names)) < len(names):
            raise Malformed("parameters: distinct names are needed where no architecture is given")
        return names, [read_polynomial(text, names) for text in fields.get("potentials") or ()]
    if fields.get("parameters") or fields.get("potentials"):
        raise Malformed("parameters, potentials: only where no architecture is given")
    sizes = [int(n) for n in fields.get("sizes") or ()]
    if architecture == "power":
        if len(sizes) != 3 or min(sizes) < 1 or sizes[0] > 4 or max(sizes) > 12:
            raise Malformed(f"sizes={sizes!r}: power takes (exponent <= 4, units, inputs)")
        parameters, potentials = network_potentials("power", sizes, None)
        return parameters.names, potentials
    if architecture == "lightning" and fields.get("output_map"):
        parameters, potentials = _lightning_with_output(sizes)
    else:
        logits = fields.get("loss", "squared") == "logits"
        parameters, potentials = lift(architecture, sizes, bias=bool(fields.get("bias", False)), logits=logits)
    return parameters.names, [p for p in potentials if p]


def _averaged(fields: Mapping[str, Any]) -> list[Polynomial]:
    architecture, sizes, group = fields.get("architecture"), list(fields.get("sizes") or ()), fields["group"]
    if fields.get("loss", "squared") != "squared":
        raise Malformed(f"loss={fields.get('loss')!r}: averages are taken of the squared loss")
    if architecture == "lightning":
        neutral = all(group.get(key) in (None, value) for key, value in _NEUTRAL.items())
        special = group.get("name") == f"SO({sizes[0]})" and not (fields.get("output_map") and sizes[0] == 2)
        if not neutral or not (special or group.get("name") == f"O({sizes[0]})"):
            raise Malformed(f"group: lightning attention is averaged over O({sizes[0]}) or SO({sizes[0]}) here")
        return lightning_potentials(sizes, output=bool(fields.get("output_map")))[1]
    if architecture not in NETWORKS:
        averages = ", ".join([*NETWORKS, "lightning"])
        raise Malformed(f"architecture={architecture!r}: averages are known for {averages}")
    act = group_action(fields, sizes[0] if architecture == "linear" else 1)
    if is_orthogonal(group):
        if any(group.get(key) not in (None, neutral) for key, neutral in _NEUTRAL.items()):
            raise Malformed(
                "group: averages over O(d) are taken on one copy of its natural representation, labels invariant"
            )
        return network_potentials(architecture, sizes, None, orthogonal=True)[1]
    return network_potentials(architecture, sizes, act)[1]


def _lightning_with_output(sizes: Sequence[int]) -> tuple[Parameters, list[Polynomial]]:
    d, a, c = sizes
    parameters = Parameters()
    q, k = parameters.matrix("Q", d, a), parameters.matrix("K", d, a)
    v, o = parameters.matrix("V", d, c), parameters.matrix("O", d, c)
    qk, vo = matmul(q, transposed(k)), matmul(v, transposed(o))
    lifted = []
    for i in range(d):
        for j in range(d):
            for e in range(j, d):
                for out in range(d):
                    p, r = multiplied(qk[i][j], vo[e][out]), multiplied(qk[i][e], vo[j][out])
                    lifted.append({m: p.get(m, 0) + r.get(m, 0) for m in {**p, **r}})
    return parameters, lifted


def _gradient_system(names: Sequence[str], potentials: Sequence[Polynomial]) -> System:
    return System(tuple(names), tuple(gradient(p) for p in potentials), tuple(potentials))


def _other_dynamics(dynamics: str, names: Sequence[str], potentials: Sequence[Polynomial]) -> System:
    """Momentum moves (s, θ, v), s = e^{τt}, along (s, v, −v), τ = 1, plus forces on v; mirror flow scales gradients by θ."""
    d = len(names)
    if dynamics == "mirror":
        scaled_fields = tuple({i: multiplied(variable(i), s) for i, s in gradient(p).items()} for p in potentials)
        return System(tuple(names), scaled_fields)
    if dynamics != "momentum":
        raise Malformed(f"dynamics={dynamics!r}: choose flow, momentum or mirror")
    drift: VectorField = {0: {(0,): 1}}
    for i in range(d):
        drift[1 + i] = variable(1 + d + i)
        drift[1 + d + i] = scaled(variable(1 + d + i), -1)
    forces = []
    for p in potentials:
        shifted: Polynomial = {tuple(i + 1 for i in m): c for m, c in p.items()}
        forces.append({d + i: s for i, s in gradient(shifted).items()})
    return System(("exp(t)", *names, *(f"d{name}/dt" for name in names)), (drift, *forces))


def _matrix(rows: Any, where: str) -> Square:
    return tuple(
        tuple(number(entry, f"{where}[{i}][{j}]") for j, entry in enumerate(row)) for i, row in enumerate(rows)
    )
