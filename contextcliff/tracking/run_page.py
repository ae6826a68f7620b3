"""What the page of a finished run says of it: its name and its description. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from contextcliff.findings.answer import AnswerFinding
from contextcliff.records.report import Report
from contextcliff.reporting.markdown import markdown_of
from contextcliff.tracking.run_title import model_title
from contextcliff.tracking.tracker import RunTitle


def title_of(report: Report, parameters: Mapping[str, str]) -> RunTitle:
    """The title of a run that has ended."""
    run = report.run
    named = any(re.match(r"\++model\.name=|model\.name=", word) for word in shlex.split(run.command))
    return RunTitle(
        model=model_title(run.model, option="" if named else parameters.get("model", "")),
        task=run.task,
        kv_policy=run.kv_policy,
        label=run.label,
        rope=run.rope,
    )


def description(report: Report) -> str:
    """Markdown: the safe cap, why it ends there, and what was tested."""
    return "\n\n".join(text for block in AnswerFinding().short(report) for text in [markdown_of(block, {})] if text)
