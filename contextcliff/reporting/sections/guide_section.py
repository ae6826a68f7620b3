"""What to do at each length: use the text as it is, compress it, or retrieve from it."""

from __future__ import annotations

from contextcliff.analysis.guide import Guide, operating_guide
from contextcliff.analysis.half_life import half_life_of
from contextcliff.analysis.study import Study
from contextcliff.reporting.section import Section


class GuideSection(Section[Guide]):
    """What to do at each length: use the text as it is, compress it, or retrieve from it."""

    key = "guide"
    title = "Operating guide"
    record = Guide

    def compute(self, study: Study) -> Guide | None:
        # The guide's limits are those of recall: how hard a question set is, and what prose is, would move them.
        if study.facts.relative_by_default or not study.facts.designed_lengths:
            return Guide(rows=(), advice=())
        return operating_guide(study.results, half_life_of(study))
