"""Who writes better is said only where lengths, rules and rounds allow it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from contextcliff.records.note import Note
from contextcliff.writing.contest import WritingContest, WritingSide, compare_writing, contest_sentence
from contextcliff.writing.prose_findings import CompositeLevel, MeasureLevel, Writing, WritingTier

Figures = Mapping[int, tuple[float, float | None, int]]
"""Length to mean, standard deviation and rounds."""


def side(
    name: str,
    *,
    rules: str = "ours",
    embeddings: str | None = None,
    word_list: str = "",
    least_length: str = "",
    z: Mapping[str, Figures] | None = None,
    also: Mapping[str, Figures] | None = None,
    **named: Figures,
) -> WritingSide:
    """`z` are the z-scores of some measures: mean and standard deviation; their rounds are the measure's."""
    measures = {**named, **(also or {})}
    lengths = sorted({tokens for figures in measures.values() for tokens in figures})
    return WritingSide(
        name=name,
        rules=rules,
        word_list=word_list,
        least_length=least_length,
        writing=Writing(
            document_id="d", continuation_point=1, tests=(), trends=(), steps=(), verdict=Note(""),
            settling_rounds=None, warnings=(), embeddings=embeddings, unmeasured=(),
            tiers=tuple(_tier(tokens, measures, z or {}) for tokens in lengths),
        ),
    )  # fmt: skip


def _tier(tokens: int, measures: Mapping[str, Figures], z: Mapping[str, Figures]) -> WritingTier:
    composites = {}
    for name in ("composite", "composite_classic"):
        mean, std, n = measures.get(name, {}).get(tokens, (None, None, 0))
        composites[name] = CompositeLevel(n=n, mean=mean, std=std, ci_low=None, ci_high=None)
    scores = {name: figures[tokens] for name, figures in z.items() if tokens in figures}
    levels = tuple(
        MeasureLevel(
            name=name, n=figures[tokens][2], mean=figures[tokens][0], std=figures[tokens][1], ci_low=None, ci_high=None,
            cv=None, original=None, author_mean=None, author_std=None, converged=None,
            z=scores[name][0] if name in scores else None, z_std=scores[name][1] if name in scores else None,
        )
        for name, figures in measures.items()
        if name not in composites and tokens in figures
    )  # fmt: skip
    return WritingTier(
        context_tokens=tokens, n_rounds=4, n_unscored=0, n_distinct=4, outcomes={}, finish_reasons={},
        reading_level=None, composite=composites["composite"], composite_classic=composites["composite_classic"],
        measures=levels, outliers=(),
    )  # fmt: skip


def contest(*sides: WritingSide, measure: str = "cloze_score") -> WritingContest:
    return next(found for found in compare_writing(sides, confidence=0.95) if found.measure == measure)


A = {1024: (10.0, 1.0, 4), 2048: (12.0, 1.0, 4)}
B = {1024: (13.0, 1.0, 4), 2048: (15.0, 1.0, 4)}


def test_the_better_run_wins_by_welchs_interval_over_the_common_lengths() -> None:
    # Four means of variance 1/4 each, halved: variance 0.25, standard error 0.5. Equal parts of 3 degrees of freedom
    # each make 12, of which t at 97.5% is 2.1788: 3 ± 1.0894.
    found = contest(side("A", cloze_score={**A, 4096: (99.0, 1.0, 4)}), side("B", cloze_score=B))
    assert (found.winner, found.next_best, found.common_tokens) == ("A", "B", (1024, 2048))
    assert found.difference == pytest.approx(3.0)
    assert found.ci_low == pytest.approx(1.9106, abs=1e-4)
    assert found.ci_high == pytest.approx(4.0894, abs=1e-4)
    assert contest_sentence(found) == (
        "Cloze score (lower is better): A 10.0-99.0, B 13.0-15.0; A wins by 3.0 (95% CI 1.9 to 4.1) over 2 lengths."
    )


def test_two_that_are_alike_are_ahead_of_a_third_together() -> None:
    alike = {tokens: (mean + 0.1, std, n) for tokens, (mean, std, n) in A.items()}
    found = contest(side("C", cloze_score=B), side("A", cloze_score=A), side("B", cloze_score=alike))
    assert (found.winner, found.ahead, found.next_best) == (None, ("A", "B"), "C")
    # The lead of the second of them, with the same interval as a winner's.
    assert found.ci_low == pytest.approx(2.9 - 1.0894, abs=1e-4)
    assert contest_sentence(found).endswith(
        "A and B are together ahead of C by 2.9 (95% CI 1.8 to 4.0) over 2 lengths."
    )


def figures(std: float | None, n: int) -> tuple[Figures, Figures]:
    a, b = ({tokens: (mean, std, n) for tokens, (mean, _, _) in each.items()} for each in (A, B))
    return a, b


ONCE, STILL = figures(None, 1), figures(0.0, 4)
OTHER_LENGTH: Figures = {4096: (13.0, 1.0, 4)}


