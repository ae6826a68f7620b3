"""`task=qa` from the command line: its metrics, scorers of one's own and a judge; its plan and its manifest."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contextcliff.reporting.stored_reports import read_report
from tests.commands import SIMULATED, refused, reported, run
from tests.compositions import line_of

MODULE = '''
from contextlib import asynccontextmanager
from dataclasses import replace

from contextcliff.engines.simulated import Simulated, SimulatedSession
from contextcliff.settings import settings


class Session(SimulatedSession):
    async def generate(self, sample, prompt, sampling, on_token=None):
        said = await SimulatedSession.generate(self, sample, prompt, sampling)
        if sample.task == "judge":
            return replace(said, text="9" if "> According" in prompt.user else "2")
        whole = said.text.strip(".") in (sample.reference.reply, "; ".join(sample.answers), *sample.answers)
        right = f"According to the text it is {sample.answers[0]}, as is told there."
        return replace(said, text=right if whole else "Nobody was at sea.")


@settings
class Sentences(Simulated):
    """Right answers come in full sentences, wrong ones share no word with the right one; it judges without an error."""

    @asynccontextmanager
    async def open(self, deployment):
        async with Simulated.open(self, deployment) as session:
            yield Session(engine=self, deployment=deployment, tokenizer=session.tokenizer)


def lenient(prediction, references, least=0.0):
    return max(least, float(any(each in prediction for each in references)))


def raising(prediction, references):
    if len(prediction) > 20:
        raise OSError("the model is gone")
    return 1


NUMBER = 3
'''
QA = (*SIMULATED, "++engine._target_=sentences_of_mine.Sentences", "reporting.html=false", "task=qa", "analysis.bins=3")
FLAT = (*QA, "engine.law=flat", "engine.ceiling=1.0")
FALLING = (*QA, "engine.cliff_tokens=1340", "engine.ceiling=1.0", "engine.floor=0.0")
JUDGED = (
    *(*FALLING, "task.metric=judge"),
    *("judge=llm", "engine@judge.engine=simulated", "++judge.engine._target_=sentences_of_mine.Sentences"),
    "judge.model.name=j",
)


@pytest.fixture(autouse=True)
def _mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sentences_of_mine.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "broken_of_mine.py").write_text("def f(:", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))  # as `python -m` does with the folder it is started in


def cap_of(folder: Path, suffix: str) -> dict[str, object]:
    (file,) = folder.glob(f"outputs/contextcliff/qa-*{suffix}/report.json")
    found: dict[str, object] = json.loads(file.read_text(encoding="utf-8"))["safe_cap"]
    return found


def test_a_model_that_is_right_in_full_sentences_has_a_cap_and_each_metric_judges_the_same_answers(
    tmp_path: Path,
) -> None:
    shown = run(tmp_path, *FLAT, "reporting.console=summary")
    assert "SAFE CAP: none" not in shown
    (folder,) = (tmp_path / "outputs" / "contextcliff").glob("qa-*")
    report = read_report(folder / "report.json")
    assert report.analysis.safe_cap.tokens is not None
    assert (report.analysis.safe_cap.metrics, report.run.judged_by["task.metric"]) == (("contains",), "auto")
    assert not any(each.failures or each.failure_rate for each in report.analysis.bins)
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert "80% of the shortest length's score by contains" in text
    assert "| contains |" in text
    caps = {"contains": report.analysis.safe_cap.tokens, "f1": None}
    for metric, tokens in caps.items():
        run(tmp_path, *FLAT, "action=analyze", f"task.metric={metric}")
        found = cap_of(tmp_path, f"-metric-{metric}")
        assert (found["tokens"], found["metrics"]) == (tokens, [metric])


@pytest.mark.slow
def test_a_scorer_of_ones_own_decides_and_comes_from_nobodys_folder(tmp_path: Path) -> None:
    own = "{_target_: sentences_of_mine.lenient, least: 0.25}"
    run(tmp_path, *FLAT, f"task.metric={own}")
    (folder,) = (tmp_path / "outputs" / "contextcliff").glob("qa-*")
    cap = cap_of(tmp_path, "")
    assert cap["tokens"] is not None
    assert cap["metrics"] == ["sentences_of_mine.lenient(least=0.25)"]
    by_name = ("action=analyze", f"run={folder}", *SIMULATED[1:], "reporting.html=false")
    line = refused(tmp_path, *by_name)
    assert "was scored with task.metric=sentences_of_mine.lenient, which is not taken from a run's folder" in line
    run(tmp_path, *by_name, "task.metric=f1")
    assert cap_of(tmp_path, "-metric-f1")["tokens"] is None
    assert "fails on the answer 'According" in refused(
        tmp_path, *FLAT, "action=analyze", "task.metric={_target_: sentences_of_mine.raising}"
    )


@pytest.mark.parametrize(
    ("scorer", "line"),
    [
        ("{_target_: broken_of_mine.f}", "task.metric._target_=broken_of_mine.f: can't be imported (invalid syntax"),
        ("{_target_: sentences_of_mine.NUMBER}", "task.metric._target_=sentences_of_mine.NUMBER: gives no scorer ("),
        ("{_target_: builtins.len}", "task.metric=builtins.len: fails on the answer 'an answer' (TypeError: "),
    ],
)
def test_a_metric_that_cannot_score_is_one_line_before_anything_is_sent(tmp_path: Path, scorer: str, line: str) -> None:
    assert line_of(*FLAT, f"output_dir={tmp_path}/outputs", f"task.metric={scorer}").startswith(line)
    assert not (tmp_path / "outputs").exists()


def test_a_search_does_not_wait_for_a_judge(tmp_path: Path) -> None:
    line = line_of(*JUDGED, f"output_dir={tmp_path}/outputs", "task=qa_distractors")
    assert line.startswith("task.metric=judge: a search has to know each score at once")


@pytest.mark.slow
def test_a_judge_decides_where_enough_answers_are_known_and_not_before(tmp_path: Path) -> None:
    run(tmp_path, *JUDGED, "analysis.threshold=0.7")  # at 0.8 seventeen texts are too few for a judge's threshold
    cap = cap_of(tmp_path, "")
    assert cap["metrics"] == ["judge"]
    assert "the judge calls 0 of" in str(cap["reason"])
    assert cap["tokens"] is not None
    assert f"and the cap is {cap['tokens']:,} tokens" in str(cap["reason"])
    few = ("task.samples_per_bin=2", "task.min_samples=1", "label=few")
    run(tmp_path, *JUDGED, *few)
    cap = cap_of(tmp_path, "-few-*")
    assert (cap["tokens"], cap["verdict"]) == (None, "insufficient_evidence")
    assert str(cap["reason"]).startswith("a judge decides only after 40 answers whose exact score is known")


@pytest.mark.slow
def test_answers_that_no_judge_has_rated_are_not_judged(tmp_path: Path) -> None:
    run(tmp_path, *FALLING)
    line = refused(tmp_path, *JUDGED, "action=analyze")
    assert "no judge has rated the answers of qa-" in line
    run(tmp_path, *JUDGED)
    assert cap_of(tmp_path, "-metric-judge*")["metrics"] == ["judge"]


NATURAL = ("task=qa", *SIMULATED)


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
def test_with_the_manifest_alone_the_run_is_repeated_when_its_source_is_gone(tmp_path: Path) -> None:
    source = own_set(tmp_path)
    first = reported(tmp_path, *NATURAL, "dataset=jsonl", f"dataset.path={source}", "model=qwen")
    manifest = tmp_path / "kept.json"
    manifest.write_bytes(next(tmp_path.rglob("manifest.json")).read_bytes())
    source.unlink()
    again = reported(tmp_path, *NATURAL, "dataset=manifest", f"dataset.path={manifest}", "model=qwen")
    assert again["counts"]["reused"] == first["counts"]["completed"]
    assert again["fingerprint"] == first["fingerprint"]
    assert again["bins"] == first["bins"]
