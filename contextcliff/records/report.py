"""What a run leaves: what was run, what the analysis says of it, what it took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from contextcliff.records.analysis import Analysis
from contextcliff.records.fact import Fact, said

SCHEMA_VERSION = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeUsage:
    """What the judge took: other tokens than those of the model under test, and a part of its run's dollars."""

    requests: int
    prompt_tokens: int
    cached_tokens: int
    computed_prompt_tokens: int
    completion_tokens: int
    usd: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What the run took. `computed_prompt_tokens` is what no cache saved.

    Tokens are those of the model under test, each generation once; `usd` is the judge's as well, and None where no
    price is known.
    """

    prompt_tokens: int
    cached_tokens: int
    computed_prompt_tokens: int
    completion_tokens: int
    usd: float | None
    wall_s: float
    judge: JudgeUsage | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """planned = completed + unscored; `reused` is part of completed; `errors` counts failed attempts."""

    planned: int
    completed: int
    reused: int
    unscored: int
    controls: int
    errors: Mapping[str, int]
    pilot: int = 0
    """Samples that only chose where the others went; counted in nothing else."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRecord:
    """What was run, and when."""

    run_id: str
    fingerprint: str
    label: str
    partial: bool
    """Whether the run stopped before its end."""
    model: str
    engine: str
    kv_policy: str
    task: str
    dataset: str
    tokenizer: str
    max_context_tokens: int
    notes: tuple[str, ...]
    """What a reader has to know of how the prompts were made and sent, a sentence each."""
    server: tuple[str, ...]
    """What was detected of the server, a line each."""
    created_at: str
    """UTC, ISO 8601."""
    command: str
    """The command line that repeats the run."""
    api: str = ""
    """How prompts went: `chat` or `completions`; empty where that says nothing."""
    rope: str = ""
    """How positions are scaled, as `yarn x2`; empty where they are as the weights have them."""
    task_kind: str = ""
    """What kind of task it is; `task` is the option that was chosen, as `niah_static` of the kind `niah`."""
    dataset_kind: str = ""
    """What kind of dataset it is; `dataset` is the option that was chosen, as `essays_ja` of the kind `essays`."""
    texts: str = ""
    """What the dataset gave: the titles of its texts, or how many documents and questions."""
    judged_by: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The settings that the answers were judged by, dotted key to value; empty where an earlier version judged."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """Everything about a run; `reporting/schema.py` writes it as `report.json` and reads it back."""

    run: RunRecord
    analysis: Analysis
    usage: Usage
    counts: Counts

    @property
    def notes(self) -> tuple[Fact, ...]:
        """What a reader has to know: of how the run was made, then of how to read its numbers."""
        return (*said(self.run.notes), *self.analysis.notes)
