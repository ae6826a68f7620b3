"""Project Gutenberg's header and licence are cut, whatever their age, and nothing of a book is."""

from __future__ import annotations

import pytest

from contextcliff.documents.cleaning import clean_text

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
    "of 2003, with two starts": (
        f"{HEAD}\n\n*** START OF THE PROJECT GUTENBERG EBOOK RAIN ***\n\nThe legal small print of Project Gutenberg\n\n"
        "*END THE SMALL PRINT! FOR PUBLIC DOMAIN EBOOKS*Ver.02/11/02*END*",
        "End of this Project Gutenberg Etext of Rain",
    ),
    "of a copyrighted book": (
        "*** START OF THE COPYRIGHTED PROJECT GUTENBERG EBOOK, RAIN ***",
        "*** END OF THE COPYRIGHTED PROJECT GUTENBERG EBOOK, RAIN ***",
    ),
    "of Australia": (
        "Project Gutenberg Australia\n\nTitle: Rain\n\nTo contact Project Gutenberg of Australia go to "
        "http://gutenberg.net.au\n\n--------\n\nTitle:      Rain\nAuthor:     Nobody",
        "Project Gutenberg Australia",
    ),
    "without an end": (f"{HEAD}\n\n*** START OF THE PROJECT GUTENBERG EBOOK RAIN ***", ""),
    "without a start": ("", f"*** END OF THE PROJECT GUTENBERG EBOOK RAIN ***\n\n{LICENCE}"),
    "with curly quotes and Windows line ends": ("\r\n", "End of Project Gutenberg’s Rain\r\n\r\nEnd."),
}


@pytest.mark.parametrize(("before", "after"), FRAMES.values(), ids=FRAMES.keys())
def test_the_book_alone_is_left(before: str, after: str) -> None:
    assert clean_text(f"{before}\n\n\n\n{BOOK}\n\n\n{after}\n").rstrip("\n") == BOOK


def test_every_book_of_a_file_is_left() -> None:
    before, after = FRAMES["of today"]
    framed = f"{before}\n\n{BOOK}\n\n{after}"
    assert clean_text(f"{framed}\n\n{framed}").rstrip("\n") == f"{BOOK}\n\n{BOOK}"


@pytest.mark.parametrize(
    "text",
    [
        "He gave the text to Project Gutenberg.\n\nProject Gutenberg Australia\n\nProduced by hand.",
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
