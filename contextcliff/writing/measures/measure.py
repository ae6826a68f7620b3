"""Every measure of prose, by Context-Tester's name where it has the measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Final, Literal

import yaml  # type: ignore[import-untyped]

Family = Literal["readability", "diversity", "repetition", "rhythm", "copying", "language", "coherence"]
"""The families of measures that the calibrated composite is made of."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """One number of a text.

    `worse` is the direction of a degradation: 1 up, -1 down, 0 neither; a measure with 0 is shown and never tested.
    `floor` is the smallest standard deviation that a z-score is divided by, on the scale that `logarithmic` names: a
    measure that is 0 in every window of the author has a standard deviation of 0."""

    name: str
    title: str
    unit: str
    worse: Literal[-1, 0, 1] = 0
    family: Family | None = None
    floor: float = 1e-3
    logarithmic: bool = False
    """Whether z-scores are taken of log(1 + x): for counts and variances, whose spread grows with their size."""
    embeds: bool = False
    """Whether it needs sentence embeddings."""
    is_size: bool = False
    """Whether it counts how much text there is: every text has it, however short."""
    of_text: bool = True
    """Whether it describes the text; an empty answer has a figure too of what does not."""
    by_word_list: bool = False
    """Whether it depends on the list of familiar words."""
    by_length: bool = False
    """Whether a longer text by the same hand has another value, before it is made a z-score."""
    step_limit: float | None = None
    """Change between neighbouring lengths beyond which Context-Tester calls the longer one a degradation point."""
    core: int | None = None
    """Its place, from 1, among the four measures of Context-Tester's first figure and of its composite."""
    stand_in: str | None = None
    """The measure that figures show in its place where no length has it."""
    rise: str | None = None
    """What a rise means; None: worse or better, as `worse` has it."""
    fall: str | None = None
    """What a fall means."""


MEASURES = tuple(
    Measure(**row)
    for row in yaml.safe_load(files("contextcliff.writing.measures").joinpath("measures.yaml").read_text("utf-8"))
)
"""In the order of tables."""

BY_NAME: Mapping[str, Measure] = {measure.name: measure for measure in MEASURES}

CORE = tuple(name for _, name in sorted((measure.core, measure.name) for measure in MEASURES if measure.core))
"""Names of the core measures, in their order."""

# Keys of `Score.details`: each measure by its name, and with each of these prefixes a further figure of it.
ORIGINAL = "original."
"""The same measure on the author's own next words, as many as the model wrote."""
AUTHOR_MEAN = "author_mean."
"""Its mean over windows of the author's text of that length."""
AUTHOR_STD = "author_std."
"""Its standard deviation over these windows."""
Z = "z."
"""Its z-score: the distance from that mean in these standard deviations (at least the floor), on its scale."""
ORIGINAL_Z = "original_z."
"""The z-score of the author's own next words."""
COMPOSITE = "composite"
"""The calibrated composite, 0-100, up is worse."""
CLASSIC_COMPOSITE = "composite_classic"
"""Context-Tester's composite, 0-100, up is worse."""
AUTHOR_LIMIT = "author_limit"
"""The 99th percentile of the composite over the author's own passages: a text beyond it is not like them."""
HEALTHY: Final = "healthy"
"""1 for a text that is long enough, in no loop, and within that limit; else 0."""
AUTHOR_DISTANCE = "author_distance"
"""Root mean square of all z-scores, each at most 10: the distance from the author in any direction."""
