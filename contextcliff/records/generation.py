"""What came back: a generation or the reason why there is none, its score, and both with their sample."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from contextcliff.records.corpus import Document
from contextcliff.records.sample import Sample

NOT_SENT = "not_sent"
NO_TOKENS = "no_tokens"
"""The engine generated nothing, and the model is not known to end at once."""
NO_ROOM = "no_room"
OVERFLOW = "overflow"
"""The same where the server refused its prompt as too long."""
UNJUDGED = "unjudged"
"""Why an answer has no score where a judge's verdict is the score: the judge was not asked, or its reply has none."""
TRUNCATED = "truncated"

CUT_OFF = "cut_off"
"""Why an answer has no score: it broke off, at a temperature above 0, where another one would be another draw."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Generation:
    """What the model said, and what the server says that it cost. `cached_tokens` is the part of the prompt that a
    prefix cache saved. `ttft_ms` is the time to the first token of text, `latency_ms` to the end of the stream."""

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int | None
    ttft_ms: float
    latency_ms: float
    reasoning: str = ""
    reasoning_tokens: int | None = None
    """The part of `completion_tokens` that went before the answer."""
    served_model: str = ""
    server_counted: bool = True
    """Else `prompt_tokens` is the built length."""
    streamed: bool = True
    """Else `ttft_ms` is the time of the whole answer."""
    written_tokens: int | None = None
    """The part of `prompt_tokens` that the provider wrote to its cache."""
    refused: bool = False
    attention_entropy: tuple[float, ...] = ()
    """By layer, how evenly the prompt's last tokens spread their attention, 0–1."""
    __pydantic_config__: ClassVar[Mapping[str, bool]] = {"allow_inf_nan": False}


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """How one sample ended: a generation, or the reason why there is none.

    `unscored` names a fault that is not the model's: `overflow`, `oom`, `bad_request`, `timeout` … or `not_sent`. Both
    are set where an answer was paid for and can't be scored: `truncated`, `content_filter`, `tool_calls`, `no_tokens`.
    """

    sample: Sample
    prompt_sha256: str
    generation: Generation | None
    unscored: str | None = None
    detail: str = ""
    retries: int = 0
    """Failed attempts after which the sample was tried again."""

    @property
    def text(self) -> str:
        return "" if self.generation is None else self.generation.text


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """What a task makes of one generation. `failure` is the one tag of an imperfect answer."""

    value: float
    prediction: str
    failure: str | None
    details: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Further measures of the answer, as `em` and `f1`."""


def read_characters(sample: Sample) -> int:
    """Characters of an answer that are scored, many times what its tokens may take: a server may send anything."""
    return max(32_768, 64 * (sample.answer_tokens or 4_096))


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredSample:
    """One line of `samples.jsonl`. Without a score `failure` says why."""

    sample: Sample
    prompt_sha256: str
    score: float | None
    failure: str | None
    prediction: str
    generation: Generation | None
    details: Mapping[str, float] = field(default_factory=dict, hash=False)
    graded: bool = False
    document: Document | None = field(default=None, compare=False, repr=False)
    judge_rating: int | None = None
    retries: int = 0
    window_tokens: int | None = None
    """The context window that the server named as it refused the prompt, or to which it cut it; None if unknown."""
    server_offset_tokens: int = 0

    @property
    def piece(self) -> Hashable:
        """What names its evidence: its question where that is repeated, else its prompt and answer.

        Equal answers to one prompt are one piece of evidence, whatever the seed: a server may ignore it. None without
        an answer, or where the prompt is unknown."""
        if self.sample.item:
            return self.sample.document_id, self.sample.item
        return (self.prompt_sha256, self.generation.text) if self.generation and self.prompt_sha256 else None

    @property
    def is_read_in_part(self) -> bool:
        return self.generation is not None and len(self.generation.text) > read_characters(self.sample)

    @property
    def measured_tokens(self) -> int:
        """The prompt's own length: the server's count of what it answered, else the built length."""
        if self.generation is None or self.score is None:
            return self.sample.built_tokens
        return self.generation.prompt_tokens - self.server_offset_tokens
