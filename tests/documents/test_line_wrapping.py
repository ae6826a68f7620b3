"""Hard-wrapped lines: prose comes together again, and what has lines of its own keeps them."""

from __future__ import annotations

import textwrap
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextcliff.documents.cleaning import unwrap

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
