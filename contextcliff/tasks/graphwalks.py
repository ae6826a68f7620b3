"""Task `graphwalks`: a directed graph as a list of its edges, and a set of nodes that is asked for.

After GraphWalks (OpenAI 2025, dataset openai/graphwalks): the list fills the context, and the model is asked for the
nodes at a depth of a breadth-first search (`question=bfs`), or for the parents of a node. Scored as there, by the F1 of
the nodes in the last line, `Final Answer: [a, b, …]`. `docs/graphwalks_and_babilong.md` has what differs."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, count, pairwise, product
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from contextcliff.errors import ConfigError
from contextcliff.records.corpus import Span
from contextcliff.records.generation import Generation, Score
from contextcliff.records.note import Note
from contextcliff.records.sample import Prompt, Recipe, Reference, Sample, Words
from contextcliff.seeding import digest_of, seed_of
from contextcliff.settings import Few, Float, Int, NonNegativeInt, settings
from contextcliff.tasks.grid import DesignedLengths, filled, fit, naming, refuse_twice
from contextcliff.tasks.task import Cell, Maker, Materials, ScoringContext, Traits, control_of, distances, sample_at
from contextcliff.tasks.values import is_refusal
from contextcliff.text.tokens import tokenise

FINAL = "Final Answer:"
_LIST_BEGINS = re.compile(rf"{FINAL} ?\[")
_ANSWER_EXTRA_TOKENS = 16
_TOKENS_BETWEEN_NODES = 2


Numbers = Annotated[
    tuple[Few, ...], Field(min_length=1), BeforeValidator(lambda given: (given,) if isinstance(given, int) else given)
]


@settings
class Graphwalks(DesignedLengths):
    """A row of lengths. `hops` and `frontier` may be lists: the trials go through all pairs of them."""

    name = "graphwalks"
    claim = Note("In a graph test {whether}the model earns {share} points in prompts of {lengths}")

    question: Literal["bfs", "parents"]
    hops: Numbers
    frontier: Numbers
    degree: Annotated[Float, Field(ge=0.25, le=16.0)]
    name_digits: Annotated[Int, Field(ge=2, le=15)]
    working_tokens: NonNegativeInt
    instruction: str
    bfs_question: Annotated[str, naming("{node}", "{hops}")]
    parents_question: Annotated[str, naming("{node}")]
    answer_format: Annotated[str, naming(FINAL)]

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_twice("task.hops", self.hops)
        refuse_twice("task.frontier", self.frontier)

    @property
    def kinds(self) -> Sequence[tuple[int, int]]:
        """Hops and size of the answer, of each kind of sample."""
        return tuple(product(self.hops if self.question == "bfs" else (1,), self.frontier))

    @property
    def turns(self) -> int:
        return len(self.kinds)

    @property
    def traits(self) -> Traits:
        traits = replace(super().traits, takes_texts=False, graded=True)
        return replace(traits, idle=(*traits.idle, "hops")) if self.question == "parents" else traits

    def answer_tokens(self, context_tokens: int) -> int:  # noqa: ARG002 - the same at every length
        a_node = self.name_digits + _TOKENS_BETWEEN_NODES
        return self.working_tokens + max(self.frontier) * a_node + _ANSWER_EXTRA_TOKENS

    def question_on(self, node: str, hops: int) -> str:
        template = self.bfs_question if self.question == "bfs" else self.parents_question
        return f"{filled(template, node=node, hops=str(hops))} {self.answer_format}"

    def maker(self, materials: Materials) -> GraphMaker:
        return GraphMaker(task=self, materials=materials)

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:  # noqa: ARG002
        text = generation.text.strip()
        line = text.rpartition("\n")[-1]
        begins, end = _LIST_BEGINS.search(line), line.rfind("]")
        if begins is None or end < begins.end():
            cut_off = generation.finish_reason == "length"
            tag = "empty" if not text else "incomplete" if cut_off else "refusal" if is_refusal(text) else "schema"
            return Score(value=0.0, prediction=text, failure=tag)
        nodes = [node.strip() for node in line[begins.end() : end].split(",") if node.strip()]
        said, wanted = set(nodes), set(sample.answers[0].split(", "))
        value = 2 * len(said & wanted) / (len(said) + len(wanted))
        failure = None
        if value < 1.0:
            known = "".join(piece.text for piece in sample.recipe.user if isinstance(piece, Words))
            invented = said.isdisjoint(re.findall(r"\w+", known))
            failure = "empty" if not said else "partial" if value else "hallucination" if invented else "wrong"
        return Score(value=value, prediction=", ".join(nodes), failure=failure)


Edge = tuple[float, str]
"""Its place in the list, from 0 (the beginning) to 1, and its line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlantedGraph:
    """The edges of a graph: `needed` alone give the answer, and no part of `others` changes it."""

    node: str
    answer: tuple[str, ...]
    needed: tuple[Edge, ...]
    others: tuple[Edge, ...]


