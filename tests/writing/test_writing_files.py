"""The files that only a continuation run leaves, read back; `writing.html`: what a reader finds on it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from contextcliff.findings.finding import FinishedRun
from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import Report
from contextcliff.writing.measures.measure import MEASURES
from contextcliff.writing.page import writing_page
from contextcliff.writing.writing_finding import WritingFinding
from tests.simulated_reports import edited
from tests.writing.made_writing import NEXT_WORDS, PROSE, TIERS, make_round, make_rounds, with_writing, writing_in

PARAMETERS = {
    "sampling.temperature": "0.8",
    "sampling.top_k": "40",
    "sampling.top_p": "0.95",
    "sampling.min_p": "None",
    "sampling.max_tokens": "48",
    "task.max_tokens": "512",
}


def files_of(report: Report, scored: Sequence[ScoredSample]) -> dict[str, str]:
    return dict(WritingFinding().files(FinishedRun(report=report, scored=scored, parameters=PARAMETERS)))


def rows_of(files: dict[str, str], name: str = "writing.csv") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(files[name])))


def test_the_results_of_a_length_hold_its_figures_and_every_round_whole(cliff: Report) -> None:
    scored = make_rounds()
    report = with_writing(cliff, scored)
    tier = writing_in(report).tiers[-1]
    found = json.loads(files_of(report, scored)["context_16384_results.json"])
    assert {key: found[key] for key in asdict(tier)} == json.loads(json.dumps(asdict(tier)))
    assert [row["round"] for row in found["rounds"]] == [1, 2, 3]
    last, details = found["rounds"][-1], scored[-1].details
    assert (last["sample_id"], last["seed"], last["outcome"]) == ("continuation-16384-2", 1002, "repetition")
    assert (last["finish_reason"], last["prompt_tokens"], last["completion_tokens"]) == ("length", 16_375, 512)
    assert last["text"] == PROSE
    assert list(last["measures"]) == [measure.name for measure in MEASURES]
    prefixes = ("original", "author_mean", "author_std", "z")
    assert last["measures"]["cloze_score"] == {
        "raw": details["cloze_score"],
        **{prefix: details[f"{prefix}.cloze_score"] for prefix in prefixes},
    }
    assert set(last["measures"]["adjacent_coherence"].values()) == {None}


def test_the_tables_have_a_length_and_a_round_a_row_with_every_measure(cliff: Report) -> None:
    scored = make_rounds()
    report = with_writing(cliff, scored)
    files = files_of(report, scored)
    first = rows_of(files)[0]
    assert list(first)[:7] == ["model", "text", "model_id", "max_tokens", "temperature", "top_k", "top_p"]
    # What a round may write is the task's to say.
    assert (first["max_tokens"], first["temperature"], first["top_k"], first["top_p"]) == ("512", "0.8", "40", "0.95")
    assert (first["min_p"], first["num_rounds"], first["reading_level"]) == ("", "3", "11-12")
    figures = ("std", "original", "author_mean", "author_std", "z", "z_std")
    for row, tier in zip(rows_of(files), writing_in(report).tiers, strict=True):
        assert row["context_length"] == str(tier.context_tokens)
        for level in tier.measures:
            cells = [row[level.name], *(row[f"{level.name}_{figure}"] for figure in figures)]
            kept = [level.mean, *(getattr(level, figure) for figure in figures)]
            assert [float(cell) if cell else None for cell in cells] == kept
        assert row["adjacent_coherence"] == row["adjacent_coherence_original"] == ""
        assert (float(row["composite"]), float(row["composite_ci_high"]), float(row["composite_classic"])) == (
            *(tier.composite.mean, tier.composite.ci_high, tier.composite_classic.mean),
        )
    named = {f"{prefix}{m.name}" for prefix in ("", "original.", "z.") for m in MEASURES}
    for row, item in zip(rows_of(files, "writing_detailed.csv"), scored, strict=True):
        assert {name: float(row[name]) for name in named if row[name]} == {
            name: found for name, found in item.details.items() if name in named
        }
        assert row["round_number"] == str(item.sample.trial + 1)


def test_all_that_was_written_can_be_read_the_original_first(cliff: Report) -> None:
    scored = make_rounds(rounds=2)
    text = files_of(with_writing(cliff, scored), list(reversed(scored)))["generations.txt"]
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


@given(said=st.text(st.characters(exclude_categories=()), max_size=60))
def test_what_a_model_said_reaches_no_terminal_as_a_control_character(cliff: Report, said: str) -> None:
    scored = [make_round(text=said)]
    files = files_of(edited(with_writing(cliff, scored), model=said or "m", label=said), scored)
    for text in files.values():
        assert not [char for char in text if char not in "\n\t" and (ord(char) < 32 or 0x7F <= ord(char) < 0xA0)]
    assert json.loads(files["context_2048_results.json"])["rounds"][0]["text"] == said


HOSTILE = "<script>document.title='owned'</script>\x1b[31m\u202e<img src=x onerror=alert(1)>{{ run }}"


def page_of(report: Report, scored: list[ScoredSample], **parameters: str) -> str:
    made = with_writing(report, scored)
    return writing_page(made, writing_in(made), scored=scored, parameters=parameters)


def texts_of(page: str) -> list[str]:
    return [unescape(text) for text in re.findall(r'<div class="text" dir="auto">(.*?)</div>', page, flags=re.DOTALL)]


def test_every_round_can_be_read_beside_the_authors_own_words(cliff: Report) -> None:
    scored = make_rounds(tiers=(512, 1024), rounds=2)
    scored = [
        replace(item, generation=replace(item.generation, text=f"text {i}")) if item.generation else item
        for i, item in enumerate(scored)
    ]
    page = page_of(cliff, scored)
    original, *texts = texts_of(page)
    assert texts == ["text 0", "text 1", "text 2", "text 3"]
    assert original.split() == original.split()[:2]  # as many words as the longest round
    assert '<a href="#l512">503 tokens</a>' in page
    assert '<h3 id="l1024">After 1,015 tokens (1,024 asked for, with the answer)</h3>' in page
    # The first of each length is open.
    assert page.count("<details open>") == 2


def test_no_text_gets_out_of_its_place_nothing_is_asked_of_a_network_and_no_disk_is_named(cliff: Report) -> None:
    said = {"model.name": HOSTILE, "dataset.path": "/home/ada/novel.txt"}
    page = page_of(cliff, [make_round(text=HOSTILE, details={}), make_round(trial=1)], **said)
    assert not re.search(r"<(script|link|iframe|img)\b|\x1b|\u202e|/home/ada", page)
    for kept in ("onerror=alert(1)&gt;{{ run }}", "default-src 'none'; style-src", "novel.txt"):
        assert kept in page
