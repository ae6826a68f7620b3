"""A random directed graph in which the answer to one question is planted, and nothing else changes it.

The graph is grown for a breadth-first search: level 0 is the node that is asked about, level k the nodes at depth k,
and every node that is not nearer than the last level stands outside. An edge from level i to level j leaves all
depths as they are if j ≤ i + 1. Distractor edges obey that, so that they may point back, sideways and into the search
from outside, and never shorten or lengthen a way. The parents of a node are depth 1 of the search with each edge
turned round.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_Edge = tuple[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class PlacedEdge:
    """An edge between two nodes, and its place in the list: 0 is the beginning, 1 the end."""

    source: str
    target: str
    place: float


@dataclass(frozen=True, kw_only=True, slots=True)
class PlantedGraph:
    """The edges of a graph: `needed` alone give the answer, and no part of `others` changes it."""

    node: str
    """The node that is asked about."""
    answer: tuple[str, ...]
    needed: tuple[PlacedEdge, ...]
    others: tuple[PlacedEdge, ...]


def level_sizes(hops: int, frontier: int) -> tuple[int, ...]:
    """Nodes at each depth from 1 to `hops`: equal ratios up to `frontier`, so that none is smaller than the last."""
    return (*(max(1, round(frontier ** (depth / hops))) for depth in range(1, hops)), frontier)


def name_of(number: int, digits: int) -> str:
    """The name of a node."""
    return f"{number:0{digits}x}"


def nodes_for(*, hops: int, frontier: int, others: int, degree: float) -> int:
    """Nodes of a graph with so many distractor edges, `degree` of them for each node outside the search."""
    return 1 + sum(level_sizes(hops, frontier)) + max(math.ceil(others / degree), 2 * math.ceil(degree) + 2)


def planted_graph(
    *, hops: int, frontier: int, others: int, degree: float, digits: int, turned: bool, rng: random.Random
) -> PlantedGraph:
    """A graph with `frontier` nodes at depth `hops` of a node, and `others` distractor edges.

    Names have `digits` hexadecimal digits. `turned` turns each edge round: the answer is then the nodes from which the
    node is reached in `hops` steps. Needed edges are spread evenly over the list, in no order. Raises `ValueError`
    where there are fewer names than nodes.
    """
    count = nodes_for(hops=hops, frontier=frontier, others=others, degree=degree)
    names = [name_of(number, digits) for number in rng.sample(range(16**digits), count)]
    levels = _levels(names, (1, *level_sizes(hops, frontier)))
    tree = _tree(levels, rng)
    spread = list(tree)
    rng.shuffle(spread)
    strays = _distractors(names, levels, tree, others, rng)

    def placed(place: float, edge: _Edge) -> PlacedEdge:
        source, target = reversed(edge) if turned else edge
        return PlacedEdge(source=source, target=target, place=place)

    return PlantedGraph(
        node=levels[0][0],
        answer=tuple(levels[-1]),
        needed=tuple(placed((rank + rng.random()) / len(spread), edge) for rank, edge in enumerate(spread)),
        others=tuple(placed(rng.random(), edge) for edge in strays),
    )


def _levels(names: Sequence[str], sizes: Sequence[int]) -> list[list[str]]:
    levels: list[list[str]] = []
    first = 0
    for size in sizes:
        levels.append(list(names[first : first + size]))
        first += size
    return levels


def _tree(levels: Sequence[Sequence[str]], rng: random.Random) -> list[_Edge]:
    """One edge into each node from the level before it; every node before the last level has one out of it."""
    edges: list[_Edge] = []
    for above, below in pairwise(levels):
        sources = [*above, *(rng.choice(above) for _ in range(len(below) - len(above)))]
        edges += zip(sources, below, strict=True)
    return edges


def _distractors(
    names: Sequence[str], levels: Sequence[Sequence[str]], tree: Sequence[_Edge], count: int, rng: random.Random
) -> list[_Edge]:
    """Further edges between any two nodes that leave every depth as it is."""
    depth = {node: level for level, nodes in enumerate(levels) for node in nodes}
    outside = len(levels)
    inside = names[: len(depth)]
    known = set(tree)
    edges: list[_Edge] = []
    while len(edges) < count:
        source = rng.choice(names)
        level = depth.get(source, outside)
        # Of the nodes that are searched from, only edges within the search can be allowed.
        target = rng.choice(inside if level < outside - 1 else names)
        edge = (source, target)
        if source != target and edge not in known and depth.get(target, outside) <= level + 1:
            known.add(edge)
            edges.append(edge)
    return edges
