"""A needle run to its end: controls, kept prompts, several haystacks, a judge."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from contextcliff.annotation.judge import rating_of
from tests.commands import SIMULATED, contextcliff, reports, samples

SHORT = ("task.lengths=[400,800]", "task.trials=2", "task.depths=[0.1,0.5,0.9]")
JUDGED = (
    *(*SIMULATED, *SHORT, "judge=llm", "engine@judge.engine=simulated", "model@judge.model=smollm2"),
    *("judge.engine.law=flat", "engine.law=flat", "engine.ceiling=0.5"),
)


def run(folder: Path, *overrides: str) -> dict[str, Any]:
    ended = contextcliff(*overrides, cwd=folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    (report,) = reports(folder)
    return report


def test_where_the_evidence_alone_is_not_understood_the_cells_are_not_informative(tmp_path: Path) -> None:
    report = run(tmp_path, *SIMULATED, *SHORT, "task.controls=true", "engine.ceiling=0.1", "task.trials=6")
    assert not any(level["informative"] for level in report["controls"])
    assert not any(cell["informative"] for cell in report["cells"])


def test_prompts_are_kept_where_they_are_wanted(tmp_path: Path) -> None:
    run(tmp_path, *SIMULATED, *SHORT, "task.save_contexts=true")
    with gzip.open(next(tmp_path.rglob("contexts.jsonl.gz")), "rt", encoding="utf-8") as stream:
        kept = {line["sample_id"]: line for line in map(json.loads, stream)}
    for sample in samples(tmp_path):
        prompt = kept[sample["sample_id"]]
        assert prompt["prompt_sha256"] == sample["prompt_sha256"]
        assert sample["question"] in prompt["user"]
        assert hashlib.sha256(b"\0" + b"\1" + prompt["user"].encode()).hexdigest() == prompt["prompt_sha256"]


def test_several_haystacks_are_told_as_clusters(tmp_path: Path) -> None:
    report = run(tmp_path, *SIMULATED, *SHORT, "task.haystacks=4", "task.trials=4")
    assert {line["cluster"] for line in samples(tmp_path)} == {f"story#{i}" for i in (1, 2, 3, 4)}
    assert [found["n_clusters"] for found in report["bins"]] == [4, 4]


@pytest.mark.slow
def test_ratings_are_kept_and_analysed_again_without_the_judge(tmp_path: Path) -> None:
    first = run(tmp_path, *JUDGED, "judge.engine.ceiling=0.7")
    again = run(tmp_path, *JUDGED, "judge.engine.ceiling=0.7", "action=analyze")
    assert first["judgement"] == again["judgement"]
    assert first["judgement"]["n_unjudged"] > 0  # what a wrong judge says holds no rating from 1 to 10


RATINGS = {"8": 8, "Rating: 8/10": 8, "[[10]]": 10, "**7**.": 7, "10.": 10}
NO_RATINGS = ["", "0", "11", "eight", "8.5", "100"]


@pytest.mark.parametrize(("reply", "rating"), [*RATINGS.items(), *((reply, None) for reply in NO_RATINGS)])
def test_a_rating_is_the_first_whole_number_from_one_to_ten(reply: str, rating: int | None) -> None:
    assert rating_of(reply) == rating
