"""A new task is one file and one YAML: here both lie in a folder of the user's, and nothing of ours is changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contextcliff.reporting.stored_reports import read_report
from contextcliff.tracking.metrics import measurements, tags
from tests.commands import contextcliff

CODE = '''
from contextcliff.records.generation import Generation, Score
from contextcliff.records.sample import Passage, Prompt, Recipe, Sample, Words
from contextcliff.seeding import seed_of
from contextcliff.settings import PositiveInt, settings
from contextcliff.tasks.task import ContextBudget, Materials, ScoringContext, Task, TaskPlan, one_text, sample_at
from contextcliff.text.tokens import tokenise


@settings
class LastWord(Task):
    """Name the last word of a text; each sample begins at another token of it."""

    name = "last_word"

    lengths: tuple[PositiveInt, ...]
    trials: PositiveInt
    question: str

    def longest_context(self, context_budget: ContextBudget) -> int:
        return max(self.lengths)

    def build(self, materials: Materials) -> TaskPlan:
        places = ((length, trial) for length in self.lengths for trial in range(self.trials))
        return TaskPlan(samples=tuple(self._sample(materials, *place) for place in places))

    def score(self, sample: Sample, generation: Generation, context: ScoringContext) -> Score:
        said = generation.text.strip(" .\\n")
        right = said == sample.answers[0].strip(".")
        return Score(value=float(right), prediction=said, failure=None if right else "another_word")

    def _sample(self, materials: Materials, length: int, trial: int) -> Sample:
        document = one_text(materials.corpus, task=self.name)
        text = tokenise(document.text, materials.tokenizer)
        after = f"\\n\\n{self.question}"
        frame = materials.tokenizer.count_prompt(Prompt(user=after))
        coordinates = (materials.seed, self.name, self.question, materials.text_identity, length, trial)
        start = text.starts[seed_of(*coordinates) % (text.tokens - length)]
        end = text.end_for(start, length - frame)
        return sample_at(
            self,
            coordinates,
            (length, None, trial),
            built_tokens=frame + text.tokens_between(start, end),
            document_id=document.document_id,
            question=self.question,
            answers=(document.text[start:end].split()[-1],),
            recipe=Recipe(user=(Passage(document_id=document.document_id, start=start, end=end), Words(text=after))),
        )
'''
YAML = """
_target_: last_word.LastWord
lengths: [300, 600]
trials: 20
question: What is the last word of the text above?
"""


@pytest.fixture
def _last_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "last_word.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "conf" / "task").mkdir(parents=True)
    (tmp_path / "conf" / "task" / "last_word.yaml").write_text(YAML, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))  # as `python -m` does with the folder it is started in


@pytest.mark.slow
@pytest.mark.usefixtures("_last_word")
def test_one_file_and_one_yaml_are_a_new_task_in_every_output(tmp_path: Path) -> None:
    toy = ("--config-dir", "conf", "task=last_word", "engine=simulated", "dataset=synthetic", "tracking=none")
    done = contextcliff(*toy, "engine.cliff_tokens=450", "reporting.progress=false", "task.trials=30", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "SmolLM2-135M-Instruct (simulated) · last_word" in done.stdout
    (folder,) = (tmp_path / "outputs" / "contextcliff").glob("last_word-*")
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert (report["task"], report["task_kind"]) == ("last_word", "last_word")
    assert [each["n_samples"] for each in report["bins"]] == [30, 30]
    assert report["safe_cap"]["tokens"] in range(250, 301)
    assert report["bins"][1]["failures"]["another_word"] > 10
    assert "another_word" in (folder / "report.md").read_text(encoding="utf-8")
    lines = (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["task"] for line in lines} == {"last_word"}
    tracked = read_report(folder / "report.json")
    assert tags(tracked)["task"] == "last_word"
    assert {each.step for each in measurements(tracked) if each.key == "failures/another_word"} == {300, 600}


@pytest.mark.usefixtures("_last_word")
def test_a_wrong_value_of_a_new_task_is_named_by_its_key(tmp_path: Path) -> None:
    done = contextcliff(
        "--config-dir", "conf", "task=last_word", "task.trials=0", "engine=simulated", "tracking=none", cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (2, "error: task.trials=0: must be greater than 0\n")
