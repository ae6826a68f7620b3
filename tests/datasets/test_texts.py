"""The built-in texts: what they have to be for a haystack and a continuation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from contextcliff.datasets.essays import Essays
from contextcliff.datasets.synthetic import Synthetic
from contextcliff.errors import ConfigError
from contextcliff.text.words import WordTokenizer

STORY = Essays().corpus(tokens=1, seed=0).documents[0].text
PARAGRAPHS = STORY.strip().split("\n\n")
HEADINGS = [paragraph for paragraph in PARAGRAPHS if re.fullmatch(r"[IVXL]+\. .+", paragraph)]


def test_the_story_is_long_and_in_titled_chapters() -> None:
    assert len(STORY.split()) >= 12_000
    assert len(HEADINGS) >= 12
    assert len(set(HEADINGS)) == len(HEADINGS)


def test_the_story_is_plain_text_in_paragraphs_parted_by_blank_lines() -> None:
    assert all(paragraph == paragraph.strip() and "\n" not in paragraph for paragraph in PARAGRAPHS)
    assert "\r" not in STORY


def test_no_paragraph_of_the_story_repeats() -> None:
    assert len(set(PARAGRAPHS)) == len(PARAGRAPHS)


def test_the_story_holds_no_number_that_could_be_a_needle() -> None:
    assert re.search(r"\d{5}", STORY) is None
    assert "magic" not in STORY.lower()


def test_own_files_are_joined_in_the_order_given(tmp_path: Path) -> None:
    for name, text in (("one.txt", "\ufeffFirst.\r\n\r\nStill.\r\n"), ("two.txt", "Second.")):
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    essays = Essays(paths=(str(tmp_path / "one.txt"), str(tmp_path / "two.txt")))
    (document,) = essays.corpus(tokens=1, seed=0).documents
    assert document.text == "First.\n\nStill.\n\nSecond.\n"
    assert document.title == "one, two"


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="dataset.paths: .*absent.txt can't be read"):
        Essays(paths=(str(tmp_path / "absent.txt"),)).identity()


def test_the_same_text_is_the_same_dataset_wherever_it_lies(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "text.txt").write_text("Same.", encoding="utf-8")
    first, second = (Essays(paths=(str(tmp_path / folder / "text.txt"),)).identity() for folder in ("a", "b"))
    assert first == second


def test_synthetic_prose_never_runs_short() -> None:
    (document,) = Synthetic().corpus(tokens=1_000_000, seed=0).documents
    assert len(WordTokenizer().starts(document.text)) >= 1_000_000


def test_synthetic_prose_follows_the_seed_and_the_variant() -> None:
    texts = {
        Synthetic(variant=variant).corpus(tokens=100, seed=seed).documents[0].text
        for variant in (0, 1)
        for seed in (0, 1)
    }
    assert len(texts) == 4


def test_a_longer_run_reads_on_in_the_same_synthetic_text() -> None:
    short, long = (Synthetic().corpus(tokens=tokens, seed=3).documents[0].text for tokens in (200, 2_000))
    assert long.startswith(short.rstrip())
