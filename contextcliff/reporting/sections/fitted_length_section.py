"""Estimates of the whole curve: where it falls to 80% and 50%, the area under it, and RULER's effective length."""

from __future__ import annotations

from collections.abc import Iterator

from contextcliff.analysis.fitted_length import FittedLength, FittedLengths, fitted_lengths
from contextcliff.analysis.study import Study
from contextcliff.findings import phrases
from contextcliff.findings.finding import Block, Finding, Measurement, Pairs, Shown, Text
from contextcliff.findings.phrases import from_stopped_data
from contextcliff.records.report import Report
from contextcliff.reporting.report_facts import EffectiveInShort, FittedInShort

_CURVE = (
    "Estimates beside the cap, which does not depend on them. x80 and x50 are the prompt lengths at which a logistic"
    " curve in log length, fitted to the scores of all lengths, falls to"
)
_INTERVAL = (
    "The interval is a bootstrap's; where no tested length lies on the fall, only the two around it are known, and it"
    " reaches from one to the other. Where some do, it supposes that the fall is a logistic curve's, and does not allow"
    " for another form. Nothing is extrapolated beyond the tested lengths. The area is the mean score over"
    " the tested range, with straight lines between tested lengths and each doubling of the length counting alike;"
    " areas of different ranges are not comparable. The effective length is RULER's (arXiv 2404.06654): the longest"
    " tested length up to which every mean score is above"
)


class FittedLengthSection(Finding[FittedLengths]):
    """A row for each estimate, with its interval and what it rests on."""

    key = "fitted_length"
    title = "Fitted length"
    folded = True
    record = FittedLengths

    def find(self, study: Study) -> FittedLengths | None:
        return fitted_lengths(study)

    def summary(self, report: Report) -> tuple[tuple[str, Shown], ...]:
        fitted = self.of(report)
        if fitted is None:
            return ()
        in_short = (self.title, FittedInShort(x80=fitted.x80, x50=fitted.x50))
        # RULER's threshold is a share of right answers: it says little of prose, and where a baseline is what judges.
        right_answers = not fitted.relative and report.analysis.safe_cap.quantity == "score"
        return (in_short, ("Effective length", _effective(fitted))) if right_answers else (in_short,)

    def show(self, report: Report) -> tuple[Block, ...]:
        fitted = self.of(report)
        if fitted is None:
            return ()
        rows: list[tuple[str, Shown]] = [("x80", fitted.x80.reason), ("x50", fitted.x50.reason)]
        if fitted.area is not None:
            area = fitted.area
            interval = f"{area.ci_low:.3f}-{area.ci_high:.3f}"
            confidence = phrases.percent(report.analysis.safe_cap.confidence)
            rows.append(
                (
                    "Area",
                    f"{area.value:.3f} ({confidence} interval {interval}), {area.min_tokens:,} to"
                    f" {area.max_tokens:,} tokens",
                )
            )
        rows.append(("Effective length", _effective(fitted)))
        rows.append(("Samples", phrases.whole(fitted.n_samples)))
        rows.append(("Lengths", phrases.whole(fitted.n_lengths)))
        return (
            Text(text=_meaning(fitted)),
            Pairs(rows=tuple(rows)),
            *from_stopped_data(report, "Fitted lengths, the area and the effective length"),
        )

    def metrics(self, report: Report) -> Iterator[Measurement]:
        fitted = self.of(report)
        if fitted is None:
            return
        yield from _figures("fitted/x80", fitted.x80)
        yield from _figures("fitted/x50", fitted.x50)
        yield Measurement(key="fitted/effective_length", value=fitted.effective_length.tokens)
        if fitted.area is not None:
            yield Measurement(key="fitted/score_area", value=fitted.area.value)
            yield Measurement(key="fitted/score_area_ci_low", value=fitted.area.ci_low)
            yield Measurement(key="fitted/score_area_ci_high", value=fitted.area.ci_high)


def _meaning(fitted: FittedLengths) -> str:
    to = "80% and 50% of its value at the shortest length" if fitted.relative else "a score of 0.80 and of 0.50"
    return f"{_CURVE} {to}. {_INTERVAL} {fitted.effective_length.threshold:.3f}, what Llama2-7B reaches there at 4K."


def _effective(fitted: FittedLengths) -> EffectiveInShort:
    effective = fitted.effective_length
    return EffectiveInShort(tokens=effective.tokens, threshold=effective.threshold, censored=effective.censored)


def _figures(name: str, length: FittedLength) -> Iterator[Measurement]:
    yield Measurement(key=f"{name}_tokens", value=length.tokens)
    yield Measurement(key=f"{name}_ci_low", value=length.ci_low)
    yield Measurement(key=f"{name}_ci_high", value=length.ci_high)
