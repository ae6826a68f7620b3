"""A run's folder is outside data: whatever its files are, an action gives the right answer, one line or a warning."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from contextcliff.actions.compared_runs import run_at
from contextcliff.errors import ContextCliffError
from contextcliff.reporting.data_files import read_contexts, stored_samples
from contextcliff.reporting.page.report_page import read_excerpts
from contextcliff.reporting.run_folders import copy_run
from contextcliff.reporting.run_names import read_dataset, read_parameters
from contextcliff.reporting.stored_reports import UnreadableReport, read_report, stored_reports
from contextcliff.reporting.stored_sweeps import read_rows, read_sweep
from contextcliff.tracking.mlflow import tracked_of
from contextcliff.tracking.tracker import TrackingError
from tests.commands import SIMULATED, contextcliff

RUN = (*SIMULATED, "task=niah", "dataset=synthetic", "task.lengths=[512]", "task.trials=3", "task.save_contexts=true")
PACKED, PLAIN = ("evidence.jsonl.gz", "contexts.jsonl.gz"), ("report.json", "manifest.json", "samples.jsonl")
MOST_MEMORY = 500 << 20
Damage = Callable[[Path], object]


def flipped(file: Path) -> None:
    data, chance = bytearray(file.read_bytes()), random.Random(7)
    for _ in range(8):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(bytes(data))


def in_its_place(make: Damage) -> Damage:
    def damage(file: Path) -> None:
        file.unlink()
        make(file)

    return damage


def text_of(file: Path, text: str) -> None:
    data = text.encode("utf-8", errors="surrogatepass")
    file.write_bytes(gzip.compress(data) if file.suffix == ".gz" else data)


def sparse(file: Path) -> None:
    with file.open("wb") as stream:
        stream.truncate(5 << 30)


def bomb(file: Path) -> None:
    """A gibibyte of zeros, packed: members of a file of gzip may stand behind each other."""
    file.write_bytes(gzip.compress(bytes(64 << 20), compresslevel=1) * 16)


DAMAGES: dict[str, Damage] = {
    "cut": lambda file: os.truncate(file, file.stat().st_size // 2),
    "emptied": lambda file: os.truncate(file, 0),
    "bits flipped": flipped,
    "not of its kind": lambda file: file.write_bytes(b"It rained.\n"),
    "zeros": bomb,
    "very large": sparse,
    "no JSON": lambda file: text_of(file, "{]\n"),
    "a number": lambda file: text_of(file, "5\n"),
    "a list": lambda file: text_of(file, "[1, [2]]\n"),
    "other keys": lambda file: text_of(file, '{"sample_id": 5, "turns": [{"x": 1}], "excerpts": 9, "facts": []}\n'),
    "no finite number": lambda file: text_of(file, '{"sample_id": 1e999, "user": NaN, "excerpts": [[1e999, 2, 3]]}\n'),
    "many digits": lambda file: text_of(file, f'{{"sample_id": {"9" * 5000}}}\n'),
    "deep": lambda file: text_of(file, "[" * 200_000 + "\n"),
    "many values": lambda file: text_of(file, f"[{'{},' * 5_000_000}{{}}]\n"),
    "half a surrogate": lambda file: text_of(file, '{"sample_id": "\ud800", "user": "\\ud800", "excerpts": []}\n'),
    "a folder": in_its_place(lambda file: file.mkdir()),
    "a device": in_its_place(lambda file: file.symlink_to("/dev/zero")),
    "a pipe": in_its_place(os.mkfifo),
    "a link to nothing": in_its_place(lambda file: file.symlink_to("nothing")),
    "gone": lambda file: file.unlink(),
}


LARGE = {"zeros", "very large", "deep", "many values", "a device"}
"""Whose readers have to stay small: of the others it would take most of the time to trace that."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An output folder with two runs."""
    folder = tmp_path_factory.mktemp("made")
    ended = contextcliff(*RUN, "kv_policy=none,q8_0", cwd=folder)
    assert ended.returncode == 0, ended.stderr
    return folder


def first_run(folder: Path) -> Path:
    return sorted(path.parent for path in folder.glob("outputs/contextcliff/*/report.json"))[0]


def readers(run: Path) -> dict[str, Callable[[], object]]:
    return {
        "report": lambda: read_report(run / "report.json"),
        "reports": lambda: stored_reports(run.parent),
        "compared": lambda: run_at(run, key="action.baseline"),
        "samples": lambda: sum(1 for _ in stored_samples(run, asked="task.like")),
        "tracked": lambda: tracked_of(run),
        "manifest": lambda: (read_parameters(run / "manifest.json"), read_dataset(run / "manifest.json")),
        "contexts": lambda: read_contexts(run / "contexts.jsonl.gz"),
        "excerpts": lambda: read_excerpts([run / "evidence.jsonl.gz"]),
        "copied": lambda: copy_run(run, experiment=run.parent.parent / "elsewhere"),
        "sweep": lambda: (read_sweep(run), read_rows(run)),
    }


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_reader_of_a_run_gives_something_or_one_line_for_any_damage(
    made: Path, tmp_path: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in (*PACKED, *PLAIN, "sweep.json", "jobs/0000.json"):
        run = shutil.copytree(first_run(made), tmp_path / name.replace("/", "-") / "run")
        (run / "jobs").mkdir()
        for of_sweep in ("sweep.json", "jobs/0000.json"):
            (run / of_sweep).write_text("{}", encoding="utf-8")
        DAMAGES[damage](run / name)
        for reader, read in readers(run).items():
            if damage == "very large" and reader == "copied":
                continue
            if damage in LARGE:
                tracemalloc.start()
            with suppress(ContextCliffError, UnreadableReport, TrackingError):
                read()
            assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY, (name, reader)
            tracemalloc.stop()
        assert all(line.startswith("warning: ") for line in capsys.readouterr().err.splitlines())


@pytest.mark.parametrize("damage", ["bits flipped", "a device"])
def test_an_analysis_goes_without_a_damaged_file_of_evidence_and_names_it(
    made: Path, tmp_path: Path, damage: str
) -> None:
    shutil.copytree(made, tmp_path / "a")
    first = first_run(tmp_path / "a")
    before = (first / "samples.jsonl").read_bytes()
    DAMAGES[damage](first / "evidence.jsonl.gz")
    ended = contextcliff("action=analyze", f"run={first}", *SIMULATED[1:], cwd=tmp_path / "a")
    assert ended.returncode == 0
    assert ended.stderr.startswith(f"warning: {first.relative_to(tmp_path / 'a')}/evidence.jsonl.gz ")
    assert ended.stderr.endswith("; the report goes without what it holds\n")
    assert (first / "samples.jsonl").read_bytes() == before
