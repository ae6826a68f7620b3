"""Graphs written out as lists of edges that fill a length, the samples that ask of them, and what answers are worth.

Scored as openai/graphwalks is (OpenAI 2025): the last line has to hold `Final Answer: [a, b, …]`, and its nodes are
compared with the right ones as sets.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, count, pairwise
from typing import TYPE_CHECKING

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Span
from contextcliff.records.generation import Score
from contextcliff.records.sample import Prompt, Recipe, Reference, Sample, Words
from contextcliff.seeding import digest_of, seed_of
from contextcliff.tasks.answer_texts import is_refusal
from contextcliff.tasks.fit import fit
from contextcliff.tasks.grid import Maker
from contextcliff.tasks.task import Materials
from contextcliff.text.tokens import tokenise

if TYPE_CHECKING:
    from contextcliff.tasks.graphs.graphwalks import Graphwalks


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


_PROBED_EDGES = 64
_MARGIN = 1.1
_SPARE_EDGES = 8
"""So many edges are drawn beyond those that a length is expected to hold."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphMaker(Maker):
    """Writes the graphs of one run, and asks of them."""

    task: Graphwalks
    materials: Materials

    def make(self, *, context_tokens: int, depth: float | None, trial: int) -> Iterator[Sample]:  # noqa: ARG002 - it has none
        task = self.task
        hops, frontier = task.kinds[trial % len(task.kinds)]
        asked = digest_of(task.instruction, task.question_on("", hops), task.question, task.degree, task.name_digits)
        coordinates = (self.materials.seed, task.name, asked, hops, frontier, context_tokens, trial)
        graph = self._graph(random.Random(seed_of(*coordinates)), context_tokens, hops, frontier)
        others = self._fitting(graph, graph.needed, context_tokens, hops, least=len(graph.needed))
        yield self._sample(
            graph,
            graph.needed,
            others,
            hops,
            name=f"{context_tokens:06d}-t{trial:02d}-{digest_of(*coordinates)[:8]}",
            context_tokens=context_tokens,
            trial=trial,
        )
        if not task.controls:
            return
        shortest = min(task.lengths_in(self.materials.context_budget))
        bare = self._fitting(graph, (), shortest, hops, least=0)
        yield self._sample(graph, graph.needed, (), hops, control="ceiling")
        yield self._sample(graph, (), bare, hops, control="floor")

    def _graph(self, rng: random.Random, context_tokens: int, hops: int, frontier: int) -> PlantedGraph:
        """A graph with more edges than the length holds."""
        digits = self.task.name_digits
        names = [name_of(rng.randrange(16**digits), digits) for _ in range(_PROBED_EDGES + 1)]
        probe = "\n".join(_line(PlacedEdge(source=one, target=other, place=0.0)) for one, other in pairwise(names))
        tokens_an_edge = len(self.materials.tokenizer.starts(probe)) / _PROBED_EDGES
        others = round(_MARGIN * context_tokens / tokens_an_edge) + _SPARE_EDGES
        nodes = nodes_for(hops=hops, frontier=frontier, others=others, degree=self.task.degree)
        if nodes > 16**digits:
            enough = next(more for more in count(digits) if 16**more >= nodes)
            raise ConfigError(
                f"task.name_digits={digits}: gives {16**digits:,} names, and {context_tokens:,} tokens hold up to "
                f"{nodes:,} nodes; give {enough} or more"
            )
        return planted_graph(
            hops=hops,
            frontier=frontier,
            others=others,
            degree=self.task.degree,
            digits=digits,
            turned=self.task.question == "parents",
            rng=rng,
        )

    def _fitting(
        self, graph: PlantedGraph, needed: Sequence[PlacedEdge], context_tokens: int, hops: int, *, least: int
    ) -> Sequence[PlacedEdge]:
        """As many of the others, in the order that they were drawn in, as fit beside the needed edges."""
        most = fit(
            lambda others: self._count(graph, needed, graph.others[:others], hops),
            context_tokens,
            least=least,
            most=len(graph.others),
            lower="task.frontier" if self.task.question == "parents" else "task.frontier or task.hops",
        )
        return graph.others[:most]

    def _count(self, graph: PlantedGraph, needed: Sequence[PlacedEdge], others: Sequence[PlacedEdge], hops: int) -> int:
        prompt = "".join(self._framed(graph, _in_order(needed, others), hops))
        return self.materials.tokenizer.count_prompt(Prompt(user=prompt))

    def _framed(self, graph: PlantedGraph, edges: Sequence[PlacedEdge], hops: int) -> tuple[str, str, str]:
        """What stands before the list, the list, and what stands after it."""
        listed = "".join(f"{_line(edge)}\n" for edge in edges)
        return f"{self.task.instruction}\n\n", listed, f"\n{self.task.question_on(graph.node, hops)}"

    def _sample(
        self,
        graph: PlantedGraph,
        needed: Sequence[PlacedEdge],
        others: Sequence[PlacedEdge],
        hops: int,
        *,
        name: str = "",
        context_tokens: int | None = None,
        trial: int = 0,
        control: str | None = None,
    ) -> Sample:
        """A sample of these edges; one without a name is a control, and is named after its prompt."""
        edges = _in_order(needed, others)
        before, listed, after = self._framed(graph, edges, hops)
        prompt = f"{before}{listed}{after}"
        tokens = self.materials.tokenizer.count_prompt(Prompt(user=prompt))
        identity = name or f"{control}-{digest_of(self.task.name, control, prompt)[:16]}"
        starts = [0, *accumulate(len(_line(edge)) + 1 for edge in edges)]
        wanted = frozenset(needed)
        places = [(start, _line(edge)) for start, edge in zip(starts, edges, strict=False) if edge in wanted]
        return Sample(
            sample_id=f"{self.task.name}-{identity}",
            task=self.task.name,
            context_tokens=tokens if context_tokens is None else context_tokens,
            built_tokens=tokens,
            depth=None,
            trial=trial,
            document_id=f"graph of {graph.node}",
            question=self.task.question_on(graph.node, hops),
            answers=(", ".join(graph.answer),),
            reference=Reference(
                evidence=tuple(
                    Span(start=len(before) + start, end=len(before) + start + len(line)) for start, line in places
                ),
                reply=final_line(graph.answer),
            ),
            recipe=Recipe(user=(Words(text=prompt),)),
            seed=seed_of(identity),
            metadata={
                "hops": hops,
                "frontier": len(graph.answer),
                **self._distances(listed, [start for start, _ in places]),
            },
            answer_tokens=self.task.answer_tokens(tokens),
            control=control,
        )

    def _distances(self, listed: str, places: Sequence[int]) -> dict[str, int]:
        """How far apart in the list neighbouring edges that are needed stand on average, in tokens."""
        if len(places) < 2:
            return {}
        between = tokenise(listed, self.materials.tokenizer).tokens_between(places[0], places[-1])
        return {"evidence_distance_tokens": round(between / (len(places) - 1))}


