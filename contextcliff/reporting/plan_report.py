"""A plan on the console and in `plan.json`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from contextcliff.models.model import dollars
from contextcliff.records.corpus import LengthAudit
from contextcliff.records.run_plan import JudgePlan, Plan
from contextcliff.reporting.data_files import write_text
from contextcliff.reporting.phrases import duration
from contextcliff.reporting.sections.natural_lengths_section import render_audit

PLAN_NAME = "plan.json"


def write_plan(plan: Plan, *, folder: Path) -> Path:
    """Write `plan.json` into a folder, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    return write_text(
        path=folder / PLAN_NAME, text=json.dumps(asdict(plan), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    )


def render_plan(plan: Plan, *, folder: Path, audit: LengthAudit | None = None) -> None:
    """Print a plan on stdout, and how long the documents are where they have their natural length."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    console.print(Text("PLAN (nothing was sent)"))
    for name, value in _facts(plan):
        console.print(Text(f"  {name + ':':<18} {value}"))
    table = Table(box=SIMPLE, show_edge=False)
    for heading in ("length", "samples to send", "KV cache"):
        table.add_column(heading, justify="right")
    for each in plan.bins:
        cache = "-" if each.kv_gib is None else f"{each.kv_gib:,.3f} GiB"
        table.add_row(f"{each.context_tokens:,}", f"{each.samples:,}", cache)
    console.print(table)
    if audit is not None:
        render_audit(audit, console)
    for note in plan.notes:
        console.print(Text(f"  - {note}"))
    console.print(Text(f"  {folder / PLAN_NAME}"))


def _time(plan: Plan) -> str:
    if plan.wall_s is None:
        return "no rate is known"
    judge = "" if plan.judge is None else ", without the judge"
    return f"about {duration(plan.wall_s)}, one request at a time{judge}"


def _judge(judge: JudgePlan) -> str:
    usd = "" if judge.usd is None else f", {dollars(judge.usd, at_most=True)} of the cost"
    tokens = f"{judge.prompt_tokens:,} prompt and {judge.completion_tokens:,} completion tokens"
    return f"{judge.requests:,} requests, at most {tokens}{usd}"


def _cost(usd: float | None) -> str:
    return "no price is known" if usd is None else f"at most {dollars(usd, at_most=True)}, with a prefix cache"


def _facts(plan: Plan) -> tuple[tuple[str, str], ...]:
    share = plan.cached_prompt_tokens / plan.prompt_tokens if plan.prompt_tokens else 0.0
    drop = "nothing" if plan.detectable_drop is None else f"from 0.95 to {0.95 - plan.detectable_drop:.2f} and below"
    size = "of unknown size" if plan.download_gib is None else f"{plan.download_gib:,.1f} GiB"
    return (
        ("Model", f"{plan.model} on {plan.engine}"),
        ("Tokenizer", plan.tokenizer),
        ("Samples", f"{plan.samples:,} to send, {plan.stored:,} stored already"),
        *([("Controls", f"{plan.controls:,} to send")] if plan.controls else []),
        (
            "Prompt tokens",
            f"{plan.prompt_tokens:,}, of which a prefix cache can save {plan.cached_prompt_tokens:,} ({share:.0%})",
        ),
        ("Completion", f"at most {plan.completion_tokens:,} tokens"),
        *(() if plan.judge is None else (("Judge", _judge(plan.judge)),)),
        ("Cost", _cost(plan.usd)),
        ("Time", _time(plan)),
        *((("Download", f"{plan.download}, {size}"),) if plan.download is not None else ()),
        ("Detects a fall", f"{drop}, between two lengths at {plan.confidence:.0%} confidence and 80% power"),
    )
