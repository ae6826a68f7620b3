"""The scored samples of a run with what is computed once from them: the input of every finding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from contextcliff.analysis.analysis_settings import AnalysisSettings
from contextcliff.analysis.bins import Group
from contextcliff.analysis.controls import ControlLevel
from contextcliff.analysis.lengths import LengthResult
from contextcliff.analysis.walk import FixedSequenceTest, Threshold
from contextcliff.records.amounts import Quantity
from contextcliff.records.analysis import EARNS_POINTS, Bin, SafeCap
from contextcliff.records.corpus import LengthAudit
from contextcliff.records.generation import ScoredSample
from contextcliff.records.kv_cache import CacheFacts
from contextcliff.records.note import Note
from contextcliff.records.positions import Positions
from contextcliff.records.search_record import PASSED, Search, SearchPlan
from contextcliff.statistics.ranks import holm, is_significant


@dataclass(frozen=True, kw_only=True, slots=True)
class StudyFacts:
    """What an analysis has to know of a run beside its scored samples and the analysis' settings."""

    max_context_tokens: int | None
    """The model's window; None if unknown."""
    designed_lengths: bool
    """Whether the task chose its lengths (a bin each) or took documents as they are (quantile bins)."""
    relative_by_default: bool
    """Whether the threshold is a share of the baseline's score where the settings don't say."""
    task: object = None
    """The task, for findings of the task's own package; nothing else looks into it."""
    judge: str | None = None
    """Name of the model that rated the answers; None: nothing did."""
    judge_right_from: int = 0
    """The rating (1 to 10) from which on the judge is taken to call an answer right."""
    judge_decides: bool = False
    """Whether its verdicts are the scores."""
    metrics: tuple[str, ...] = ()
    """By what answers are scored, where the task has a choice."""
    embedder: str | None = None
    """What embedded the sentences of the answers; None: nothing did."""
    audit: LengthAudit | None = None
    """How long the documents are, where they have their natural length."""
    begins_anywhere: bool = False
    """Whether samples begin at sentences all over their texts."""
    search: SearchPlan | None = None
    """What the search of the cap could ask; None where the number of samples was fixed."""
    looks: int = 0
    """How many fixed designs looked at some of the samples before: each has half of the error of the one before."""
    claim: Note = EARNS_POINTS
    """What is claimed of the model, as a task says it."""
    quantity: Quantity = "score"
    """What the lengths are tested on: the score, or a detail of it that is 0 or 1."""
    draws_anew: bool = True
    """Whether the repeats of a question are draws of their own; at temperature 0, or with one seed, they are not."""
    cache: CacheFacts | None = None
    """The KV cache; None where nothing is known of it."""
    positions: Positions | None = None
    """The positions that the model was trained on; None where nothing is known of them."""
    own_tokenizer: bool = False
    """Whether the model's own tokenizer counted the prompts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Study:
    """The input of every finding. `sequence` and `threshold` are None for a run without samples."""

    scored: tuple[ScoredSample, ...]
    """All planned samples, unscored ones included, without controls. Of a search: those that its decisions rest on."""
    controls: tuple[ScoredSample, ...]
    """The scored controls that samples name in `Sample.controls`, and new texts asked at the end (`RECHECK`); they
    count in no score."""
    settings: AnalysisSettings
    facts: StudyFacts
    relative: bool
    """Whether the threshold is a share of the baseline's score."""
    groups: tuple[Group, ...]
    """The samples by length, shortest first; `results` are in the same order."""
    sequence: FixedSequenceTest | None
    threshold: Threshold | None
    search: Search | None
    """How the search went; None where the number of samples was fixed."""
    control_levels: tuple[ControlLevel, ...]
    """The controls of every length; empty where the run has none."""
    safe_cap: SafeCap
    settled_by: int | None = None
    """Samples a length that would settle what stopped the test; None where it is settled, or no number would."""
    by_score: tuple[LengthResult, ...] | None = None
    """The lengths by their scores, where `sequence` tests another quantity; None: it tests the scores."""
    alarms: Mapping[str, float] = field(default_factory=dict)
    """The p-value of each alarm that the report may raise, allowing for all of them (`findings_of`)."""

    @property
    def results(self) -> tuple[LengthResult, ...]:
        """The lengths by their scores."""
        if self.by_score is not None:
            return self.by_score
        return () if self.sequence is None else self.sequence.results

    @property
    def ladder(self) -> tuple[LengthResult, ...]:
        """The lengths that were planned: all but those that a search asked between two."""
        between = () if self.search is None else [each.context_tokens for each in self.search.tested if each.refined]
        return tuple(result for result in self.results if result.bin.asked_tokens not in between)

    @property
    def passed(self) -> tuple[LengthResult, ...]:
        """The planned lengths that no scores made an end of: of a search, those after which it went on."""
        if self.search is None:
            return self.results
        ended = {each.context_tokens for each in self.search.tested if each.decision not in PASSED}
        return tuple(result for result in self.ladder if result.bin.asked_tokens not in ended)

    @property
    def bins(self) -> tuple[Bin, ...]:
        return tuple(result.bin for result in self.results)

    @property
    def binary(self) -> bool:
        """Whether every item of the run is right or wrong."""
        return bool(self.results) and self.results[0].binary

    @property
    def confidence(self) -> float:
        return self.settings.confidence

    def raises(self, alarm: str) -> bool:
        """Whether the report raises this alarm."""
        return is_significant(self.alarms.get(alarm, 1.0), self.confidence)


class Finder(Protocol):
    """What computes one finding: every `Finding` is a finder."""

    @property
    def key(self) -> str:
        """The finding's name, unique among all."""

    def find(self, study: Study) -> Any:
        """The finding; None where there is none."""

    def caps(self, finding: Any, study: Study) -> Mapping[str, int | None]:
        """What it adds to the cap rules: tokens by rule."""

    def alarms(self, finding: Any, study: Study) -> Mapping[str, float]:
        """The p-value of each alarm that it may raise."""

    def raised(self, finding: Any, study: Study) -> Any:
        """The finding with those alarms alone that the report raises."""


def findings_of(
    study: Study, finders: Sequence[Finder], beside: Mapping[str, float]
) -> tuple[Study, dict[str, object], dict[str, int | None]]:
    """The study with the alarms of its report, every finding by its key, and the cap rules that they add.

    An unremarkable run raises any alarm at all no more often than the confidence allows: the p-values of findings, and
    of what is said `beside` them, are corrected for all of them (Holm), here and nowhere else.
    """
    found = [(finder, finding) for finder in finders if (finding := finder.find(study)) is not None]
    tests = dict(beside) | {name: p for finder, finding in found for name, p in finder.alarms(finding, study).items()}
    study = replace(study, alarms=dict(zip(tests, holm(tuple(tests.values())), strict=True)))
    caps = {rule: tokens for finder, finding in found for rule, tokens in finder.caps(finding, study).items()}
    return study, {finder.key: finder.raised(finding, study) for finder, finding in found}, caps
