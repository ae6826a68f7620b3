"""How the safe cap moves with threshold, confidence and bins."""

from __future__ import annotations

from contextcliff.analysis.sensitivity import JudgedAnew, Sensitivity, sensitivity
from contextcliff.analysis.study import Study
from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.blocks import Block, Column, Table, Text
from contextcliff.reporting.section import Section

_MEANING = (
    "The same samples judged by other settings of analysis, one of them moved at a time; * marks the run's own. Where a"
    " cap stands with >=, no fall was found up to the longest test."
)
_OF_A_SEARCH = (
    " The samples were asked until the run's own rule was decided: another rule may leave a length open, for which more"
    " of them would be asked."
)


class SensitivitySection(Section[Sensitivity]):
    """A row a value of each setting."""

    key = "sensitivity"
    title = "Sensitivity"
    title_note = "safe cap by other settings"
    record = Sensitivity

    def compute(self, study: Study) -> Sensitivity | None:
        return sensitivity(study)

    def short(self, report: Report) -> tuple[Block, ...]:
        found = self.of(report)
        return () if found is None else (_table(found),)

    def full(self, report: Report) -> tuple[Block, ...]:
        found = self.of(report)
        if found is None:
            return ()
        return (Text(text=f"{_MEANING}{_OF_A_SEARCH if found.is_search else ''}"), _table(found))


def _table(found: Sensitivity) -> Table:
    judged = found.judged
    columns = (
        Column(title="setting", cells=tuple(each.setting for each in judged), words=True, labels=True),
        Column(title="value", cells=tuple(f"{each.value:g}{'*' if each.own else ' '}" for each in judged)),
        Column(title="safe cap", cells=tuple(map(_cap_words, judged)), labels=True),
        Column(
            title="evidence",
            cells=tuple(each.evidence or phrases.MISSING for each in judged),
            spare=1,
            labels=True,
        ),
    )
    return Table(columns=columns)


def _cap_words(judged: JudgedAnew) -> str:
    if judged.tokens is None:
        return "none"
    return f">= {judged.tokens:,}" if judged.censored else f"{judged.tokens:,}"
