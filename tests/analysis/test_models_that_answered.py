"""Several served models behind one curve are counted, and told apart by their scores at equal lengths."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from contextcliff.records.generation import ScoredSample
from contextcliff.reporting.files import samples_table
from contextcliff.statistics.ranks import difference_within
from tests.make import analysed, known, right_of, scored_sample

OLD, NEW = "m", "m-2026-05-13"
RUNS = 200


def by(model: str, samples: Sequence[ScoredSample]) -> list[ScoredSample]:
    named = []
    for item in samples:
        generation = None if item.generation is None else replace(item.generation, served_model=model)
        named.append(replace(item, generation=generation))
    return named


def told(samples: Sequence[ScoredSample]) -> str:
    """The first note, where it is about the models."""
    first = str(analysed(samples, finders=()).notes[0])
    return first if "models answered" in first else ""


def test_models_that_score_otherwise_at_equal_lengths_are_a_caution() -> None:
    samples = [
        *by(OLD, right_of(500, 20, 20)),
        *by(OLD, right_of(1_000, 19, 20, unscored=2)),
        *by(NEW, right_of(1_000, 12, 20)),
    ]
    assert told(samples) == (
        "2 models answered, by the names that the server gave: “m” 40 samples, “m-2026-05-13” 20 samples; at equal"
        " lengths “m” scored 0.95 and the other 0.60 (p = 0.02), so that the curve is of no one model: let one model of"
        " one provider answer"
    )


def test_models_that_score_alike_are_counted() -> None:
    alike = told([*by(OLD, right_of(500, 18, 20)), *by(NEW, right_of(500, 18, 20))])
    assert alike.endswith("; their scores at equal lengths are not shown to differ (p = 1)")
    assert told([*by(OLD, right_of(500, 18, 20)), *right_of(500, 18, 20)]) == ""


def test_a_model_for_each_length_may_be_the_cliff() -> None:
    apart = told([*by(OLD, right_of(500, 20, 20)), *by(NEW, right_of(1_000, 2, 20))])
    assert apart.endswith("; no length was answered by several of them, so that a fall may be the change of the model")


def test_one_of_many_models_is_told_from_the_others() -> None:
    samples = [item for number in range(7) for item in by(f"m{number}", right_of(500, 0 if number == 3 else 10, 10))]
    note = told(samples)
    assert "7 models answered" in note
    assert "“m4” 10 samples, 2 more; at equal lengths “m3” scored 0.00 and the others 1.00" in note


def test_texts_that_are_harder_are_no_difference_between_models() -> None:
    easy, hard = right_of(500, 10, 10, text="easy"), right_of(500, 0, 10, text="hard")
    note = told([*by(OLD, [*easy[:9], *hard[:1]]), *by(NEW, [*easy[9:], *hard[1:]])])
    assert note.endswith("not shown to differ (p = 1)")


@pytest.mark.parametrize("counts", [(19, 20, 12, 20), (3, 5, 0, 9), (7, 7, 2, 4)])
def test_one_length_is_fishers_exact_test_up_to_what_is_as_extreme(counts: tuple[int, int, int, int]) -> None:
    right, n, other, m = counts
    found = known(difference_within([([1.0] * right + [0.0] * (n - right), [1.0] * other + [0.0] * (m - other))]))
    law = stats.hypergeom(n + m, right + other, n)
    far = [k for k in range(n + 1) if abs(k - law.mean()) >= abs(right - law.mean()) - 1e-9]
    assert found == pytest.approx((right / n, other / m, law.pmf(far).sum()))


def test_graded_scores_are_permuted_within_their_lengths() -> None:
    graded = known(difference_within([([0.9, 0.8, 0.95, 0.85], [0.2, 0.1, 0.3, 0.25]), ([0.5, 0.5], [0.5])]))
    assert graded[2] == pytest.approx(2 / 70, abs=0.01)


def test_the_served_model_is_a_column_where_it_differs() -> None:
    one, two = by(OLD, [scored_sample(500, 1.0), scored_sample(500, None)]), by(NEW, [scored_sample(500, 1.0)])
    assert [row.get("served_model") for row in samples_table([*one, *two])] == [OLD, None, NEW]
    assert all("served_model" not in row for row in samples_table(one))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chances", "least", "most"),
    [({OLD: 0.95, NEW: 0.95}, 0.0, 0.05), ({OLD: 0.8, NEW: 0.8}, 0.0, 0.05), ({OLD: 0.95, NEW: 0.60}, 0.6, 1.0)],
)
@pytest.mark.parametrize("lengths", [(1_000,), (1_000, 2_000)])
@pytest.mark.parametrize("graded", [False, True])
def test_how_often_the_caution_is_raised(
    chances: Mapping[str, float], least: float, most: float, lengths: tuple[int, ...], graded: bool,
) -> None:  # fmt: skip
    """With 20 samples of each model, over one or two lengths."""
    rng, raised = np.random.default_rng(7), 0
    for _ in range(RUNS):
        samples = []
        for model, chance in chances.items():
            for place in range(20):
                score = float(rng.random() < chance)
                score = score * rng.choice([0.8, 0.9, 1.0]) if graded else score
                samples += by(model, [scored_sample(lengths[place % len(lengths)], score)])
        raised += "no one model" in told(samples)
    assert least <= raised / RUNS <= most
