"""The end of a report: what the run took, notes, method, every cap rule, further figures, and the run itself."""

from __future__ import annotations

from collections.abc import Iterator

from contextcliff.analysis.judged_by import rule_of, worded
from contextcliff.findings import phrases
from contextcliff.findings.finding import (
    Block,
    Code,
    Finding,
    Lines,
    Pairs,
    Shown,
    Table,
    Text,
    columns,
    columns_of,
    findings_with,
)
from contextcliff.findings.half_life import HalfLifeFits
from contextcliff.findings.kv_cache import KVCache, policy_in_words
from contextcliff.models.model import dollars
from contextcliff.records.note import MethodNote, Note
from contextcliff.records.report import SCHEMA_VERSION, Report
from contextcliff.records.search_record import Search


class TookFinding(Finding[None]):
    """Tokens, dollars, time and samples."""

    key = "took"
    title = "What it took"

    def show(self, report: Report) -> tuple[Block, ...]:
        return (Pairs(rows=tuple(_rows(report))),)


def _rows(report: Report) -> Iterator[tuple[str, Shown]]:
    usage, counts = report.usage, report.counts
    yield "Prompt tokens", Note("{n:,}, of which {cached:,} cached and {computed:,} computed", n=usage.prompt_tokens,
                                cached=usage.cached_tokens, computed=usage.computed_prompt_tokens)  # fmt: skip
    yield "Completion", Note("{n:,} tokens", n=usage.completion_tokens)
    if (judge := usage.judge) is not None:
        share = "" if judge.usd is None else Note(", {usd} of the cost", usd=dollars(judge.usd))
        yield "Judge", Note(
            "{requests:,} requests, {prompt:,} prompt and {completion:,} completion tokens{share}",
            requests=judge.requests, prompt=judge.prompt_tokens, completion=judge.completion_tokens, share=share,
        )  # fmt: skip
    if usage.usd is not None:
        yield "Cost", dollars(usage.usd)
    yield "Wall time", phrases.duration(usage.wall_s)
    reused = Note("{n:,} of them reused", n=counts.reused) if counts.reused else Note("none reused")
    yield "Samples", Note("{completed:,} of {planned:,} completed, {reused}", completed=counts.completed,
                          planned=counts.planned, reused=reused)  # fmt: skip
    if counts.unscored:
        yield "Unscored", Note("{n:,} of {planned:,}", n=counts.unscored, planned=counts.planned)
    if n := counts.ahead:
        yield "Ahead", Note("{n:samples} {n:was/were} asked ahead and not needed; {n:it is/they are} kept", n=n)
    if counts.replayed:
        yield "Paired", Note("{n:samples} {n:was/were} asked only to stay paired with another run", n=counts.replayed)
    if counts.controls:
        yield "Controls", Note("{n:,} prompts", n=counts.controls)
    if counts.pilot:
        yield "Pilot", Note("{n:,} prompts, which chose the bins and count in no score", n=counts.pilot)
    if any(counts.errors.values()):
        yield "Failed attempts", phrases.tally(dict(counts.errors))


class NotesFinding(Finding[None]):
    """The notes of the run and of its analysis; those on the method stand with the details."""

    key = "note_list"
    title = "Notes on the method"

    def look(self, report: Report) -> tuple[Text, ...]:
        warnings = (note for note in report.analysis.notes if not isinstance(note, MethodNote))
        of_run = (Text(text=note) for note in report.run.notes)
        return (*of_run, *(Text(text=each, mood="doubtful") for each in warnings))

    def show(self, report: Report) -> tuple[Block, ...]:
        notes = tuple(Text(text=note) for note in report.analysis.notes if isinstance(note, MethodNote))
        return (Lines(lines=notes),) if notes else ()


class MethodFinding(Finding[None]):
    """What was tested, the claim, and what the intervals are."""

    key = "method"
    title = "Method"

    def show(self, report: Report) -> tuple[Block, ...]:
        return (Text(text=_tested(report)), Text(text=_claim(report)), Text(text=_intervals(report)))


