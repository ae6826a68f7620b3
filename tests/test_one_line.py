"""Text for an error message: one line, cut to a length."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contextcliff.errors import one_line


def test_white_space_becomes_single_blanks() -> None:
    assert one_line("  no\n\tsuch   file ", longest=20) == "no such file"


def test_a_longer_text_is_cut_with_a_sign_that_it_goes_on() -> None:
    assert one_line("0123456789", longest=10) == "0123456789"
    assert one_line("0123456789", longest=9) == "012345678…"


@given(text=st.text(), longest=st.integers(min_value=1, max_value=50))
def test_the_result_is_one_line_of_bounded_length(text: str, longest: int) -> None:
    line = one_line(text, longest=longest)
    assert len(line.splitlines()) <= 1
    assert len(line) <= longest + 1
