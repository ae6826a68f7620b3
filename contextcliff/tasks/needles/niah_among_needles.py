"""Task `niah_multikey` in a text of needles alone (`dataset=needles`), as RULER's multikey 2 and 3 have it.

Hsieh et al. 2024, arXiv:2404.06654. Every sentence of the text has the form of the one that is asked for, so that none
of them stands out, and there are as many distractors as the length holds. They are part of the text and not of the
sample: an answer's value is looked up in the text, to tell another needle's from one that stands nowhere.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Sample
from contextcliff.settings import settings
from contextcliff.tasks.needles.niah_multikey import NiahMultikey
from contextcliff.tasks.task import ScoringContext
from contextcliff.text.value_forms import FORMS


@settings
class NiahAmongNeedles(NiahMultikey):
    """`niah_multikey` whose distractors are the sentences of the text."""

    reads_documents = True

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:
        """As `niah_multikey`, with every value of the text as another needle's."""
        text = "" if context.document is None else context.document.text
        others = (*sample.reference.distractors, *_values(text, self.value))
        known = replace(sample, reference=replace(sample.reference, distractors=others))
        return super().score(known, generation, context)


@lru_cache(maxsize=2)
def _values(text: str, form: str) -> tuple[str, ...]:
    return tuple(FORMS[form].found(text))
