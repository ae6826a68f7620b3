"""Language drift: which share of a text is in another language."""

from __future__ import annotations

import pytest

from contextcliff.writing.measures.drift import language_drift
from contextcliff.writing.measures.words import prose_of

ENGLISH = (
    "The rain had stopped before they reached the harbour, and the clerk was waiting for them at the gate. He had the "
    "ledger under his arm and would not say a word about the missing page until the door was shut behind them all. "
)
FRENCH = (
    "La pluie avait cessé avant leur arrivée au port, et le greffier les attendait devant la grille. Il tenait le "
    "registre sous le bras et ne voulait rien dire de la page perdue avant que la porte ne fût fermée derrière eux. "
)
JAPANESE = "雨は港に着く前に止んでいた。書記は門のところで彼らを待っていた。" * 10


def test_a_text_in_its_own_language_does_not_drift() -> None:
    assert language_drift(prose_of(ENGLISH * 3)) == 0.0
    assert language_drift(prose_of(FRENCH * 3, language="fr")) == 0.0
    assert language_drift(prose_of(JAPANESE, language="ja")) == 0.0


def test_the_share_is_that_of_characters() -> None:
    assert language_drift(prose_of(ENGLISH + FRENCH + FRENCH)) == pytest.approx(2 / 3, abs=0.02)
    assert language_drift(prose_of(FRENCH * 2)) == 1.0
    assert language_drift(prose_of(ENGLISH * 2, language="ja")) == 1.0


def test_what_is_left_over_goes_with_the_last_stretch() -> None:
    assert language_drift(prose_of(ENGLISH + "Non, merci.")) == 0.0


def test_a_text_of_under_two_hundred_characters_is_not_measured() -> None:
    assert language_drift(prose_of(FRENCH[:150])) is None
    assert language_drift(prose_of("")) is None


def test_an_unknown_language_is_not_measured() -> None:
    assert language_drift(prose_of(ENGLISH, language="tlh")) is None


def test_no_page_of_a_novel_drifts(story: str, novel: str) -> None:
    assert language_drift(prose_of(story)) == 0.0
    assert language_drift(prose_of(novel[:200_000])) == 0.0
