"""Task `graphwalks`: a directed graph as a list of its edges, and a set of nodes that is asked for.

After GraphWalks (OpenAI 2025, dataset openai/graphwalks): the list fills the context, and the model is asked for the
nodes at a depth of a breadth-first search (`question=bfs`), or for the parents of a node. Every place of the list can
matter, and with more hops each edge can only be looked for once another is found. Scored by the F1 of the two sets of
nodes. Search depth and size of the answer are set apart from length (`hops`, `frontier`); `docs` has what differs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample, Words
from contextcliff.settings import NonNegativeInt, PositiveInt, settings
from contextcliff.tasks.graphs.edge_lists import FINAL, GraphMaker, score_nodes
from contextcliff.tasks.grid import BATCH, DesignedLengths, filled, refuse_twice, require_fields
from contextcliff.tasks.task import Materials, ScoringContext, Traits

_ANSWER_EXTRA_TOKENS = 16
_TOKENS_BETWEEN_NODES = 2


def _as_list(value: object) -> object:
    """One number as a list of it."""
    return (value,) if isinstance(value, int) else value


Numbers = Annotated[tuple[PositiveInt, ...], Field(min_length=1), BeforeValidator(_as_list)]
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
    degree: Annotated[float, Field(ge=0.25, le=16.0)]
    """Distractor edges for each node outside the search: fewer nodes have more edges each."""
    name_digits: Annotated[int, Field(ge=2, le=15)]
    """Hexadecimal digits of a node's name."""
    working_tokens: NonNegativeInt
    """Tokens that an answer may take before its final line."""
    instruction: str
    """Stands before the list."""
    bfs_question: str
    """Names `{node}` and `{hops}`."""
    parents_question: str
    """Names `{node}`."""
    answer_format: str
    """Stands after the question; names the form of the final line."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_fields("task.bfs_question", self.bfs_question, ("{node}", "{hops}"))
        require_fields("task.parents_question", self.parents_question, ("{node}",))
        require_fields("task.answer_format", self.answer_format, (FINAL,))
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
        """The F1 of the nodes in the last line and the right ones."""
        return score_nodes(
            generation.text,
            right=sample.answers[0].split(", "),
            known="".join(piece.text for piece in sample.recipe.user if isinstance(piece, Words)),
            cut_off=generation.finish_reason == "length",
        )
