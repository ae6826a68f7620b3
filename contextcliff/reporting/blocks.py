"""What a section of a report consists of: text, tables and figures, before anybody has drawn or escaped them.

A section returns blocks; the console, the Markdown page and a page of HTML each know how to show every kind. What takes
a sentence is a fact, which whoever shows the block says in the reader's language. Text is the run's own (a name, a
number): whoever shows it escapes it. Labels, titles and headings are English, and each language has its own for them.
"""

from __future__ import annotations

from dataclasses import dataclass

from contextcliff.records.fact import Fact

Shown = str | Fact
"""A fact, or text as it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Text:
    """A paragraph. `strong` is for the answer itself; `mood` is `good`, `doubtful`, `bad` or nothing.

    A `label` stands before it with a colon.
    """

    text: Shown
    label: str = ""
    strong: bool = False
    mood: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Heading:
    """A heading within a section; the section's own title is not a block."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Pairs:
    """Names with their values, in order."""

    rows: tuple[tuple[str, Shown], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line of a list, with a label and a mood as `Text` has them."""

    text: Shown
    label: str = ""
    mood: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lines:
    """A list. `bullets` is whether each line is marked as one."""

    lines: tuple[Line, ...]
    bullets: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """A column of a table.

    `spare` says what gives way on a narrow console: the highest goes first, 0 never goes. `words` is for text, which
    stands to the left; numbers stand to the right.
    """

    title: str
    cells: tuple[str, ...]
    spare: int = 0
    words: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """Columns of equally many cells."""

    columns: tuple[Column, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """Where a figure of the section stands, by its name; nothing where it was not drawn. Consoles pass it over."""

    figure: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """A command or a path: it is copied, so that no line break may enter it."""

    text: str


Block = Text | Heading | Pairs | Lines | Table | Image | Code
