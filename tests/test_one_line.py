"""Text for an error message: one line, cut to a length."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contextcliff.errors import ConfigError, one_line, visible


def test_white_space_becomes_single_blanks() -> None:
    assert one_line("  no\n\tsuch   file ", longest=20) == "no such file"


@given(text=st.text(), longest=st.integers(min_value=1, max_value=50))
def test_the_result_is_one_line_of_bounded_length_with_a_sign_where_it_is_cut(text: str, longest: int) -> None:
    line = one_line(text, longest=longest)
    assert len(line.splitlines()) <= 1
    assert len(line) <= longest + 1
    assert line.endswith("…") or len(line) <= longest


@given(value=st.text(max_size=2_000))
def test_an_error_of_the_configuration_keeps_its_key_and_its_way_out(value: str) -> None:
    line = str(ConfigError(f"task.needle.text={value}: is no needle; give another one"))
    assert visible(line) == line
    assert len(line) <= 901
    assert line.startswith("task.needle.text=")
    assert line.endswith("; give another one")
