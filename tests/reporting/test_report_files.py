"""The files that a run leaves, read back."""

from __future__ import annotations

import errno
import gzip
import json
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contextcliff.findings.finding import FinishedRun
from contextcliff.records.generation import read_characters
from contextcliff.records.report import Report
from contextcliff.records.sample import Prompt, SentTurn
from contextcliff.reporting.data_files import read_contexts, replacing_together, write_contexts, write_text
from contextcliff.reporting.files import samples_table, stale_files, write_manifest, write_report_files
from tests.make import scored_sample
from tests.reporting.report_pages import answered, thinking
from tests.simulated_reports import edited

KEYS = """
sample_id task context_tokens prompt_tokens depth trial document_id question answers prediction score failure
finish_reason ttft_ms latency_ms cached_tokens prompt_sha256 seed cluster evidence_distance_tokens metadata
judge_rating level em f1 contains_reference false_refusal output reasoning reasoning_tokens
completion_tokens retries item repeat step replayed figures
""".split()


PINNED = KEYS[: KEYS.index("seed") + 1]


def in_order(keys: Iterable[str]) -> list[str]:
    return [key for key in KEYS if key in {*PINNED, *keys}]


def test_a_line_has_the_pinned_keys_and_after_them_those_that_some_sample_of_the_run_has() -> None:
    plain = scored_sample(2048, None, cluster="essays#2")
    (row,) = samples_table([plain])
    assert list(row) == in_order(["cluster"])
    # As a dataset may hand it over: read-only, which can't be copied.
    hops = replace(plain, sample=replace(plain.sample, metadata=MappingProxyType({"hops": 2})))
    rows = samples_table([plain, hops], replayed=[plain])
    assert [list(row) for row in rows] == [in_order(["cluster", "metadata", "replayed"])] * 3
    assert [row["metadata"] for row in rows] == [{}, {"hops": 2}, {}]
    assert [row["replayed"] for row in rows] == [False, False, True]

    right = scored_sample(2048, 1.0)
    (row,) = samples_table([thinking(right, "7? No, 8.")])
    assert (row["reasoning"], row["reasoning_tokens"], row["completion_tokens"]) == ("7? No, 8.", 6, 8)
    (row,) = samples_table([thinking(right, "hm " * 100_000)])
    assert len(str(row["reasoning"])) == read_characters(right.sample) < 300_000

    # A figure of zero is a figure.
    wrong = replace(scored_sample(2048, 0.0), details={"em": 0.0, "contains_reference": 0.0, "overlap": 0.0})
    (row,) = samples_table([wrong])
    assert (row["em"], row["contains_reference"], row["figures"]) == (0.0, False, {"overlap": 0.0})


def test_a_manifest_has_a_line_a_sample_and_reads_back_as_it_was(tmp_path: Path) -> None:
    samples = [{"sample_id": f"s{i}", "depth": 0.5} for i in range(3)]
    manifest = {"run_id": '\n  "samples": null', "deeper": {"samples": None}, "samples": samples, "corpus": ["a"]}
    text = write_manifest(manifest, folder=tmp_path).read_text(encoding="utf-8")
    assert json.loads(text) == manifest
    assert list(json.loads(text)) == list(manifest)
    assert '    {"sample_id":"s1","depth":0.5},\n' in text
    empty: tuple[object, ...] = ([], None)
    for none in empty:
        file = write_manifest({**manifest, "samples": none}, folder=tmp_path)
        assert json.loads(file.read_text(encoding="utf-8")) == {**manifest, "samples": none}


def test_new_files_take_their_places_together_and_what_they_lack_of_an_earlier_report_goes(
    cliff: Report, tmp_path: Path
) -> None:
    folder = tmp_path / "run"

    def names() -> list[str]:
        return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())

    def replaced(*written: str, fails: bool = False) -> None:
        with replacing_together(folder, stale=stale_files(cliff)) as new:
            for name in written:
                write_text(path=new / name, text=name)
            if fails:
                raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left on device: '.*run'"):
        replaced("report.json", fails=True)
    assert not folder.exists()
    whole = ["controls.jsonl", "figures/a.png", "own.txt", "report.html", "report.json"]
    replaced(*whole)
    with pytest.raises(OSError, match="No space left"):
        replaced("report.json", "figures/b.png", fails=True)
    assert names() == whole
    replaced("figures/b.png", "report.json")
    assert names() == ["figures/b.png", "own.txt", "report.json"]
    (folder / "report.md").mkdir()
    with pytest.raises(IsADirectoryError):
        replaced("report.json", "report.md", "samples.jsonl")
    assert names() == ["figures/b.png", "own.txt", "report.json"]


@given(said=st.lists(st.text(st.characters(exclude_categories=()), max_size=20), max_size=6))
@example(said=["x\ud800y"])
def test_samples_jsonl_has_one_line_a_sample_whatever_the_model_said(cliff: Report, said: list[str]) -> None:
    def write(report: Report, folder: str) -> None:
        run = FinishedRun(report=report, scored=scored, parameters={})
        write_report_files(run, manifest={"python": "3.11"}, folder=Path(folder), figures=False)

    scored = [answered(scored_sample(2048, 1.0), text) for text in said]
    with TemporaryDirectory() as folder:
        write(edited(cliff, bins=(), cells=(), model="m\ud800"), folder)
        content = (Path(folder) / "samples.jsonl").read_bytes().decode("utf-8")
        assert json.loads((Path(folder) / "report.json").read_bytes())["model"] == "m\ud800"
        with pytest.raises(ValueError, match="JSON"):
            write(edited(cliff, mean=float("nan")), f"{folder}/none")
    # `splitlines` ends a line at more signs than a line feed: no reader may find a line too many.
    assert [json.loads(line) for line in content.splitlines()] == samples_table(scored)
    assert content.count("\n") == len(scored)


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "report.json"
    write_text(path=target, text="old")

    def full(_: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        write_text(path=target, text="new")
    assert target.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [target]


PROMPTS = [
    ("niah-512-0", Prompt(user="Some text.\u2028A “needle”.\n", system="Read.")),
    ("niah-512-1", Prompt(user="模型")),
]


def test_the_turns_of_a_conversation_are_kept_and_read_back_as_one_text(tmp_path: Path) -> None:
    talk = Prompt(user="And now?", turns=(SentTurn(user="What is it?", assistant="A wren."),))
    path = write_contexts([("mrcr-512-0", talk), *PROMPTS], path=tmp_path / "x.gz")
    line = json.loads(gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()[0])
    assert line == {
        "sample_id": "mrcr-512-0",
        "prompt_sha256": talk.sha256,
        "system": None,
        "user": "And now?",
        "turns": [{"user": "What is it?", "assistant": "A wren."}],
    }
    assert read_contexts(path) == {
        "mrcr-512-0": "User: What is it?\n\nAssistant: A wren.\n\nUser: And now?\n\nAssistant:",
        "niah-512-0": "Read.\n\nSome text.\u2028A “needle”.\n",
        "niah-512-1": "模型",
    }
