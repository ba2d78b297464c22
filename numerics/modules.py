"""The network graph of a PyTorch module: its trace, read operation by operation.

`torch.export` turns the module into a list of ATen operations; each has a rule (`module_rules`) that says which of the
numbers it computes are rescaled together. The classes of these are the neurons, every scalar weight between them is an
edge, and a bias is an edge from a terminal.
"""

from __future__ import annotations

import io
import logging
import operator
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import fx, nn
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, InputSpec

from ..core import InputError
from ..graphs.models import ModelNetwork
from ..graphs.scale_network import model_network
from ..graphs.scales import Parameter, Scales, Value, constant
from .module_calls import Call, is_value, like_result, values_in
from .module_inputs import Example, examples_of
from .module_rules import RULES

__all__ = ["network_of"]

_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def network_of(module: nn.Module, inputs: Any = None, *, vanishing_epsilon: bool = False) -> ModelNetwork:
    """Return the network of `module`, with its current weights, in its current mode (training or evaluation).

    Nodes are classes of numbers that are rescaled together: units of a layer, channels of a convolution, and whatever a skip
    connection joins. They are called ``x0…`` (inputs), ``y0…`` (outputs), and ``path.k`` after the module that computes them,
    or ``h1.k``, ``h2.k``, … in an unnamed sequence of layers; bias sources ``path.bias`` or ``b1``, …. Edges are the entries
    of the parameters, in row-major order. Weights keep their exact (dyadic) value, and `Network.rounding` is that of the
    coarsest dtype among the parameters.

    Operations that are not positively homogeneous become terminals; `notices` says which and what that means. Parameters
    with ``requires_grad=False`` are constants, which contract what they connect. A parameter that is used twice is one edge,
    so the ends of its uses are joined.

    Parameters
    ----------
    inputs : tensor, tuple or mapping, optional
        Example arguments; see `examples_of` for what is done without.
    vanishing_epsilon : bool
        Treat the ε of normalizations as 0, which keeps the laws that hold in that limit.

    Raises
    ------
    InputError
        Naming the module path: an operation that is not supported, a module that cannot be traced, missing or non-finite
        weights.

    Examples
    --------
    >>> network = network_of(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)))
    >>> network, network.describe_edge(3)
    (Network(nodes=8, edges=13, hidden=3), 'x1→h1.1 (0.weight[1, 1])')
    """
    if not isinstance(module, nn.Module):
        raise InputError(f"module={module!r}: a torch.nn.Module is needed, got {type(module).__name__}")
    _require_weights(module)
    _require_whole_sharing(module)
    program = _functional(_traced(module, inputs))
    scales = Scales(vanishing_epsilon=vanishing_epsilon)
    return model_network(scales, _outputs(program, scales, module))


def _require_weights(module: nn.Module) -> None:
    for name, parameter in module.named_parameters():
        if parameter.is_meta or parameter.dtype not in _DTYPES:
            kinds = ", ".join(str(dtype) for dtype in _DTYPES)
            raise InputError(
                f"{name}: {parameter.dtype} on device {parameter.device}; weights have to be {kinds}, in memory"
            )


def _require_whole_sharing(module: nn.Module) -> None:
    """Refuse parameters that overlap in memory without being the same: their entries have no common index."""
    full = {name: parameter for name, parameter in module.named_parameters() if parameter.numel()}
    by_address = sorted(full, key=lambda name: full[name].data_ptr())
    for first, second in pairwise(by_address):
        one, other = full[first], full[second]
        reach = sum((size - 1) * stride for size, stride in zip(one.shape, one.stride(), strict=True)) + 1
        if (
            one.device == other.device
            and other.data_ptr() < one.data_ptr() + reach * one.element_size()
            and _place_in_memory(one) != _place_in_memory(other)
        ):
            raise InputError(
                f"{second}: shares part of its memory with {first}; share the whole parameter or none of it"
            )


def _place_in_memory(parameter: nn.Parameter) -> tuple[Any, ...]:
    return parameter.device, parameter.data_ptr(), parameter.shape, parameter.stride(), parameter.dtype


def _traced(module: nn.Module, inputs: Any) -> ExportedProgram:
    failures: list[tuple[Example, Exception]] = []
    for example in examples_of(module, inputs):
        try:
            with _torch_silent():
                program: ExportedProgram = torch.export.export(module, *example, strict=False)
                return program
        except Exception as error:  # whatever the code of the module raises
            failures.append((example, error))
    (positional, named), first = failures[0]
    shapes = [tuple(item.shape) for item in (*positional, *named.values()) if isinstance(item, torch.Tensor)]
    others = f", nor with {len(failures) - 1} other sizes" if len(failures) > 1 else ""
    raise InputError(
        f"module: cannot be traced with inputs of shape {', '.join(map(str, shapes))}{others} "
        f"({type(first).__name__}: {_first_line(first)}); set module.example_input_array to arguments that it accepts, and "
        "let no branch depend on data"
    ) from first


