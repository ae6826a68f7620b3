"""What a run took: the model's tokens and the judge's beside them, and the dollars of both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from contextcliff.annotation.judge import Ratings
from contextcliff.models.model import Price
from contextcliff.records.generation import Generation
from contextcliff.records.report import JudgeUsage, Usage


def usage_of(
    generations: Iterable[Generation],
    price: Price,
    *,
    judge: Sequence[Generation] | None,
    judge_price: Price | None,
    wall_s: float,
) -> Usage:
    """Each generation counts once, whichever samples it answers. `judge` holds a judge's replies, where one was asked.

    The judge's tokens stay apart: they are other tokens than the model's, and a run with a judge is compared with one
    without. Dollars add up.
    """
    prompt, cached, completion, usd = _took(generations, price)
    judged = None
    if judge is not None and judge_price is not None:
        of_judge = _took(judge, judge_price)
        judged = JudgeUsage(
            requests=len(judge),
            prompt_tokens=of_judge[0],
            cached_tokens=of_judge[1],
            computed_prompt_tokens=of_judge[0] - of_judge[1],
            completion_tokens=of_judge[2],
            usd=of_judge[3],
        )
    known = [dollars for dollars in (usd, None if judged is None else judged.usd) if dollars is not None]
    return Usage(
        prompt_tokens=prompt,
        cached_tokens=cached,
        computed_prompt_tokens=prompt - cached,
        completion_tokens=completion,
        usd=sum(known) if known else None,
        wall_s=round(wall_s, 3),
        judge=judged,
    )


def judge_notes(usage: Usage, ratings: Ratings | None, *, answers: int, price: Price) -> tuple[str, ...]:
    """What a reader has to know of a judge that was stopped, and of a cost that leaves one of the two out.

    `price` is that of the model under test.
    """
    if ratings is None or usage.judge is None:
        return ()
    notes = []
    if ratings.not_asked:
        notes.append(
            f"the run stopped before the judge had rated all: {ratings.not_asked:,} of {answers:,} answers were not "
            "put to it; the same command goes on"
        )
    if price.is_known is not (usage.judge.usd is not None):
        notes.append(price_left_out(judge=price.is_known))
    return tuple(notes)


def price_left_out(*, judge: bool) -> str:
    """A note that the cost covers only one of the two models. `judge` is whether the judge's is missing."""
    if judge:
        return "the cost leaves the judge out: give judge.model.price.input and judge.model.price.output"
    return "the cost is the judge's alone: give model.price.input and model.price.output"


def _took(generations: Iterable[Generation], price: Price) -> tuple[int, int, int, float | None]:
    each_once = list(generations)
    prompt = sum(generation.prompt_tokens for generation in each_once)
    cached = sum(generation.cached_tokens or 0 for generation in each_once)
    completion = sum(generation.completion_tokens for generation in each_once)
    usd = price.of(computed_tokens=prompt - cached, cached_tokens=cached, completion_tokens=completion)
    return prompt, cached, completion, usd
