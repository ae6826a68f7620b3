"""Published tables: what the shipped ones hold, what is refused, and their curves in figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from contextcliff.errors import ConfigError
from contextcliff.findings.published import LABEL
from contextcliff.findings.score import score_figure
from contextcliff.records.published import PublishedCurve, PublishedPoint
from contextcliff.records.report import Report
from contextcliff.reporting.published import by_default, known_tables, published_curves, read_table
from tests.reporting.figure_texts import overlaps, words
from tests.simulated_reports import edited

KEY = "action.published"
CSV = "model,length,score,source\n"
TABLE = {"ruler", "ruler_minimax", "nolima", "mrcr_minimax", "babilong_qa1"}


def printed(effective: str) -> int | None:
    """`64K`, `>128K` and `<4K` in tokens; None: less than the shortest."""
    return None if effective.startswith("<") else 1024 * int(effective.strip(">K"))


def refused(name: str) -> str:
    with pytest.raises(ConfigError) as error:
        published_curves([name], key=KEY)
    return str(error.value)


def file(folder: Path, text: str, name: str = "mine.csv") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_the_shipped_tables_say_where_and_when_they_were_read() -> None:
    assert set(known_tables()) == TABLE
    for name in TABLE:
        table = read_table(name, shown=name)
        assert table.source.url
        assert table.source.read
        assert table.date.startswith("20")
        assert table.asked
        assert all(tokens % 1024 == 0 for tokens in table.lengths)
        assert len(by_default(table)) <= 9


def test_nolimas_rows_give_its_effective_lengths_by_the_threshold_of_each_model() -> None:
    table = read_table("nolima", shown="nolima")
    assert {row.model: table.curve(row).effective_tokens for row in table.rows} == {
        row.model: printed(row.effective) for row in table.rows
    }
    assert all(row.threshold == pytest.approx(0.85 * (row.base or 0), abs=0.06) for row in table.rows)


def test_a_table_by_itself_shows_a_few_a_colon_one_and_all_every_model_each_once() -> None:
    few = published_curves(["ruler"], key=KEY)
    assert [curve.model for curve in few] == [
        *("Gemini-1.5-pro", "GPT-4-1106-preview", "Llama3.1 (70B)", "Llama3.1 (8B)", "Mistral (7B)"),
        "LongAlpaca (13B)",
    ]
    assert published_curves(["ruler", "ruler:mistral-7b"], key=KEY) == few
    assert [curve.model for curve in published_curves(["ruler:lwm-7b"], key=KEY)] == ["LWM (7B)"]
    assert [curve.model for curve in published_curves(["ruler:Yi (34B)"], key=KEY)] == ["Yi (34B)"]
    assert len(published_curves(["ruler:all"], key=KEY)) == 45
    assert published_curves([], key=KEY) == ()


def test_a_file_of_ones_own_as_csv_or_yaml(tmp_path: Path) -> None:
    text = f"{CSV}A,4096,90,a page\nA,8192,80.5,a page\nB,8192,70,a page\n"
    named = text.replace("source\n", "source,scale,title\n").replace("a page\n", "a page,100,Ours\n")
    first, second = published_curves([file(tmp_path, named)], key=KEY)
    assert [(point.tokens, point.score) for point in first.points] == [(4_096, 0.9), (8_192, 0.805)]
    assert [(point.tokens, point.score) for point in second.points] == [(8_192, 0.7)]
    assert (first.table, first.source, first.metric, first.effective_tokens) == ("Ours", "a page", "score", None)
    yaml = "title: T\nsource: {title: S}\nmetric: m\nlengths: [10, 20]\ndate: 2025-01-02\nthreshold: 0.5\nrows:\n"
    yaml += "  - {model: A b, scores: [0.9, null]}\n"
    (curve,) = published_curves([f"{file(tmp_path, yaml, 'mine.yaml')}:a-b"], key=KEY)
    assert (curve.date, curve.effective_tokens, len(curve.points)) == ("2025-01-02", 10, 1)


def test_a_name_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    assert refused("rulr") == (
        "action.published=rulr: no published table has that name; choose one of babilong_qa1, mrcr_minimax, nolima, "
        "ruler, ruler_minimax, or give a file of your own that ends in .csv or .yaml"
    )
    assert refused("ruler_minimax:gpt-5") == (
        "action.published=ruler_minimax:gpt-5: RULER by MiniMax has no such model; there are claude-3.5-sonnet-10-22, "
        "gemini-1.5-pro, gemini-2.0-flash-exp, gpt-4o-11-20, minimax-text-01, and all"
    )
    assert refused("none/mine.csv") == (
        "action.published=none/mine.csv: there is no such file; give the path of a CSV or YAML table"
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("model,length,source\n", ": has no column score; a table has the columns model, length, score, source"),
        ("a\n1\n", ": has no column model and no length and no score and no source; a table has the columns model, "
         "length, score, source"),
        (f"{CSV}A,4096,0.9,\n", ", line 2: source is empty; say where the figure can be read"),
        (f"{CSV}A,8192,0.9,s\nA,4096,0.9,s\n", ", line 3: length 4,096 comes after 8,192; a model's lengths have to "
         "ascend, each once"),
        (f"{CSV}A,4K,0.9,s\n", ", line 2: length=4K: is no whole number of tokens; write 4096 for 4K"),
        (f"{CSV}A,4096,high,s\n", ", line 2: score=high: is no number; leave the line out where there is none"),
        (f"{CSV}A,4096,93.6,s\n", ": rows: A at 4,096 tokens: score 93.6 is outside 0 to 1; correct it, or give the "
         "highest score there can be as scale"),
        (f"{CSV}A,0,0.6,s\n", ": lengths: 0: have to ascend from 1 or more; sort them, each once"),
        (f"{CSV}A,1,0.6,s\nB,1,0.6,t\n", ", line 3: source is not that of the first line; give one source a file"),
        (CSV, ": source is missing; say where the figures can be read"),
    ],
)  # fmt: skip
def test_a_csv_that_is_no_table_is_refused_in_one_line(tmp_path: Path, text: str, line: str) -> None:
    name = file(tmp_path, text)
    assert refused(name) == f"{KEY}={name}{line}"


HEAD = "title: T\nmetric: m\nsource: {title: S}\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{HEAD}lengths: [1]\nrows: [{{model: A, scores: [1]}}, {{model: a, scores: [1]}}]\n",
         "rows: a stands twice; give a model one row, or each row a key of its own"),
        (f"{HEAD}lengths: [1, 2]\nrows: [{{model: A, scores: [1]}}]\n",
         "rows: A has 1 scores for 2 lengths; give null where there is none"),
        (f"{HEAD}lengths: [1]\nrows: [{{model: A, scores: [null]}}]\n", "rows: A has no score; leave it out"),
        (f"{HEAD}lengths: [1]\nshown: [b]\nrows: [{{model: A, scores: [1]}}]\n",
         "shown: b is the key of no row; there are a"),
        ("[1, 2]", "is no table; give title, source, metric, lengths and rows"),
        ("!!python/object/apply:os.system [true]", None),
        (f"{HEAD}rows: []\nlengths: [1]\n", None),
    ],
)  # fmt: skip
def test_a_yaml_that_is_no_table_is_refused_in_one_line(tmp_path: Path, text: str, line: str | None) -> None:
    name = file(tmp_path, text, "mine.yaml")
    found = refused(name)
    assert found.startswith(f"{KEY}={name}: ")
    assert "\n" not in found
    assert line is None or found == f"{KEY}={name}: {line}"


def made(model: str, *scores: float) -> PublishedCurve:
    return PublishedCurve(
        table="RULER",
        model=model,
        points=tuple(PublishedPoint(tokens=4_096 * 2**place, score=score) for place, score in enumerate(scores)),
        source="somewhere",
        date="2025-01-01",
        metric="share of answers",
        asked="13 tasks",
        effective_said="16K",
    )


CURVES = (made("Good <b>", 0.95, 0.94, 0.93), made("Alike", 0.95, 0.94, 0.92), made("Bad", 0.6, 0.3, 0.0))


@pytest.fixture
def beside(cliff: Report) -> Report:
    return edited(cliff, published=CURVES)


def test_a_run_has_the_lines_behind_its_own_each_named_at_the_right(beside: Report) -> None:
    figure = score_figure(beside)
    axes = figure.axes[0]
    thin = [line for line in axes.lines if line.get_linewidth() == 0.9]
    assert [list(np.asarray(line.get_ydata())) for line in thin] == [
        [0.95, 0.94, 0.93],
        [0.95, 0.94, 0.92],
        [0.6, 0.3, 0],
    ]
    assert max(line.get_zorder() for line in thin) < min(line.get_zorder() for line in axes.lines if line not in thin)
    assert {"Good <b> (RULER)", "Alike (RULER)", "Bad (RULER)"} <= set(words(figure))
    assert [text.get_text() for text in axes.get_legend().get_texts()].count(LABEL) == 1  # type: ignore[union-attr]
    assert overlaps(figure) == []
    assert axes.get_xlim()[1] > 16_384  # published lengths are seen, though the run is shorter
