"""A book as people have it becomes plain paragraphs; lines of their own and clean texts stay."""

from __future__ import annotations

import textwrap
import unicodedata
from importlib.resources import files
from importlib.resources.abc import Traversable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.documents.cleaning import clean_text, unwrap

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


STORY = files("contextcliff.datasets").joinpath("texts", "the_tide_clerk.txt").read_text(encoding="utf-8").strip("\n")
VERSE = """The moon has left the harbour wall,
  The lamps are going one by one,
And nobody is left at all
  To say what has been said or done."""
HEAD = "        PORT ALMERY, 5th May.\nMy dear Sir,"
LIST = "- a lamp\n- two coils of rope, tarred\n- the ledger"


def wrapped(text: str, width: int, *, indent: str = "", between: str = "\n\n") -> str:
    """What a typist with so many columns makes of it, one paragraph after the other."""
    paragraphs = (textwrap.wrap(paragraph, width, initial_indent=indent) for paragraph in text.split("\n\n"))
    return between.join("\n".join(lines) for lines in paragraphs)


@pytest.mark.parametrize("width", [40, 50, 65, 72, 79, 100, 120])
def test_a_story_that_was_wrapped_comes_back_to_the_letter(width: int) -> None:
    assert unwrap(wrapped(STORY, width)) == STORY


@pytest.mark.parametrize("kept", [VERSE, HEAD, LIST], ids=["verse", "letter", "list"])
def test_what_breaks_where_nothing_forces_it_keeps_its_lines(kept: str) -> None:
    prose = wrapped(STORY, 72)
    assert unwrap(f"{prose}\n\n{kept}\n\n{prose}") == f"{STORY}\n\n{kept}\n\n{STORY}"


@pytest.mark.parametrize(
    "text",
    [
        STORY,
        "\n\n".join([VERSE] * 30),
        f"{STORY}\n\n" + "\n\n".join([VERSE, HEAD, LIST] * 30),
        "\n".join(f"{number}: {'x' * (number % 37)} end" for number in range(300)),
        wrapped(STORY[:1_000], 72),
    ],
    ids=["story", "poems", "story and poems", "records", "too few lines to tell"],
)
def test_a_text_that_is_not_hard_wrapped_is_left_alone(text: str) -> None:
    assert unwrap(text) == text


def test_a_paragraph_may_open_with_a_line_that_is_set_in_and_no_blank_line() -> None:
    text = wrapped(STORY, 72, indent="    ", between="\n")
    unwrapped = unwrap(text).split("\n\n")
    paragraphs = STORY.split("\n\n")
    assert sum(paragraph in set(unwrapped) for paragraph in paragraphs) > 0.95 * len(paragraphs)


@pytest.mark.parametrize(
    ("line", "following", "joined"),
    [
        ("after-", "lecture debates", "after-lecture debates"),
        ("a pleasant place--", "pleasanter than", "a pleasant place--pleasanter than"),
        ("said sadly,--", '"We have not', 'said sadly,--"We have not'),
        ("the customary fare", "—plenty of good food", "the customary fare—plenty of good food"),
        ("she said", "— and went", "she said — and went"),
        ("It rained.  It", "rained.", "It rained. It rained."),
    ],
)
def test_hyphens_and_dashes_at_a_line_end_stay_and_take_no_blank(line: str, following: str, joined: str) -> None:
    filled = "x " * ((72 - len(line)) // 2) + line
    filled = "x" * (72 - len(filled)) + filled
    unwrapped = unwrap(f"{wrapped(STORY, 72)}\n\n{filled}\n{following}")
    assert unwrapped.endswith(joined)
    assert "\n" not in unwrapped[-len(filled) - len(following) :]


def test_lines_of_japanese_are_never_taken_for_forced() -> None:
    lines = "\n".join(["\u3000夜が明けるまで海は静かだった。" + "波" * (number % 30) for number in range(200)])
    assert unwrap(lines) == lines
    mixed = f"{wrapped(STORY, 72)}\n\n{lines}"
    assert unwrap(mixed).endswith(lines)


@given(st.text(alphabet="ab.A -\n\t日", max_size=400), st.integers(40, 100))
def test_no_letter_is_lost_or_added(tail: str, width: int) -> None:
    text = f"{wrapped(STORY[:6_000], width)}\n\n{tail}"
    assert "".join(unwrap(text).split()) == "".join(text.split())
