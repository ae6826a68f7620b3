"""Every measure of prose by name: what it counts, which direction is worse, and which family it belongs to.

The names are Context-Tester's where it has the measure, so that tables of both can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Family = Literal["readability", "diversity", "repetition", "rhythm", "copying", "language", "coherence"]
"""The families of measures that the calibrated composite is made of."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """One number of a text.

    `worse` is the direction of a degradation: 1 up, -1 down, 0 neither; a measure with 0 is shown and never tested.
    `floor` is the smallest standard deviation that a z-score is divided by, on the scale that `logarithmic` names: a
    measure that is 0 in every window of the author has a standard deviation of 0.
    """

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
    headline: bool = False
    """Whether the console shows its trend even where no trend was shown to be there."""
    rise: str | None = None
    """What a rise means; None: worse or better, as `worse` has it."""
    fall: str | None = None
    """What a fall means."""


MEASURES: tuple[Measure, ...] = (
    Measure(
        name="cloze_score",
        title="Cloze score",
        unit="points",
        worse=1,
        family="readability",
        floor=1.0,
        by_word_list=True,
        step_limit=3.0,
        core=2,
        headline=True,
        rise="simpler",
        fall="more complex",
    ),
    Measure(
        name="pct_unfamiliar_words",
        title="Unfamiliar words",
        unit="share of words",
        worse=-1,
        floor=0.01,
        by_word_list=True,
    ),
    Measure(
        name="vocabulary_diversity",
        title="Vocabulary diversity",
        unit="types/tokens",
        worse=-1,
        floor=0.01,
        by_length=True,
        step_limit=-0.05,
        core=1,
        headline=True,
        rise="more diverse",
        fall="more repetitive",
    ),
    Measure(name="mtld", title="MTLD", unit="words", worse=-1, family="diversity", floor=0.05, logarithmic=True),
    Measure(
        name="unique_word_ratio_100",
        title="Unique words per 100",
        unit="types/tokens",
        worse=-1,
        family="diversity",
        floor=0.01,
    ),
    Measure(
        name="word_entropy", title="Word entropy", unit="bits", worse=-1, family="diversity", floor=0.05, by_length=True
    ),
    Measure(name="char_entropy", title="Character entropy", unit="bits", worse=-1, floor=0.02, by_length=True),
    Measure(
        name="bigram_repetition_rate",
        title="Bigram repetition",
        unit="share of bigrams",
        worse=1,
        family="repetition",
        floor=0.01,
        by_length=True,
        core=4,
    ),
    Measure(
        name="trigram_repetition_rate",
        title="Trigram repetition",
        unit="share of trigrams",
        worse=1,
        family="repetition",
        floor=0.01,
        by_length=True,
    ),
    Measure(
        name="long_range_repetition",
        title="Long-range repetition",
        unit="share of 4-grams",
        worse=1,
        family="repetition",
        floor=0.01,
        by_length=True,
    ),
    Measure(
        name="compression_ratio",
        title="Compression ratio",
        unit="raw/compressed bytes",
        worse=1,
        family="repetition",
        floor=0.05,
        by_length=True,
    ),
    Measure(name="avg_sentence_length", title="Sentence length", unit="words", worse=-1, floor=0.5),
    Measure(
        name="sentence_length_variance",
        title="Sentence length variance",
        unit="words²",
        worse=-1,
        family="rhythm",
        floor=0.1,
        logarithmic=True,
        step_limit=-5.0,
    ),
    Measure(name="sentence_length_skewness", title="Sentence length skewness", unit="", floor=0.1),
    Measure(name="sentence_length_kurtosis", title="Sentence length kurtosis", unit="", floor=0.1),
    Measure(name="comma_density", title="Commas", unit="per sentence", floor=0.05),
    Measure(name="semicolon_density", title="Semicolons", unit="per sentence", floor=0.02),
    Measure(name="question_density", title="Question marks", unit="per sentence", floor=0.02),
    Measure(name="exclamation_density", title="Exclamation marks", unit="per sentence", floor=0.02),
    Measure(name="avg_syllables_per_word", title="Syllables per word", unit="syllables", worse=-1, floor=0.01),
    Measure(name="long_word_ratio", title="Long words", unit="share of words", worse=-1, floor=0.01),
    Measure(name="function_word_ratio", title="Function words", unit="share of words", floor=0.01),
    Measure(name="avg_word_length", title="Word length", unit="letters", worse=-1, floor=0.03),
    Measure(
        name="copied_share",
        title="Copied from the prompt",
        unit="share of words",
        worse=1,
        family="copying",
        floor=0.02,
        by_length=True,
    ),
    Measure(
        name="longest_copy_words",
        title="Longest copy",
        unit="words",
        worse=1,
        family="copying",
        floor=0.2,
        logarithmic=True,
        by_length=True,
    ),
    Measure(
        name="language_drift", title="Language drift", unit="share of text", worse=1, family="language", floor=0.05
    ),
    Measure(name="reference_rouge_l", title="ROUGE-L with the original", unit="F1", floor=0.01),
    Measure(
        name="shortfall", title="Missing text", unit="share of the least length", worse=1, floor=0.1, of_text=False
    ),
    Measure(name="continuation_length", title="Continuation length", unit="characters", floor=20.0, is_size=True),
    Measure(name="word_count", title="Words", unit="words", floor=5.0, is_size=True),
    Measure(name="sentence_count", title="Sentences", unit="sentences", floor=1.0, is_size=True),
    Measure(
        name="adjacent_coherence",
        title="Adjacent coherence",
        unit="cosine",
        worse=-1,
        family="coherence",
        floor=0.01,
        embeds=True,
        core=3,
        stand_in="mtld",
    ),
    Measure(
        name="global_coherence",
        title="Global coherence",
        unit="cosine",
        worse=-1,
        family="coherence",
        floor=0.01,
        embeds=True,
    ),
    Measure(
        name="local_coherence_3sent",
        title="3-sentence coherence",
        unit="cosine",
        worse=-1,
        family="coherence",
        floor=0.01,
        embeds=True,
    ),
    Measure(name="coherence_variance", title="Coherence variance", unit="cosine²", floor=1e-3, embeds=True),
    Measure(name="reference_similarity", title="Similarity to the original", unit="cosine", floor=0.01, embeds=True),
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
