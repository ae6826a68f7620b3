"""`action=compare` with published tables: rows beside the runs, in no decision and in no pair."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.commands import SIMULATED, contextcliff, reports

RUN = ("task=niah", "dataset=synthetic", "task.trials=1", "task.lengths=[512,4096]", *SIMULATED)
COMPARE = ("action=compare", "reporting.progress=false", "tracking=none", "reporting.figures=false")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("published")
    for name in ("one", "two"):
        ended = contextcliff(*RUN, f"model.name={name}", "reporting.published=[nolima:gpt-4o]", cwd=made)
        assert (ended.returncode, ended.stderr) == (0, "")
    return made


def compared(folder: Path, *overrides: str) -> tuple[str, dict[str, Any], str, str]:
    ended = contextcliff(*COMPARE, *overrides, cwd=folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    place = folder / "outputs" / "contextcliff" / "comparisons" / "comparison"
    return (
        ended.stdout,
        json.loads((place / "comparison.json").read_text("utf-8")),
        (place / "comparison.md").read_text("utf-8"),
        (place / "comparison.html").read_text("utf-8"),
    )


def test_they_stand_in_every_table_and_are_decided_by_none(folder: Path) -> None:
    (folder / "mine.csv").write_text("model,length,score,source\nOurs,4096,0.5,our page\n", encoding="utf-8")
    console, data, markdown, page = compared(folder, "action.published=[ruler:gpt-4-1106-preview,mine.csv]")
    plain = compared(folder)[1]
    assert re.search(r"published: Ours .*\n\(mine\)", console)
    assert "PUBLISHED FIGURES (never tested against, never paired)" in console
    assert "mine: score. our page" in console
    assert [curve["model"] for curve in data["published"]] == ["GPT-4-1106-preview", "Ours"]
    assert data["published"][1]["points"] == [{"tokens": 4096, "score": 0.5}]
    assert data["published"][0]["effective_said"] == "64K"
    assert {"candidates": plain["candidates"], "runs": plain["runs"]} == {
        "candidates": data["candidates"],
        "runs": data["runs"],
    }
    assert plain["published"] == []
    assert "| published: Ours (mine) | - | not tested | 0.500 | 4,096 |" in markdown
    assert "## Published figures" in markdown
    assert "Nothing here is tested against them" in markdown
    assert "published: GPT-4-1106-preview (RULER)" in page


def test_those_of_reporting_are_taken_where_the_action_names_none(folder: Path) -> None:
    data = compared(folder, "reporting.published=[nolima:gpt-4o]")[1]
    assert [curve["model"] for curve in data["published"]] == ["GPT-4o"]


def test_a_run_keeps_what_was_drawn_behind_it_and_the_page_names_the_source(folder: Path) -> None:
    for report in reports(folder):
        assert [curve["model"] for curve in report["published"]] == ["GPT-4o"]
    text = next(folder.rglob("report.md")).read_text("utf-8")
    assert "arXiv:2502.05167, https://github.com/adobe-research/NoLiMa" in text


@pytest.mark.parametrize("key", ["action.published", "reporting.published"])
def test_an_unknown_table_ends_with_2_and_one_line(folder: Path, key: str) -> None:
    ended = contextcliff(*COMPARE, f"{key}=[rulr]", cwd=folder)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        f"error: {key}=rulr: no published table has that name; choose one of babilong_qa1, mrcr_minimax, nolima, "
        "ruler, ruler_minimax, or give a file of your own that ends in .csv or .yaml\n"
    )


def test_a_run_with_an_unknown_table_sends_nothing(tmp_path: Path) -> None:
    ended = contextcliff(*RUN, "reporting.published=[mine.csv]", cwd=tmp_path)
    assert ended.returncode == 2
    assert ended.stderr == (
        "error: reporting.published=mine.csv: there is no such file; give the path of a CSV or YAML table\n"
    )
    assert not (tmp_path / "outputs").exists()