def _line(edge: PlacedEdge) -> str:
    return f"{edge.source} -> {edge.target}"


def _in_order(needed: Sequence[PlacedEdge], others: Sequence[PlacedEdge]) -> list[PlacedEdge]:
    return sorted((*needed, *others), key=lambda edge: edge.place)


FINAL = "Final Answer:"
"""Stands before the list, as it is scored."""
_LIST_BEGINS = re.compile(rf"{FINAL} ?\[")


def final_line(nodes: Sequence[str]) -> str:
    """A set of nodes in the form that is asked for."""
    return f"{FINAL} [{', '.join(nodes)}]"


def final_nodes(answer: str) -> tuple[str, ...] | None:
    """The nodes that the last line of an answer lists; None where it has no such list. Blank lines do not count."""
    line = answer.strip().rpartition("\n")[-1]
    begins, end = _LIST_BEGINS.search(line), line.rfind("]")
    if begins is None or end < begins.end():
        return None
    return tuple(node.strip() for node in line[begins.end() : end].split(",") if node.strip())


def set_f1(named: Collection[str], right: Collection[str]) -> float:
    """The harmonic mean of precision and recall of two sets, 0–1; 1 where both are empty."""
    said, wanted = set(named), set(right)
    if not said and not wanted:
        return 1.0
    return 2 * len(said & wanted) / (len(said) + len(wanted))


def score_nodes(answer: str, *, right: Collection[str], known: str, cut_off: bool) -> Score:
    """Score an answer against the right nodes; `known` is the text that holds every node of the graph.

    Tags, the first that holds: `empty` (nothing was said, or the list has no node) · `incomplete` (cut off before the
    last line) · `refusal` · `schema` (no final answer in the last line) · `partial` (some nodes are right) ·
    `hallucination` (no node of the graph is among them) · `wrong`.
    """
    text = answer.strip()
    nodes = final_nodes(text)
    if nodes is None:
        return Score(value=0.0, prediction=text, failure=_tag_without_list(text, cut_off=cut_off))
    value = set_f1(nodes, right)
    shown = ", ".join(nodes)
    if value == 1.0:
        return Score(value=value, prediction=shown, failure=None)
    if not nodes:
        return Score(value=value, prediction=shown, failure="empty")
    if value > 0.0:
        return Score(value=value, prediction=shown, failure="partial")
    invented = _names(known).isdisjoint(nodes)
    return Score(value=value, prediction=shown, failure="hallucination" if invented else "wrong")


def _names(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _tag_without_list(text: str, *, cut_off: bool) -> str:
    if not text:
        return "empty"
    if cut_off:
        return "incomplete"
    return "refusal" if is_refusal(text) else "schema"
