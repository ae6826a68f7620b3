"""G1: planted runs of the simulated engine, with all that they write and print: numbers and texts apart."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.commands import SIMULATED, contextcliff

SMALL = (
    *("task.lengths=[256,512,1024]", "task.depths=[0.0,0.25,0.5,0.75,1.0]", "task.max_trials=60"),
    *("engine.cliff_tokens=700", "engine.concurrency=1"),
)
JUDGED = ("judge=llm", "engine@judge.engine=simulated", "model@judge.model=smollm2", "judge.engine.concurrency=1")
RUNS = {
    "a cliff, walked": (*SMALL, "search=walk"),
    "a cliff, refined": SMALL,
    "flat": (*SMALL, "engine.law=flat", "engine.ceiling=1.0"),
    "below": (*SMALL, "engine.law=flat", "engine.ceiling=0.3"),
    "rising": (*SMALL, "task.trials=3", "engine.ceiling=0.2", "engine.floor=0.98"),
    "relative": (
        *SMALL,
        *("task.trials=12", "engine.law=slope", "engine.cliff_tokens=3000", "analysis.relative_to_baseline=true"),
    ),
    "one length": (*SMALL, "task.lengths=[512]"),
    "nothing scored": (*SMALL, "task.trials=1", "engine._target_=tests.golden.planted.Silent"),
    "some unscored": (*SMALL, "task.trials=6", "engine._target_=tests.golden.planted.OftenSilent"),
    "partial": (*SMALL, "engine.law=flat", "engine.ceiling=0.97", "engine.seed=1", "budget.tokens=36000"),
    "controls, judge and facets": (
        *("task=babilong_qa2", "task.lengths=[256,512,1024]", "task.trials=6", "task.controls=true"),
        *("engine.cliff_tokens=700", "engine.position=middle", "engine.concurrency=1", *JUDGED),
    ),
    "questions with a pilot": (
        *("task=qa", "task.pilot=2", "task.samples_per_bin=8", "task.controls=true", "analysis.bins=5"),
        *("engine.law=slope", "engine.concurrency=1"),
    ),
    "continuation": (
        *("task=continuation", "task.rounds=4", "task.max_tokens=256", "task.max_context=4096"),
        *("analysis.threshold=0.5", "engine.concurrency=1"),
    ),
    "a cache in q8_0": (*SMALL, "kv_policy=q8_0", "engine.quantised_shift=1.0"),
    "a sweep of two": (
        *(*SMALL, "kv_policy=none,q4_0", "engine.quantised_shift=0.5"),
        *("task.like=first", "reporting.compare=true"),
    ),
}
SELDOM = ("a cliff, walked", "flat", "below", "rising", "relative", "one length", "a cache in q8_0")
"""Other laws and no other way through a run; `test_shown_reports.py` shows most of these laws as well."""
JSON_FILES = ("report.json", "comparison.json", "leaderboard.json")
TEXT_FILES = ("report.md", "comparison.md", "leaderboard.md")
CLOCKS = ("created_at", "created", "wall_s", "minutes")
TIMES = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+\d\d:\d\d"), "2026-01-01T00:00:00+00:00"),
    (re.compile(r"((?:Wall time|所要時間)(?::? +\|? ?))[\d.]+ s"), r"\g<1>0.0 s"),
    (
        re.compile(r"(\| [\d,]+ \| )[\d,]+ \| - \|$", re.MULTILINE),
        r"\g<1>0 | - |",
    ),  # tokens a second of the wall's time
)


class Ran:
    """One planted run, and the same analysed again in Japanese."""

    def __init__(self, overrides: tuple[str, ...], folder: Path) -> None:
        command = (*SIMULATED, "reporting.html=false", "reporting.console=full", *overrides)
        done = contextcliff(*command, cwd=folder, env={"COLUMNS": "80"})
        self.code, self.english, self.complaints = done.returncode, done.stdout, done.stderr
        found = sorted((folder / "outputs").rglob("*"))
        self.names = [str(each.relative_to(folder)) for each in found if each.is_file()]
        self.data = {name: json.loads((folder / name).read_text("utf-8")) for name in self._called(*JSON_FILES)}
        self.texts = {name: (folder / name).read_text("utf-8") for name in self._called(*TEXT_FILES)}
        self.samples = {
            name: [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]
            for name in self._called("samples.jsonl", "controls.jsonl")
        }
        again = contextcliff(*command, "action=analyze", "reporting.language=ja", cwd=folder, env={"COLUMNS": "80"})
        self.japanese = again.stdout

    def _called(self, *names: str) -> list[str]:
        return [each for each in self.names if each.rpartition("/")[2] in names]


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.slow) if each in SELDOM else each for each in RUNS]
)
def test_run(name: str, tmp_path: Path, numbers: SnapshotAssertion, text: SnapshotAssertion) -> None:
    """Numbers first: where only a text has changed they are as they were."""
    ran = Ran(RUNS[name], tmp_path)
    reports = {name: _without_sentences(data) for name, data in ran.data.items()}
    assert {"exit": ran.code, "files": ran.names, **reports} == numbers(name="numbers")
    assert {name: _table(lines) for name, lines in ran.samples.items()} == numbers(name="samples")
    assert {name: dict(_sentences(data)) for name, data in ran.data.items()} == numbers(name="sentences")
    assert _timeless(f"{ran.complaints}{ran.english}") == text(name="english")
    assert _timeless(ran.japanese) == text(name="japanese")
    files = (f"{'=' * 20} {name}\n{said}" for name, said in ran.texts.items())
    assert _timeless("\n".join(files)) == text(name="files")


def _timeless(said: str) -> str:
    for time, other in TIMES:
        said = time.sub(other, said)
    return said


def _is_sentence(value: object) -> bool:
    return isinstance(value, str) and " " in value


def _without_sentences(value: Any, key: str = "") -> Any:
    if key in CLOCKS:
        return None
    if isinstance(value, dict) and list(value) == ["columns", "data"]:
        return [_without_sentences(dict(zip(value["columns"], row, strict=True))) for row in value["data"]]
    if isinstance(value, dict):
        return {name: _without_sentences(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_without_sentences(each) for each in value]
    return "…" if _is_sentence(value) else value


def _sentences(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _sentences(each, f"{path}.{name}")
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from _sentences(each, f"{path}[{place}]")
    elif _is_sentence(value):
        yield path, value


def _table(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Columns once, what is the same in all lines once, and of a long text its digest."""
    names = list(dict.fromkeys(name for line in lines for name in line))
    columns = {name: [_digested(line.get(name)) for line in lines] for name in names}
    same = {name: values[0] for name, values in columns.items() if all(each == values[0] for each in values)}
    others = [name for name in names if name not in same]
    return {
        "same": same,
        "columns": others,
        "rows": [list(row) for row in zip(*(columns[name] for name in others), strict=True)],
    }


def _digested(value: Any) -> Any:
    if isinstance(value, str) and len(value) > 24 and not value.startswith(("niah-", "qa-", "babilong-")):
        return sha256(value.encode()).hexdigest()[:12]
    if isinstance(value, dict):
        return {name: _digested(each) for name, each in value.items()}
    return [_digested(each) for each in value] if isinstance(value, list) else value
