"""A pilot chooses the bins round the suspected transition."""

from __future__ import annotations

from contextcliff.analysis.bins import bins_to_fill
from tests.tasks.test_qa import built, corpus, qa


def chosen(*means: float | None, relative: bool) -> tuple[int, ...]:
    from contextcliff.records.generation import ScoredSample

    samples = built(qa(repeats=1), corpus(*range(50, 50 + 50 * len(means), 50), questions=1), bins=len(means)).samples
    pilot = [
        ScoredSample(sample=sample, prompt_sha256=str(i), score=mean, failure=None, prediction="", generation=None)
        for i, (sample, mean) in enumerate(zip(samples, means, strict=True))
    ]
    return bins_to_fill(pilot, threshold=0.8, relative=relative)


def test_the_last_good_bin_the_first_bad_one_and_the_next_are_filled() -> None:
    expected = {
        ((1.0, 1.0, 0.9, 0.3, 0.1, 0.0), False): (2, 3, 4),
        ((1.0, 1.0, 0.9, 0.3, 0.1, 0.0), True): (0, 2, 3, 4),
        ((1.0, 1.0, 1.0, 1.0), False): (2, 3),
        ((1.0, 1.0, 1.0, 1.0), True): (0, 2, 3),
        ((0.1, 0.1, 0.1), False): (0, 1),
        ((0.5, 0.45, 0.2), True): (0, 1, 2),
        ((1.0, None, 1.0, 1.0), False): (0, 1, 2),
        ((1.0, 1.0, 1.0, 0.0), False): (2, 3),
    }
    assert {(means, relative): chosen(*means, relative=relative) for means, relative in expected} == expected
