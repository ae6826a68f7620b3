"""Question sets of the hub, read from local files of their schemas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import datasets
import pytest

from contextcliff.datasets.hub_questions import HubQuestions
from contextcliff.datasets.hub_sets import HotpotQA, LongBenchV2, NarrativeQA, Qasper, Quality, Squad
from contextcliff.errors import ConfigError, RunError
from contextcliff.records.corpus import Corpus
from tests.datasets.made_files import SHARED, WHY_SHARED, json_lines

shared = pytest.mark.skipif(not SHARED.is_dir(), reason=WHY_SHARED)

SQUAD: dict[str, object] = {
    "id": "s1", "title": "Warsaw", "context": "It opened in 1817.", "question": "When?",
    "answers": {"text": ["1817", "in 1817"], "answer_start": [13, 10]},
}  # fmt: skip
QUALITY: dict[str, object] = {
    "article": "A story.", "article_id": "7", "question": "What is it?", "question_unique_id": "7_1",
    "options": ["a story", "a poem", "a play", "a song"], "gold_label": 1, "difficult": 1,
}  # fmt: skip
LONGBENCH = {
    "_id": "l1", "domain": "Single-Document QA", "sub_domain": "Legal", "difficulty": "easy", "length": "short",
    "question": "Which?", "answer": "C", "context": "A long text.",
    **{f"choice_{letter}": f"the {letter}" for letter in "ABCD"},
}  # fmt: skip
HOTPOT = {
    "id": "h1", "question": "Same country?", "answer": "yes", "type": "comparison", "level": "hard",
    "supporting_facts": {"title": ["Ann", "Bob", "Bob"], "sent_id": [0, 1, 9]},
    "context": {
        "title": ["Ann", "Cid", "Bob"],
        "sentences": [["Ann is Danish."], ["Cid is not."], ["Bob sings.", " He is Danish."]],
    },
}  # fmt: skip


def said(**answer: object) -> dict[str, object]:
    nothing: dict[str, object] = {
        "unanswerable": False, "extractive_spans": [], "yes_no": None, "free_form_answer": "", "evidence": [],
    }  # fmt: skip
    return nothing | answer


QASPER = {
    "id": "1909.1", "title": "A Paper", "abstract": "We measure.",
    "full_text": {
        "section_name": ["Introduction", None],
        "paragraphs": [["First words.", ""], ["We used BERT.", "And a corpus of tweets."]],
    },
    "qas": {
        "question": ["Which model?", "Is it new?", "Who paid?"],
        "question_id": ["q1", "q2", "q3"],
        "answers": [
            {"answer": [
                said(extractive_spans=["BERT", "tweets"], evidence=["We used BERT.", "And a corpus of tweets."]),
                said(free_form_answer="a BERT model"),
            ]},
            {"answer": [said(yes_no=False, evidence=["FLOAT SELECTED: Table 1"])]},
            {"answer": [said(unanswerable=True)]},
        ],
    },
}  # fmt: skip


def read(dataset: HubQuestions) -> Corpus:
    return dataset.corpus(tokens=1, seed=0)


def refusal(dataset: HubQuestions) -> str:
    with pytest.raises(ConfigError) as raised:
        read(dataset)
    return str(raised.value)


def quoted(corpus: Corpus, number: int = 0) -> list[str]:
    question = corpus.questions[number]
    texts = {document.document_id: document.text for document in corpus.documents}
    return [texts[question.document_id][span.start : span.end] for span in question.evidence]


@shared
@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_squad_has_its_answer_as_evidence(suffix: str) -> None:
    corpus = read(Squad(path=str(SHARED / f"squad_dev_300.{suffix}")))
    assert (len(corpus.documents), len(corpus.questions), corpus.notes) == (222, 300, ())
    assert all(quoted(corpus, number) == [corpus.questions[number].answers[0]] for number in range(300))
    assert (corpus.documents[0].title, corpus.questions[0].kind) == ("Warsaw", "short")


def test_an_answer_that_stands_elsewhere_gives_no_evidence_and_is_counted(tmp_path: Path) -> None:
    moved = SQUAD | {"id": "s2", "answers": {"text": ["1817"], "answer_start": [2]}}
    corpus = read(Squad(path=json_lines(tmp_path / "a[1]*.jsonl", [SQUAD, moved])))
    assert [question.evidence != () for question in corpus.questions] == [True, False]
    assert corpus.notes == ("squad: 1 answers do not stand where answer_start says; their evidence is left out",)


@shared
def test_narrativeqa_asks_of_the_summary_or_of_the_story() -> None:
    path = str(SHARED / "narrativeqa_full_stories_108.parquet")
    summaries, stories = (read(NarrativeQA(path=path, text=text)) for text in ("summary", "story"))
    assert len(summaries.documents) == len(stories.documents) == 9
    assert [question.text for question in summaries.questions] == [question.text for question in stories.questions]
    assert max(len(document.text) for document in summaries.documents) < 6_000
    assert max(len(document.text) for document in stories.documents) > 250_000
    first = stories.questions[0]
    assert (first.question_id, first.metadata) == (f"{first.document_id}-1", {"document_kind": "gutenberg"})
    assert stories.documents[0].title == "The Tale of Tom Kitten"
    assert NarrativeQA(path=path, text="summary").identity() != NarrativeQA(path=path, text="story").identity()


def test_quality_has_choices_of_which_one_is_right_and_another_column_may_count_from_0(tmp_path: Path) -> None:
    rows = [QUALITY, QUALITY | {"question_unique_id": "7_2", "gold_label": 4, "difficult": 0}]
    corpus = read(Quality(path=json_lines(tmp_path / "a.jsonl", rows)))
    assert [document.document_id for document in corpus.documents] == ["7"]
    assert [(question.kind, question.answers, question.metadata) for question in corpus.questions] == [
        ("choice", ("a story",), {"difficulty": "hard"}), ("choice", ("a song",), {"difficulty": "easy"}),
    ]  # fmt: skip
    assert corpus.questions[0].choices == tuple(QUALITY["options"])  # type: ignore[arg-type]
    path = json_lines(tmp_path / "b.jsonl", [QUALITY | {"answer": 1, "hard": False}])
    assert read(Quality(path=path, label="answer", first_label=0)).questions[0].answers == ("a poem",)


def test_qasper_asks_of_the_whole_paper_and_counts_what_it_leaves_out(tmp_path: Path) -> None:
    corpus = read(Qasper(path=json_lines(tmp_path / "a.jsonl", [QASPER])))
    (paper,) = corpus.documents
    assert (paper.document_id, paper.title) == ("1909.1", "A Paper")
    parts = ("A Paper", "We measure.", "Introduction", "First words.", "We used BERT.", "And a corpus of tweets.")
    assert paper.text == "\n\n".join(parts)
    spans, yes_no = corpus.questions
    assert (spans.question_id, spans.answers, spans.level) == ("q1", ("BERT, tweets", "a BERT model"), 2)
    assert quoted(corpus) == ["We used BERT.", "And a corpus of tweets."]
    assert (yes_no.answers, yes_no.level, yes_no.metadata) == (("No",), 1, {"answer_kind": "yes_no"})
    assert corpus.notes == (
        "qasper: 1 pieces of evidence are figures, tables or otherwise not in the text, and are left out",
        "qasper: 1 questions that the annotators could not answer from their paper are left out",
    )


def test_hotpotqa_joins_its_paragraphs_and_marks_the_supporting_sentences(tmp_path: Path) -> None:
    corpus = read(HotpotQA(path=json_lines(tmp_path / "a.jsonl", [HOTPOT])))
    assert corpus.documents[0].text == "Ann\nAnn is Danish.\n\nCid\nCid is not.\n\nBob\nBob sings. He is Danish."
    assert quoted(corpus) == ["Ann is Danish.", "He is Danish."]
    (question,) = corpus.questions
    assert (question.level, question.answers) == (2, ("yes",))
    assert question.metadata == {"question_type": "comparison", "difficulty": "hard"}
    assert corpus.notes == ("hotpotqa: 1 supporting facts name a sentence that is not in the text, and are left out",)


def test_longbench_v2_has_four_choices_and_a_letter_and_equal_ones_are_left_out_and_counted(tmp_path: Path) -> None:
    twice = LONGBENCH | {"_id": "l2", "choice_A": "the B"}
    corpus = read(LongBenchV2(path=json_lines(tmp_path / "a.jsonl", [LONGBENCH, twice])))
    (question,) = corpus.questions
    assert (question.question_id, question.kind, question.answers) == ("l1", "choice", ("the C",))
    assert question.choices == ("the A", "the B", "the C", "the D")
    assert question.metadata == {"domain": "Single-Document QA", "sub_domain": "Legal", "difficulty": "easy"}
    assert corpus.notes == (
        "longbench_v2: 1 questions have two equal choices, so that no letter is the right one, and are left out",
    )


OUT_OF_RANGE = "gold_label={} is out of range: there are 4 choices, counted from 1"
FAULTS: dict[str, tuple[type[HubQuestions], dict[str, object], str]] = {
    "an empty question": (Squad, SQUAD | {"question": ""}, "its question is empty"),
    "no question": (Squad, SQUAD | {"question": None}, "question is missing"),
    "another schema": (Squad, {"id": "a", "text": "b"}, "context is missing; it has id, text"),
    "answers that are no mapping": (Squad, SQUAD | {"answers": ["1817"]}, "answers must be a mapping, got ['1817']"),
    "answers without texts": (Squad, SQUAD | {"answers": {"text": 7}}, "answers: text must be a list, got 7"),
    "a label above the options": (Quality, QUALITY | {"gold_label": 5}, OUT_OF_RANGE.format(5)),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_row_that_can_not_be_asked_is_named(tmp_path: Path, case: str) -> None:
    dataset, row, message = FAULTS[case]
    path = json_lines(tmp_path / "a.jsonl", [row])
    assert refusal(dataset(path=path)) == f"dataset.path={path}: line 1: {message}"  # type: ignore[call-arg]


FILES: dict[str, tuple[str, bytes, str]] = {
    "of another kind": ("a.csv", b"a,b", "ends in .csv; give a .parquet, .jsonl or .json file"),
    "cut off": (
        "a.parquet",
        b"PAR1" + b"x" * 99,
        "can't be read as Parquet (Parquet magic bytes not found in footer. Either the file is corrupted or this is "
        "not a parquet file.); give a file that can",
    ),
    "rows that are none": ("a.json", b"[1]", "line 1 is no JSON object; write one object per line"),
}


@pytest.mark.parametrize("case", FILES)
def test_a_file_that_can_not_be_read_is_named(tmp_path: Path, case: str) -> None:
    name, data, message = FILES[case]
    (tmp_path / name).write_bytes(data)
    assert refusal(Squad(path=str(tmp_path / name))) == f"dataset.path={tmp_path / name}: {message}"


def test_a_file_too_large_to_be_held_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contextcliff.datasets.local_files.MAX_BYTES", 3)
    path = json_lines(tmp_path / "a.jsonl", [SQUAD])
    with pytest.raises(ConfigError, match=r"is 0\.0 GiB; files of up to 2 GiB are read, give a part of it"):
        read(Squad(path=path))


def test_a_json_file_is_an_array_or_has_an_object_a_line(tmp_path: Path) -> None:
    line = Path(json_lines(tmp_path / "lines.json", [SQUAD])).read_text(encoding="utf-8")
    (tmp_path / "array.json").write_text(f"[{line}]", encoding="utf-8")
    lines, array = (read(Squad(path=str(tmp_path / name))) for name in ("lines.json", "array.json"))
    assert lines == array
    assert len(lines.questions) == 1


def test_the_identity_of_a_file_is_its_contents_and_of_a_hub_set_where_it_comes_from(tmp_path: Path) -> None:
    one, same = (json_lines(tmp_path / name, [SQUAD]) for name in ("one.jsonl", "two.jsonl"))
    other = json_lines(tmp_path / "three.jsonl", [SQUAD | {"id": "x"}])
    assert Squad(path=one).identity() == Squad(path=same).identity() != Squad(path=other).identity()
    assert Squad(path=one).identity() != Squad(path=one, limit=1).identity()
    assert Qasper(split="test").identity() == {
        "dataset": "qasper",
        "repository": "allenai/qasper",
        "configuration": None,
        "split": "test",
        "revision": "refs/convert/parquet",
        "limit": None,
    }


def test_without_a_file_the_rows_come_from_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Any, ...]] = []

    def load_dataset(repository: str, *, name: str | None, split: str, revision: str | None) -> datasets.Dataset:
        calls.append((repository, name, split, revision))
        return datasets.Dataset.from_list([SQUAD | {"further": 1}])

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    assert [question.question_id for question in read(Squad(revision="abc")).questions] == ["s1"]
    assert calls == [("rajpurkar/squad", None, "validation", "abc")]
    line = "dataset.repository=tasksource/QuALITY: row 1: gold_label is missing; it has id, title, context, "
    assert refusal(Quality()).startswith(line)


def test_a_hub_out_of_reach_is_one_line_with_the_way_round_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_dataset(*_: object, **__: object) -> None:
        raise ConnectionError("Couldn't reach it with\nhf_secret")

    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    with pytest.raises(RunError) as raised:
        read(Squad())
    assert str(raised.value) == (
        "dataset.repository=rajpurkar/squad: split validation can't be loaded from the Hugging Face hub (Couldn't "
        "reach it with ***); check the network, HF_TOKEN for gated repositories, and dataset.configuration, split and "
        "revision, or give a Parquet or JSON Lines file of the same schema with dataset.path=FILE; dataset=stories "
        "needs no network"
    )
