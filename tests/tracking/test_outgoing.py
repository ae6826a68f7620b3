"""What leaves this machine: no path of it, no key, no name of its user, and on request no text at all."""

from __future__ import annotations

import getpass
import json
from pathlib import Path

import pytest

from contextcliff.tracking.outgoing import outgoing, own_paths
from tests.commands import contextcliff

SECRET = "sk-aVerySecretKey0123456789"
MARKER = "Quetzalcoatl"
"""A word that stands in the document, the question and the answer, and nowhere else."""


def everything(folder: Path) -> dict[str, bytes]:
    """Each file of an MLflow store, the database itself among them."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def holding(folder: Path, text: str) -> list[str]:
    return [name for name, content in everything(folder).items() if text.encode() in content]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """A private set of questions in a folder whose name nobody is to learn."""
    folder = tmp_path / "home of alice" / "private"
    folder.mkdir(parents=True)
    lines = [
        {
            "context": f"Long ago {MARKER} {number} came over the sea. " + "The tide went out and came in again. " * 40,
            "question": f"Did {MARKER} {number} come?",
            "answers": [f"{MARKER} came"],
            "domain": "tales",
        }
        for number in range(24)
    ]
    file = folder / "mine.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return file


def run(questions: Path, cwd: Path, *overrides: str) -> None:
    cwd.mkdir()
    done = contextcliff(
        "engine=simulated", "task=qa", "dataset=jsonl", f"dataset.path='{questions}'", "analysis.bins=2",
        "task.samples_per_bin=6", "reporting.progress=false", "reporting.console=none", "reporting.dpi=50", *overrides,
        cwd=cwd, env={"OPENAI_API_KEY": SECRET, "API_KEY": SECRET},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_no_path_no_key_and_no_user_is_uploaded(questions: Path, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    run(questions, folder, "reporting.figures=false")
    store = folder / "mlruns"
    assert holding(store, "mine.jsonl")
    assert holding(store, "home of alice") == []
    assert holding(store, SECRET) == []
    # The addresses of its own artifacts are MLflow's, and lie below the store.
    for name, content in everything(store).items():
        text = content.decode("utf-8", errors="replace").replace(store.as_uri(), "").replace(str(store), "")
        assert str(tmp_path) not in text, name
        assert str(Path.home()) + "/" not in text, name
        assert f"/{getpass.getuser()}/" not in text, name


@pytest.mark.slow
def test_without_text_nothing_of_the_documents_questions_and_answers_is_uploaded(
    questions: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    run(questions, folder, "tracking.log_text=false", "tracking.traces=all", "task.controls=true")
    assert holding(folder / "outputs", MARKER)
    assert holding(folder / "mlruns", MARKER) == []
    names = {Path(name).name for name in everything(folder / "mlruns")}
    assert {"report.json", "report.md", "samples.jsonl", "samples_table.json", "score_by_length.png"} <= names


def test_a_path_is_replaced_by_its_last_part_in_every_text_and_nothing_else_is_changed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "a.json").write_text('{"path": "/data/alice/book.txt", "other": "/data/bob"}')
    (folder / "b.png").write_bytes(b"\x89PNG /data/alice/book.txt")
    no_paths = {
        "model.name": "qwen",
        "task.lengths": "[1, 2]",
        "tokenizer.path": "x.json",
        "tracking.uri": "http://a:1/x",
    }
    paths = own_paths({"dataset.path": "/data/alice/book.txt", **no_paths})
    assert paths == {"/data/alice/book.txt": "book.txt"}
    with outgoing(folder, paths=paths, log_text=True) as sent:
        assert (sent / "a.json").read_text() == '{"path": "book.txt", "other": "/data/bob"}'
        assert (sent / "b.png").read_bytes() == (folder / "b.png").read_bytes()
    assert not sent.exists()
    assert "/data/alice" in (folder / "a.json").read_text()
