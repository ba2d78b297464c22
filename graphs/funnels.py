"""Minima of bottleneck weights from the hidden nodes behind them.

The *funnel* of a node v with a single outgoing edge is v and all hidden nodes whose every walk meets v. A set of nodes which
only this edge leaves lies within the funnel, so the minimum of the edge is Σ supply − (largest flow from producers to
consumers) there. Three things make this fast where many funnels overlap:

* a funnel that is an in-tree of nodes with single edges needs no flow: the excess is passed on from node to node;
* a funnel that no other hidden node leads into acts on larger ones as one producer of its minimum, or not at all (*closed*);
* within a funnel, a dense block of edges acts as one hub.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .adjacency import Adjacency, gathered
from .closures import Closure, close, peel
from .network import BoolArray, IntArray
from .views import View

__all__ = ["Funnels"]


class Funnels:
    """For every node v with a single outgoing edge its minimum, and whether some stable set attains it (then `tight`).

    Attributes
    ----------
    single : bool array, shape (n,)
        The nodes with a single outgoing edge; the other arrays mean something there only.
    minimum : integer array, shape (n,)
        ``max(0, -Σ_W c)`` over all W in the funnel that nothing but the edge leaves.
    tight : bool array, shape (n,)
        Whether some such W has Σ_W c ≤ 0.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self.single = view.network.hidden & (view.degree == 1)
        self.minimum = np.where(self.single, np.maximum(-view.c, 0), 0)
        self.tight = self.single & (view.c <= 0)
        self._following = np.where(self.single, view.head[view.first] if len(view.head) else -1, -1)
        self._closures: dict[int, Closure] = {}
        self._closed = np.zeros(len(self.single), bool)
        if self.single.any() and self._may_be_larger():
            self._settle(np.flatnonzero(self.single[view.head] & view.network.hidden[view.tail]))

    def critical_set(self, v: int) -> tuple[int, ...]:
        """Return the largest W that attains the minimum of v, increasing; empty if v is not tight."""
        found: list[int] = []
        waiting = [v] if self.tight[v] else []
        while waiting:
            w = waiting.pop()
            if (closure := self._closures.get(w)) is not None:
                found += closure.critical_nodes.tolist()
                waiting += closure.critical_parts.tolist()
            else:
                found.append(w)
                waiting += [u for u in self._children(w) if self.tight[u]]
        return tuple(sorted(found))

    def flow(self, v: int) -> dict[int, int]:
        """Return the positive amounts by edge of a flow within the funnel that shows that the minimum of v is no smaller."""
        found: dict[int, int] = {}
        waiting = [v]
        while waiting:
            w = waiting.pop()
            if (closure := self._closures.get(w)) is not None:
                found.update(zip(closure.edges.tolist(), closure.amounts.tolist(), strict=True))
                waiting += closure.parts.tolist()
            else:
                for u in self._children(w):
                    if self.minimum[u]:
                        found[int(self.view.first[u])] = int(self.minimum[u])
                    waiting.append(u)
        return found

    def _children(self, v: int) -> list[int]:
        children: list[int] = self._kids[self._by_parent.at(v)].tolist()
        return children

    @cached_property
    def _kids(self) -> IntArray:
        """Nodes with a single outgoing edge that leads to another such node."""
        return np.flatnonzero(self.single & np.append(self.single, False)[self._following])

    @cached_property
    def _by_parent(self) -> Adjacency:
        return Adjacency.by(self._following[self._kids], len(self.single))

    def _may_be_larger(self) -> bool:
        """Return False only if every funnel is a single node: then no edge leads from one of `single` to another, and no node
        has all its edges to one of them. As in dense layers, a look at two edges of each node tells.
        """
        if len(self._kids):
            return True
        view = self.view
        another = np.full(len(self.single), -1)
        another[view.tail] = view.head
        leading = np.flatnonzero(view.network.hidden & (view.degree > 0))
        heads = another[leading]
        return bool((self.single[heads] & (view.head[view.first[leading]] == heads)).any())

    def _settle(self, inner: IntArray) -> None:
        """Decide all funnels; `inner` are the edges from hidden nodes to nodes with a single outgoing edge."""
        if not len(inner):
            return
        tail, head = self.view.tail[inner], self.view.head[inner]
        branching = ~self.single[tail]
        caught_tail, caught_head = self._caught(tail[branching], head[branching])
        mixed = self._downstream(caught_head) & self._is_larger(caught_tail, caught_head)
        entered = self._downstream(head[branching])
        self._pass_on(mixed)
        self._closed |= self.single & ~mixed & ~entered
        nodes = np.flatnonzero(mixed)
        remaining = self.view.degree.copy()
        for v in nodes[np.argsort(self.view.rank[nodes])].tolist():
            self._solve(v, remaining)

    def _caught(self, tail: IntArray, head: IntArray) -> tuple[IntArray, IntArray]:
        """Return the edges of branching nodes all of whose edges lead into one tree.

        The funnel of v is a tree unless it holds a branching node. The one of these that is nearest to v has all its heads in
        the tree of v, so v is one of these heads or comes after one of them.
        """
        if not len(tail):
            return tail, head
        root = np.arange(len(self.single))
        root[self._kids] = self._following[self._kids]
        while not np.array_equal(further := root[root], root):
            root = further
        all_single = np.bincount(tail, minlength=len(root)) == self.view.degree
        one_root = np.full(len(root), -1)
        one_root[tail] = root[head]
        caught = all_single
        caught[tail[root[head] != one_root[tail]]] = False
        edges = caught[tail]
        return tail[edges], head[edges]

    def _is_larger(self, tail: IntArray, head: IntArray) -> BoolArray:
        """Return which funnels hold more than one node, given the edges of caught branching nodes."""
        larger = np.zeros(len(self.single), bool)
        larger[self._following[self._kids]] = True
        one_head = np.full(len(self.single), -1)
        one_head[tail] = head
        other = np.zeros(len(self.single), bool)
        other[tail[head != one_head[tail]]] = True
        larger[one_head[tail[~other[tail]]]] = True
        return larger

    def _downstream(self, nodes: IntArray) -> BoolArray:
        """Return which nodes with a single outgoing edge are among `nodes` or come after one of them."""
        marked = np.zeros(len(self.single), np.int64)
        marked[nodes] = 1
        met: BoolArray = gathered(self._kids, self._following[self._kids], marked) > 0
        met &= self.single
        return met

    def _pass_on(self, mixed: BoolArray) -> None:
        """Decide the funnels that are trees: each node passes on what its own demand leaves of what it receives."""
        kids = self._kids[~mixed[self._kids]]
        parents, place = np.unique(self._following[kids], return_inverse=True)
        passing = np.zeros(len(self.single), bool)
        passing[parents[~mixed[parents]]] = True
        received = np.zeros(len(parents), self.minimum.dtype)
        leaves = ~passing[kids]
        np.add.at(received, place[leaves], self.minimum[kids[leaves]])
        amount = dict(zip(parents.tolist(), received.tolist(), strict=True))
        nodes = np.flatnonzero(passing)
        nodes = nodes[np.argsort(self.view.rank[nodes])]
        left = []
        following = self._following[nodes].tolist()
        for v, c, w in zip(nodes.tolist(), self.view.c[nodes].tolist(), following, strict=True):
            left.append(amount[v] - c)
            if left[-1] > 0 and w in amount:
                amount[w] += left[-1]
        excess = np.array(left, self.minimum.dtype)
        self.minimum[nodes] = np.maximum(excess, 0)
        self.tight[nodes] = excess >= 0

    def _solve(self, v: int, remaining: IntArray) -> None:
        funnel = peel(self.view, v, remaining, self._closed)
        closure = close(self.view, funnel, self.minimum, self.tight)
        self._closed[v] = funnel.closed
        self.minimum[v] = closure.minimum
        self.tight[v] = closure.is_tight
        self._closures[v] = closure
