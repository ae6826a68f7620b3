"""The search of the safe cap: what it asks, how lengths end, what it claims; and that no order of answers matters."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.analysis.safe_cap_search import LIKELY, SafeCapSearch, SearchAnswer
from contextcliff.analysis.search_path import SearchDesign, SearchPath, Step
from contextcliff.records.search_record import Key
from contextcliff.statistics.adaptive_bets import Bar, Evidence
from contextcliff.statistics.betting import bounds_of
from tests.statistics.simulated_walks import most_errors, simulated_runs

LENGTHS = (4_096, 8_192, 16_384, 32_768)
DESIGN = SearchDesign(lengths=LENGTHS, threshold=0.8, alpha=0.05, most=160)
SHARE = SearchDesign(lengths=LENGTHS, threshold=0.8, alpha=0.05, most=160, relative=True)
Ask = Callable[[Key], Step]


def searched(design: SearchDesign, ask: Ask, *, most: int = 10_000) -> SafeCapSearch:
    """A search that asks one step at a time, to its end or until it has asked so many."""
    search = SafeCapSearch(design)
    while (keys := search.next()) and len(search.counted) < most:
        ((length, number),) = keys
        search.tell(length, [ask((length, number))], number)
    return search


def drawn(rate: Callable[[int], float], seed: int) -> Ask:
    """Scores that depend on the seed, the length and the number alone."""
    return lambda key: float(random.Random(f"{seed} {key}").random() < rate(key[0]))


def cliff(at: int, high: float = 1.0, low: float = 0.0) -> Callable[[int], float]:
    return lambda length: high if length < at else low


def ends(answer: SearchAnswer) -> list[str]:
    return [each.end for each in answer.ladder]


# What it claims.


def test_a_perfect_model_passes_every_length_with_eighteen_samples_or_a_few_more() -> None:
    answer = searched(DESIGN, lambda _: 1.0).answer
    assert (answer.cap, answer.stopped) == (LENGTHS[-1], "whole_range")
    assert ends(answer) == ["passed"] * len(LENGTHS)
    assert all(17 <= each.n <= 23 for each in answer.ladder)
    assert answer.would_help is None


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.8, 0.95])
def test_a_hopeless_length_ends_within_ten_samples(threshold: float) -> None:
    design = SearchDesign(lengths=LENGTHS, threshold=threshold, alpha=0.05, most=160)
    search = searched(design, lambda _: 0.0)
    assert len(search.counted) <= 10
    assert search.answer.stopped == ("given_up" if threshold == 0.3 else "below")


def test_a_hopeless_length_beside_a_good_baseline_ends_within_ten_samples() -> None:
    answer = searched(SHARE, lambda key: float(key[0] == LENGTHS[0])).answer
    assert ends(answer) == ["baseline", "below"]
    assert answer.ladder[1].n <= 10
    assert answer.cap is None


def test_a_cliff_is_bracketed_and_found_between_two_lengths() -> None:
    answer = searched(DESIGN, drawn(cliff(20_000), 0)).answer
    assert ends(answer) == ["passed", "passed", "passed", "below"]
    assert answer.cap is not None
    assert 17_408 <= answer.cap < 20_000
    assert answer.stopped in ("not_worth_it", "max_trials")
    shown = [each.context_tokens for each in answer.bracket if each.end == "passed"]
    assert shown == [each.context_tokens for each in answer.bracket if each.context_tokens <= answer.cap]
    assert answer.would_help is None or answer.would_help.context_tokens > answer.cap


def test_the_candidates_of_a_bracket_leave_out_both_its_ends() -> None:
    assert DESIGN.candidates(16_384, 32_768) == tuple(range(17_408, 32_768, 1_024))
    fine = SearchDesign(lengths=LENGTHS, threshold=0.8, alpha=0.05, most=160, resolution=5_000)
    assert fine.candidates(16_384, 32_768) == (21_384, 26_384, 31_384)


def test_a_resolution_too_fine_for_the_widest_gap_is_refused() -> None:
    assert DESIGN.finest == 256
    SearchDesign(lengths=LENGTHS, threshold=0.8, alpha=0.05, most=160, resolution=256)
    with pytest.raises(ValueError, match="63"):
        SearchDesign(lengths=LENGTHS, threshold=0.8, alpha=0.05, most=160, resolution=255)


def test_the_ladder_alone_has_all_of_alpha_and_no_bracket() -> None:
    walk = SearchDesign(lengths=LENGTHS, threshold=0.8, alpha=0.05, most=160, refine=False)
    answer = searched(walk, drawn(cliff(20_000), 0)).answer
    assert (answer.cap, answer.stopped, answer.bracket) == (16_384, "below", ())
    fewer = sum(each.n for each in searched(walk, lambda _: 1.0).answer.ladder)
    assert fewer < sum(each.n for each in searched(DESIGN, lambda _: 1.0).answer.ladder)


@pytest.mark.parametrize("refine", [False, True])
def test_alpha_is_shared_by_the_ladder_and_the_bracket(refine: bool) -> None:
    design = SearchDesign(lengths=LENGTHS, threshold=0.8, alpha=0.05, most=160, refine=refine)
    spent = math.exp(-design.ladder_at(LENGTHS[0])) + (math.exp(-design.bracket_at) if refine else 0.0)
    assert spent == pytest.approx(0.05)


@pytest.mark.slow
def test_lengths_that_are_added_to_a_walk_err_no_more_often_than_is_said() -> None:
    """Five times in the middle between the cap and the failure, at the threshold exactly: unmarked, 20% err."""
    runs = simulated_runs(300)

    def cap_of(seed: int) -> int:
        ask = drawn(lambda length: 0.98 if length <= 16_384 else 0.8, seed)
        lengths: tuple[int, ...] = LENGTHS
        added: tuple[int, ...] = ()
        for _ in range(6):
            design = SearchDesign(
                lengths=lengths, threshold=0.8, alpha=0.05, most=160, refine=False, added=added
            )  # fmt: skip
            answer = searched(design, ask).answer
            failed = next((each.context_tokens for each in answer.ladder if each.end != "passed"), None)
            cap = answer.cap or 0
            if not cap or failed is None:
                break
            middle = (cap + failed) // 2
            lengths, added = tuple(sorted((*lengths, middle))), (*added, middle)
        return cap

    assert sum(cap_of(seed) > 16_384 for seed in range(runs)) <= most_errors(runs, 0.05 * (2.0 - 0.5**5))


def test_a_length_that_is_neither_shown_is_given_up_and_ends_the_search() -> None:
    answer = searched(DESIGN, drawn(lambda length: 1.0 if length < 8_192 else 0.78, 1)).answer
    assert ends(answer) == ["passed", "given_up"]
    assert answer.stopped == "given_up"
    assert answer.bracket == ()
    given_up = answer.ladder[-1]
    assert 20 <= given_up.n <= 160
    assert answer.would_help == given_up
    assert given_up.chance is not None


def test_samples_that_are_used_up_end_a_length() -> None:
    few = SearchDesign(lengths=LENGTHS, threshold=0.8, alpha=0.05, most=15)
    answer = searched(few, lambda _: 1.0).answer
    assert ends(answer) == ["given_up"]
    assert answer.ladder[0].n == 15
    assert answer.would_help is not None
    assert answer.would_help.more is not None
    assert 1 <= answer.would_help.more <= 15


# Samples without a score, texts, windows.


def test_a_length_without_any_score_is_unscorable_after_ten_samples() -> None:
    search = searched(DESIGN, lambda key: None if key[0] == 8_192 else 1.0)
    answer = search.answer
    assert ends(answer) == ["passed", "unscorable"]
    assert (answer.ladder[1].n, answer.ladder[1].mean) == (10, None)


def test_samples_without_a_score_that_keep_a_length_from_passing_make_it_unscorable() -> None:
    answer = searched(DESIGN, lambda key: None if key[1] % 3 == 0 else 1.0).answer
    assert ends(answer) == ["unscorable"]
    assert answer.ladder[0].mean == 1.0


@given(scores=st.lists(st.sampled_from([None, 0.0, 0.4, 1.0]), min_size=1, max_size=40), seed=st.integers(0, 99))
def test_no_score_that_a_sample_may_have_had_gives_less_evidence_than_none(
    scores: list[float | None], seed: int
) -> None:
    rng = random.Random(seed)
    stakes = [Bar(level=0.8).stake(rng.random()) for _ in scores]
    known = [rng.random() if score is None else score for score in scores]
    without, with_all = (_evidence(stakes, each) for each in (scores, known))
    assert without.log_above <= with_all.log_above + 1e-9
    assert without.log_below <= with_all.log_below + 1e-9


def _evidence(stakes: Sequence[float], scores: Sequence[float | None]) -> Evidence:
    found = Evidence.before_any(Bar(level=0.8))
    for stake, score in zip(stakes, scores, strict=True):
        found = found.after(stake, bounds_of([score]))
    return found


def test_a_text_of_several_samples_is_one_step_with_their_mean() -> None:
    texts = searched(DESIGN, lambda _: (1.0, 0.5, 0.9)).answer
    means = searched(DESIGN, lambda _: 0.8).answer
    assert [each.n for each in texts.ladder] == [each.n for each in means.ladder]
    assert bounds_of([1.0, None, 0.5, 0.5]) == (0.5, 0.75)


def test_a_limit_that_is_named_makes_the_longest_prompt_the_last_length() -> None:
    search = SafeCapSearch(DESIGN)
    while keys := search.next():
        length, number = keys[0]
        if length == 16_384:
            search.too_long(length, 12_000)
        else:
            search.tell(length, [1.0], number)
    assert [each.context_tokens for each in search.answer.ladder] == [4_096, 8_192, 12_000]
    assert (search.answer.cap, search.answer.stopped) == (12_000, "whole_range")


@pytest.mark.parametrize("longest", [None, 8_192, 20_000])
def test_a_limit_that_leaves_nothing_to_search_ends_the_ladder(longest: int | None) -> None:
    search = SafeCapSearch(DESIGN)
    while keys := search.next():
        length, number = keys[0]
        if length == 16_384:
            search.too_long(length, longest)
        else:
            search.tell(length, [1.0], number)
    assert ends(search.answer) == ["passed", "passed", "too_long"]
    assert (search.answer.cap, search.answer.stopped) == (8_192, "too_long")


def test_a_limit_that_is_seen_late_takes_a_length_back_that_was_below() -> None:
    late = searched(DESIGN, drawn(cliff(16_000), 0))
    assert ends(late.answer)[-1] == "below"
    late.too_long(16_384, 12_000)
    assert [each.context_tokens for each in late.answer.ladder][-1] == 12_000
    assert late.answer.stopped == "under_way"


# Relative thresholds.


def test_each_pair_takes_a_sample_of_the_baseline_that_no_other_pair_has() -> None:
    search = SafeCapSearch(SHARE)
    rate = cliff(20_000, 0.95, 0.0)
    ask = drawn(rate, 3)
    while keys := search.next(2):
        for length, number in keys[: 2 if keys[0][0] == LENGTHS[0] else 1]:
            search.tell(length, [ask((length, number))], number)
    own = [key for key in search.counted if key[0] != LENGTHS[0]]
    baseline = [key for key in search.counted if key[0] == LENGTHS[0]]
    assert len(own) == len(baseline)
    assert baseline == [(LENGTHS[0], number) for number in range(len(baseline))]
    assert search.answer.ladder[0].end == "baseline"
    assert search.answer.ladder[0].n == len(baseline)
    assert search.answer.cap is not None


def test_a_baseline_that_is_never_right_ends_the_search() -> None:
    answer = searched(SHARE, lambda _: 0.0).answer
    assert (ends(answer), answer.stopped, answer.cap) == (["given_up"], "given_up", None)


def test_the_best_stake_against_a_baseline_is_that_of_the_largest_growth() -> None:
    bar = Bar(level=0.8, is_share=True)
    for expected, base in ((0.95, 0.95), (0.7, 0.5), (0.99, 0.6), (0.3, 0.9), (0.0, 0.95)):
        best = bar.stake(expected, base)
        grid = np.linspace(-bar.most_below, bar.most_above, 4_001)
        values = [(1 - base) * expected, expected * base, (1 - expected) * base, (1 - expected) * (1 - base)]
        logs = sum(p * np.log1p(grid * gain) for p, gain in zip(values, (1.0, 0.2, -0.8, 0.0), strict=True))
        assert best == pytest.approx(grid[int(np.argmax(logs))], abs=2e-3)


# A function of the answers.

LAWS = {
    "perfect": cliff(10**6),
    "cliff": cliff(20_000, 0.98, 0.05),
    "low": cliff(7_000, 0.95, 0.3),
    "flat": cliff(1, 1.0, 0.9),
}


@given(law=st.sampled_from(sorted(LAWS)), design=st.sampled_from([DESIGN, SHARE]), seed=st.integers(0, 10_000))
@settings(max_examples=10)
def test_answers_in_any_order_and_in_any_pieces_give_the_same_search(law: str, design: SearchDesign, seed: int) -> None:
    first = searched(design, drawn(LAWS[law], seed), most=150)
    rng = random.Random(seed)
    again = SafeCapSearch(design)
    ask = drawn(LAWS[law], seed)
    keys = [*dict.fromkeys(first.counted), *((length, 900) for length in LENGTHS)]  # and some that nothing needs
    rng.shuffle(keys)
    for length, number in keys:
        again.tell(length, [ask((length, number))], number)
    assert again.answer == first.answer
    assert again.counted == first.counted
    assert again.next(5) == first.next(5)


def test_no_more_is_asked_ahead_than_a_likely_path_needs() -> None:
    search = SafeCapSearch(DESIGN)
    first = search.next(64)
    assert 1 <= len(first) < 8
    search.tell(LENGTHS[0], [1.0] * 12)
    later = search.next(64)
    assert len(later) > len(first)
    assert 0.0 < LIKELY < 1.0


@pytest.mark.parametrize("seed", range(5))
def test_the_answers_of_a_shorter_range_are_the_beginning_of_a_longer_one(seed: int) -> None:
    """More lengths, or more samples at each: the path is gone again, and nothing that it needs is asked twice."""
    ask = drawn(cliff(12_000, 0.97, 0.1), seed)
    short = SearchDesign(lengths=LENGTHS[:2], threshold=0.8, alpha=0.05, most=60)
    before = searched(short, ask)
    grown = SafeCapSearch(DESIGN)
    for length, number in before.counted:
        grown.tell(length, [ask((length, number))], number)
    while keys := grown.next():
        assert keys[0] not in before.counted
        grown.tell(keys[0][0], [ask(keys[0])], keys[0][1])
    assert grown.answer == searched(DESIGN, ask).answer


def test_another_outcome_for_a_step_is_refused() -> None:
    search = SafeCapSearch(DESIGN)
    search.tell(LENGTHS[0], [1.0, None])
    search.tell(LENGTHS[0], [1.0, None], 0)
    with pytest.raises(ValueError, match="another outcome"):
        search.tell(LENGTHS[0], [0.0], 1)
    with pytest.raises(ValueError, match="between 0 and 1"):
        search.tell(LENGTHS[0], [1.5])


# Errors. A bet that saw its outcome, or one candidate's samples that counted twice, would win on average where nothing
# is to win; simulated errors would show that only in many thousand runs.


def products(path: SearchPath) -> list[float]:
    """Everything that has to stay below a limit: the e-values of each length, and the product of each candidate."""
    evidence = [path.evidence[length] for length in path.ladder if length in path.evidence]
    return [math.exp(log) for each in evidence for log in (each.log_above, each.log_below)] + [*np.exp(path.logs)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("design", [DESIGN, SHARE])
def test_nothing_wins_on_average_where_the_mean_is_at_the_bar(design: SearchDesign, seed: int) -> None:
    ask = drawn(cliff(12_000, 0.97, 0.3), seed)
    path = SearchPath(design, {})
    for _ in range(150):
        if not (keys := path.needs()):
            break
        if path.candidates and not any(path.n(length) for length in path.candidates):
            assert not path.logs.any()  # none of the ladder's samples counts
        if len(keys) == 1 and not path.is_baseline(keys[0][0]):
            outcomes: dict[tuple[float, ...], float] = {(1.0,): 0.8, (0.0,): 0.2}
        else:  # a baseline of 0.9, and 0.8 of that
            right = {0: 0.9, 1: 0.72}
            outcomes = {
                scores: math.prod(right[i] if score else 1.0 - right[i] for i, score in enumerate(scores))
                for scores in itertools.product((0.0, 1.0), repeat=len(keys))
            }
        expected: dict[int, float] = {}
        for scores, chance in outcomes.items():
            then = path.copied()
            then.take(scores)
            for place, product in enumerate(products(then)):
                expected[place] = expected.get(place, 0.0) + chance * product
        before = products(path)
        # One that begins here is worth 1.
        assert all(after <= dict(enumerate(before)).get(at, 1.0) * (1.0 + 1e-9) for at, after in expected.items())
        path.take([ask(key) for key in keys])


NULLS: dict[str, tuple[Callable[[int], float], int]] = {
    "flat": (lambda _: 0.8, 0),
    "between": (lambda length: 0.98 if length <= 16_384 else 0.8 if length < 32_768 else 0.05, 16_385),
    "longest": (lambda length: 0.98 if length < 32_768 else 0.8, 32_768),
}
ERROR_DESIGN = SearchDesign(lengths=LENGTHS, threshold=0.8, alpha=0.05, most=160, resolution=512)


@pytest.mark.slow
@pytest.mark.parametrize("law", NULLS)
def test_a_cap_is_wrong_no_more_often_than_alpha(law: str) -> None:
    rate, crossing = NULLS[law]
    runs = simulated_runs(200)
    caps = [searched(ERROR_DESIGN, drawn(rate, seed)).answer.cap for seed in range(runs)]
    assert sum(cap is not None and cap >= crossing for cap in caps) <= most_errors(runs, 0.05)
