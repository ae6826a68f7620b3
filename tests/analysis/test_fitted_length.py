"""Fitted lengths and the shift between two of them, the area under the score, and RULER's effective length."""

from __future__ import annotations

import pytest

from contextcliff.findings.fitted_length import FittedLength, FittedLengths, effective_length, fitted_shift
from contextcliff.records.generation import ScoredSample
from contextcliff.records.note import as_it_is
from tests.make import analysed, counted, curve, finding, fractional, known, of, scored_sample, texts

GPT_4 = (96.6, 96.3, 95.2, 93.2, 87.0, 81.2)
MISTRAL_7B = (93.6, 91.2, 87.2, 75.4, 49.0, 13.8)
RULER_LENGTHS = (4_096, 8_192, 16_384, 32_768, 65_536, 131_072)


def estimated(samples: list[ScoredSample], **settings: object) -> FittedLengths:
    return finding(analysed(samples, **settings), FittedLengths)  # type: ignore[arg-type]  # keywords of analysed


@pytest.mark.parametrize(("averages", "effective"), [(GPT_4, 65_536), (MISTRAL_7B, 16_384)], ids=["GPT-4", "Mistral"])
def test_rulers_published_averages_give_the_papers_effective_lengths(
    averages: tuple[float, ...], effective: int
) -> None:
    """C.-P. Hsieh et al., arXiv 2404.06654, table 3."""
    lengths = counted({tokens: (round(10 * mean), 1_000) for tokens, mean in zip(RULER_LENGTHS, averages, strict=True)})
    found = effective_length(lengths)
    assert (found.tokens, found.threshold, found.censored) == (effective, 0.856, False)


@pytest.mark.parametrize(("right", "tokens"), [(856, None), (857, 4_096)])
def test_an_average_of_llama2s_own_score_does_not_exceed_it(right: int, tokens: int | None) -> None:
    assert effective_length(counted({4_096: (right, 1_000)})).tokens == tokens


def test_an_effective_length_ends_before_a_length_without_a_score_and_is_censored_where_all_are_above() -> None:
    assert effective_length(counted({1_000: (9, 10), 2_000: (0, 0), 4_000: (10, 10)})).tokens == 1_000
    assert effective_length(counted({1_000: (9, 10), 2_000: (10, 10)})).censored
    assert not effective_length(()).censored


def test_a_fall_between_two_lengths_is_known_to_lie_between_them_and_no_better() -> None:
    found = estimated(curve({500: (40, 40), 1_000: (39, 40), 2_000: (40, 40), 4_000: (2, 40), 8_000: (1, 40)}))
    for length in (found.x80, found.x50):
        assert (length.ci_low, length.ci_high) == (2_000, 4_000)
        assert 2_000 < (length.tokens or 0) < 4_000
    assert (found.x80.score, found.x50.score) == (0.8, 0.5)
    assert (found.n_samples, found.n_lengths, found.relative) == (200, 5, False)


def test_under_a_relative_threshold_80_percent_is_of_the_curves_value_at_the_shortest_length() -> None:
    results = {500: [0.5] * 20, 1_000: [0.5] * 20, 2_000: [0.5] * 20, 4_000: [0.1] * 20, 8_000: [0.1] * 20}
    found = estimated(fractional(results), relative=True)
    assert found.relative
    assert found.x80.score == pytest.approx(0.4)
    assert found.x50.score == pytest.approx(0.25)
    assert (found.x80.ci_low, found.x80.ci_high) == (2_000, 4_000)
    assert "is not above 0.80 even at the shortest test, 500 tokens" in str(estimated(fractional(results)).x80.reason)


def test_samples_that_share_texts_make_the_interval_wider() -> None:
    lengths = {
        500: (10, 10, 10, 10),
        1_000: (10, 10, 9, 3),
        2_000: (10, 9, 4, 1),
        4_000: (9, 2, 1, 0),
        8_000: (2, 1, 0, 0),
    }
    shared = [item for tokens, right in lengths.items() for item in texts(tokens, *((k, 10) for k in right))]
    alone = curve({tokens: (sum(right), 40) for tokens, right in lengths.items()})
    wide, narrow = (known(estimated(samples).area) for samples in (shared, alone))
    assert wide.value == pytest.approx(narrow.value)
    assert wide.ci_high - wide.ci_low > 1.5 * (narrow.ci_high - narrow.ci_low)


def test_a_text_with_one_sample_at_each_length_is_drawn_as_a_whole() -> None:
    """Half of the texts are easy at every length: which are drawn decides the area."""
    names = [f"text-{i}" for i in range(12)]
    shared, alone = [], []
    for tokens in (500, 1_000, 2_000, 4_000):
        for i, name in enumerate(names):
            sample = scored_sample(tokens, float(i % 2))
            alone.append(sample)
            shared += of(name, [sample])
    wide, narrow = (known(estimated(samples).area) for samples in (shared, alone))
    assert wide.ci_high - wide.ci_low > 1.4 * (narrow.ci_high - narrow.ci_low)


def fitted(tokens: int | None, low: int | None = None, high: int | None = None) -> FittedLength:
    censored, reason = tokens is None, as_it_is("")
    return FittedLength(tokens=tokens, ci_low=low, ci_high=high, censored=censored, score=0.8, reason=reason)


def test_half_the_length_is_an_octave_down() -> None:
    found = known(fitted_shift(fitted(8_000, 4_000, 16_000), fitted(4_000, 4_000, 4_000)))
    assert (found.octaves, found.ci_low, found.ci_high) == (-1.0, -2.0, 0.0)


def test_an_end_beyond_the_tested_lengths_is_not_known() -> None:
    found = known(fitted_shift(fitted(8_000, 4_000, None), fitted(4_000, 3_000, 5_000)))
    assert found.ci_low is None
    assert found.ci_high == pytest.approx(-1.0 + (1.0**2 + 0.3219**2) ** 0.5, abs=1e-3)
