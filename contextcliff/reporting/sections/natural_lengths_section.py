"""Documents of natural length: what each bin holds, and how its scores are spread."""

from __future__ import annotations

from contextcliff.analysis.study import Study
from contextcliff.records.corpus import LengthAudit
from contextcliff.reporting.section import Section


class NaturalLengthsSection(Section[LengthAudit]):
    """Documents of natural length: what each bin holds, and how its scores are spread."""

    key = "audit"
    title = "Bins of documents"
    record = LengthAudit

    def compute(self, study: Study) -> LengthAudit | None:
        return study.facts.audit
