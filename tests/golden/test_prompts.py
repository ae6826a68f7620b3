"""G3: what every task option asks: sample ids, prompts, store keys, controls, answers. Never changes.

An option whose prompt has to change gets a key for it, so that old answers keep their place. Beside them stands how
the simulated model's answers to these prompts are scored. `ruler_qa_1` and `ruler_qa_2` ask over the built-in
questions: their own are downloaded.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from contextcliff.composing import conf_dir
from contextcliff.execution.store import Store
from tests.commands import SIMULATED, contextcliff, samples
from tests.compositions import without_hub

OPTIONS = sorted(file.stem for file in (conf_dir() / "task").glob("*.yaml"))
SMALL = {
    "lengths": "[1024,2048,3072]",
    "depths": "[0.25,0.75]",
    "trials": "2",
    "controls": "true",
    "samples_per_bin": "4",
    "min_samples": "1",
    "repeats": "2",
    "rounds": "2",
    "max_tokens": "128",
}
LONGER = {"mrcr": {"lengths": "[4096,6144,8192]", "max_tokens": "1024"}}
LONG = 48
SLOW = ("ruler_", "babilo", "contin", "mrcr")


class Asked:
    """What one option asked a simulated model that is right half of the time, and what came of it."""

    def __init__(self, option: str, folder: Path) -> None:
        keys = {
            line.partition(":")[0] for line in (conf_dir() / "task" / f"{option}.yaml").read_text("utf-8").split("\n")
        }
        values = {key: value for key, value in SMALL.items() if key in keys} | LONGER.get(option, {})
        done = contextcliff(
            *(*SIMULATED, *without_hub(option), "model.context_window=16384", "reporting.html=false"),
            *("engine.law=flat", "engine.ceiling=0.5", "analysis.bins=5"),
            *(f"task.{key}={value}" for key, value in values.items()),
            cwd=folder,
        )
        assert done.returncode == 0, done.stderr
        with Store(folder / "outputs") as store:
            (file,) = folder.rglob("report.json")
            self.planned = sorted(store.schedule(file.parent.name), key=lambda each: each.sample.sample_id)
        self.samples = sorted(samples(folder), key=lambda line: str(line["sample_id"]))


@pytest.mark.parametrize(
    "option",
    # RULER's and bAbI's further options are of the same classes as others: those are enough while one works. What is
    # written on and what is remembered take seconds, and have planted runs of their own.
    [pytest.param(one, marks=pytest.mark.slow) if one[:6] in SLOW else one for one in OPTIONS],
)
def test_option(option: str, tmp_path: Path, numbers: SnapshotAssertion) -> None:
    asked = Asked(option, tmp_path)
    prompts = [
        [
            each.sample.sample_id,
            each.prompt_sha256[:16],
            each.key[:16],
            each.sample.built_tokens,
            each.sample.seed,
            _digested(" | ".join(each.sample.answers)),
            *each.sample.controls,
        ]
        for each in asked.planned
    ]
    assert prompts == numbers(name="prompts")
    scores = [
        [line["sample_id"], line["score"], line["failure"], _digested(line["prediction"])] for line in asked.samples
    ]
    assert scores == numbers(name="scores")


def _digested(value: Any) -> Any:
    return value if len(value) <= LONG else sha256(value.encode()).hexdigest()[:16]
