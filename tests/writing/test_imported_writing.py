"""Another tool's rounds become a record like our own: computed from its rounds, tested for nothing."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

import pytest

from contextcliff.writing.context_tester import (
    ImportedRound,
    ImportedRun,
    ImportedTier,
    imported_writing,
    remeasured,
)
from contextcliff.writing.measures.measured import measure_prose
from contextcliff.writing.measures.readability import word_list_of
from contextcliff.writing.prose_findings import MeasureLevel, Writing

WORDS = word_list_of("the\ncat\nsat\n", "few")


def run_of(
    rounds: Sequence[ImportedRound] = (),
    *,
    original: Mapping[str, float] | None = None,
    text: str = "harbour",
) -> ImportedRun:
    return ImportedRun(
        run_id="old", tool="Context-Tester", model="glm", text=text, label="", parameters={},
        tiers=(ImportedTier(context_tokens=2048, rounds=tuple(rounds)),), original=original or {},
    )  # fmt: skip


def level(writing: Writing, name: str) -> MeasureLevel:
    return next(found for found in writing.tiers[0].measures if found.name == name)


def test_mean_spread_and_interval_are_those_of_the_rounds() -> None:
    scores = [18.0, 20.0, 25.0]
    writing = imported_writing(run_of([ImportedRound(values={"cloze_score": s}) for s in scores]), confidence=0.95)
    found = level(writing, "cloze_score")
    assert (found.n, found.mean) == (3, 21.0)
    assert found.std == pytest.approx(statistics.stdev(scores))
    assert found.ci_low is not None
    assert found.ci_high is not None
    assert 18.0 <= found.ci_low < 21.0 < found.ci_high <= 25.0
    assert writing.tiers[0].reading_level == "13-15"
    assert (writing.tests, writing.trends, writing.steps) == ((), (), ())
    assert "mtld" in writing.unmeasured


def test_the_classic_composite_is_the_mean_over_the_rounds() -> None:
    # (0.6 - 0.45) / 0.3 = 0.5 of diversity, (20 - 15) / 25 = 0.2 of cloze: 35 of 100; the second round gets 10.
    rounds = [
        ImportedRound(values={"cloze_score": 20.0, "vocabulary_diversity": 0.45}),
        ImportedRound(values={"cloze_score": 20.0, "vocabulary_diversity": 0.6}),
    ]
    tier = imported_writing(run_of(rounds), confidence=0.95).tiers[0]
    assert tier.composite_classic.mean == pytest.approx(22.5)
    assert tier.composite.mean is None


def test_equal_rounds_are_one_draw() -> None:
    same = [ImportedRound(values={"cloze_score": 20.0 + i / 10}, text="The same.") for i in range(3)]
    writing = imported_writing(run_of(same), confidence=0.95)
    tier = writing.tiers[0]
    assert (tier.n_rounds, tier.n_distinct) == (3, 1)
    assert level(writing, "cloze_score").std is None
    assert any("same draw" in str(warning) for warning in writing.warnings)


def test_coherence_that_is_zero_in_every_row_was_not_measured() -> None:
    values = [{"cloze_score": 20.0 + i, "adjacent_coherence": 0.0, "global_coherence": 0.1 * i} for i in range(2)]
    run = run_of([ImportedRound(values=v) for v in values], original={"adjacent_coherence": 0.4})
    writing = imported_writing(run, confidence=0.95)
    assert "adjacent_coherence" in writing.unmeasured
    assert any("stored as 0 in every row" in str(warning) for warning in writing.warnings)
    none = imported_writing(run_of([ImportedRound(values=values[0] | {"global_coherence": 0.0})]), confidence=0.95)
    assert none.embeddings is None
    # One that is 0 in some rows alone was measured.
    assert level(writing, "global_coherence").mean == pytest.approx(0.05)


def test_kept_texts_are_measured_by_our_rules_and_coherence_stays() -> None:
    text = "The cat sat. Mr. Grey, who had never liked the cat, said nothing at all!"
    kept = ImportedRound(values={"cloze_score": -1.0, "adjacent_coherence": 0.3}, text=text)
    again = remeasured(run_of([kept], original={"cloze_score": 3.0, "adjacent_coherence": 0.2}), word_list=WORDS)
    values = again.tiers[0].rounds[0].values
    ours = measure_prose(text, language="en", word_list=WORDS)
    assert values == {**ours, "adjacent_coherence": 0.3}
    assert dict(again.original) == {"adjacent_coherence": 0.2}


def test_rounds_without_their_texts_cannot_be_measured_anew() -> None:
    with pytest.raises(ValueError, match="not kept"):
        remeasured(run_of([ImportedRound(values={"cloze_score": 1.0})]), word_list=WORDS)
