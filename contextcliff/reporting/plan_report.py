"""A plan on the console and in `plan.json`."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from contextcliff.errors import visible
from contextcliff.findings.kv_cache import memory_words
from contextcliff.findings.natural_lengths import length_classes
from contextcliff.findings.phrases import duration
from contextcliff.models.model import dollars
from contextcliff.records.corpus import LengthAudit
from contextcliff.records.run_plan import JudgePlan, Plan, RunSize, SearchCourse
from contextcliff.reporting.data_files import write_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

PLAN_NAME = "plan.json"


def write_plan(plan: Plan, *, folder: Path) -> Path:
    """Write `plan.json` into a folder, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    return write_text(
        path=folder / PLAN_NAME, text=json.dumps(asdict(plan), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    )


def render_plan(plan: Plan, *, folder: Path, audit: LengthAudit | None = None) -> None:
    """Print a plan on stdout, and how long the documents are where they have their natural length."""
    from rich.console import Console
    from rich.text import Text

    console = Console()
    console.print(Text("PLAN (nothing was sent)"))
    console.print(_listed(_facts(plan)))
    if plan.search is not None:
        console.print(Text(), _courses(plan, plan.search), sep="\n")
    console.print(Text(), _lengths(plan), sep="\n")
    if any(each.clears for each in plan.bins):
        console.print(Text(_CLEARS))
    if audit is not None:
        render_audit(audit, console)
    console.print(_listed(tuple(("-", note) for note in plan.notes)))
    console.print(Text(visible(f"  {folder / PLAN_NAME}")), soft_wrap=True)


_BAR = 40


def render_audit(audit: LengthAudit, console: Console) -> None:
    """Print the histogram of lengths and the bins with what was drawn of each."""
    from rich.table import Table
    from rich.text import Text

    classes = [(f"{low:,} - {high:,}", documents) for low, high, documents in length_classes(audit.lengths)]
    most = max((documents for _, documents in classes), default=1) or 1
    console.print(Text(f"DOCUMENTS BY LENGTH (tokens; {len(audit.lengths):,} documents)"))
    wide = max((len(lengths) for lengths, _ in classes), default=0)
    for lengths, documents in classes:
        bar = "#" * math.ceil(_BAR * documents / most)
        console.print(Text(f"  {lengths:>{wide}}  {documents:>5,}  {bar}".rstrip()))
    if audit.too_short or audit.too_long:
        console.print(Text(f"  left out: {audit.too_short:,} too short, {audit.too_long:,} too long"))
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for title in ("bin", "tokens", "documents", "questions", "drawn", "of documents"):
        table.add_column(title, justify="right")
    for position, part in enumerate(audit.bins, start=1):
        lengths = f"{part.min_tokens:,} - {part.max_tokens:,}"
        counts = (part.documents, part.questions, part.drawn_questions, part.drawn_documents)
        table.add_row(str(position), lengths, *(f"{n:,}" for n in counts))
    console.print(table)


_CLEARS = "  at 0.98, 0.95 …: chance that a model of this true score clears the length"


def _listed(rows: Sequence[tuple[str, str]]) -> RenderableType:
    """Rows of a short text and a longer one, which is broken beside the short one."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for short, text in rows:
        grid.add_row(Text(short), Text(visible(text)))
    return Padding(grid, (0, 0, 0, 2), expand=False)


def _lengths(plan: Plan) -> RenderableType:
    """A row for each length, and one for the chance to clear them all."""
    scores = next((tuple(each.clears) for each in plan.bins if each.clears), ())
    table = _table("length", "samples to send", *(f"at {score}" for score in scores), "KV cache")
    for each in plan.bins:
        cache = "-" if each.kv_gib is None else f"{each.kv_gib:,.3f} GiB"
        chances = (_chance(each.clears.get(score)) if each.clears else "-" for score in scores)
        table.add_row(f"{each.context_tokens:,}", f"{each.samples:,}", *chances, cache)
    if scores and len(plan.bins) > 1:
        known = [each.clears for each in plan.bins if each.clears]
        together = (_chance(math.prod(clears[score] for clears in known)) for score in scores)
        table.add_row("all", "", *together, "")
    return table


def _chance(chance: float | None) -> str:
    """A percentage that is 0 only where nothing else is possible, and never 100."""
    if chance is None:
        return "-"
    return "0%" if chance == 0.0 else "< 1%" if chance < 0.01 else "> 99%" if chance > 0.99 else f"{chance:.0%}"


def _courses(plan: Plan, search: SearchCourse) -> RenderableType:
    """What a search takes, by how good the model is."""
    expected = RunSize(samples=plan.samples, prompt_tokens=plan.prompt_tokens, usd=plan.usd, wall_s=plan.wall_s)
    rows = (
        ("1 at every length", plan.least),
        (f"{search.score:.2f} at every length", expected),
        (f"{search.score:.2f}, from {search.falls_at_tokens:,} on {search.falls_to:.2f}", search.if_it_falls),
        ("at worst", plan.most),
    )
    headings = [
        *([] if plan.usd is None else ["cost"]),
        *([] if plan.wall_s is None else ["time"]),
    ]
    table = _table("true score", "samples", "prompt tokens", *headings)
    table.columns[0].justify = "left"
    for name, size in rows:
        if size is None:
            continue
        usd = [] if size.usd is None else [dollars(size.usd, at_most=True)]
        time = [] if size.wall_s is None else [duration(size.wall_s)]
        table.add_row(name, f"{size.samples:,}", f"{size.prompt_tokens:,}", *usd, *time)
    return table


def _table(*headings: str) -> Table:
    from rich.box import SIMPLE
    from rich.table import Table

    table = Table(box=SIMPLE, show_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right")
    return table


def _memory(plan: Plan) -> str:
    fits = f"contexts of up to {plan.memory_cap_tokens:,} tokens fit"
    return fits if plan.memory_gib is None else f"{fits} in {memory_words(plan.memory_gib)}, beside the weights"


def _time(plan: Plan) -> str:
    if plan.wall_s is None:
        return "no rate is known"
    judge = "" if plan.judge is None else ", without the judge"
    return f"about {duration(plan.wall_s)}, one request at a time{judge}"


def _judge(judge: JudgePlan) -> str:
    usd = "" if judge.usd is None else f", {dollars(judge.usd, at_most=True)} of the cost"
    tokens = f"{judge.prompt_tokens:,} prompt and {judge.completion_tokens:,} completion tokens"
    return f"{judge.requests:,} requests, at most {tokens}{usd}"


def _cost(plan: Plan) -> str:
    if plan.usd is None:
        return "no price is known"
    usd = dollars(plan.usd, at_most=True)
    if plan.search is not None:
        return f"about {usd}, with a prefix cache and answers of full length"
    return f"at most {usd}, with a prefix cache"


def _completion(plan: Plan) -> str:
    if plan.search is not None:
        return f"about {plan.completion_tokens:,} tokens, with answers of full length"
    return f"at most {plan.completion_tokens:,} tokens"


def _facts(plan: Plan) -> tuple[tuple[str, str], ...]:
    share = plan.cached_prompt_tokens / plan.prompt_tokens if plan.prompt_tokens else 0.0
    drop = "nothing" if plan.detectable_drop is None else f"from 0.95 to {0.95 - plan.detectable_drop:.2f} and below"
    size = "of unknown size" if plan.download_gib is None else f"{plan.download_gib:,.1f} GiB"
    about = "" if plan.search is None else "about "
    return (
        ("Model:", f"{plan.model} on {plan.engine}"),
        ("Tokenizer:", plan.tokenizer),
        *(() if plan.search is None else (("Search:", _search(plan.search)),)),
        ("Samples:", f"{about}{plan.samples:,} to send, {plan.stored:,} stored already"),
        *((("Controls:", f"{about}{plan.controls:,} to send"),) if plan.controls else ()),
        (
            "Prompt tokens:",
            f"{about}{plan.prompt_tokens:,}, of which a prefix cache can save {plan.cached_prompt_tokens:,} "
            f"({share:.0%})",
        ),
        ("Completion:", _completion(plan)),
        *(() if plan.judge is None else (("Judge:", _judge(plan.judge)),)),
        ("Cost:", _cost(plan)),
        ("Time:", _time(plan)),
        *((("Memory:", _memory(plan)),) if plan.memory_cap_tokens is not None else ()),
        *((("Download:", f"{plan.download}, {size}"),) if plan.download is not None else ()),
        *(
            ()
            if plan.search is not None
            else (
                (
                    "Detects a fall:",
                    f"{drop}, between two lengths at {plan.confidence:.0%} confidence and 80% power",
                ),
            )
        ),
    )


def _search(search: SearchCourse) -> str:
    after = ", then between the last that passed and the first that failed" if search.refine else ""
    return (
        f"from the shortest length up{after}; each length in blocks of {search.block:,} samples, at most "
        f"{search.most_samples:,}. The figures are for a model whose true score is {search.score:.2f} at every length"
    )
