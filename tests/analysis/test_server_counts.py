"""Whether a server cuts prompts in silence, by its own counts alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from contextcliff.analysis.analyse import analyse, study_of
from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.server_counts import PromptCount, is_cut, server_offset, without_cut
from contextcliff.analysis.study import StudyFacts
from contextcliff.records.generation import ScoredSample
from tests.make import scored_sample
from tests.tasks.needles import said


def counted(built: int, counted: int) -> tuple[PromptCount, ...]:
    return (PromptCount(built=built, counted=counted),) * 11


@pytest.mark.parametrize(
    ("lengths", "cut"),
    [
        # By another tokenizer: Japanese and Chinese count less, others more.
        ([(500, 400), (1_000, 800), (2_000, 1_600)], ()),
        ([(500, 355), (1_000, 710), (2_000, 1_420)], ()),
        ([(500, 650), (1_000, 1_300), (2_000, 2_600)], ()),
        # A system prompt of the server's own.
        ([(300, 1_000), (600, 1_300), (1_200, 1_900)], ()),
        # Equal counts: the longer one is cut, whatever the shorter one is.
        ([(500, 650), (1_000, 650)], (1_000,)),
        ([(500, 400), (1_000, 640), (2_000, 640)], (1_000, 2_000)),
        ([(1_000, 1_000), (1_050, 1_000)], ()),
        # A cut of a fifth where the server counts 1.3 times ours, and of 7%.
        ([(1_000, 1_300), (2_000, 2_600), (4_000, 4_160)], (4_000,)),
        ([(1_000, 1_000), (2_000, 2_000), (4_000, 3_720)], (4_000,)),
        ([(1_000, 1_000), (2_000, 2_000), (4_000, 3_900)], ()),
        # One length says nothing.
        ([(4_000, 1_000)], ()),
        # Fewer than a shorter prompt: that is no cut but another count.
        ([(1_000, 1_000), (2_000, 60)], ()),
    ],
)
def test_lengths_are_compared_by_the_counts_of_the_server(lengths: Sequence[tuple[int, int]], cut: tuple[int]) -> None:
    known: list[tuple[PromptCount, ...]] = []
    found = []
    for built, tokens in lengths:
        if is_cut(counted(built, tokens), known):
            found.append(built)
        else:
            known.append(counted(built, tokens))
    assert tuple(found) == cut


def test_what_comes_to_the_count_of_a_longer_length_that_was_cut_is_taken_for_cut() -> None:
    known = [counted(500, 650)]
    assert not is_cut(counted(830, 1_060), known)
    assert is_cut(counted(830, 1_060), known, cut=[counted(1_000, 1_065)])
    assert not is_cut(counted(800, 1_040), known, cut=[counted(1_000, 1_065)])


LENGTHS = (512, 1_024, 2_048, 4_096)


def drawn(rng: Random, *, rate: float, noise: float, offset: int = 0, window: float = 1e9) -> list[int]:
    """The lengths of a run that are found cut, up to the first; counts vary with the text."""
    known: list[tuple[PromptCount, ...]] = []
    for built in LENGTHS:
        tokens = [min(window, offset + built * rate * (1.0 + rng.gauss(0.0, noise))) for _ in range(11)]
        length = tuple(PromptCount(built=built, counted=round(each)) for each in tokens)
        if is_cut(length, known):
            return [built]
        known.append(length)
    return []


@pytest.mark.parametrize("rate", [0.71, 0.85, 1.0, 1.3])
@pytest.mark.parametrize("offset", [0, 700])
def test_no_honest_server_is_said_to_cut(rate: float, offset: int) -> None:
    rng = Random(0)
    assert sum(bool(drawn(rng, rate=rate, noise=0.03, offset=offset)) for _ in range(500)) <= 1


@pytest.mark.parametrize("rate", [0.8, 1.0, 1.3])
@pytest.mark.parametrize(("share", "power"), [(0.07, 0.85), (0.1, 0.99), (0.2, 1.0)])
def test_a_cut_of_a_length_beyond_the_second_is_found(rate: float, share: float, power: float) -> None:
    rng, window = Random(0), 4_096 * rate * (1.0 - share)
    found = [drawn(rng, rate=rate, noise=0.01, window=window) == [4_096] for _ in range(300)]
    assert sum(found) >= power * len(found)


def sample(built: int, tokens: int) -> ScoredSample:
    item = scored_sample(built, 1.0)
    return replace(
        item,
        sample=replace(item.sample, built_tokens=built),
        generation=replace(said("9"), prompt_tokens=tokens, cached_tokens=None),
    )


def test_a_fixed_design_loses_the_scores_of_its_cut_lengths() -> None:
    scored = [sample(built, min(built, 1_500)) for built in (1_000, 2_000, 4_000) for _ in range(4)]
    cut = [
        item.sample.built_tokens for item in without_cut(scored, designed_lengths=True) if item.failure == "truncated"
    ]
    assert cut == [2_000] * 4 + [4_000] * 4


def test_documents_of_natural_length_are_cut_where_several_have_the_greatest_count() -> None:
    rng = Random(0)
    lengths = [rng.randrange(500, 8_000) for _ in range(200)]
    rates = [rng.choice((0.75, 1.0)) for _ in lengths]
    honest = [sample(built, round(built * rate)) for built, rate in zip(lengths, rates, strict=True)]
    assert all(item.score == 1.0 for item in without_cut(honest, designed_lengths=False))
    cutting = [sample(built, min(4_096, round(built * rate))) for built, rate in zip(lengths, rates, strict=True)]
    cut = [item.sample.built_tokens for item in without_cut(cutting, designed_lengths=False) if item.score is None]
    assert min(cut) > 4_096
    assert len(cut) > 40


@pytest.mark.parametrize(
    ("own", "counts", "offset"),
    [
        (True, [(300, 1_000), (600, 1_300)], 700),
        (True, [(300, 1_000)], 700),
        (True, [(300, 309), (600, 612)], 0),
        (True, [(512, 540), (8_192, 8_220)], 0),
        (True, [(512, 560), (8_192, 8_240)], 48),
        (True, [(8_192, 8_260)], 0),
        (True, [(300, 390), (600, 780)], None),
        (False, [(300, 1_000), (600, 1_300)], 700),
        (False, [(500, 400), (1_000, 800), (2_000, 1_600)], 0),
        (False, [(500, 1_100), (1_000, 1_500), (2_000, 2_300)], 700),
        (False, [(500, 410), (1_000, 800), (2_000, 1_600)], 0),
        (False, [(300, 1_000)], None),
        (True, [], None),
    ],
)
def test_what_the_server_adds_to_every_prompt_is_learnt_on_the_shortest(
    own: bool, counts: list[tuple[int, int]], offset: int | None
) -> None:
    scored = [sample(built, tokens) for built, tokens in counts for _ in range(5)]
    assert server_offset(scored, own=own) == offset


def test_counts_that_leave_out_what_a_cache_saved_tell_no_offset() -> None:
    scored = [
        sample(built, tokens) for built, tokens in [(300, 300), (300, 60), (300, 150), (600, 600), (600, 310)] * 4
    ]
    assert server_offset(scored, own=False) is None


def test_the_cap_is_in_tokens_of_the_users_own_prompt_and_bins_are_as_counted() -> None:
    scored = [sample(built, built + 700) for built in (300, 600) for _ in range(40)]
    facts = StudyFacts(max_context_tokens=8_192, designed_lengths=True, relative_by_default=False, own_tokenizer=True)
    analysis = analyse(study_of(scored, AnalysisSettings(), facts), ())
    cap = analysis.safe_cap
    assert (cap.tokens, cap.ci_low, cap.server_offset_tokens) == (600, 600, 700)
    assert analysis.caps["walk_up"] == 600
    assert [zone.max_tokens for zone in analysis.zones] == [600]
    assert [each.median_tokens for each in analysis.bins] == [1_000, 1_300]
