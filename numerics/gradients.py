"""Balance laws measured on gradients: a network graph evaluated as a function and differentiated by autograd.

A hidden node computes ``a_v = activation(z_v)`` with ``z_v = sum of theta_e a_tail(e)`` over its incoming edges; terminals
are linear, and inputs add their data. If the activation is homogeneous of degree p, then at every hidden node, for every
loss, ``sum_in theta_e dL/dtheta_e = p * sum_out theta_e dL/dtheta_e``.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import torch
from torch import Tensor

from ..core import InputError, Reason, Undecided
from ..graphs.network import IntArray, Network
from .forward import ACTIVATIONS, LOSSES, NetworkFunction, as_floats

__all__ = ["ACTIVATIONS", "LOSSES", "BalanceResidual", "balance_residual", "evaluate", "residual_at"]

_ROUNDINGS = 8  # constant of the rounding bound


@dataclass(frozen=True)
class BalanceResidual:
    """Residuals of the balance law, one entry per hidden node.

    Parameters
    ----------
    nodes : tuple of str
        Names of the hidden nodes.
    residual : tuple of float
        sum_in theta_e g_e - degree * sum_out theta_e g_e, where g is the gradient of the loss.
    scale : tuple of float
        The same sum of absolute values, over edges and samples.
    bound : tuple of float
        8 eps n scale, where n = samples * (largest degree) * (number of levels) is no less than the length of any
        summation. Rounding leaves no more: for a homogeneous activation the identity couples the computed activations and
        back-signals of one node only, so errors are proportional to the summands here, not to those further away.
    largest_term : float
        max_e |theta_e g_e|.
    """

    nodes: tuple[str, ...]
    residual: tuple[float, ...]
    scale: tuple[float, ...]
    bound: tuple[float, ...]
    largest_term: float

    @property
    def relative(self) -> float:
        """max_v |residual_v| / max_e |theta_e g_e|; 0 if all terms vanish."""
        return max(map(abs, self.residual), default=0.0) / self.largest_term if self.largest_term else 0.0

    @property
    def is_vacuous(self) -> bool:
        """Whether all terms vanish (constant loss, dead network), so that nothing was tested."""
        return self.largest_term == 0.0

    @property
    def holds(self) -> bool:
        """Whether every residual is within its rounding bound."""
        return all(abs(r) <= b for r, b in zip(self.residual, self.bound, strict=True))


def balance_residual(
    network: Network,
    activation: str,
    degree: float = 1,
    *,
    samples: int = 20,
    seed: int = 0,
    loss: str = "mse",
    bias: Collection[str] = (),
    fixed: Collection[int] = (),
    tied: Collection[Collection[int]] = (),
    dtype: torch.dtype = torch.float64,
    device: str = "cpu",
) -> BalanceResidual:
    """Return the residuals of the balance law of this degree, on random data and targets.

    The weights are those of the network, or else random with variance 1 / (in-degree of the head). Everything random is
    standard normal, drawn on the CPU in float64 from a generator of its own with this seed.

    Parameters
    ----------
    activation, loss : str
        Keys of `ACTIVATIONS` and `LOSSES`.
    degree : float
        The degree that the law supposes; it does not change the activation.
    bias : collection of str
        Names of the inputs that are 1 on all samples.
    fixed : collection of int
        Edges left out of the law, as if they were not trained.
    tied : collection of collections of int
        Edges that share one parameter, whose gradient is the sum of theirs.

    Raises
    ------
    InputError
        For a directed cycle, an unknown name, a weight beyond the range of floats.
    Undecided
        If the computation overflows (precision) or would need too much memory.

    Examples
    --------
    >>> G = Network.from_edges([("x", "v"), ("v", "y")])
    >>> balance_residual(G, "relu").holds, balance_residual(G, "tanh").holds
    (True, False)
    """
    if samples < 1:
        raise InputError(f"samples={samples!r}: at least one sample is needed")
    names = [network.names[v] for v in network.inputs]
    if unknown := sorted(set(bias) - set(names)):
        raise InputError(f"bias={unknown!r}: not among the inputs {names!r}")
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    data, targets = normal(samples, len(names)), normal(samples, len(network.outputs))
    data[:, [i for i, name in enumerate(names) if name in bias]] = 1.0
    if network.weights is None:
        weights = normal(network.edge_count) / torch.from_numpy(network.in_degree[network.head]).double().sqrt()
    else:
        weights = as_floats(network)
    placed = [tensor.to(device=device, dtype=dtype) for tensor in (weights, data, targets)]
    return residual_at(network, *placed, activation=activation, degree=degree, loss=loss, fixed=fixed, tied=tied)


def residual_at(
    network: Network,
    weights: Tensor,
    data: Tensor,
    targets: Tensor,
    *,
    activation: str,
    degree: float = 1,
    loss: str = "mse",
    fixed: Collection[int] = (),
    tied: Collection[Collection[int]] = (),
) -> BalanceResidual:
    """Return the residuals of the balance law at given weights (m,), data (samples, inputs), targets (samples, outputs).

    All three have the dtype and the device of the computation; `network` has m edges, and `activation` is homogeneous of
    this `degree`. `fixed` lists edges that are not trained, `tied` groups of edges that are one parameter.

    Raises
    ------
    InputError
        For an unknown loss, and for edges that the network does not have.
    Undecided
        If the gradient is not finite.
    """
    if loss not in LOSSES:
        raise InputError(f"loss={loss!r}: not known; choose one of {', '.join(LOSSES)}")
    for field, edges in (("fixed", fixed), *(("tied", group) for group in tied)):
        if unknown := [e for e in edges if not 0 <= e < network.edge_count]:
            raise InputError(f"{field}={unknown!r}: not edges; the network has edges 0 to {network.edge_count - 1}")
    theta = weights.detach().clone().requires_grad_()
    function = NetworkFunction(network, activation, theta.device)
    trace = function.trace(theta, data)
    outputs, values, signals = trace.outputs, trace.values, trace.signals
    # Without outputs the loss is constant; a mean over nothing would be NaN.
    value = LOSSES[loss](outputs, targets) if outputs.numel() else outputs.sum()
    gradient, *backward = torch.autograd.grad(value, [theta, *(z for _, z in signals)], materialize_grads=True)
    with torch.no_grad():
        delta = torch.zeros_like(values)
        for (nodes, _), back in zip(signals, backward, strict=True):
            delta[:, nodes] = back
        tail, head = _on(network.tail, theta), _on(network.head, theta)
        for group in map(list, tied):
            gradient[group] = gradient[group].sum()
        terms = theta * gradient
        sizes = theta.abs() * (values[:, tail] * delta[:, head]).abs().sum(0)
        terms[list(fixed)] = sizes[list(fixed)] = 0
        hidden = _on(network.hidden_nodes, theta)

        def at_hidden(edge_values: Tensor, factor: float) -> Tensor:
            zero = torch.zeros(network.node_count, dtype=theta.dtype, device=theta.device)
            return (zero.index_add(0, head, edge_values) + factor * zero.index_add(0, tail, edge_values))[hidden]

        residual, scale = at_hidden(terms, -degree), at_hidden(sizes, abs(degree))
    if not (residual.isfinite().all() and scale.isfinite().all()):
        raise Undecided(Reason.PRECISION, "the gradient is not finite: weights are too large for this depth and degree")
    length = len(data) * max(1, int(network.in_degree.max()), int(network.out_degree.max())) * len(function.levels)
    bound = _ROUNDINGS * torch.finfo(theta.dtype).eps * length * scale
    return BalanceResidual(
        nodes=network.hidden_names,
        residual=tuple(residual.tolist()),
        scale=tuple(scale.tolist()),
        bound=tuple(bound.tolist()),
        largest_term=float(terms.abs().max()) if len(terms) else 0.0,
    )


def evaluate(network: Network, weights: Tensor, data: Tensor, activation: str) -> Tensor:
    """Return the outputs (samples, outputs) at weights (m,) and data (samples, inputs); differentiable in both.

    Raises
    ------
    InputError
        If the network has a directed cycle, or the activation is unknown.
    Undecided
        If it would need too much memory.
    """
    return NetworkFunction(network, activation, weights.device)(weights, data)


def _on(indices: IntArray, like: Tensor) -> Tensor:
    return torch.from_numpy(indices).to(like.device)