def _tested(report: Report) -> str:
    if not report.analysis.lengths:
        return "No length was tested."
    lengths = [a_bin.median_tokens for a_bin in report.analysis.lengths]
    depths = len({cell.depth for cell in report.analysis.cells})
    at = f", at {depths:,} {'depth' if depths == 1 else 'depths'}" if depths else ""
    asked = "planned" if report.analysis.finding(Search) is None else "asked for"
    plural = "length" if len(lengths) == 1 else "lengths"
    return (
        f"{report.counts.planned:,} samples were {asked} over {len(lengths):,} {plural},"
        f" {min(lengths):,} to {max(lengths):,} tokens{at}. A length is the median of its prompts, by the server's own"
        " count."
    )


def _claim(report: Report) -> str:
    cap, search = report.analysis.safe_cap, report.analysis.finding(Search)
    confidence, name = phrases.percent(cap.holds_at), phrases.threshold_name(cap)
    if search is None:
        return (
            "Lengths are tested one-sided from the shortest up, and the first that is not shown to clear"
            f" {name} ends the walk; the cap is the last length before it. Since the order is"
            " fixed beforehand, the claim that every tested length up to the cap clears the threshold holds as a whole"
            f" at {confidence} confidence, without a correction. Between tested lengths it supposes that the score does"
            " not fall and rise again."
        )
    then = ", each at the whole α"
    if search.plan.refine:
        then = (
            ", each at 0.7 α; then lengths between the last that passed and the first that is below, together at 0.3 α:"
            " a sample there bets on every shorter length too"
        )
    if search.plan.added:
        then += ", and lengths that were added later at a half of that, a quarter and so on, beside it"
    return (
        "Samples are asked one by one, at depths that the seed draws, and each makes a bet that is fixed before it is"
        " scored. Lengths are tested by the e-values of these bets from the shortest up, until one is not shown to"
        f" clear {name}{then} (α = {1.0 - cap.confidence:.3g}). The cap is the last length that passed. The claim that"
        f" every tested length up to it clears the threshold holds as a whole at {confidence} confidence, however often"
        " one looks; between tested lengths it supposes that the score does not fall and rise again, and lengths beyond"
        " the last of them are open."
    )


def _intervals(report: Report) -> str:
    cap = report.analysis.safe_cap
    confidence = phrases.percent(cap.confidence)
    if report.analysis.finding(Search) is not None:
        bound = (
            f" The {phrases.bound_name(cap)} is the threshold where a length passed, or the highest that bets with"
            " fixed stakes show."
        )
        bound = "" if cap.relative_to_baseline else bound
        return (
            f"Intervals are confidence sequences at {confidence}: the scores that the e-values do not reject, wherever"
            f" the search stops.{bound} Unscored samples count as wrong at the lower end and as right at the upper one."
        )
    use = "This bound is what the cap is tested with"
    if cap.quantity != "score":
        use = "The cap is tested on the share of healthy rounds, and not by this bound"
    elif cap.relative_to_baseline:
        use = "The threshold is tested jointly with the baseline, which is an estimate too, and not by this bound"
    text = (
        f"The interval of a score is two-sided at {confidence}: Wilson's where scores are 0 or 1, else a"
        f" bootstrap. The {phrases.bound_name(cap)} is one-sided at {confidence} and exact for 0/1 scores. {use}."
        " Unscored samples are left out of the mean and count as wrong in the bound."
    )
    if any(b.n_clusters is not None for b in report.analysis.lengths):
        text += (
            " Samples of one length that share a text are right and wrong together: interval and bound there are"
            " those of the effective number of samples, which is smaller (Korn and Graubard 1998)."
        )
    return text


