"""Combining marks, which `re` does not count as parts of a word."""

import re
import unicodedata

from contextcliff.text.words import combining_marks


def test_they_are_every_mark_up_to_four_hexadecimal_digits() -> None:
    marks = combining_marks()
    assert all(unicodedata.category(mark) in ("Mn", "Mc", "Me") for mark in marks)
    assert {"\u0301", "\u093e", "\u20dd"} <= set(marks)
    assert not re.search(r"\w", "\u0301")
