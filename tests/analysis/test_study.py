"""Findings: computed once from the study of a run, each under its key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from contextcliff.analysis.study import Study
from tests.make import analysed, curve


@dataclass(frozen=True)
class Counted:
    lengths: int


@dataclass
class Counter:
    """A finder that keeps how often it was asked."""

    key: str
    nothing: bool = False
    p_value: float | None = None
    asked: list[Study] = field(default_factory=list)

    def find(self, study: Study) -> Counted | None:
        self.asked.append(study)
        return None if self.nothing else Counted(lengths=len(study.results))

    def caps(self, finding: Counted, study: Study) -> Mapping[str, int | None]:
        return {"counted": finding.lengths, "half_life": study.safe_cap.tokens}

    def alarms(self, _: Counted, __: Study) -> Mapping[str, float]:
        return {} if self.p_value is None else {self.key: self.p_value}

    def raised(self, finding: Counted, study: Study) -> Counted:
        return finding if study.raises(self.key) else Counted(lengths=0)


SAMPLES = curve({500: (20, 20), 1_000: (20, 20)})


def test_a_finding_is_computed_once_and_stands_under_its_key() -> None:
    finder = Counter(key="counted")
    found = analysed(SAMPLES, finders=(finder,))
    assert found.findings == {"counted": found.finding(Counted)}
    assert len(finder.asked) == 1


def test_findings_complete_the_cap_rules() -> None:
    without, with_it = analysed(SAMPLES, finders=()), analysed(SAMPLES, finders=(Counter(key="counted"),))
    assert without.caps["half_life"] is None
    assert with_it.caps == {**without.caps, "half_life": 1_000, "counted": 2}


def test_a_report_raises_the_alarms_that_holm_leaves_of_all_that_it_may_raise() -> None:
    def raised(*p_values: float) -> list[bool]:
        finders = [Counter(key=str(place), p_value=p) for place, p in enumerate(p_values)]
        found = analysed(SAMPLES, finders=finders)
        return [found.findings[finder.key] == Counted(lengths=2) for finder in finders]

    assert raised(0.04) == [True]
    assert raised(0.04, 0.03) == [False, False]
    assert raised(0.04, 0.02) == [True, True]
    assert raised(0.04, 0.02, 1.0) == [False, False, False]


def test_a_study_has_the_samples_by_length_and_what_they_were_tested_against() -> None:
    finder = Counter(key="counted")
    analysed(SAMPLES, finders=(finder,), relative_by_default=True)
    (study,) = finder.asked
    assert [group.asked_tokens for group in study.groups] == [b.asked_tokens for b in study.bins] == [500, 1_000]
    assert study.relative
    assert study.binary
    assert study.threshold is not None
    assert study.threshold.score == study.settings.threshold
