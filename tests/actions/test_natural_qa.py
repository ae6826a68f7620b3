"""Natural-length questions from the command line: the plan, the run, the manifest, the planted cliff."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import SIMULATED, contextcliff, reported

QA = ("task=qa", *SIMULATED)


def own_set(folder: Path) -> Path:
    """A question set whose documents are evenly spread in log length, two questions each."""
    rows = [
        {"id": f"q{i}-{j}", "doc_id": f"d{i}", "answers": [f"Ansgar{i}"],
         "context": f"The keeper of house {i} is Ansgar{i}. " + "The tide came in. " * round(15 * 100 ** (i / 59)),
         "question": f"Who is the keeper of house {i} (asked as number {j})?"}
        for i in range(60) for j in range(2)
    ]  # fmt: skip
    path = folder / "own.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_plan_prints_the_histogram_and_writes_the_manifest_without_a_request(tmp_path: Path) -> None:
    ended = contextcliff("task=qa", "engine=simulated", "tracking=none", "action=plan", cwd=tmp_path)
    assert ended.returncode == 0
    assert "DOCUMENTS BY LENGTH (tokens;" in ended.stdout
    assert "####" in ended.stdout
    manifest = json.loads((tmp_path / "outputs" / "manifest.json").read_text(encoding="utf-8"))
    assert len(manifest["corpus"]["drawn"]) == 5
    assert {path.name for path in (tmp_path / "outputs").iterdir()} == {"manifest.json", "plan.json"}


@pytest.mark.slow
def test_with_the_manifest_alone_the_run_is_repeated_when_its_source_is_gone(tmp_path: Path) -> None:
    source = own_set(tmp_path)
    first = reported(tmp_path, *QA, "dataset=jsonl", f"dataset.path={source}", "model=qwen")
    manifest = tmp_path / "kept.json"
    manifest.write_bytes(next(tmp_path.rglob("manifest.json")).read_bytes())
    source.unlink()
    again = reported(tmp_path, *QA, "dataset=manifest", f"dataset.path={manifest}", "model=qwen")
    assert again["counts"]["reused"] == first["counts"]["completed"]
    assert again["fingerprint"] == first["fingerprint"]
    assert again["bins"] == first["bins"]
