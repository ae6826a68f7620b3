"""How far the answers of one text are right and wrong together, and what it means for the claim."""

from __future__ import annotations

import pytest

from contextcliff.findings.text_effect import TextEffects
from contextcliff.statistics.text_effect import text_effect
from tests.make import analysed, curve, finding, repeated, texts


def test_the_effect_is_given_by_length_and_over_all_lengths() -> None:
    rows = ((5, 5), (4, 5), (1, 5), (0, 5)), ((5, 5), (5, 5), (3, 5), (2, 5))
    effects = finding(analysed([*texts(500, *rows[0]), *texts(1_000, *rows[1])]), TextEffects)
    for row, length in zip(rows, effects.lengths, strict=True):
        alone = text_effect([[1.0] * right + [0.0] * (n - right) for right, n in row], 0.95)
        assert alone is not None
        assert (length.correlation, length.ci_low, length.ci_high) == (alone.correlation, alone.low, alone.high)
        assert length.design_effect == pytest.approx(1.0 + 4.0 * alone.correlation)
    assert effects.lengths[1].correlation < effects.correlation < effects.lengths[0].correlation  # type: ignore[operator]  # both are known
    assert (effects.texts, effects.samples) == (4, 40)


def test_a_length_at_which_all_are_right_has_no_estimate_and_is_left_out_of_the_whole() -> None:
    mixed = texts(1_000, (5, 5), (4, 5), (1, 5), (0, 5))
    effects = finding(analysed([*texts(500, *[(5, 5)] * 4), *mixed]), TextEffects)
    assert effects.lengths[0].correlation is None
    assert effects.correlation == effects.lengths[1].correlation
    assert "4 texts, 20 samples, 1 length)" in str(effects.meaning)


def test_where_each_sample_has_a_text_of_its_own_or_all_share_one_nothing_is_said() -> None:
    assert analysed(curve({500: (20, 40), 1_000: (10, 40)})).finding(TextEffects) is None
    assert analysed(texts(500, (3, 9))).finding(TextEffects) is None


def test_questions_on_documents_have_an_effect_of_the_document() -> None:
    items = [[1.0], [1.0], [0.0], [0.0], [1.0], [1.0], [0.0], [1.0]]
    effects = finding(analysed(repeated(500, items, a_document=2)), TextEffects)
    assert (effects.texts, effects.samples) == (4, 8)
    assert effects.correlation > 0.0
