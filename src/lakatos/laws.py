"""The conservation laws of a model: how many, which, and which a symmetry of the data adds."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .core import InputError
from .networks import is_factory, read_module, read_network

if TYPE_CHECKING:
    from ._checker_laws import Law
    from .theory.model_fields import GroupFields, ModelFields

__all__ = ["LawsAnswer", "Named", "is_named", "laws_of", "model_of", "parsed", "read_group"]

_SPECIFICATION = re.compile(r"([a-z-]+):([0-9]+(?:,[0-9]+)*)(\+b|\+output|\+eps)?")
_LOSSES = {"squared": "squared", "cross-entropy": "logits"}
_LOGITS = ("linear", "relu", "softmax-layer")
_INPUTS_AT = {"lightning": 0, "residual": 0, "attention": 1, "rope": 1}
"""Where the sizes of an architecture have the number of coordinates of an input, if not at the end."""

_SEARCHED = 30
"""Up to so many parameters laws of degree two are searched where the known ones do not settle the count."""


@dataclass(frozen=True)
class LawsAnswer:
    """What is known about the laws of a model.

    Parameters
    ----------
    parameters : int
        D.
    laws, plain_laws : int
        Under the symmetry and without it; upper bounds unless `certified`.
    at_least : int
        Lower bound of `laws`.
    exact : bool
        Whether the counts come from exact arithmetic, not from floating-point ranks.
    certified : bool
        Whether certificates from both sides settle them.
    formulas : tuple of str
        Independent laws that were proved.
    new : tuple of str
        Those among them that plain training does not have.
    tensors : tuple of str
        The classical laws as matrices.
    certificate : dict, optional
        Instance and certificate, for `lakatos check`.
    how : str
        How the counts were established.
    classical, of_loss, added : tuple of Law
        The formulas as fractions of polynomials: laws under any loss, of cross-entropy alone, and of the symmetry alone.
    names : tuple of str
        Of the parameters.
    """

    parameters: int
    loss: str
    group: str | None
    laws: int
    plain_laws: int
    at_least: int
    exact: bool
    certified: bool
    formulas: tuple[str, ...]
    new: tuple[str, ...]
    tensors: tuple[str, ...]
    how: str
    certificate: dict[str, Any] | None = None
    classical: tuple[Law, ...] = field(default=(), repr=False)
    of_loss: tuple[Law, ...] = field(default=(), repr=False)
    added: tuple[Law, ...] = field(default=(), repr=False)
    names: tuple[str, ...] = field(default=(), repr=False)

    def _repr_html_(self) -> str:
        from .notebook_laws import laws_html

        return laws_html(self)

    def _repr_latex_(self) -> str | None:
        from .notebook_laws import laws_latex

        return laws_latex(self)

    def to_json(self, seconds: float) -> dict[str, Any]:
        """Return the answer as the command line prints it."""
        return {
            "schema": "lakatos/laws/1",
            "parameters": self.parameters,
            "loss": self.loss,
            "group": self.group,
            "laws": self.laws,
            "plain_laws": self.plain_laws,
            "new_laws": self.laws - self.plain_laws,
            "at_least": self.at_least,
            "evidence": "exact" if self.exact else "numeric",
            "certified": self.certified,
            "formulas": list(self.formulas),
            "new_formulas": list(self.new),
            "tensors": list(self.tensors),
            "how": self.how,
            "seconds": seconds,
        }


def laws_of(
    source: str,
    *,
    loss: str = "squared",
    group: str | None = None,
    natural_labels: bool = False,
    degree: int | None = None,
    input_shape: Sequence[int] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    seed: int = 0,
) -> LawsAnswer:
    """Return the laws of a model.

    Parameters
    ----------
    source : str
        An architecture by name and sizes, such as ``linear:3,2,4`` (widths from the output to the input), ``relu:3,5,3+b``,
        ``attention:2,3`` or ``lightning:5,1,1+output``; the file of a network, taken as a ReLU net; or
        ``package.module:factory`` for a PyTorch module, whose laws are counted in floating point.
    loss : str
        ``squared`` or ``cross-entropy`` (on logits).
    group : str, optional
        Symmetry of the data: a name such as ``C3``, ``S4``, ``Q8``, ``O(4)``, or a TOML file with orthogonal generators.
    natural_labels : bool
        Labels transform by one copy of the natural representation of the group instead of staying invariant.
    degree : int, optional
        Polynomial laws are searched up to this degree where known ones do not settle the count; by default 2 for up to 30
        parameters.
    input_shape : sequence of int, optional
        Of one input of a PyTorch module; by default that of its first linear layer.
    checkpoint : path, optional
        A state dict to load into a PyTorch module.
    seed : int
        Of the random weights and data at which ranks are computed in floating point.

    Raises
    ------
    InputError
        For anything that is no model, no loss or no group, or does not fit together.
    Undecided
        If a floating-point rank is not clear.
    """
    if loss not in _LOSSES:
        raise InputError(f"loss={loss!r}: choose one of {', '.join(_LOSSES)}")
    if degree is not None and not 0 <= degree <= 6:
        raise InputError(f"degree={degree!r}: a degree from 0 (no search) to 6 is needed")
    if group is not None and loss != "squared":
        raise InputError(
            f"loss={loss!r}: averages over a group are taken of the squared loss; leave out one of the two"
        )
    if is_factory(source) and not is_named(source):
        from .laws_numeric import numeric_laws

        module = read_module(source, checkpoint=checkpoint)
        return numeric_laws(module, source, loss, group, natural_labels, input_shape, seed)
    if is_named(source):
        name = parsed(source)
        if "norm" in name.architecture.split("-"):
            from .laws_normalized import normalized_laws

            return normalized_laws(source, name.architecture, name.sizes, name.suffix, loss, group, seed)
        if name.architecture == "softmax-layer":
            loss = "cross-entropy"  # it has no other
    model, names, extra = model_of(source, loss=loss, group=group, natural_labels=natural_labels)
    shared = None if loss == "squared" else _under_squared_loss(source, model)
    if model.architecture == "lightning" and model.group is not None and model.group.trivial:
        from .laws_numeric import in_context_laws

        return in_context_laws(
            _exact(replace(model, group=None), names, extra, loss, None, degree, seed), model, group, seed
        )
    if model.group is not None and not model.is_averaged_exactly:
        from .laws_numeric import averaged_laws

        plain = _exact(replace(model, group=None), names, extra, loss, None, degree, seed)
        return averaged_laws(plain, model, group, seed)
    return _exact(model, names, extra, loss, group, degree, seed, shared)


class Named(NamedTuple):
    """An architecture as users write it."""

    architecture: str
    sizes: tuple[int, ...]
    suffix: str | None


def is_named(source: str) -> bool:
    """Return whether `source` is an architecture by name and sizes.

    Examples
    --------
    >>> is_named("relu:3,5,3+b"), is_named("models:build")
    (True, False)
    """
    return _SPECIFICATION.fullmatch(source) is not None


def parsed(source: str) -> Named:
    """Return the parts of an architecture by name and sizes."""
    match = _SPECIFICATION.fullmatch(source)
    assert match is not None
    return Named(match[1], tuple(map(int, match[2].split(","))), match[3])


def model_of(
    source: str, *, loss: str = "squared", group: str | None = None, natural_labels: bool = False
) -> tuple[ModelFields, list[str] | None, list[Law]]:
    """Return the exact model that `source` names, readable names of its parameters, and candidates for its laws.

    Raises
    ------
    InputError
        If there is no such model.
    """
    from .theory.model_fields import ModelFields

    if not is_named(source):
        if group is not None:
            raise InputError(
                f"group={group!r}: symmetries are taken for architectures given by name, such as linear:1,2,3"
            )
        from .laws_graphs import graph_model

        return graph_model(read_network(source), logits=loss == "cross-entropy")
    architecture, sizes, suffix = parsed(source)
    _require_fitting(source, architecture, sizes, suffix, loss)
    model = ModelFields(
        architecture=architecture,
        sizes=sizes,
        bias=suffix == "+b",
        output_map=suffix == "+output",
        loss="squared" if architecture == "softmax-layer" else _LOSSES[loss],
    )
    if group is not None:
        inputs = sizes[_INPUTS_AT.get(architecture, -1)]
        model = replace(model, group=read_group(group, inputs, natural_labels))
    return model, None, []


def _require_fitting(source: str, architecture: str, sizes: Sequence[int], suffix: str | None, loss: str) -> None:
    suffixes = {"relu": "+b", "lightning": "+output"}
    if suffix is not None and suffixes.get(architecture) != suffix:
        raise InputError(
            f"{source}: {architecture} takes no {suffix!r}; +b is for relu, +output for lightning, +eps for normalizations"
        )
    if loss == "cross-entropy":
        if architecture not in _LOGITS:
            raise InputError(
                f"loss={loss!r}: laws of cross-entropy are counted for {', '.join(_LOGITS)}, network files and modules, "
                f"not for {architecture}"
            )
        if sizes[0] < 2:
            raise InputError(
                f"loss={loss!r}: is constant for one output, and {source} has one; use two or more, or the squared loss"
            )


def _under_squared_loss(source: str, model: ModelFields) -> ModelFields:
    """The same network with the loss that sees every output."""
    if model.architecture is None:
        return model_of(source)[0]
    return replace(model, architecture="relu" if model.architecture == "relu" else "linear", loss="squared")


def read_group(text: str, inputs: int, natural_labels: bool) -> GroupFields:
    """Return the group called `text`, or the one in that TOML file, acting on inputs of dimension `inputs`.

    Raises
    ------
    InputError
        If there is no such group, or it acts on another dimension.
    """
    from .conversion import build_instance
    from .theory.model_fields import GroupFields

    if Path(text).suffix == ".toml":
        try:
            fields = tomllib.loads(Path(text).read_text("utf-8"), parse_float=str)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InputError(f"group={text!r}: cannot be read ({error})") from None
        try:
            found = build_instance(GroupFields, fields)
        except InputError as error:
            raise InputError(f"{text}: {error}") from None
    else:
        found = GroupFields(name=text, natural_labels=natural_labels)
        natural = found.action(1).inputs
        if inputs % natural:
            raise InputError(
                f"group={text!r}: acts on {natural} coordinates, but there are {inputs} inputs; use a multiple"
            )
        found = replace(found, copies=inputs // natural)
    acts_on = found.action(1).inputs
    if acts_on != inputs:
        raise InputError(f"group={text!r}: acts on {acts_on} coordinates, but there are {inputs} inputs")
    return found


def _exact(
    model: ModelFields,
    names: list[str] | None,
    extra: list[Law],
    loss: str,
    group: str | None,
    degree: int | None,
    seed: int,
    shared: ModelFields | None = None,
) -> LawsAnswer:
    from ._checker_laws import broken_by, components
    from .theory.law_count import law_count, law_text, model_systems

    if degree is None:
        degree = 2 if model_systems(model.plain)["plain"].dimension <= _SEARCHED else 0
    count = law_count(model.plain, extra=extra, degree=degree, seed=seed)
    main = count.main
    names = names or list(main.system.names)
    plain_texts = {law_text(law, names) for law in count.plain.laws}
    formulas = tuple(law_text(law, names) for law in main.laws)
    certified = main.count is not None and count.plain.count is not None
    how = "brackets independent modulo a prime, and as many laws proved as identities of polynomials"
    if not certified:
        how = f"between {main.at_least} and {main.at_most} laws: the rest may be laws that are not polynomial, or none"
        if not degree:
            how += "; none were searched, see --degree"
    everywhere = model_systems(shared.plain)["plain"].fields if shared is not None else ()
    index = components(everywhere)
    held = [law for law in count.plain.laws if broken_by(law, everywhere, index) is None]
    return LawsAnswer(
        parameters=main.system.dimension,
        loss=loss,
        group=group,
        laws=main.at_most,
        plain_laws=count.plain.at_most,
        at_least=main.at_least,
        exact=True,
        certified=certified,
        formulas=formulas,
        new=tuple(text for text in formulas if text not in plain_texts) if count.averaged else (),
        tensors=_tensors(model),
        how=how,
        certificate={"fields": model.plain, "certificate": count.certificate.to_json()},
        names=tuple(names),
        classical=tuple(held),
        of_loss=tuple(law for law in count.plain.laws if law not in held),
        added=tuple(law for law in main.laws if law_text(law, names) not in plain_texts) if count.averaged else (),
    )


def _tensors(model: ModelFields) -> tuple[str, ...]:
    """The classical laws of an architecture as matrices in the names of its parameters."""
    depth = len(model.sizes) - 1
    diagonal = "diag " if model.architecture == "relu" else ""
    found: list[str] = []
    if model.architecture in ("linear", "relu"):
        bias = [f" - b{i} b{i}^T" if model.bias else "" for i in range(1, depth)]
        found = [f"{diagonal}(W{i}^T W{i} - W{i + 1} W{i + 1}^T{bias[i - 1]})" for i in range(1, depth)]
    if model.loss == "logits" or model.architecture == "softmax-layer":
        found.append("1^T W1")
    fixed = {
        "attention": ("Q Q^T - K K^T (each head)", "V V^T - O O^T (each head)"),
        "lightning": ("Q^T Q - K^T K", "|Q|^2 - |V|^2", *(("V^T V - O^T O",) if model.output_map else ())),
        "convolution": ("|u_j|^2 - |v_j|^2 for every channel j",),
        "swiglu": ("|A_:,i|^2 - |C_i,:|^2 for every unit i",),
        "product": ("x_i^2 - x_(i+1)^2",),
        "residual": ("diag (Ui^T Ui - Vi Vi^T) for every block i",),
        "rope": ("|Q_j|^2 - |K_j|^2 for every pair of rows j", "V V^T - O O^T"),
        "gated-experts": ("1^T G",),
        "power": ("m a_j^2 - |w_j|^2 for every unit j",),
    }
    return (*found, *fixed.get(model.architecture or "", ()))
