"""A plan on the console and in `plan.json`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text as Printed

from contextcliff.errors import visible
from contextcliff.findings.finding import Column, columns_of
from contextcliff.findings.kv_cache import memory_words
from contextcliff.findings.natural_lengths import length_classes
from contextcliff.findings.phrases import duration
from contextcliff.models.model import dollars
from contextcliff.records.corpus import LengthAudit
from contextcliff.records.run_plan import Plan, RunSize, SearchCourse
from contextcliff.reporting.console import folding, print_rows
from contextcliff.reporting.data_files import json_text, write_text

PLAN_NAME = "plan.json"


def write_plan(plan: Plan, *, folder: Path) -> None:
    """Write `plan.json` into a folder, whole or not at all."""
    write_text(path=folder / PLAN_NAME, text=json_text(asdict(plan)))


def render_plan(plan: Plan, *, folder: Path, audit: LengthAudit | None = None) -> None:
    """Print a plan on stdout, and how long the documents are where they have their natural length."""
    console = Console()
    console.print(Printed("PLAN (nothing was sent)"))
    print_rows(console, _facts(plan))
    if plan.search is not None:
        console.print(Printed(), folding(_courses(plan, plan.search), console=console), sep="\n")
    console.print(Printed(), folding(_lengths(plan), console=console), sep="\n")
    if any(each.clears for each in plan.bins):
        console.print(Printed("  at 0.98, 0.95 …: chance that a model of this true score clears the length"))
    if audit is not None:
        render_audit(audit, console)
    print_rows(console, (("-", note) for note in plan.notes))
    console.print(Printed(visible(f"  {folder / PLAN_NAME}")), soft_wrap=True)


def render_plan_total(plans: Sequence[Mapping[str, Any]]) -> None:
    """Print what the jobs of a sweep would take together, by their plans as `plan.json` has them."""

    def total(key: str) -> Any:
        """None if it is unknown of a job."""
        values = [plan[key] for plan in plans]
        return None if None in values else sum(values)

    usd = "" if total("usd") is None else f", {dollars(total('usd'), at_most=True)}"
    time = "" if total("wall_s") is None else f", {total('wall_s') / 60:,.1f} minutes one after the other"
    requests, prompt = total("samples") + total("controls"), total("prompt_tokens")
    line = (
        f"\nALL {len(plans):,} JOBS: {requests:,} requests ({total('stored'):,} samples are stored), "
        f"{prompt:,} prompt tokens, {prompt - total('cached_prompt_tokens'):,} of them to compute, "
        f"at most {total('completion_tokens'):,} tokens of answers{usd}{time}"
    )
    Console().print(Printed(line), style="bold")


def render_audit(audit: LengthAudit, console: Console) -> None:
    """Print the histogram of lengths and the bins with what was drawn of each."""
    classes = [(f"{low:,} - {high:,}", documents) for low, high, documents in length_classes(audit.lengths)]
    most, wide = max((n for _, n in classes), default=1) or 1, max((len(lengths) for lengths, _ in classes), default=0)
    console.print(Printed(f"DOCUMENTS BY LENGTH (tokens; {len(audit.lengths):,} documents)"))
    for lengths, documents in classes:
        bar = "#" * math.ceil(40 * documents / most)
        console.print(Printed(f"  {lengths:>{wide}}  {documents:>5,}  {bar}".rstrip()))
    if audit.too_short or audit.too_long:
        console.print(Printed(f"  left out: {audit.too_short:,} too short, {audit.too_long:,} too long"))
    rows = [
        (
            str(position),
            f"{part.min_tokens:,} - {part.max_tokens:,}",
            *(f"{n:,}" for n in (part.documents, part.questions, part.drawn_questions, part.drawn_documents)),
        )
        for position, part in enumerate(audit.bins, start=1)
    ]
    head = ("bin", "tokens", "documents", "questions", "drawn", "of documents")
    console.print(folding(columns_of(head, rows), console=console))


def _lengths(plan: Plan) -> Sequence[Column]:
    scores = next((tuple(each.clears) for each in plan.bins if each.clears), ())
    rows = []
    for each in plan.bins:
        chances = [_chance(each.clears.get(score)) if each.clears else "-" for score in scores]
        cache = "-" if each.kv_gib is None else f"{each.kv_gib:,.3f} GiB"
        rows.append((f"{each.context_tokens:,}", f"{each.samples:,}", *chances, cache))
    if scores and len(plan.bins) > 1:
        known = [each.clears for each in plan.bins if each.clears]
        rows.append(("all", "", *(_chance(math.prod(clears[score] for clears in known)) for score in scores), ""))
    return columns_of(("asked", "samples to send", *(f"at {score}" for score in scores), "KV cache"), rows)


def _chance(chance: float | None) -> str:
    """A percentage that is 0 only where nothing else is possible, and never 100."""
    if chance is None:
        return "-"
    return "0%" if chance == 0.0 else "< 1%" if chance < 0.01 else "> 99%" if chance > 0.99 else f"{chance:.0%}"


def _courses(plan: Plan, search: SearchCourse) -> Sequence[Column]:
    """What a search takes, by how good the model is; columns without a figure are left out."""
    named: list[tuple[str, RunSize | None, float | None]] = [("1 at every length", plan.least, None)]
    named += [(f"{each.score:.2f} at every length", each.size, each.whole_range) for each in search.courses]
    rows = [
        (
            name,
            f"{size.samples:,}",
            f"{size.prompt_tokens:,}",
            "" if size.usd is None else dollars(size.usd, at_most=True),
            "" if size.wall_s is None else duration(size.wall_s),
            "" if chance is None else _chance(chance),
        )
        for name, size, chance in (*named, ("at worst", plan.most, None))
        if size is not None
    ]
    head = ("true score", "samples", "prompt tokens", "cost", "time", "whole range")
    columns = columns_of(head, rows, words=("true score",))
    return [column for column in columns if any(column.cells)]


def _facts(plan: Plan) -> Iterator[tuple[str, str]]:
    search, judge = plan.search, plan.judge
    about = "" if search is None else "about "
    yield "Model:", f"{plan.model} on {plan.engine}"
    yield "Tokenizer:", plan.tokenizer
    if search is not None:
        after = ", then between the last that passed and the first that is below" if search.refine else ""
        yield (
            "Search:",
            f"from the shortest length up{after}; at most {search.most_samples:,} samples a length. The figures are "
            f"for a model whose true score is {search.courses[0].score:.2f} at every length",
        )
    yield "Samples:", f"{about}{plan.samples:,} to send, {plan.stored:,} stored already"
    if plan.controls:
        yield "Controls:", f"{about}{plan.controls:,} to send"
    share = plan.cached_prompt_tokens / plan.prompt_tokens if plan.prompt_tokens else 0.0
    saved = f"of which a prefix cache can save {plan.cached_prompt_tokens:,} ({share:.0%})"
    yield "Prompt tokens:", f"{about}{plan.prompt_tokens:,}, {saved}"
    full = "" if search is None else ", with answers of full length"
    yield "Completion:", f"{about or 'at most '}{plan.completion_tokens:,} tokens{full}"
    if judge is not None:
        usd = "" if judge.usd is None else f", {dollars(judge.usd, at_most=True)} of the cost"
        tokens = f"{judge.prompt_tokens:,} prompt and {judge.completion_tokens:,} completion tokens"
        yield "Judge:", f"{judge.requests:,} requests, at most {tokens}{usd}"
    full = "" if search is None else " and answers of full length"
    cost = None if plan.usd is None else dollars(plan.usd, at_most=True)
    yield "Cost:", f"{about or 'at most '}{cost}, with a prefix cache{full}" if cost else "no price is known"
    alone = "" if judge is None else ", without the judge"
    took = None if plan.wall_s is None else duration(plan.wall_s)
    yield "Time:", f"about {took}, one request at a time{alone}" if took else "no rate is known"
    if plan.memory_cap_tokens is not None:
        room = "" if plan.memory_gib is None else f" in {memory_words(plan.memory_gib)}, beside the weights"
        yield "Memory:", f"contexts of up to {plan.memory_cap_tokens:,} tokens fit{room}"
    if plan.download is not None:
        size = "of unknown size" if plan.download_gib is None else f"{plan.download_gib:,.1f} GiB"
        yield "Download:", f"{plan.download}, {size}"
    if search is None:
        least = plan.detectable_drop
        drop = "nothing" if least is None else f"from 0.95 to {0.95 - least:.2f} and below"
        yield "Detects a fall:", f"{drop}, between two lengths at {plan.confidence:.0%} confidence and 80% power"
