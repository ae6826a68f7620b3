"""The files that only a continuation run leaves, read back."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextcliff.findings.finding import FinishedRun
from contextcliff.records.fact import Said
from contextcliff.records.fact import said as as_said
from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import Report
from contextcliff.reporting.data_files import write_text
from contextcliff.reporting.figures.report_figures import draw_figures
from contextcliff.reporting.files import FIGURES, write_report_files
from contextcliff.reporting.outside_text import tame, tame_cell
from contextcliff.reporting.schema import flatten
from contextcliff.reporting.stored_reports import read_report
from contextcliff.reporting.words.english_say import say
from contextcliff.writing.measures.measure import MEASURES
from contextcliff.writing.sections.writing_files import results_name, writing_files
from contextcliff.writing.sections.writing_section import WritingSection
from tests.simulated_reports import edited
from tests.writing.made_writing import (
    NEXT_WORDS,
    PROSE,
    TIERS,
    make_round,
    make_rounds,
    make_writing,
    with_writing,
    writing_in,
)

PARAMETERS = {
    "sampling.temperature": "0.8",
    "sampling.top_k": "40",
    "sampling.top_p": "0.95",
    "sampling.min_p": "None",
    "sampling.max_tokens": "48",
    "task.max_tokens": "512",
}


def written(report: Report, folder: Path, *, scored: list[ScoredSample]) -> None:
    files = writing_files(report, writing_in(report), scored=scored, parameters=PARAMETERS)
    for name, text in files.items():
        write_text(path=folder / name, text=text)


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def test_a_run_without_writing_leaves_none_of_these_files(cliff: Report) -> None:
    run = FinishedRun(report=cliff, scored=[], parameters=PARAMETERS)
    assert WritingSection().files(run) == {}
    assert WritingSection().page(run) is None
    assert WritingSection().names_of_files(cliff) == ""


@pytest.mark.slow
def test_a_continuation_run_leaves_every_file_and_nothing_else(cliff: Report, tmp_path: Path) -> None:
    scored, folder = make_rounds(), tmp_path / "experiment" / "run"
    report = with_writing(cliff, scored)
    paths = (
        *write_report_files(report, scored=scored, manifest={}, folder=folder, figures=True, parameters=PARAMETERS),
        *(
            folder / FIGURES / f"{name}.png"
            for name in draw_figures(report, scored=scored, folder=folder / FIGURES, dpi=30)
        ),
    )
    assert sorted(paths) == sorted(path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix() for path in paths}
    assert names >= {
        *(f"context_{tokens}_results.json" for tokens in TIERS),
        *("writing.csv", "writing_detailed.csv", "degradation_analysis.json", "generations.txt"),
        *(f"figures/{name}.png" for name in ("core_metrics", "writing_rounds", "writing_dashboard", "convergence")),
    }
    page = (folder / "report.md").read_text(encoding="utf-8")
    assert all(f"]({name})" in page for name in names if name.startswith("figures/"))


def test_a_report_with_writing_reads_back_from_its_file(cliff: Report, tmp_path: Path) -> None:
    report = with_writing(cliff)
    write_report_files(report, scored=[], manifest={}, folder=tmp_path / "run", figures=True)
    assert flatten(read_report(tmp_path / "run" / "report.json")) == flatten(report)
    writing = writing_in(report)
    # A fact stands in the file as its sentence.
    in_words = replace(writing, verdict=Said(text=say(writing.verdict)), warnings=as_said(map(say, writing.warnings)))
    assert writing_in(read_report(tmp_path / "run" / "report.json")) == in_words


def test_the_results_of_a_length_hold_its_figures_and_every_round_whole(cliff: Report, tmp_path: Path) -> None:
    scored = make_rounds()
    report = with_writing(cliff, scored)
    written(report, tmp_path, scored=scored)
    tier = writing_in(report).tiers[-1]
    found = json.loads((tmp_path / results_name(16_384)).read_text(encoding="utf-8"))
    assert {key: found[key] for key in asdict(tier)} == json.loads(json.dumps(asdict(tier)))
    assert [row["round"] for row in found["rounds"]] == [1, 2, 3]
    last, sample = found["rounds"][-1], scored[-1]
    assert (last["sample_id"], last["seed"], last["outcome"]) == ("continuation-16384-2", 1002, "repetition")
    assert (last["finish_reason"], last["prompt_tokens"], last["completion_tokens"]) == ("length", 16_375, 512)
    assert last["text"] == PROSE
    assert list(last["measures"]) == [measure.name for measure in MEASURES]
    cloze = last["measures"]["cloze_score"]
    assert cloze == {
        "raw": sample.details["cloze_score"],
        "original": sample.details["original.cloze_score"],
        "author_mean": sample.details["author_mean.cloze_score"],
        "author_std": sample.details["author_std.cloze_score"],
        "z": sample.details["z.cloze_score"],
    }
    assert set(last["measures"]["adjacent_coherence"].values()) == {None}


def test_an_unscored_round_is_told_with_its_reason_and_no_figure(cliff: Report, tmp_path: Path) -> None:
    scored = [*make_rounds(tiers=(2048,)), make_round(trial=3, answered=False)]
    written(with_writing(cliff, scored), tmp_path, scored=scored)
    last = json.loads((tmp_path / results_name(2048)).read_text(encoding="utf-8"))["rounds"][-1]
    assert (last["outcome"], last["score"], last["text"], last["finish_reason"]) == ("timeout", None, None, None)
    row = rows_of(tmp_path / "writing_detailed.csv")[-1]
    assert (row["failure"], row["score"], row["cloze_score"], row["finish_reason"]) == ("timeout", "", "", "")


def test_a_row_of_the_table_is_a_length_with_the_configured_samplers(cliff: Report, tmp_path: Path) -> None:
    scored = make_rounds()
    written(with_writing(cliff, scored), tmp_path, scored=scored)
    rows = rows_of(tmp_path / "writing.csv")
    assert [row["context_length"] for row in rows] == [str(tokens) for tokens in TIERS]
    first = rows[0]
    assert list(first)[:7] == ["model", "text", "model_id", "max_tokens", "temperature", "top_k", "top_p"]
    assert (first["model"], first["text"], first["model_id"]) == (
        cliff.run.model,
        "a-widow",
        "continuation-smollm2-1a2b3c4d",
    )
    # What a round may write is the task's to say.
    assert (first["max_tokens"], first["temperature"], first["top_k"], first["top_p"]) == ("512", "0.8", "40", "0.95")
    assert first["min_p"] == ""
    assert (first["num_rounds"], first["reading_level"]) == ("3", "11-12")


def test_what_a_round_might_write_is_what_it_was_allowed_and_not_what_was_configured(
    cliff: Report, tmp_path: Path
) -> None:
    """In a small window an answer takes a quarter of it."""
    scored = [make_round(details={"cloze_score": 20.0}, answer_tokens=256)]
    written(with_writing(cliff, scored), tmp_path, scored=scored)
    for name in ("writing.csv", "writing_detailed.csv"):
        (row,) = rows_of(tmp_path / name)
        assert row["max_tokens"] == "256"
        assert list(row)[3] == "max_tokens"


def test_every_measure_has_its_columns_and_what_was_not_measured_is_an_empty_cell(
    cliff: Report, tmp_path: Path
) -> None:
    scored = make_rounds()
    report = with_writing(cliff, scored)
    written(report, tmp_path, scored=scored)
    for row, tier in zip(rows_of(tmp_path / "writing.csv"), writing_in(report).tiers, strict=True):
        for level in tier.measures:
            cells = [
                row[level.name + end]
                for end in ("", "_std", "_original", "_author_mean", "_author_std", "_z", "_z_std")
            ]
            figures = (level.mean, level.std, level.original, level.author_mean, level.author_std, level.z, level.z_std)
            assert [float(cell) if cell else None for cell in cells] == list(figures)
        assert row["adjacent_coherence"] == row["adjacent_coherence_original"] == ""
        assert float(row["composite"]) == tier.composite.mean
        assert float(row["composite_ci_high"]) == tier.composite.ci_high
        assert float(row["composite_classic"]) == tier.composite_classic.mean
    for row, item in zip(rows_of(tmp_path / "writing_detailed.csv"), scored, strict=True):
        named = {m.name + "" for m in MEASURES} | {f"{p}.{m.name}" for p in ("original", "z") for m in MEASURES}
        assert named <= set(row)
        assert {name: float(row[name]) for name in named if row[name]} == {
            name: found for name, found in item.details.items() if name in named
        }
        assert row["round_number"] == str(item.sample.trial + 1)


def test_the_analysis_file_is_strict_json_with_everything_that_was_found(cliff: Report, tmp_path: Path) -> None:
    report = with_writing(cliff)
    written(report, tmp_path, scored=[])

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    found = json.loads((tmp_path / "degradation_analysis.json").read_text("utf-8"), parse_constant=refuse)
    writing = writing_in(report)
    for key in ("tests", "trends", "steps"):
        assert found[key] == json.loads(json.dumps([asdict(item) for item in getattr(writing, key)]))
    assert (found["verdict"], found["warnings"]) == (say(writing.verdict), [*map(say, writing.warnings)])
    assert found["settling_rounds"] == writing.settling_rounds
    outliers = [(tier.context_tokens, one.trial + 1) for tier in writing.tiers for one in tier.outliers]
    assert [(row["context_tokens"], row["round"]) for row in found["outliers"]] == outliers
    assert found["convergence"][0]["measures"]["cloze_score"]["converged"] is True
    assert "global_coherence" not in found["convergence"][0]["measures"]
    assert [row["composite"]["mean"] for row in found["composites"]] == [t.composite.mean for t in writing.tiers]


def test_a_figure_that_json_has_no_word_for_is_refused(cliff: Report, tmp_path: Path) -> None:
    scored = [make_round(details={"cloze_score": float("nan")})]
    with pytest.raises(ValueError, match="JSON"):
        written(with_writing(cliff, make_rounds()), tmp_path, scored=scored)
    assert list(tmp_path.iterdir()) == []


def test_all_that_was_written_can_be_read_the_original_first(cliff: Report, tmp_path: Path) -> None:
    scored = make_rounds(rounds=2)
    written(with_writing(cliff, scored), tmp_path, scored=list(reversed(scored)))
    text = (tmp_path / "generations.txt").read_text(encoding="utf-8")
    blocks = [block.strip("\n") for block in text.split("=" * 100)[1:]]
    words = len(PROSE.split())
    assert blocks[2] == f"THE ORIGINAL FROM CHARACTER 43 ON ({words} words)"
    assert blocks[3].startswith(NEXT_WORDS)
    assert len(blocks[3].split()) == words
    headers = blocks[4::2]
    assert [header.split(":")[0] for header in headers] == [
        f"{tokens:,} TOKENS, ROUND {trial}/2" for tokens in TIERS for trial in (1, 2)
    ]
    assert headers[-1].startswith("16,384 TOKENS, ROUND 2/2: repetition, ended by stop, 512 tokens. Cloze 2")
    assert set(blocks[5::2]) == {PROSE}


def test_the_original_keeps_its_paragraphs(cliff: Report, tmp_path: Path) -> None:
    item = make_round(text="one two three")
    document = item.document
    assert document is not None
    verse = replace(document, text=f"{document.text[:43]}“He came,\n\nbeing  late.” More")
    scored = [replace(item, document=verse)]
    written(with_writing(cliff, scored), tmp_path, scored=scored)
    text = (tmp_path / "generations.txt").read_text(encoding="utf-8")
    assert "\n\n“He came,\n\nbeing\n\n===" in text


def test_without_the_document_the_original_is_said_to_be_missing(cliff: Report, tmp_path: Path) -> None:
    scored = [replace(item, document=None) for item in make_rounds()]
    written(with_writing(cliff, scored), tmp_path, scored=scored)
    assert "the document is not kept with this run" in (tmp_path / "generations.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["=1+1", "+A1", "-2+3", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_name_is_run_by_a_spreadsheet(cliff: Report, tmp_path: Path, name: str) -> None:
    written(edited(with_writing(cliff), model=name, label=name), tmp_path, scored=[])
    row = rows_of(tmp_path / "writing.csv")[0]
    assert row["model"].startswith("'") or not name[0].strip()
    assert row["model"][0] not in "=+-@\t\r"
    assert row["label"] == row["model"]


def test_a_negative_number_stays_a_number(cliff: Report, tmp_path: Path) -> None:
    scored = [make_round(details={"cloze_score": -3.5, "z.cloze_score": -2.0})]
    written(with_writing(cliff, scored), tmp_path, scored=scored)
    (row,) = rows_of(tmp_path / "writing_detailed.csv")
    assert (row["cloze_score"], row["z.cloze_score"]) == ("-3.5", "-2.0")


@settings(max_examples=60, deadline=None)
@given(said=st.text(st.characters(exclude_categories=()), max_size=60))
def test_what_a_model_said_reaches_no_terminal_as_a_control_character(cliff: Report, said: str) -> None:
    scored = [make_round(text=said)]
    report = edited(with_writing(cliff, scored), model=said or "m", label=said)
    with TemporaryDirectory() as folder:
        written(report, Path(folder), scored=scored)
        for path in Path(folder).iterdir():
            text = path.read_bytes().decode("utf-8")
            assert not [char for char in text if char != "\n" and char != "\t" and ord(char) < 32]
            assert not [char for char in text if 0x7F <= ord(char) < 0xA0]
        found = json.loads((Path(folder) / results_name(2048)).read_text(encoding="utf-8"))
    assert found["rounds"][0]["text"] == said


def test_plain_words_of_any_script_stay_as_they_are() -> None:
    said = "Zoë said “no”.\n\tنمی\u200cدانم 文\u3000字 👩\u200d🚀\u00a0…"
    assert tame(said) == said
    assert tame("a\x1b[31mb\u202ec\r\nd") == "a\\x1b[31mb\\u202ec\nd"
    assert tame_cell("- said he") == "'- said he"


def test_lengths_without_any_figure_leave_files_too(cliff: Report, tmp_path: Path) -> None:
    scored = make_rounds(measured=False)
    report = with_writing(cliff, scored)
    assert writing_in(report)
    written(report, tmp_path, scored=scored)
    row = rows_of(tmp_path / "writing.csv")[0]
    assert {row[measure.name] for measure in MEASURES} == {""}
    assert row["composite"] == row["reading_level"] == ""


def test_a_writing_record_is_made_of_the_rounds_that_it_is_given() -> None:
    writing = make_writing(make_rounds(tiers=(512,), rounds=1))
    assert [tier.context_tokens for tier in writing.tiers] == [512]
    assert "adjacent_coherence" in writing.unmeasured