@pytest.mark.parametrize(
    ("sides", "why"),
    [
        ((side("A", cloze_score=A), side("B", cloze_score=ONCE[1])), "there are too few rounds to tell"),
        (
            (side("A", cloze_score=STILL[0]), side("B", cloze_score=STILL[1])),
            "the rounds do not vary, so nothing says how far the means are to be trusted",
        ),
        ((side("A", cloze_score=A), side("B", cloze_score=OTHER_LENGTH)), "no length in common"),
        (
            (side("A", cloze_score=A), side("B", cloze_score=B, rules="theirs")),
            "measured by different rules (ours; theirs)",
        ),
        ((side("A", cloze_score=A), side("B", cloze_score=A)), "the best two have the same mean"),
        ((side("A", cloze_score=A), side("C", mtld=A)), "only one run has it"),
    ],
)
def test_nobody_wins_and_it_is_said_why(sides: tuple[WritingSide, ...], why: str) -> None:
    found = contest(*sides)
    assert (found.winner, str(found.reason)) == (None, why)
    assert contest_sentence(found).endswith(f"no winner: {why}.")


def test_a_model_that_stops_early_does_not_win_by_the_diversity_of_a_short_text() -> None:
    # A stops at 60% and repeats fewer words by that alone: at equal length it is less diverse than B.
    diversity = {"vocabulary_diversity": {1024: (-1.2, 0.5, 9)}}
    short = side("A", vocabulary_diversity={1024: (0.60, 0.01, 9)}, z=diversity)
    whole = side("B", vocabulary_diversity={1024: (0.54, 0.01, 9)}, z={"vocabulary_diversity": {1024: (0.3, 0.5, 9)}})
    found = contest(short, whole, measure="vocabulary_diversity")
    # Two means of variance 0.25/9 each: t at 97.5% of 16 degrees of freedom is 2.1199, and 1.5 ± 0.4997.
    assert (found.winner, found.scale) == ("B", "z")
    assert found.difference == pytest.approx(1.5)
    assert found.ci_low == pytest.approx(1.0003, abs=1e-4)
    assert contest_sentence(found) == (
        "Vocabulary diversity (higher is better): A 0.600, B 0.540; B wins by 1.50 (95% CI 1.00 to 2.00) in the "
        "author's sd, at equal length, over 1 length."
    )


@pytest.mark.parametrize("measure", ["vocabulary_diversity", "composite_classic"])
def test_raw_figures_that_depend_on_length_have_no_winner_between_answers_of_different_lengths(measure: str) -> None:
    def told(name: str, mean: float, characters: float) -> WritingSide:
        figures = {measure: {1024: (mean, 0.01, 9)}, "continuation_length": {1024: (characters, 9.0, 9)}}
        return side(name, cloze_score={1024: (mean, 0.01, 9)}, also=figures)

    found = contest(told("A", 0.60, 1200.0), told("B", 0.54, 2000.0), measure=measure)
    assert found.winner is None
    assert (
        str(found.reason) == "the answers are not as long (A 1,200, B 2,000 characters on average), on which it depends"
    )
    assert str(found.reason) in contest_sentence(found)
    alike = contest(told("A", 0.60, 1900.0), told("B", 0.54, 2000.0), measure=measure)
    assert alike.winner is not None
    # What a text says of itself however long it is.
    assert contest(told("A", 0.60, 1200.0), told("B", 0.54, 2000.0)).winner == "B"


@pytest.mark.parametrize(
    ("rule", "values", "bound", "free", "told"),
    [
        (
            *("word_list", ("A.txt", "B.txt")),
            *(("cloze_score", "pct_unfamiliar_words", "composite", "composite_classic"), "mtld"),
            "familiar words by A.txt; familiar words by B.txt",
        ),
        (
            *("least_length", ("0.5", "0.8"), ("shortfall", "composite"), "composite_classic"),
            "text missing under 0.5 of an answer; text missing under 0.8 of an answer",
        ),
        (*("embeddings", ("x", "y"), ("adjacent_coherence", "composite"), "mtld"), "embeddings by x; embeddings by y"),
    ],
)
def test_what_depends_on_a_rule_in_which_runs_differ_has_no_winner(
    rule: str, values: tuple[str, str], bound: tuple[str, ...], free: str, told: str
) -> None:
    sides = []
    for name, value, mean in zip("AB", values, (0.2, 0.9), strict=True):
        given_: dict[str, Any] = {rule: value, "also": {key: {1024: (mean, 0.1, 9)} for key in (*bound, free)}}
        sides.append(side(name, **given_))
    for measure in bound:
        found = contest(*sides, measure=measure)
        assert (found.winner, str(found.reason)) == (None, f"measured by different rules ({told})")
    assert contest(*sides, measure=free).winner is not None


def test_composites_of_different_parts_have_no_winner() -> None:
    figures = {"A": {1024: (20.0, 0.1, 9)}, "B": {1024: (90.0, 0.1, 9)}}
    both = {"mtld": {1024: (0.5, 0.1, 9)}, "language_drift": {1024: (0.0, 0.1, 9)}}
    sides = [
        side(name, z={part: both[part] for part in parts}, composite=figures[name], also=dict.fromkeys(parts, A))
        for name, parts in (("A", ["mtld"]), ("B", ["mtld", "language_drift"]))
    ]
    found = contest(*sides, measure="composite")
    assert (found.winner, str(found.reason)) == (
        *(None, "measured by different rules (without language; with every part)"),
    )
    alike = [side(name, z=both, composite=figures[name], mtld=A, language_drift=A) for name in figures]
    assert contest(*alike, measure="composite").winner == "A"
