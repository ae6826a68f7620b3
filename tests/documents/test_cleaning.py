"""A book as people have it becomes plain paragraphs, and a clean text is left alone."""

from __future__ import annotations

import unicodedata
from importlib.resources import files
from importlib.resources.abc import Traversable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.documents.cleaning import clean_text

BUILT_IN = [
    file
    for folder in ("texts", "stories")
    for file in sorted(files("contextcliff.datasets").joinpath(folder).iterdir(), key=str)
    if file.name.endswith(".txt")
]


@pytest.mark.parametrize("file", BUILT_IN, ids=lambda file: str(file.name))
def test_the_built_in_stories_are_clean(file: Traversable) -> None:
    text = file.read_text(encoding="utf-8")
    assert clean_text(text) == text


def test_what_is_mended_and_what_is_kept() -> None:
    expected = {
        "It wasnâ€™t cafÃ© au lait.": "It wasn’t café au lait.",
        "“Curly,” ‘she’ said…": "“Curly,” ‘she’ said…",
        "the ﬁrst ﬂoor": "the first floor",
        "One.\r\nTwo.\rThree.\u2028Four.\u2029Five.": "One.\nTwo.\nThree.\nFour.\n\nFive.",
        "\ufeffsoft\u00adly, zero\u200bwidth\u2060": "softly, zerowidth",
        "no\u00a0break, narrow\u202f!": "no break, narrow !",
        "bell\x07 and escape \x1b[31mred\x1b[0m": "bell and escape red",
        "cafe\u0301, 10³, ½": "café, 10³, ½",
        "&amp; &lt;b&gt; AT&amp;T": "&amp; &lt;b&gt; AT&amp;T",
        "ＡＢＣ、ｶﾅ　全角！": "ＡＢＣ、ｶﾅ　全角！",
        "می\u200cروم": "می\u200cروم",
        "\n\n  One. \t\n \n\u3000\n\nTwo.\n\n\n": "  One.\n\nTwo.\n",
        "\u3000夜が明けた。\n\u3000海は静かだった。\n": "\u3000夜が明けた。\n\u3000海は静かだった。\n",
        "One page.\n\n\fAnother.": "One page.\n\nAnother.",
        "\ufeff \n": "",
    }
    assert {damaged: clean_text(damaged) for damaged in expected} == expected


PIECES = st.sampled_from([
    *("word ", "A", "He said. ", "-", "--", " ", "  ", "\t", "\n", "\n\n", "\r\n", "\u2029", "\f", "\u00a0", "\u00ad"),
    *("\u200b", "\u3000", "日本", "Ã", "©", "â€", "™", "\x80", "e\u0301", "ﬁ", "Ａ", "***", "Produced by Y\n"),
    *("*** START OF THE PROJECT GUTENBERG EBOOK X ***\n", "*** END OF THE PROJECT GUTENBERG EBOOK X ***\n"),
    *("*END*THE SMALL PRINT!\n", "End of Project Gutenberg's X\n", "the quick brown fox jumps over the lazy dog and "),
])  # fmt: skip


@given(st.one_of(st.text(), st.lists(PIECES, max_size=120).map("".join)))
def test_a_cleaned_text_is_clean(text: str) -> None:
    once = clean_text(text)
    assert clean_text(once) == once
    assert unicodedata.is_normalized("NFC", once)
    assert "\n\n\n" not in once
    assert not once.startswith("\n")
    assert all(line == line.rstrip(" \t") for line in once.split("\n"))


BOOK = "CHAPTER I\n\nIt rained.\n\nTHE END"
LICENCE = (
    "Section 1. General Terms\n\nThis eBook is for the use of anyone anywhere.\n\n*** START: FULL LICENSE ***\n\nMore."
)
HEAD = "The Project Gutenberg eBook of Rain\n\nTitle: Rain\n\nRelease Date: 2004"
SMALL_PRINT = "***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***\n\nWhy is this here? You know: lawyers."

FRAMES = {
    "of today": (
        f"{HEAD}\n\n*** START OF THE PROJECT GUTENBERG EBOOK RAIN ***\n\nProduced by A. Person and the Online\n"
        "Distributed Proofreading Team",
        f"*** END OF THE PROJECT GUTENBERG EBOOK RAIN ***\n\n{LICENCE}",
    ),
    "of 2005": (
        f"{HEAD}\n\n***START OF THIS PROJECT GUTENBERG EBOOK RAIN***\n\n\nE-text prepared by A. Person\n\nNote: "
        "Project Gutenberg also has an HTML version of this file",
        f"End of Project Gutenberg's Rain, by Nobody\n\n*** END OF THIS PROJECT GUTENBERG EBOOK RAIN ***\n\n{LICENCE}",
    ),
    "with a title over two lines": (
        "*** START OF THE PROJECT GUTENBERG EBOOK RAIN, OR THE WHOLE HISTORY OF\nA WET DAY ***",
        "*** END OF THE PROJECT GUTENBERG EBOOK RAIN, OR THE WHOLE HISTORY OF\nA WET DAY ***",
    ),
    "of 1994": (
        f"**This is the Project Gutenberg Etext of Rain**\n\n{SMALL_PRINT}\n\n"
        "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*",
        "End of the Project Gutenberg Etext of Rain",
    ),
    "of a copyrighted book": (
        "*** START OF THE COPYRIGHTED PROJECT GUTENBERG EBOOK, RAIN ***",
        "*** END OF THE COPYRIGHTED PROJECT GUTENBERG EBOOK, RAIN ***",
    ),
    "without an end": (f"{HEAD}\n\n*** START OF THE PROJECT GUTENBERG EBOOK RAIN ***", ""),
    "without a start": ("", f"*** END OF THE PROJECT GUTENBERG EBOOK RAIN ***\n\n{LICENCE}"),
    "with curly quotes and Windows line ends": ("\r\n", "End of Project Gutenberg’s Rain\r\n\r\nEnd."),
}


@pytest.mark.parametrize(("before", "after"), FRAMES.values(), ids=FRAMES.keys())
def test_the_book_alone_is_left(before: str, after: str) -> None:
    assert clean_text(f"{before}\n\n\n\n{BOOK}\n\n\n{after}\n").rstrip("\n") == BOOK


@pytest.mark.parametrize(
    "text",
    [
        "He gave the text to Project Gutenberg.\n\nProduced by hand.",
        "The End of Project Gutenberg was near, they said.\n\nIt was not.",
        "She read: *** START OF THE PROJECT GUTENBERG EBOOK RAIN ***\n\nAnd then she slept.",
        "*** START OF THE STORY ***\n\nIt rained.\n\n*** END OF THE STORY ***\n\nIt rains.",
        "Title: Rain\n\nThe Project Gutenberg eBook of Rain lay on the table.",
    ],
)
def test_prose_that_speaks_of_project_gutenberg_is_kept(text: str) -> None:
    assert clean_text(text) == text


def test_what_is_longer_than_any_licence_is_a_text_and_is_kept() -> None:
    mine = "\n\n".join(f"{number}. It rained and nobody came to the window to see it." for number in range(900))
    assert len(mine) > 40_000
    start, end = "*** START OF THE PROJECT GUTENBERG EBOOK RAIN ***", "*** END OF THE PROJECT GUTENBERG EBOOK RAIN ***"
    assert clean_text(f"{mine}\n\n{start}\n\n{BOOK}\n\n{end}\n\n{mine}") == f"{mine}\n\n{BOOK}\n\n{mine}"
