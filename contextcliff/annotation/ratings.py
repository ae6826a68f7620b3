"""A judge's ratings of a run, read back from the store.

An answer whose rating is missing or can't be read is unjudged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contextcliff.annotation.judge import Judge
from contextcliff.execution.store import Store
from contextcliff.records.generation import Generation, ScoredSample

_RATING = re.compile(r"(?<![\d.])(10|[1-9])(?![\d]|\.\d)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Ratings:
    """A judge's ratings of a run."""

    by_sample: Mapping[str, int | None]
    """None where there is none, or none that can be read."""
    replies: tuple[Generation, ...]
    """What the judge said, each reply once: equal answers to a question are one request."""
    not_asked: int
    """Answers that were never put to it: the run stopped before."""


def judge_run_id(run_id: str) -> str:
    """Under which the faults of a run's judge are kept."""
    return f"{run_id}/judge"


def rating_of(reply: str) -> int | None:
    """The first whole number from 1 to 10 in a judge's reply: `8`, `Rating: 8/10`, `[[8]]`; None without one."""
    rating = _RATING.search(reply)
    return None if rating is None else int(rating[1])


def recall_ratings(
    judge: Judge, scored: Sequence[ScoredSample], store: Store, *, run_id: str, served: str | None
) -> Ratings:
    """What the judge of a run said of its answers, as far as it was asked."""
    requests = judge.requests(scored, served=served)
    replies = {request.key: store.generation(request.key) for request in requests.values()}
    failed = store.last_faults(judge_run_id(run_id))
    return Ratings(
        by_sample={
            sample_id: None if reply is None else rating_of(reply.text)
            for sample_id, request in requests.items()
            for reply in [replies[request.key]]
        },
        replies=tuple(reply for reply in replies.values() if reply is not None),
        not_asked=sum(
            replies[request.key] is None and request.sample.sample_id not in failed for request in requests.values()
        ),
    )