_PROBED_EDGES = 64
_MARGIN = 1.1
_SPARE_EDGES = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphMaker(Maker):
    task: Graphwalks
    materials: Materials

    def make(self, at: Cell) -> Iterator[Sample]:
        task, (context_tokens, _, trial) = self.task, at
        hops, frontier = task.kinds[trial % len(task.kinds)]
        asked = digest_of(task.instruction, task.question_on("", hops), task.question, task.degree, task.name_digits)
        coordinates = (self.materials.seed, task.name, asked, hops, frontier, context_tokens, trial)
        graph = self._graph(random.Random(seed_of(*coordinates)), context_tokens, hops, frontier)
        sample = sample_at(
            task,
            coordinates,
            at,
            built_tokens=context_tokens,
            document_id=f"graph of {graph.node}",
            question=task.question_on(graph.node, hops),
            answers=(", ".join(graph.answer),),
            recipe=Recipe(user=()),
            metadata={"hops": hops, "frontier": frontier},
            answer_tokens=task.answer_tokens(context_tokens),
        )
        yield self._over(sample, graph.needed, self._fitting(sample, graph, graph.needed, context_tokens))
        if task.controls:
            yield self._over(sample, graph.needed, (), control="ceiling")
            shortest = min(task.lengths_in(self.materials.context_budget))
            yield self._over(sample, (), self._fitting(sample, graph, (), shortest), control="floor")

    def _graph(self, rng: random.Random, context_tokens: int, hops: int, frontier: int) -> PlantedGraph:
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
        self, sample: Sample, graph: PlantedGraph, needed: Sequence[Edge], context_tokens: int
    ) -> Sequence[Edge]:
        def tokens_of(others: int) -> int:
            prompt = "".join(self._framed(sample, sorted((*needed, *graph.others[:others]))))
            return self.materials.tokenizer.count_prompt(Prompt(user=prompt))

        shorter = "task.frontier" if self.task.question == "parents" else "task.frontier or task.hops"
        fitting = fit(tokens_of, context_tokens, least=len(needed), most=len(graph.others), lower=shorter)
        return graph.others[:fitting]

    def _framed(self, sample: Sample, edges: Sequence[Edge]) -> tuple[str, str, str]:
        return f"{self.task.instruction}\n\n", "".join(f"{line}\n" for _, line in edges), f"\n{sample.question}"

    def _over(
        self,
        sample: Sample,
        needed: Sequence[Edge],
        others: Sequence[Edge],
        *,
        control: Literal["ceiling", "floor"] | None = None,
    ) -> Sample:
        edges, wanted = sorted((*needed, *others)), frozenset(needed)
        before, listed, after = self._framed(sample, edges)
        prompt = f"{before}{listed}{after}"
        recipe, tokens = Recipe(user=(Words(text=prompt),)), self.materials.tokenizer.count_prompt(Prompt(user=prompt))
        asked = (
            sample if control is None else control_of(sample, control, (control, prompt), recipe=recipe, tokens=tokens)
        )
        starts = accumulate((len(line) + 1 for _, line in edges), initial=0)
        spans = [
            Span(start=start, end=start + len(edge[1]))
            for start, edge in zip(starts, edges, strict=False)
            if edge in wanted
        ]
        text = tokenise(listed, self.materials.tokenizer) if spans else None
        places = [text.tokens_between(0, span.start) for span in spans] if text else []
        evidence = tuple(Span(start=len(before) + span.start, end=len(before) + span.end) for span in spans)
        return replace(
            asked,
            built_tokens=tokens,
            recipe=recipe,
            reference=Reference(evidence=evidence, reply=f"{FINAL} [{sample.answers[0]}]"),
            metadata={**sample.metadata, **distances(places)},
            seed=seed_of(asked.sample_id.removeprefix(f"{asked.task}-")),
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

    Needed edges are spread evenly over the list. `turned` turns each edge round: the answer is then the nodes from
    which the node is reached in `hops` steps."""
    names = [_name(number, digits) for number in rng.sample(range(16**digits), nodes)]
    ends = list(accumulate((1, *level_sizes(hops, frontier))))
    levels = [names[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    tree: list[tuple[str, str]] = []
    for above, below in pairwise(levels):  # an edge into each node; every node before the last level has one out of it
        sources = [*above, *(rng.choice(above) for _ in range(len(below) - len(above)))]
        tree += zip(sources, below, strict=True)
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
