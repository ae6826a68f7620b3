"""How the cap was found, and what is claimed by it."""

from __future__ import annotations

from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.blocks import Block, Text
from contextcliff.reporting.report_facts import ThresholdName
from contextcliff.reporting.section import Section
from contextcliff.reporting.words.english import say


class MethodSection(Section[None]):
    """What was tested, the claim, and what the intervals are."""

    key = "method"
    title = "Method"

    def full(self, report: Report) -> tuple[Block, ...]:
        return (Text(text=_tested(report)), Text(text=_claim(report)), Text(text=_intervals(report)))


def _tested(report: Report) -> str:
    if not report.analysis.bins:
        return "No length was tested."
    lengths = [a_bin.asked_tokens for a_bin in report.analysis.bins]
    depths = len({cell.depth for cell in report.analysis.cells})
    at = f", at {depths:,} {'depth' if depths == 1 else 'depths'}" if depths else ""
    plural = "length" if len(lengths) == 1 else "lengths"
    return (
        f"{report.counts.planned:,} samples were planned over {len(lengths):,} {plural},"
        f" {min(lengths):,} to {max(lengths):,} tokens{at}. Lengths are bins by the server's own count of"
        " the prompt; the length asked for stands beside it."
    )


def _claim(report: Report) -> str:
    cap = report.analysis.safe_cap
    return (
        "The lengths are tested one-sided from the shortest up, and the first that is not shown to clear"
        f" {say(ThresholdName(cap=cap))} ends the walk; the cap is the longest prompt of the last length before"
        " it. Since the order is fixed beforehand, the claim that every tested length up to the cap clears"
        f" the threshold holds as a whole at {phrases.percent(cap.confidence)} confidence, without a correction."
        " Between tested lengths it supposes that the score does not fall and rise again."
    )


def _intervals(report: Report) -> str:
    cap = report.analysis.safe_cap
    confidence = phrases.percent(cap.confidence)
    use = (
        "The threshold is tested jointly with the baseline, which is an estimate too, and not by this bound"
        if cap.relative_to_baseline
        else "This bound is what the cap is tested with"
    )
    text = (
        f"The interval of a score is two-sided at {confidence}: Wilson's where scores are 0 or 1, else a"
        f" bootstrap. The {phrases.bound_name(cap)} is one-sided at {confidence} and exact for 0/1 scores. {use}."
        " Unscored samples are left out of the mean and count as wrong in the bound."
    )
    if any(b.n_clusters is not None for b in report.analysis.bins):
        text += (
            " Samples of one length that share a text are right and wrong together: interval and bound there are"
            " those of the effective number of samples, which is smaller (Korn and Graubard 1998)."
        )
    return text
