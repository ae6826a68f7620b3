"""What Context-Tester left is read as it was stored, computed as ours is, and tested for nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from contextcliff.errors import ConfigError
from contextcliff.writing import context_tester as tool
from contextcliff.writing.measures.measured import measure_prose
from contextcliff.writing.measures.readability import word_list_of
from contextcliff.writing.prose_findings import MeasureLevel, Writing
from tests.writing.made_context_tester import figures, made_round, result_folder, table, table_row


def read(path: Path) -> tool.ImportedRun:
    return tool.read_context_tester(path, key="action.runs")


def refusal(path: Path) -> str:
    with pytest.raises(ConfigError) as error:
        read(path)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_result_folder_is_read_round_by_round_shortest_length_first(tmp_path: Path) -> None:
    rounds = {
        4096: [made_round(1, cloze=22.0, diversity=0.5)],
        2048: [made_round(1, cloze=18.0, diversity=0.6, text="One."), made_round(2, cloze=20.0, diversity=0.61)],
    }
    run = read(result_folder(tmp_path / "org-glm-harbour-1", rounds, original=figures(cloze=25.0, diversity=0.58)))
    assert (run.run_id, run.model, run.text, run.label) == (
        *("org-glm-harbour-1", "org/GLM-4-9B", "harbour", "20250108-123456"),
    )
    assert list(run.tiers) == [2048, 4096]
    assert [kept.values["cloze_score"] for kept in run.tiers[2048]] == [18.0, 20.0]
    assert run.tiers[2048][0].text == "One."
    assert run.tiers[2048][0].values["continuation_length"] == 4001
    assert run.original["cloze_score"] == 25.0
    assert dict(run.parameters) == {
        **{"task.max_tokens": "1024", "task.start_context": "2048", "task.divisions": "1", "sampling.top_k": "100"},
        **{"sampling.temperature": "0.8", "sampling.top_p": "1.0", "sampling.repetition_penalty": "1.1"},
    }


def test_a_detailed_table_has_a_row_a_round_and_what_is_no_number_is_not_measured(tmp_path: Path) -> None:
    rows = [
        table_row(tokens, number=number, cloze_score=20.0 + number, word_entropy="nan", mtld="")
        for number in (2, 1, 3)
        for tokens in (2048, 1024)
    ]
    run = read(table(tmp_path / "glm_detailed.csv", rows))
    for rounds in run.tiers.values():
        assert sorted(kept.values["cloze_score"] for kept in rounds) == [21.0, 22.0, 23.0]
        assert not {"mtld", "word_entropy"} & set(rounds[0].values)
    assert run.keeps_texts


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        *(
            ([table_row(1024), {**table_row(1024), "context_length": length}], "row 2: context_length is")
            for length in ("", "many", "-4", "2048.5", "nan", "1e30")
        ),
        ([table_row(1024, cloze_score="high")], "row 1: cloze_score is 'high', not a number"),
        (
            [table_row(1024), table_row(2048, model_name="another")],
            "holds rows of several runs (model_name: GLM-4-9B, another)",
        ),
        ([table_row(1024), table_row(1024)], "has several rows of one round at 1,024 tokens"),
        (
            [table_row(1024, num_rounds=3, cloze_score_std=1.5)],
            "row 1: holds the averages of 3 rounds; give the table with a row per round (_detailed)",
        ),
    ],
)
def test_a_table_that_is_not_of_one_run_round_by_round_is_refused(
    tmp_path: Path, rows: list[dict[str, object]], told: str
) -> None:
    found = refusal(table(tmp_path / "a.csv", rows))
    assert found.startswith(f"action.runs={tmp_path / 'a.csv'}: ")
    assert told in found


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b"model_name,cloze_score\na,1\n", "has no column context_length; give a result folder"),
        (b"model,context_length,num_distinct\na,1024,3\n", "give the run's folder"),
        (b"context_length,cloze_score\n", "has no row"),
        (bytes(range(256)) * 8, "has no column context_length"),
        (b'context_length,continuation_text\n1024,"never closed\n', "is not a CSV table"),
        (b"context_length,continuation_text\n1024," + b"x" * 200_000 + b"\n", "is not a CSV table"),
        ("", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("\x00\x01", "is not JSON"),
        ("[]", "is not a JSON object"),
        ('{"rounds": []}', "context_length is missing, not a whole number"),
        ('{"context_length": "long"}', "context_length is 'long'"),
        ('{"context_length": true}', "context_length is 'True'"),
        ('{"context_length": 1024, "individual_rounds": "none"}', "individual_rounds holds no rounds"),
        ('{"context_length": 1024, "individual_rounds": [3]}', "individual_rounds holds no rounds"),
        ('{"context_length": 1024, "individual_rounds": [{"cloze_score": [1]}]}', "round 1: cloze_score is"),
        ('{"context_length": 1024, "individual_rounds": []}', "individual_rounds holds no rounds"),
    ],
)
def test_a_table_or_json_that_is_not_its_own_is_refused(tmp_path: Path, content: str | bytes, told: str) -> None:
    name, place = ("a.csv", tmp_path / "a.csv") if isinstance(content, bytes) else ("context_1_results.json", tmp_path)
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    found = refusal(place)
    assert told in found
    assert str(tmp_path / name) in found


WORDS = word_list_of("the\ncat\nsat\n", "few")


def run_of(
    rounds: Sequence[tool.ImportedRound] = (), *, original: Mapping[str, float] | None = None, text: str = "harbour"
) -> tool.ImportedRun:
    return tool.ImportedRun(
        run_id="old", model="glm", text=text, label="", parameters={},
        tiers={2048: tuple(rounds)}, original=original or {},
    )  # fmt: skip


def level(writing: Writing, name: str) -> MeasureLevel:
    return next(found for found in writing.tiers[0].measures if found.name == name)


def test_the_classic_composite_is_the_mean_over_the_rounds() -> None:
    # (0.6 - 0.45) / 0.3 = 0.5 of diversity, (20 - 15) / 25 = 0.2 of cloze: 35 of 100; the second round gets 10.
    rounds = [
        tool.ImportedRound(values={"cloze_score": 20.0, "vocabulary_diversity": 0.45}),
        tool.ImportedRound(values={"cloze_score": 20.0, "vocabulary_diversity": 0.6}),
    ]
    writing = tool.imported_writing(run_of(rounds), confidence=0.95)
    assert (writing.tests, writing.trends, writing.steps) == ((), (), ())
    (tier,) = writing.tiers
    assert tier.composite_classic.mean == pytest.approx(22.5)
    assert tier.composite.mean is None


def test_coherence_that_is_zero_in_every_row_was_not_measured() -> None:
    values = [{"cloze_score": 20.0 + i, "adjacent_coherence": 0.0, "global_coherence": 0.1 * i} for i in range(2)]
    run = run_of([tool.ImportedRound(values=v) for v in values], original={"adjacent_coherence": 0.4})
    writing = tool.imported_writing(run, confidence=0.95)
    assert "adjacent_coherence" in writing.unmeasured
    assert any("stored as 0 in every row" in str(warning) for warning in writing.warnings)
    none = tool.imported_writing(
        run_of([tool.ImportedRound(values=values[0] | {"global_coherence": 0.0})]), confidence=0.95
    )
    assert none.embeddings is None
    # One that is 0 in some rows alone was measured.
    assert level(writing, "global_coherence").mean == pytest.approx(0.05)


def test_kept_texts_are_measured_by_our_rules_and_coherence_stays() -> None:
    text = "The cat sat. Mr. Grey, who had never liked the cat, said nothing at all!"
    kept = tool.ImportedRound(values={"cloze_score": -1.0, "adjacent_coherence": 0.3}, text=text)
    again = tool.remeasured(run_of([kept], original={"cloze_score": 3.0, "adjacent_coherence": 0.2}), word_list=WORDS)
    values = again.tiers[2048][0].values
    ours = measure_prose(text, language="en", word_list=WORDS)
    assert values == {**ours, "adjacent_coherence": 0.3}
    assert dict(again.original) == {"adjacent_coherence": 0.2}
