"""What every reason and note has in common, over samples of every kind: it counts, agrees and contradicts nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.records.analysis import Analysis
from contextcliff.records.generation import ScoredSample
from contextcliff.reporting.words import japanese
from contextcliff.reporting.words.english import say
from contextcliff.reporting.words.english_say import amount, portion
from tests.analysis.analysis_samples import analysed, scored_sample
from tests.analysis.repeated_samples import repeated

Scores = Sequence[float | None]
SHAPES = ("texts of their own", "one text", "contexts", "one context", "shared texts", "repeats", "one draw")
BAD_COUNTS = re.compile(r"\b0 of \d|\b([\d,]+) of \1\b|\b1 (scored )?(samples|questions|lengths|texts|contexts)\b")
ENGLISH = re.compile(r"[A-Za-z]{2,} [A-Za-z]{2,} [A-Za-z]{2,}")
ALLOWED_FOR, INDEPENDENT = "the intervals and the cap allow for it", "are treated as independent"

mixed = st.lists(st.sampled_from([1.0, 1.0, 1.0, 0.0, 0.6, None]), min_size=1, max_size=12)
run = st.one_of(
    st.integers(1, 40).map(lambda n: [1.0] * n),
    st.integers(1, 40).map(lambda n: [0.0] * n),
    st.integers(1, 40).map(lambda n: [1.0] + [None] * (n - 1)),
    st.tuples(mixed, st.integers(1, 3)).map(lambda found: found[0] * found[1]),
)


def shaped(shape: str, length: int, scores: Scores) -> list[ScoredSample]:
    if shape == "repeats":
        return repeated(length, [[score, score, 1.0 if score else score] for score in scores])
    samples = [scored_sample(length, score, document=f"d{i}") for i, score in enumerate(scores)]
    return [replace(s, sample=replace(s.sample, **_names(shape, i, length))) for i, s in enumerate(samples)]


def _names(shape: str, i: int, length: int) -> dict[str, Any]:
    named: dict[str, dict[str, Any]] = {
        "texts of their own": {},
        "one text": {"document_id": "story"},
        "contexts": {"document_id": "story", "cluster": f"c{i % 4}"},
        "one context": {"document_id": "story", "cluster": "c0"},
        "shared texts": {"document_id": f"t{i % 3}", "cluster": f"t{i % 3}"},
        "one draw": {"document_id": "story", "item": f"{length}-{i // 3}"},
    }
    return named[shape]


def sentences(analysis: Analysis) -> list[str]:
    return [say(analysis.safe_cap.reason), *map(say, analysis.notes)]


@pytest.mark.slow
@settings(max_examples=250, deadline=None)
@given(
    st.sampled_from(SHAPES),
    st.lists(run, min_size=1, max_size=3),
    st.booleans(),
    st.sampled_from([0.5, 0.8, 0.95, 1.0]),
    st.sampled_from([None, 1_200]),
)
def test_no_sentence_counts_none_or_all_or_one_of_many_and_no_two_contradict(
    shape: str, lengths: list[Scores], relative: bool, threshold: float, baseline_tokens: int | None
) -> None:
    samples = [s for i, scores in enumerate(lengths) for s in shaped(shape, 500 * 2**i, scores)]
    analysis = analysed(samples, threshold=threshold, relative=relative, baseline_tokens=baseline_tokens, finders=())
    found = sentences(analysis)
    assert not [sentence for sentence in found if BAD_COUNTS.search(sentence)]
    assert not (any(ALLOWED_FOR in note for note in found) and any(INDEPENDENT in note for note in found))
    one_text = any("cut from one text" in note for note in found)
    assert not (one_text and any("share texts (" in note for note in found))
    needed = re.search(r"but (\d+) .* cannot show .*; at least ([\d,]+) ", found[0])
    assert needed is None or int(needed[1]) < int(needed[2].replace(",", ""))
    for fact in (analysis.safe_cap.reason, *analysis.notes):
        assert not ENGLISH.search(japanese.say(fact))


def test_contexts_of_one_text_are_not_called_texts() -> None:
    notes = [say(note) for note in analysed(shaped("contexts", 500, [1.0] * 40)).notes]
    assert [note.split(":")[0] for note in notes[:3]] == [
        "all samples are cut from one text, “story”",
        "samples of one length share contexts (4 a length)",
        "with fewer than 8 contexts at the only length, how much contexts differ is hardly known, and the intervals "
        "there are wide and rough",
    ]


def test_one_packed_context_needs_more_contexts_and_not_a_few_more_samples() -> None:
    reason = say(analysed(shaped("one context", 500, [1.0] * 10)).safe_cap.reason)
    assert reason.endswith(
        "but 10 samples in 1 context cannot show 0.80 even if all are right; at least 60 samples a length in 6 "
        "contexts are needed"
    )


@pytest.mark.parametrize(
    ("n", "total", "words"),
    [
        (1, 1, "the only sample"),
        (2, 2, "both samples"),
        (1_200, 1_200, "all 1,200 samples"),
        (1, 20, "1 of 20 samples"),
    ],
)
def test_how_many_of_how_many(n: int, total: int, words: str) -> None:
    assert portion(n, total, "samples") == words


def test_one_is_singular() -> None:
    assert (amount(1, "samples"), amount(2, "contexts")) == ("1 sample", "2 contexts")
