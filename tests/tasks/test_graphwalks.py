"""A graph as a list of edges: what is asked of it has one answer, which networkx finds too, and is scored as a set."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import Any

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.errors import ConfigError
from contextcliff.records.sample import Recipe, Sample, Words
from contextcliff.tasks.graphwalks import Edge, Graphwalks, level_sizes, nodes_for, planted_graph
from contextcliff.tasks.task import ScoringContext
from tests import compositions
from tests.make import known, scored_sample
from tests.tasks import made_tasks
from tests.tasks.needles import built, prompt, said

QUESTIONS = st.sampled_from(["bfs", "parents"])


def shipped(option: str = "graphwalks", **changes: Any) -> Graphwalks:
    task = made_tasks.shipped(option)
    assert isinstance(task, Graphwalks)
    return replace(task, **{"trials": 1, **changes})


def edges_in(text: str) -> list[tuple[str, str]]:
    return [(edge[1], edge[2]) for edge in re.finditer(r"^([0-9a-f]+) -> ([0-9a-f]+)$", text, re.MULTILINE)]


def answer_by_networkx(edges: list[tuple[str, str]], node: str, hops: int, question: str) -> set[str]:
    graph = networkx.DiGraph(edges)
    if question == "parents":
        return set(graph.predecessors(node))
    reached = networkx.single_source_shortest_path_length(graph, node)
    return {other for other, depth in reached.items() if depth == hops}


def node_of(sample: Sample) -> str:
    return known(re.search(r"node ([0-9a-f]+)", sample.question))[1]


def evidence_of(sample: Sample) -> str:
    text = prompt(sample).user
    return "\n".join(text[span.start : span.end] for span in sample.reference.evidence)


@given(
    QUESTIONS, st.integers(1, 4), st.integers(1, 9), st.integers(900, 2_500), st.floats(0.25, 6.0), st.integers(4, 7)
)
@settings(max_examples=25)
def test_networkx_finds_the_same_answer_in_the_whole_list_and_in_the_edges_that_are_needed(
    question: str, hops: int, frontier: int, length: int, degree: float, digits: int
) -> None:
    task = shipped(
        question=question, lengths=(length,), hops=(hops,), frontier=(frontier,), degree=degree, name_digits=digits
    )
    (sample,) = built(task).samples
    edges = edges_in(prompt(sample).user)
    asked = hops if question == "bfs" else 1
    answer = answer_by_networkx(edges, node_of(sample), asked, question)
    assert answer == set(sample.answers[0].split(", "))
    assert answer == answer_by_networkx(edges_in(evidence_of(sample)), node_of(sample), asked, question)
    assert len(answer) == frontier
    assert node_of(sample) not in answer
    assert len(set(edges)) == len(edges)
    assert not any(source == target for source, target in edges)
    assert len(sample.reference.evidence) == sum(level_sizes(asked, frontier)) <= len(edges) / 2
    assert sample.metadata["hops"] == asked
    assert sample.metadata["frontier"] == frontier


@given(st.integers(1, 4), st.integers(1, 12), st.integers(0, 60), st.booleans(), st.integers(0, 1_000))
def test_no_part_of_the_distractors_changes_the_answer(
    hops: int, frontier: int, others: int, turned: bool, seed: int
) -> None:
    rng = random.Random(seed)
    nodes = nodes_for(hops=hops, frontier=frontier, others=others, degree=1.5)
    graph = planted_graph(hops, frontier, others=others, nodes=nodes, digits=6, turned=turned, rng=rng)

    def answer(edges: tuple[Edge, ...]) -> set[str]:
        pairs = edges_in("\n".join(line for _, line in edges))
        turned_round = [(target, source) for source, target in pairs] if turned else pairs
        return answer_by_networkx(turned_round, graph.node, hops, "bfs")

    some = tuple(edge for edge in graph.others if rng.random() < 0.5)
    assert answer(graph.needed) == answer((*graph.needed, *some)) == answer((*graph.needed, *graph.others))
    assert answer(graph.needed) == set(graph.answer)
    assert len(graph.others) == others


def test_the_depth_of_a_search_counts_for_nothing_where_parents_are_asked_for() -> None:
    few, many = shipped("graphwalks_parents", hops=(1,)), shipped("graphwalks_parents", hops=(2, 3))
    assert built(few).samples == built(many).samples
    assert few.identity() == many.identity()


def test_one_number_may_stand_for_a_list() -> None:
    task = compositions.built("task=graphwalks", "engine=simulated", "task.hops=3", "task.frontier=7").task
    assert isinstance(task, Graphwalks)
    assert task.kinds == ((3, 7),)


@pytest.mark.parametrize(
    ("answer", "value", "tag"),
    [
        ("Final Answer: [a1, b2, c3]", 1.0, None),
        ("Final Answer:[c3,a1,b2,a1]", 1.0, None),
        ("So it goes.\nFinal Answer: [c3, b2, a1].\n\n", 1.0, None),
        ("**Final Answer: [c3, b2, a1]**", 1.0, None),
        ("Final Answer: [a1, b2]", 0.8, "partial"),  # precision 1, recall 2/3
        ("Final Answer: [a1, b2, c3, d4, e5, d6]", 2 / 3, "partial"),  # precision 1/2, recall 1
        ("Final Answer: [d4, x9]", 0.0, "wrong"),
        ("Final Answer: [x9]", 0.0, "hallucination"),
        ("Final Answer: []", 0.0, "empty"),
        ("", 0.0, "empty"),
        ("Final Answer: [a1, b2, c3]\nThat is all.", 0.0, "schema"),
        ("Final Answer: a1, b2, c3", 0.0, "schema"),
        ("Final Answer: [a1, b2", 0.0, "incomplete"),
        ("I'm sorry, I cannot find that.", 0.0, "refusal"),
    ],
)
def test_an_answer_is_worth_the_f1_of_its_last_line(answer: str, value: float, tag: str | None) -> None:
    recipe = Recipe(user=(Words(text="a1 b2 c3 d4 e5 d6"),))
    sample = replace(scored_sample(500, 1.0).sample, answers=("a1, b2, c3",), recipe=recipe)
    score = shipped().score(sample, said(answer, "length" if tag == "incomplete" else "stop"), ScoringContext())
    assert (score.value, score.failure) == (value, tag)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"frontier": (20,), "hops": (2,)}, "512 is too short: .* 635 tokens.*, or lower task.frontier or task.hops"),
        ({"frontier": (1,), "hops": (40,)}, "512 is too short: .*, or lower task.frontier or task.hops"),
        ({"question": "parents", "frontier": (30,)}, "512 is too short: .*, or lower task.frontier$"),
        ({"name_digits": 2, "lengths": (8_000,), "frontier": (2,)}, "=2: gives 256 names, .* give 3 or more"),
    ],
    ids=["an answer too large", "a search too deep", "too many parents", "too few names"],
)
def test_a_graph_that_does_not_fit_is_refused_in_one_line(changes: dict[str, Any], line: str) -> None:
    with pytest.raises(ConfigError, match=line):
        built(shipped(**{"lengths": (512,), **changes}))
