"""Task `graphwalks`: a directed graph as a list of its edges, and a set of nodes that is asked for.

After GraphWalks (OpenAI 2025, dataset openai/graphwalks): the list fills the context, and the model is asked for the
nodes at a depth of a breadth-first search (`question=bfs`), or for the parents of a node. Every place of the list can
matter, and with more hops each edge can only be looked for once another is found. Search depth and size of the answer
are set apart from length (`hops`, `frontier`); `docs` has what differs.

Scored as there: the last line has to hold `Final Answer: [a, b, …]`, and the score is the F1 of its nodes and the right
ones, as sets.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, count, pairwise, product
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Span
from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Prompt, Recipe, Reference, Sample, Words
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import Few, Float, Int, NonNegativeInt, settings
from contextcliff.tasks.fit import fit
from contextcliff.tasks.grid import BATCH, DesignedLengths, filled, naming, refuse_twice
from contextcliff.tasks.task import Maker, Materials, ScoringContext, Traits
from contextcliff.tasks.values import is_refusal
from contextcliff.text.tokens import tokenise

FINAL = "Final Answer:"
"""Stands before the list of an answer, as it is scored."""
_LIST_BEGINS = re.compile(rf"{FINAL} ?\[")
_ANSWER_EXTRA_TOKENS = 16
_TOKENS_BETWEEN_NODES = 2


def _as_list(value: object) -> object:
    """One number as a list of it."""
    return (value,) if isinstance(value, int) else value


Numbers = Annotated[tuple[Few, ...], Field(min_length=1), BeforeValidator(_as_list)]
"""A number, or several that the trials take in turn."""


@settings
class Graphwalks(DesignedLengths):
    """A row of lengths. `hops` and `frontier` may be lists: the trials go through all pairs of them."""

    name = "graphwalks"

    question: Literal["bfs", "parents"]
    hops: Numbers
    """Depth of the search; the parents of a node are one hop away."""
    frontier: Numbers
    """Nodes of the answer."""
    degree: Annotated[Float, Field(ge=0.25, le=16.0)]
    """Distractor edges for each node outside the search: fewer nodes have more edges each."""
    name_digits: Annotated[Int, Field(ge=2, le=15)]
    """Hexadecimal digits of a node's name."""
    working_tokens: NonNegativeInt
    """Tokens that an answer may take before its final line."""
    instruction: str
    """Stands before the list."""
    bfs_question: Annotated[str, naming("{node}", "{hops}")]
    parents_question: Annotated[str, naming("{node}")]
    answer_format: Annotated[str, naming(FINAL)]
    """Stands after the question; names the form of the final line."""

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_twice("task.hops", self.hops)
        refuse_twice("task.frontier", self.frontier)

    @property
    def kinds(self) -> Sequence[tuple[int, int]]:
        """Hops and size of the answer, of each kind of sample."""
        return tuple(product(self.hops if self.question == "bfs" else (1,), self.frontier))

    @property
    def trials_in_block(self) -> int:
        return len(self.kinds) * math.ceil(BATCH / len(self.kinds))

    @property
    def traits(self) -> Traits:
        traits = replace(super().traits, takes_texts=False, graded=True)
        return replace(traits, idle=(*traits.idle, "hops")) if self.question == "parents" else traits

    def answer_tokens(self, context_tokens: int) -> int:  # noqa: ARG002 - the same at every length
        a_node = self.name_digits + _TOKENS_BETWEEN_NODES
        return self.working_tokens + max(self.frontier) * a_node + _ANSWER_EXTRA_TOKENS

    def question_on(self, node: str, hops: int) -> str:
        """The question on a node, with the form of its answer."""
        template = self.bfs_question if self.question == "bfs" else self.parents_question
        return f"{filled(template, node=node, hops=str(hops))} {self.answer_format}"

    def maker(self, materials: Materials) -> GraphMaker:
        return GraphMaker(task=self, materials=materials)

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:  # noqa: ARG002
        return score_nodes(
            generation.text,
            right=sample.answers[0].split(", "),
            known="".join(piece.text for piece in sample.recipe.user if isinstance(piece, Words)),
            cut_off=generation.finish_reason == "length",
        )


