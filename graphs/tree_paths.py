"""Which nodes of a tree keep their path to the root when one edge is missing: constant time for each node."""

from __future__ import annotations

import numpy as np

from .adjacency import Adjacency
from .network import BoolArray, IntArray

__all__ = ["TreePaths"]


class TreePaths:
    """Paths along the edges of a tree, from each node to its root.

    Parameters
    ----------
    edge : int64 array, shape (n,)
        The edge at each node that leads towards the root, -1 at the root and off the tree.
    onward : int64 array
        Where each edge leads.
    root : int

    Examples
    --------
    >>> paths = TreePaths(np.array([0, 1, -1, -1]), np.array([1, 2]), 2)
    >>> paths.intact(np.arange(4), 1, 1).tolist(), paths.from_node(0)
    ([False, False, True, False], [0, 1])
    """

    def __init__(self, edge: IntArray, onward: IntArray, root: int) -> None:
        self.edge = edge
        self._onward = onward
        self._root = root
        # Nodes in preorder: those below a node come right behind it.
        nodes = np.flatnonzero(edge >= 0)
        children = Adjacency.by(onward[edge[nodes]], len(edge))
        time, stack = 0, [root]
        enters, leaves = [-1] * len(edge), [-1] * len(edge)
        while stack:
            node = stack.pop()
            if node < 0:
                leaves[~node] = time
                continue
            enters[node] = time
            time += 1
            stack.append(~node)
            stack += nodes[children.at(node)].tolist()
        self._enters, self._leaves = np.array(enters), np.array(leaves)

    def intact(self, nodes: IntArray, e: int, at: int) -> BoolArray:
        """Return which nodes have a path that does without edge e, which is that of node `at` if it is in the tree."""
        enters = self._enters[nodes]
        on_tree: BoolArray = enters >= 0
        if self.edge[at] != e:
            return on_tree
        below = (enters >= self._enters[at]) & (enters < self._leaves[at])
        intact: BoolArray = on_tree & ~below
        return intact

    def from_node(self, node: int) -> list[int]:
        """Return the edges of the path from a node of the tree to the root."""
        path = []
        while node != self._root:
            path.append(int(self.edge[node]))
            node = int(self._onward[path[-1]])
        return path
