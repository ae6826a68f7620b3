"""G7: every figure of every planted law: its texts stand inside it, none covers another, and they say this."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from syrupy.assertion import SnapshotAssertion

from contextcliff.findings.finding import images_of
from contextcliff.records.report import Report
from contextcliff.reporting.figures import write_figure
from tests.golden.test_shown_reports import beyond_training
from tests.reporting.figure_texts import overlaps, words
from tests.reporting.made_reports import search_report
from tests.simulated_reports import (
    CLIFF,
    FLAT,
    FULL,
    NOTHING_SCORED,
    ONE_LENGTH,
    PARTIAL,
    SLOPE,
    WITHOUT_CAP,
    simulated,
)
from tests.writing.made_writing import TIERS, by_health, make_rounds

LAWS: dict[str, Callable[[], Report]] = {
    "everything": lambda: simulated(FULL),
    "search": search_report,
    "beyond training": beyond_training,
    "cliff": lambda: simulated(CLIFF),
    "slope": lambda: simulated(SLOPE),
    "flat": lambda: simulated(FLAT),
    "no cap": lambda: simulated(WITHOUT_CAP),
    "partial": lambda: simulated(PARTIAL),
    "nothing scored": lambda: simulated(NOTHING_SCORED),
    "one length": lambda: simulated(ONE_LENGTH),
    "writing": lambda: by_health(simulated(CLIFF), TIERS, make_rounds(rounds=4)),
}


@pytest.mark.parametrize(
    "law", [law if law == "everything" else pytest.param(law, marks=pytest.mark.slow) for law in LAWS]
)
def test_figures(law: str, text: SnapshotAssertion, tmp_path: Path) -> None:
    report = LAWS[law]()
    said = []
    for name, image in images_of(report).items():
        drawn = image.draw()
        assert overlaps(drawn) == [], name
        said.append(f"{'=' * 20} {name}: {image.caption}\n" + "\n".join(filter(_has_letters, words(drawn))))
        assert not _reaches_the_edge(write_figure(drawn, path=tmp_path / "figure.png", dpi=50)), name
    assert "\n".join(said) == text


def _has_letters(text: str) -> bool:
    """Other texts are ticks, which are matplotlib's."""
    return any(map(str.isalpha, text))


def _reaches_the_edge(file: Path) -> bool:
    pixels = np.asarray(Image.open(file).convert("L"))
    return bool(min(pixels[0].min(), pixels[-1].min(), pixels[:, 0].min(), pixels[:, -1].min()) < 250)
