"""Everything that was written in a run, to be read: the original's next words, then every round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import Report
from contextcliff.reporting import phrases
from contextcliff.reporting.outside_text import tame
from contextcliff.writing.answer_figures import answer_figures
from contextcliff.writing.prose_findings import Writing
from contextcliff.writing.sections.writing_rows import in_order, outcome, round_number

_WIDTH = 100


def generations_text(report: Report, writing: Writing, *, scored: Sequence[ScoredSample]) -> str:
    """The whole of `generations.txt`: a header line before each text, control characters as escapes."""
    blocks = [
        _header(f"{report.run.model}, {report.run.dataset}: {writing.document_id}, run {report.run.run_id}"),
        *_original(writing, scored=scored),
        *(block for item in in_order(scored) for block in _round(item, rounds=_rounds(writing)[_tokens(item)])),
    ]
    return tame("\n\n".join(blocks)) + "\n"


def _header(text: str) -> str:
    flat = " ".join(text.split())
    return f"{'=' * _WIDTH}\n{flat}\n{'=' * _WIDTH}"


def _original(writing: Writing, *, scored: Sequence[ScoredSample]) -> Iterator[str]:
    """The author's own next words, as many as the longest round wrote."""
    document = next((item.document for item in scored if item.document is not None), None)
    title = f"THE ORIGINAL FROM CHARACTER {writing.continuation_point:,} ON"
    if document is None:
        yield _header(f"{title}: the document is not kept with this run")
        return
    longest = max((len(item.generation.text.split()) for item in scored if item.generation is not None), default=0)
    # Words with what stands between them: joined by single spaces, verse and paragraphs would be lost.
    rest = document.text[writing.continuation_point :]
    end = 0
    for word in rest.split(None, longest)[:longest]:
        end = rest.index(word, end) + len(word)
    yield _header(f"{title} ({longest:,} words)")
    yield rest[:end].strip("\n")


def _round(item: ScoredSample, *, rounds: int) -> Iterator[str]:
    generation = item.generation
    ended = f", ended by {generation.finish_reason}, {generation.completion_tokens:,} tokens" if generation else ""
    figures = ", ".join(answer_figures(item.details))
    yield _header(
        f"{phrases.whole(_tokens(item))} TOKENS, ROUND {round_number(item)}/{rounds}: {outcome(item)}{ended}"
        f"{f'. {figures}' if figures else ''}"
    )
    if generation is not None:
        yield generation.text


def _tokens(item: ScoredSample) -> int:
    return item.sample.context_tokens


def _rounds(writing: Writing) -> dict[int, int]:
    return {tier.context_tokens: tier.n_rounds + tier.n_unscored for tier in writing.tiers}
