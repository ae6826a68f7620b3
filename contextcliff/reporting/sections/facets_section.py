"""The scores by everything that varied beside length and depth."""

from __future__ import annotations

from contextcliff.analysis.facets import Facets, facet_rows
from contextcliff.analysis.study import Study
from contextcliff.reporting.section import Section


class FacetsSection(Section[Facets]):
    """The scores by everything that varied beside length and depth."""

    key = "facets"
    title = "By facet"
    record = Facets
    inline = True

    def compute(self, study: Study) -> Facets | None:
        rows = facet_rows(
            study.groups,
            threshold=study.settings.threshold,
            relative=study.relative,
            confidence=study.confidence,
            binary=study.binary,
        )
        return Facets(facets=rows)
