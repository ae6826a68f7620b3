"""`writing.html` of a run: the verdict, the cap, and the texts to read, each beside the author's own next words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from contextcliff.findings.answer import AnswerFinding
from contextcliff.findings.finding import Block, Pairs, Text
from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import SCHEMA_VERSION, Report
from contextcliff.reporting.markdown import markdown_of_all
from contextcliff.reporting.page.markup import markup_of, rendered
from contextcliff.reporting.run_names import run_parameters, with_file_names
from contextcliff.reporting.text import tame
from contextcliff.writing.files import in_order, original_text, outcome, round_number
from contextcliff.writing.levels import shown_lengths
from contextcliff.writing.prose_findings import COMPLETE, Writing
from contextcliff.writing.tables import health_table
from contextcliff.writing.task.continuation_scoring import answer_figures

PACKAGE = "contextcliff.writing"
_MOST_CHARACTERS = 9_000_000
"""Of all texts together."""
_LEAST_OF_A_TEXT = 500


def writing_page(
    report: Report, writing: Writing, *, scored: Sequence[ScoredSample], parameters: Mapping[str, str]
) -> str:
    """The page. It is made to be passed on: of a path it shows the file's name."""
    limit = max(_LEAST_OF_A_TEXT, _MOST_CHARACTERS // max(1, len(scored)))
    original = original_text(writing, scored=scored)
    return rendered(
        "writing.html",
        package=PACKAGE,
        run=report.run,
        writing=writing,
        answer=_html(AnswerFinding().short(report)),
        verdict=_html((Text(label="Writing", text=writing.verdict),)),
        figures=_html(health_table(writing)),
        original=None if original is None else _cut(original.strip(), limit=limit),
        lengths=list(_lengths(writing, scored, limit=limit)),
        cut_after=limit if any(len(_text(item)) > limit for item in scored) else None,
        settings=_html((Pairs(rows=tuple(with_file_names(run_parameters(report, parameters)).items())),)),
        schema_version=SCHEMA_VERSION,
    )


def _html(blocks: Sequence[Block]) -> object:
    return markup_of(markdown_of_all(blocks, {}))


def _lengths(writing: Writing, scored: Sequence[ScoredSample], *, limit: int) -> Iterator[Mapping[str, object]]:
    rounds, shown = in_order(scored), shown_lengths(writing)
    for tokens in dict.fromkeys(item.sample.context_tokens for item in rounds):
        found = [item for item in rounds if item.sample.context_tokens == tokens]
        yield {
            "context_tokens": tokens,
            "shown_tokens": shown.get(tokens, tokens),
            "rounds": [_round(item, of=len(found), limit=limit) for item in found],
        }


def _round(item: ScoredSample, *, of: int, limit: int) -> Mapping[str, object]:
    generation, said = item.generation, outcome(item)
    ended = [f"{generation.completion_tokens:,} tokens, ended by {generation.finish_reason}"] if generation else []
    return {
        "name": f"round {round_number(item)} of {of}",
        "outcome": said,
        "failed": said != COMPLETE,
        "figures": (*answer_figures(item.details), *ended),
        "text": _cut(_text(item), limit=limit),
    }


def _text(item: ScoredSample) -> str:
    return "" if item.generation is None else item.generation.text


def _cut(text: str, *, limit: int) -> str:
    return tame(text if len(text) <= limit else f"{text[:limit]}…")