Edge = tuple[float, str]
"""Its place in the list, from 0 (the beginning) to 1, and its line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlantedGraph:
    """The edges of a graph: `needed` alone give the answer, and no part of `others` changes it."""

    node: str
    """The node that is asked about."""
    answer: tuple[str, ...]
    needed: tuple[Edge, ...]
    others: tuple[Edge, ...]


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
        most = self._fitting(graph, graph.needed, context_tokens, hops, least=len(graph.needed))
        name = f"{context_tokens:06d}-t{trial:02d}-{digest_of(*coordinates)[:8]}"
        sample = self._sample(graph, graph.needed, graph.others[:most], hops, name=name)
        yield replace(sample, context_tokens=context_tokens, trial=trial)
        if task.controls:
            yield self._sample(graph, graph.needed, (), hops, control="ceiling")
            shortest = min(task.lengths_in(self.materials.context_budget))
            bare = graph.others[: self._fitting(graph, (), shortest, hops, least=0)]
            yield self._sample(graph, (), bare, hops, control="floor")

    def _graph(self, rng: random.Random, context_tokens: int, hops: int, frontier: int) -> PlantedGraph:
        """A graph with more edges than the length holds."""
        task, digits = self.task, self.task.name_digits
        names = [_name(rng.randrange(16**digits), digits) for _ in range(_PROBED_EDGES + 1)]
        probe = "\n".join(_line(one, other) for one, other in pairwise(names))
        tokens_an_edge = len(self.materials.tokenizer.starts(probe)) / _PROBED_EDGES
        others = round(_MARGIN * context_tokens / tokens_an_edge) + _SPARE_EDGES
        nodes = nodes_for(hops=hops, frontier=frontier, others=others, degree=task.degree)
        if nodes > 16**digits:
            enough = next(more for more in count(digits) if 16**more >= nodes)
            raise ConfigError(
                f"task.name_digits={digits}: gives {16**digits:,} names, and {context_tokens:,} tokens hold up to "
                f"{nodes:,} nodes; give {enough} or more"
            )
        is_turned = task.question == "parents"
        return planted_graph(hops, frontier, others=others, nodes=nodes, digits=digits, turned=is_turned, rng=rng)

    def _fitting(
        self, graph: PlantedGraph, needed: Sequence[Edge], context_tokens: int, hops: int, *, least: int
    ) -> int:
        """How many of the others fit beside the needed edges."""

        def tokens_of(others: int) -> int:
            prompt = "".join(self._framed(graph, sorted((*needed, *graph.others[:others])), hops))
            return self.materials.tokenizer.count_prompt(Prompt(user=prompt))

        shorter = "task.frontier" if self.task.question == "parents" else "task.frontier or task.hops"
        return fit(tokens_of, context_tokens, least=least, most=len(graph.others), lower=shorter)

    def _framed(self, graph: PlantedGraph, edges: Sequence[Edge], hops: int) -> tuple[str, str, str]:
        """What stands before the list, the list, and what stands after it."""
        listed = "".join(f"{line}\n" for _, line in edges)
        return f"{self.task.instruction}\n\n", listed, f"\n{self.task.question_on(graph.node, hops)}"

    def _sample(
        self,
        graph: PlantedGraph,
        needed: Sequence[Edge],
        others: Sequence[Edge],
        hops: int,
        *,
        name: str = "",
        control: str | None = None,
    ) -> Sample:
        """A sample of these edges; a control is named after its prompt."""
        edges = sorted((*needed, *others))
        before, listed, after = self._framed(graph, edges, hops)
        prompt = f"{before}{listed}{after}"
        tokens = self.materials.tokenizer.count_prompt(Prompt(user=prompt))
        identity = name or f"{control}-{digest_of(self.task.name, control, prompt)[:16]}"
        starts = accumulate((len(line) + 1 for _, line in edges), initial=0)
        wanted = frozenset(needed)
        spans = [
            Span(start=start, end=start + len(edge[1]))
            for start, edge in zip(starts, edges, strict=False)
            if edge in wanted
        ]
        metadata = {"hops": hops, "frontier": len(graph.answer)}
        if len(spans) > 1:
            between = tokenise(listed, self.materials.tokenizer).tokens_between(spans[0].start, spans[-1].start)
            metadata["evidence_distance_tokens"] = round(between / (len(spans) - 1))
        return Sample(
            sample_id=f"{self.task.name}-{identity}",
            task=self.task.name,
            context_tokens=tokens,
            built_tokens=tokens,
            depth=None,
            trial=0,
            document_id=f"graph of {graph.node}",
            question=self.task.question_on(graph.node, hops),
            answers=(", ".join(graph.answer),),
            reference=Reference(
                evidence=tuple(Span(start=len(before) + span.start, end=len(before) + span.end) for span in spans),
                reply=f"{FINAL} [{', '.join(graph.answer)}]",
            ),
            recipe=Recipe(user=(Words(text=prompt),)),
            seed=seed_of(identity),
            metadata=metadata,
            answer_tokens=self.task.answer_tokens(tokens),
            control=control,
        )


# ---------------------------------------------------------------- graphs


def _name(number: int, digits: int) -> str:
    return f"{number:0{digits}x}"


def _line(source: str, target: str) -> str:
    return f"{source} -> {target}"


def level_sizes(hops: int, frontier: int) -> tuple[int, ...]:
    """Nodes at each depth from 1 to `hops`: equal ratios up to `frontier`, so that none is smaller than the last."""
    return (*(max(1, round(frontier ** (depth / hops))) for depth in range(1, hops)), frontier)


def nodes_for(*, hops: int, frontier: int, others: int, degree: float) -> int:
    """Nodes of a graph with so many distractor edges, `degree` of them for each node outside the search."""
    return 1 + sum(level_sizes(hops, frontier)) + max(math.ceil(others / degree), 2 * math.ceil(degree) + 2)


def planted_graph(
    hops: int, frontier: int, *, others: int, nodes: int, digits: int, turned: bool, rng: random.Random
) -> PlantedGraph:
    """A graph with `frontier` nodes at depth `hops` of a node, and `others` distractor edges.

    Names have `digits` hexadecimal digits. `turned` turns each edge round: the answer is then the nodes from which the
    node is reached in `hops` steps. Needed edges are spread evenly over the list, in no order. Raises `ValueError`
    where there are fewer names than nodes.
    """
    names = [_name(number, digits) for number in rng.sample(range(16**digits), nodes)]
    ends = list(accumulate((1, *level_sizes(hops, frontier))))
    levels = [names[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    tree = _tree(levels, rng)
    spread = list(tree)
    rng.shuffle(spread)
    strays = _distractors(names, levels, tree, others, rng)

    def placed(place: float, edge: tuple[str, str]) -> Edge:
        return place, _line(*(reversed(edge) if turned else edge))

    return PlantedGraph(
        node=levels[0][0],
        answer=tuple(levels[-1]),
        needed=tuple(placed((rank + rng.random()) / len(spread), edge) for rank, edge in enumerate(spread)),
        others=tuple(placed(rng.random(), edge) for edge in strays),
    )


def _tree(levels: Sequence[Sequence[str]], rng: random.Random) -> list[tuple[str, str]]:
    """One edge into each node from the level before it; every node before the last level has one out of it."""
    edges: list[tuple[str, str]] = []
    for above, below in pairwise(levels):
        sources = [*above, *(rng.choice(above) for _ in range(len(below) - len(above)))]
        edges += zip(sources, below, strict=True)
    return edges


def _distractors(
    names: Sequence[str],
    levels: Sequence[Sequence[str]],
    tree: Sequence[tuple[str, str]],
    count: int,
    rng: random.Random,
) -> list[tuple[str, str]]:
    """Further edges between any two nodes that leave every depth as it is."""
    depth = {node: level for level, nodes in enumerate(levels) for node in nodes}
    outside = len(levels)
    inside = names[: len(depth)]
    known = set(tree)
    edges: list[tuple[str, str]] = []
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


# ---------------------------------------------------------------- answers


def final_nodes(answer: str) -> tuple[str, ...] | None:
    """The nodes that the last line of an answer lists; None where it has no such list. Blank lines do not count."""
    line = answer.strip().rpartition("\n")[-1]
    begins, end = _LIST_BEGINS.search(line), line.rfind("]")
    if begins is None or end < begins.end():
        return None
    return tuple(node.strip() for node in line[begins.end() : end].split(",") if node.strip())


def score_nodes(answer: str, *, right: Collection[str], known: str, cut_off: bool) -> Score:
    """Score an answer against the right nodes; `known` is the text that holds every node of the graph.

    Tags, the first that holds: `empty` (nothing was said, or the list has no node) · `incomplete` (cut off before the
    last line) · `refusal` · `schema` (no final answer in the last line) · `partial` (some nodes are right) ·
    `hallucination` (no node of the graph is among them) · `wrong`.
    """
    text = answer.strip()
    nodes = final_nodes(text)
    if nodes is None:
        tag = "empty" if not text else "incomplete" if cut_off else "refusal" if is_refusal(text) else "schema"
        return Score(value=0.0, prediction=text, failure=tag)
    said, wanted = set(nodes), set(right)
    value = 2 * len(said & wanted) / (len(said) + len(wanted))
    failure = None
    if value < 1.0:
        invented = said.isdisjoint(re.findall(r"\w+", known))
        failure = "empty" if not said else "partial" if value else "hallucination" if invented else "wrong"
    return Score(value=value, prediction=", ".join(nodes), failure=failure)
