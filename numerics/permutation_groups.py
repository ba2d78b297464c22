"""Permutations of neurons that leave a network's function as it is, and the search for those that match two networks.

A group is a set of axes of parameters that are permuted together: in a residual network the channels of all blocks of a
stage, in a transformer the coordinates of its tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from ..core import InputError

__all__ = ["PermutationGroup", "permuted", "weight_matching"]

State = Mapping[str, Tensor]

_MOST_ROUNDS = 100


@dataclass(frozen=True)
class PermutationGroup:
    """Axes that are permuted together.

    Parameters
    ----------
    name : str
    members : tuple of (str, int)
        Parameter and axis.
    size : int
        Number of blocks of equal length that the axes consist of, such as the heads of attention; 0 if each entry is its own.
    """

    name: str
    members: tuple[tuple[str, int], ...]
    size: int = 0

    def count(self, state: State) -> int:
        """Return how many are permuted.

        Raises
        ------
        InputError
            Naming a parameter whose axis has another length than the first's.
        """
        key, axis = self.members[0]
        length = state[key].shape[axis]
        for other, at in self.members:
            if state[other].shape[at] != length:
                raise InputError(f"{other}: axis {at} has length {state[other].shape[at]}; {key} has {length}")
        return self.size or length


def permuted(state: State, group: PermutationGroup, order: Tensor) -> dict[str, Tensor]:
    """Return the state in whose group block i is block ``order[i]`` of the given one."""
    count, made = group.count(state), dict(state)
    for key, axis in group.members:
        tensor = made[key]
        index = torch.arange(tensor.shape[axis], device=tensor.device).reshape(count, -1)[order.to(tensor.device)]
        made[key] = tensor.index_select(axis, index.flatten())
    return made


def weight_matching(first: State, second: State, groups: Sequence[PermutationGroup]) -> dict[str, Tensor]:
    """Return the second state, permuted towards the first: one group after the other, until none moves.

    A heuristic that finds a local optimum of Σ⟨A, B⟩ over all parameters, from the identity (Ainsworth, Hayase and Srinivasa,
    *Git Re-Basin*, arXiv:2209.04836).
    """
    found = dict(second)
    for _ in range(_MOST_ROUNDS):
        moved = False
        for group in groups:
            similarity = _similarity(first, found, group)
            order = linear_sum_assignment(-similarity)[1]
            here = np.arange(len(order))
            gain = similarity[here, order].sum() - np.trace(similarity)
            if gain > 1e-9 * np.abs(similarity).sum():  # not on ties that rounding decides
                found = permuted(found, group, torch.from_numpy(np.ascontiguousarray(order)))
                moved = True
        if not moved:
            break
    return found


def _similarity(first: State, second: State, group: PermutationGroup) -> np.ndarray:
    count = group.count(first)
    total = np.zeros((count, count))
    for key, axis in group.members:
        a, b = (state[key].detach().double().movedim(axis, 0).reshape(count, -1) for state in (first, second))
        total += (a @ b.T).cpu().numpy()
    return total