@contextmanager
def _torch_silent() -> Iterator[None]:
    """Keep from our users what torch has to say about its own internals: it warns, logs tracebacks and prints programs."""
    disabled = logging.root.manager.disable
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        logging.disable(logging.CRITICAL)
        try:
            yield
        finally:
            logging.disable(disabled)


def _first_line(error: Exception) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), "")


def _functional(program: ExportedProgram) -> ExportedProgram:
    """Return the program without writes to views, which would change other tensors behind our back."""
    for node in program.graph.nodes:
        target = node.args[0] if _is_in_place(node) else None
        if isinstance(target, fx.Node) and any(map(_shares_memory, (target, *_users_before(target, node)))):
            with _torch_silent():
                functional: ExportedProgram = program.run_decompositions({})
                return functional
    return program


def _is_in_place(node: fx.Node) -> bool:
    return isinstance(node.target, OpOverload) and node.target._schema.is_mutable


def _shares_memory(node: fx.Node) -> bool:
    if not isinstance(node.target, OpOverload) or node.target._schema.is_mutable:
        return node.target is operator.getitem
    return any(value.alias_info is not None for value in node.target._schema.returns)


def _users_before(node: fx.Node, end: fx.Node) -> Iterator[fx.Node]:
    return (user for user in node.users if user < end)


def _outputs(program: ExportedProgram, scales: Scales, module: nn.Module) -> list[Any]:
    """Read the program into `scales` and return the units of its outputs."""
    specs = {spec.arg.name: spec for spec in program.graph_signature.input_specs}
    weights = _Weights(scales, module)
    values: dict[str, Any] = {}
    for node in program.graph.nodes:
        scales.where = _place(node)
        if node.op == "placeholder":
            values[node.name] = _given(node, specs[node.name], program, weights)
        elif node.op == "call_function":
            values[node.name] = result = _computed(node, values, scales)
            if _is_in_place(node) and isinstance(node.args[0], fx.Node):
                values[node.args[0].name] = result
        elif node.op == "get_attr":
            values[node.name] = None
    wanted = [values[name] for name in program.graph_signature.user_outputs if name in values]
    return [scales.units_of(value) for value in wanted if is_value(value)]


class _Weights:
    """The parameters of a module as entries; two that share memory are one."""

    def __init__(self, scales: Scales, module: nn.Module) -> None:
        self.scales = scales
        self.parameters = dict(module.named_parameters(remove_duplicate=False))
        self._known: dict[tuple[Any, ...], Parameter] = {}

    def value(self, name: str) -> Value:
        parameter = self.parameters[name]
        values = parameter.detach().to("cpu", torch.float64).numpy()
        if not parameter.requires_grad:
            return constant(values)
        # Empty tensors have no address; they cannot share anything either.
        place = _place_in_memory(parameter) if parameter.numel() else (name,)
        if place not in self._known:
            rounding = torch.finfo(parameter.dtype).eps / 2
            self._known[place] = Parameter(name, tuple(parameter.shape), values.ravel(), rounding)
        return self.scales.add_parameter(self._known[place])


def _given(node: fx.Node, spec: InputSpec, program: ExportedProgram, weights: _Weights) -> Any:
    if spec.kind is InputKind.PARAMETER and spec.target is not None:
        return weights.value(spec.target)
    if spec.kind in (InputKind.BUFFER, InputKind.CONSTANT_TENSOR) and spec.target is not None:
        tensors: Mapping[str, Any] = {**program.constants, **program.state_dict}
        held = tensors.get(spec.target)
        if isinstance(held, torch.Tensor) and not held.is_meta:
            return constant(held.detach().to("cpu", torch.float64).numpy())
    example = node.meta.get("val")
    if spec.kind is InputKind.USER_INPUT and isinstance(example, torch.Tensor) and example.is_floating_point():
        return _data(weights.scales, tuple(example.shape))
    return like_result(example)


def _data(scales: Scales, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return the units of input data, the same for all samples."""
    sample = shape[1:] if len(shape) > 1 else shape
    units = scales.inputs(int(np.prod(sample, dtype=np.int64))).reshape(sample)
    return np.broadcast_to(units, shape)


def _computed(node: fx.Node, values: Mapping[str, Any], scales: Scales) -> Any:
    args: Any = fx.node.map_arg(node.args, lambda item: values[item.name])
    kwargs: Any = fx.node.map_arg(node.kwargs, lambda item: values[item.name])
    if node.target is operator.getitem:
        container, key = args
        return container[key]
    example = node.meta.get("val")
    if isinstance(node.target, OpOverload):
        call = Call(scales, node.target, args, kwargs, example)
        if call.name in RULES:
            return RULES[call.name](call)
    if all(isinstance(value, np.ndarray) and scales.is_pinned(value).all() for value in values_in((args, kwargs))):
        # What is computed from data and constants alone is a constant for every rescaling.
        return like_result(example)
    raise InputError(
        f"{scales.where}: {node.target}: this operation is not supported; replace it, or apply it outside of the module"
    )


def _place(node: fx.Node) -> str:
    stack = list(node.meta.get("nn_module_stack", {}).values())
    path = stack[-1][0] if stack else ""
    return f"module {path}" if path else "module"
