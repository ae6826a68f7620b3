"""A continuation run from the command line: what it leaves, what it claims, and what it can be asked again."""

from __future__ import annotations

from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from contextcliff.writing.author_norms import norms_for
from contextcliff.writing.measures.measure import MEASURES
from contextcliff.writing.measures.readability import dale_chall
from tests.commands import SIMULATED, contextcliff, reports
from tests.compositions import line_of
from tests.engines.fake_server import FakeServer, serving

WRITING = ("task=continuation", "task.max_tokens=256", *SIMULATED)
FLAT = (*WRITING, "dataset=synthetic", "seed=1", "analysis.threshold=0.3", "engine.law=flat")
COHERENCE = {measure.name for measure in MEASURES if measure.embeds}


def run(folder: Path, *overrides: str) -> dict[str, Any]:
    """Run, and read the report that it wrote: one by another rule lies beside the first."""
    ended = contextcliff(*overrides, cwd=folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    newest = max(folder.rglob("report.json"), key=lambda file: file.stat().st_mtime_ns)
    (report,) = reports(newest.parent)
    return report


@pytest.fixture(scope="module")
def _the_author_is_known() -> None:
    """Measure the built-in story here: the forks of this process then have its norms."""
    story = files("contextcliff.datasets").joinpath("texts", "the_tide_clerk.txt").read_text(encoding="utf-8")
    for characters in (1000, 1400):
        norms_for(story, "en", dale_chall(), characters)


def hashed(text: str) -> list[float]:
    """A vector that depends on the text alone."""
    return [byte / 255 for byte in sha256(text.encode()).digest()[:8]]


@pytest.mark.slow
@pytest.mark.usefixtures("_the_author_is_known")
def test_embeddings_are_asked_once_kept_and_measured(tmp_path: Path) -> None:
    with serving(FakeServer(embeds=hashed)) as server:
        embedding = (*("embedding=openai", "embedding.model=embedder"), f"embedding.base_url={server.address}/v1")
        short = (*FLAT, "task.rounds=2", "task.max_context=2048", *embedding)
        first = run(tmp_path, *short)
        asked = list(server.embedded)
        assert len(asked) == len(set(asked)) > 20
        run(tmp_path, *short)
        assert server.embedded == asked
    # The endpoint is gone, the vectors are kept.
    again = run(tmp_path, *short, "action=analyze")
    for report in (first, again):
        assert report["writing"]["embeddings"] == "embedder"
        assert report["writing"]["unmeasured"] == []
        coherence = {level["name"]: level for level in report["writing"]["tiers"][0]["measures"]}["adjacent_coherence"]
        assert -1.0 <= coherence["mean"] <= 1.0
        assert coherence["author_mean"] is not None
    assert first["writing"]["tiers"] == again["writing"]["tiers"]


def embedding_at(server: FakeServer) -> tuple[str, ...]:
    return (
        *("embedding=openai", "embedding.model=embedder", "embedding.max_retries=0"),
        f"embedding.base_url={server.address}",
    )


def test_an_embedder_that_is_not_there_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with serving(FakeServer()) as server:
        ended = contextcliff(*FLAT, *embedding_at(server), cwd=tmp_path)
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line.startswith("error: 127.0.0.1: embeddings of embedder failed (")
    assert not list(tmp_path.rglob("state.db"))


@pytest.mark.slow
@pytest.mark.usefixtures("_the_author_is_known")
def test_an_embedder_that_fails_on_the_way_costs_the_coherence_and_a_warning(tmp_path: Path) -> None:
    def failing(text: str) -> list[float]:
        return [1.0] if "tide" in text.lower() else [1.0, 2.0]

    short = (*FLAT, "dataset=essays", "task.rounds=2", "task.max_context=2048")
    with serving(FakeServer(embeds=failing)) as server:
        ended = contextcliff(*short, *embedding_at(server), cwd=tmp_path)
    assert ended.returncode == 0
    (line,) = ended.stderr.splitlines()
    assert line.startswith("warning: 127.0.0.1: embeddings of embedder: ")
    assert line.endswith("coherence is not measured: the same command goes on")
    (report,) = reports(tmp_path)
    assert report["counts"]["completed"] == 2
    assert set(report["writing"]["unmeasured"]) == COHERENCE


def test_a_text_shorter_than_the_smallest_context_names_both_numbers(tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("The tide came in. It went out again. " * 60, encoding="utf-8")
    assert line_of(*WRITING, f"dataset.path={tmp_path}/short.txt") == (
        "dataset: short has 345 tokens before its last possible continuation point, and the smallest context of 2,048 "
        "needs 1,728; give a longer text (dataset.path), or lower task.max_tokens and task.start_context"
    )
