"""A needle run to its end: controls, kept prompts, several haystacks, a judge."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from contextcliff.annotation.judge import rating_of
from tests.commands import SIMULATED, reported, samples

SHORT = ("task.lengths=[400,800]", "task.trials=2", "task.depths=[0.1,0.5,0.9]")


def test_prompts_are_kept_where_they_are_wanted(tmp_path: Path) -> None:
    reported(tmp_path, *SIMULATED, *SHORT, "task.save_contexts=true")
    with gzip.open(next(tmp_path.rglob("contexts.jsonl.gz")), "rt", encoding="utf-8") as stream:
        kept = {line["sample_id"]: line for line in map(json.loads, stream)}
    for sample in samples(tmp_path):
        prompt = kept[sample["sample_id"]]
        assert prompt["prompt_sha256"] == sample["prompt_sha256"]
        assert sample["question"] in prompt["user"]
        assert hashlib.sha256(b"\0" + b"\1" + prompt["user"].encode()).hexdigest() == prompt["prompt_sha256"]


RATINGS = {"8": 8, "Rating: 8/10": 8, "[[10]]": 10, "**7**.": 7, "10.": 10}
NO_RATINGS = ["", "0", "11", "eight", "8.5", "100"]


@pytest.mark.parametrize(("reply", "rating"), [*RATINGS.items(), *((reply, None) for reply in NO_RATINGS)])
def test_a_rating_is_the_first_whole_number_from_one_to_ten(reply: str, rating: int | None) -> None:
    assert rating_of(reply) == rating
