"""What an answer that is a set of nodes is worth: the F1 of the two sets, and its failure tag.

After the scoring of openai/graphwalks (OpenAI 2025): the last line has to hold `Final Answer: [a, b, …]`, and its nodes
are compared with the right ones as sets.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from contextcliff.records.generation import Score
from contextcliff.tasks.answer_texts import is_refusal

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