_RULES = {
    # Also the rules of findings that a run need not have: every report lists them.
    "walk_up": "the last length, from the shortest up, that was shown to clear the threshold",
    "blueprint": "the first length where the spread doubles, the mean falls by over 30% or failures spike; no test",
    "absolute": "the last length before the first mean under the threshold as a score (of a relative one, its share of"
    " the baseline's mean); no test",
    "relative": "the last length before the first mean under a fixed share of the shortest length's, the"
    ' "effective length" of NoLiMa; no test',
    "writing": "the last length up to which enough rounds of writing are shown to be healthy; the safe cap of a"
    " continuation run",
    "latency": "what a limit on latency admits",
}


class CapRulesFinding(Finding[None]):
    """The cap by each rule, for comparison with the one that the report stands on."""

    key = "cap_rules"
    title = "Appendix: every cap rule"

    def show(self, report: Report) -> tuple[Block, ...]:
        cap, words = report.analysis.safe_cap, dict(_RULES)
        for section in findings_with(report.analysis.findings):
            words |= section.cap_rules
        # The half-life is in `caps` for programs that read it there; it is no cap, and has its own finding.
        known = (
            (rule, tokens)
            for rule, tokens in report.analysis.caps.items()
            if tokens is not None and rule != "half_life"
        )
        rows = [(rule, f"{tokens:,}", words.get(rule, "")) for rule, tokens in known]
        limit = f", and is limited by {cap.limited_by}" if cap.limited_by in ("memory", "latency") else ""
        chosen = Text(text=f"The report stands on {cap.rule}{limit}; the others are for comparison.")
        head = ("rule", "cap in tokens", "what it is")
        return (chosen, *((Table(columns=columns_of(head, rows, words=("rule", "what it is"))),) if rows else ()))


_LSQ = "Half-life by least squares on the mean scores, r0 * exp(-kL), for comparison with figures made that way:"
_SPREAD = (
    "Rolling variance: of the scores of a length and its neighbours, pooled. Sarle's coefficient above 0.56 hints at"
    " two kinds of answers. On 0/1 scores both restate the mean."
)


class FurtherFiguresFinding(Finding[None]):
    """The least-squares half-life, the rolling variance and Sarle's coefficient."""

    key = "further_figures"
    title = "Appendix: further figures"

    def show(self, report: Report) -> tuple[Block, ...]:
        fits, bins = report.analysis.finding(HalfLifeFits), report.analysis.lengths
        if not bins:
            return ()
        lsq = None if fits is None else fits.half_life_lsq
        table = columns(
            bins,
            ("asked", lambda b: phrases.whole(b.asked_tokens)),
            ("rolling variance", lambda b: phrases.small(b.rolling_variance)),
            ("Sarle's coefficient", lambda b: phrases.small(b.bimodality)),
        )
        lsq_words = Text(text=f"{_LSQ} {'none' if lsq is None else f'{lsq:,} tokens'}.")
        return (lsq_words, Text(text=_SPREAD), Table(columns=table))


class RunFinding(Finding[None]):
    """What was tested, the run's names, the rule that it was judged by, and its command."""

    key = "this_run"
    title = "This run"

    def show(self, report: Report) -> tuple[Block, ...]:
        run, cache = report.run, report.analysis.finding(KVCache)
        rows = (
            ("Model", f"{run.model} ({run.label})" if run.label else run.model),
            ("Engine", run.engine),
            ("KV policy", phrases.kv_policy(run) if cache is None else policy_in_words(cache.facts)),
            ("Task", run.task),
            ("Dataset", f"{run.dataset} ({run.texts})" if run.texts else run.dataset),
            ("Tokenizer", run.tokenizer),
            *((("Maximum window", Note("{n:,} tokens", n=run.max_context_tokens)),) if run.max_context_tokens else ()),
            *(("Detected", line) for line in run.server),
            ("Run", run.run_id),
            ("Fingerprint", run.fingerprint),
            ("Created", run.created_at),
            ("Judged by", worded(rule_of(report))),
            ("Report schema", str(SCHEMA_VERSION)),
        )
        return (Pairs(rows=rows), Code(text=report.run.command))
