"""The verdict on a candidate: what it rests on, and what counts for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.analysis.paired import decide
from contextcliff.records.comparison import Matching, PairedDecision, ScoredPair
from tests.make import known

LENGTHS = (1_000, 2_000, 4_000, 8_000)


def pairs_at(
    tokens: int, *, worse: int = 0, better: int = 0, right: int = 0, wrong: int = 0, lost: int = 0
) -> list[ScoredPair]:
    """Pairs of a length; `lost` are right in the baseline and have no score in the candidate."""
    kinds = [(1.0, 0.0)] * worse + [(0.0, 1.0)] * better + [(1.0, 1.0)] * right + [(0.0, 0.0)] * wrong
    scores: list[tuple[float | None, float | None]] = [*kinds, *[(1.0, None)] * lost]
    return [
        ScoredPair(sample_id=f"{tokens}-{k}", context_tokens=tokens, baseline=base, candidate=candidate)
        for k, (base, candidate) in enumerate(scores)
    ]


def matching_of(*pairs: ScoredPair) -> Matching:
    return Matching(pairs=pairs, only_baseline=0, only_candidate=0, other_prompt=0, searched=False)


def everywhere(**kinds: int) -> Matching:
    return matching_of(*(pair for tokens in LENGTHS for pair in pairs_at(tokens, **kinds)))


def decided(*matchings: Matching, margin: float = 0.05, confidence: float = 0.95) -> list[PairedDecision]:
    decisions = decide(matchings, confidence=confidence, margin=margin)
    assert None not in decisions
    return [each for each in decisions if each is not None]


def test_a_little_worse_at_every_length_is_worse_though_no_length_shows_it() -> None:
    (found,) = decided(everywhere(worse=4, better=1, right=55))
    assert (found.verdict, found.worse.lengths) == ("worse", ())
    assert found.worse.p_overall < 0.025 < found.worse.p_somewhere


def test_a_fall_at_one_length_is_worse_though_the_mean_over_all_hardly_moves() -> None:
    good = [pair for tokens in LENGTHS[:3] for pair in pairs_at(tokens, worse=3, better=6, right=31)]
    (found,) = decided(matching_of(*good, *pairs_at(8_000, worse=10, right=30)))
    assert (found.verdict, found.worse.lengths) == ("worse", (8_000,))
    assert found.worse.p_overall > 0.025


def test_equal_runs_of_few_pairs_are_unknown_and_say_how_many_are_missing() -> None:
    (found,) = decided(everywhere(worse=1, better=1, right=8))
    assert found.verdict == "unknown"
    assert 300 <= known(found.more_pairs) + found.overall.n_pairs <= 700


def test_a_perfect_pair_of_runs_is_not_worse_from_sixty_pairs_on() -> None:
    assert [decided(matching_of(*pairs_at(1_000, right=n)))[0].verdict for n in (40, 60)] == ["unknown", "not_worse"]


def test_scores_that_are_missing_never_make_a_candidate_worse_and_keep_it_from_being_not_worse() -> None:
    (found,) = decided(everywhere(right=60, lost=12))
    assert (found.verdict, found.n_unscored, found.overall.n_pairs) == ("unknown", 48, 240)
    assert found.worse.p == 1.0
    assert found.worst_low < -0.05 < found.overall.low


def test_several_candidates_are_corrected_for_their_number() -> None:
    alone = everywhere(worse=3, better=0, right=20)
    equal = everywhere(worse=1, better=1, right=21)
    (one,) = decided(alone)
    of_three = decided(alone, equal, equal)
    assert one.worse.p == one.worse.p_of_all
    assert of_three[0].worse.p == one.worse.p
    assert of_three[0].worse.p_of_all == pytest.approx(3.0 * one.worse.p)


def test_a_candidate_without_a_pair_has_no_decision_and_counts_for_no_correction() -> None:
    some = everywhere(worse=3, right=20)
    none, found = decide([matching_of(), some], confidence=0.95, margin=0.05)
    assert none is None
    assert found == decided(some)[0]


def test_pairs_of_one_text_are_one_piece_of_evidence() -> None:
    def texts(n: int) -> Iterable[ScoredPair]:
        for pair in everywhere(worse=5, right=5).pairs:
            yield replace(pair, cluster=f"text {int(pair.sample_id.split('-')[1]) % n}")

    (found,) = decided(matching_of(*texts(5)))
    assert (found.overall.n_pairs, found.overall.n_units, found.verdict) == (40, 5, "unknown")
    assert found.overall.method == "gaffke"


def test_repeats_of_a_question_are_one_piece_of_evidence() -> None:
    repeated = [replace(pair, item=pair.sample_id[:-1]) for pair in pairs_at(1_000, worse=30)]
    (found,) = decided(matching_of(*repeated))
    assert found.overall.n_units < found.overall.n_pairs


def in_steps(tokens: int, steps: Iterable[tuple[int, int]], size: int = 10) -> list[ScoredPair]:
    """Of each step how many pairs are worse, and how many better."""
    return [
        ScoredPair(
            sample_id=f"{tokens}-{index}-{k}",
            context_tokens=tokens,
            baseline=float(k < worse or k >= worse + better),
            candidate=float(k >= worse),
            step=index,
        )
        for index, (worse, better) in enumerate(steps)
        for k in range(size)
    ]


def searched(*pairs: ScoredPair, lengths: tuple[int, ...] = LENGTHS) -> Matching:
    return replace(matching_of(*pairs), searched=True, lengths=lengths, n_walk_lengths=len(lengths), step_samples=10)


def test_bets_decide_where_a_run_searched() -> None:
    (found,) = decided(searched(*in_steps(1_000, [(0, 0)] * 2), *in_steps(2_000, [(6, 0), (7, 0)])))
    assert (found.verdict, found.sequential, found.worse.lengths) == ("worse", True, (2_000,))
    assert {each.difference.method for each in found.lengths} == {"confidence sequence"}


@pytest.mark.parametrize("in_search", [False, True])
def test_each_length_counts_alike_however_many_pairs_it_has(in_search: bool) -> None:
    blocks = {1_000: [(0, 0)] * 2, 2_000: [(10, 0)] * 8, 4_000: [(0, 0)] * 2}
    pairs = [pair for tokens, of_length in blocks.items() for pair in in_steps(tokens, of_length)]
    (found,) = decided(searched(*pairs) if in_search else matching_of(*(replace(p, step=None) for p in pairs)))
    overall = found.overall
    assert (overall.mean, overall.candidate_mean, overall.n_pairs) == pytest.approx((-1 / 3, 2 / 3, 120))
    assert -1.0 < overall.low < -1 / 3 < overall.high < 0.0


def test_only_whole_steps_without_a_gap_count_in_a_search() -> None:
    pairs = in_steps(1_000, [(0, 0), (9, 0), (9, 0)])
    without_one = [pair for pair in pairs if pair.sample_id != "1000-1-3"]
    (found,) = decided(searched(*without_one))
    assert (found.overall.n_pairs, found.verdict) == (10, "unknown")


@settings(max_examples=40)
@given(st.lists(st.tuples(*[st.integers(0, 6)] * 3), min_size=1, max_size=4), st.booleans())
def test_the_other_run_as_candidate_mirrors_the_decision(counts: list[tuple[int, int, int]], in_search: bool) -> None:
    pairs = [
        pair
        for tokens, (worse, better, right) in zip(LENGTHS, counts, strict=False)
        for pair in (
            in_steps(tokens, [(worse, min(better, 10 - worse))] * 2)
            if in_search
            else pairs_at(tokens, worse=worse, better=better, right=right)
        )
    ]
    matching = searched(*pairs) if in_search else matching_of(*pairs)
    other = replace(
        matching, pairs=tuple(replace(p, baseline=p.candidate, candidate=p.baseline) for p in matching.pairs)
    )
    for one, mirrored in zip(
        decide([matching], confidence=0.95, margin=0.05), decide([other], confidence=0.95, margin=0.05), strict=True
    ):
        assert (one is None) == (mirrored is None)
        if one is not None and mirrored is not None:
            assert one.worse == mirrored.better
            assert one.overall.low == pytest.approx(-mirrored.overall.high, abs=1e-6)
            assert {one.verdict, mirrored.verdict} != {"worse"}
