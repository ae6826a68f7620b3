"""The report as Markdown: its chapters, and the pieces of such a text. How a text is escaped depends on where it
stands, which a template's one escaping function does not know."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import quote

from contextcliff.findings.finding import Block, Code, Finding, Heading, Image, Lines, Pairs, Table, Text, findings_of
from contextcliff.records.note import Note
from contextcliff.records.report import Report
from contextcliff.reporting.text import tame


@dataclass(frozen=True, kw_only=True, slots=True)
class Chapter:
    """A part of a report as Markdown, without its heading."""

    key: str
    title: str
    """Empty: it has no heading."""
    text: str
    folded: bool = False
    """Whether it is opened by a click."""


def chapters(report: Report, *, figures: Sequence[str]) -> tuple[Chapter, ...]:
    """The answer and the scores, what deserves a look, and the details; `figures` are paths of images, as
    `figures/heatmap.png`."""
    images = {PurePosixPath(path).stem: path for path in figures}
    claim = report.analysis.safe_cap.claim
    first = [] if claim is None else [escape(f"{claim}.")]
    looks: list[Text] = []
    quiet: list[Note] = []
    details: list[str] = []
    for finding in findings_of(report):
        first.append(markdown_of_all(finding.short(report), images))
        look, text = finding.look(report), markdown_of_all(finding.show(report), images)
        looks += look
        if text and not look and type(finding).look is not Finding.look:
            quiet.append(Note(finding.title))
        if text:
            lower = re.sub(r"^###(?= )", "####", text, flags=re.MULTILINE)
            details.append(f"### {inline(finding.title)}\n\n{lower}")
    if quiet:
        looks.append(Text(text=Note("Nothing stands out in: {findings}", findings=quiet)))
    told = markdown_of(Lines(lines=tuple(looks)), {}) if looks else ""
    return (
        Chapter(key="answer", title="", text="\n\n".join(filter(None, first))),
        *([Chapter(key="look", title="Worth a look", text=told)] if told else []),
        Chapter(key="details", title="Method and details", text="\n\n".join(details), folded=True),
    )


def render_markdown(report: Report, *, figures: Sequence[str]) -> str:
    """`report.md`."""
    return joined(f"{report.run.model}: {report.run.task}", chapters(report, figures=figures))


def joined(title: str, chapters: Iterable[Chapter]) -> str:
    """A whole page of chapters."""
    return "\n\n".join((f"# {inline(title)}", *map(_with_heading, chapters))) + "\n"


def _with_heading(chapter: Chapter) -> str:
    if chapter.folded:
        return f"<details>\n<summary>{inline(chapter.title)}</summary>\n\n{chapter.text}\n\n</details>"
    return f"## {inline(chapter.title)}\n\n{chapter.text}" if chapter.title else chapter.text


def markdown_of_all(blocks: Iterable[Block], images: Mapping[str, str]) -> str:
    """Blocks one below the other, as `markdown_of` has each."""
    return "\n\n".join(filter(None, (markdown_of(block, images) for block in blocks)))


def markdown_of(block: Block, images: Mapping[str, str]) -> str:
    """A block; `images` are the paths of the drawn figures by name. Empty: an image that was not drawn."""
    match block:
        case Text(text=text, label=label, strong=True):
            return f"**{inline(_labelled(label, text))}**"
        case Text(text=text, label=label):
            return escape(_labelled(label, text))
        case Heading(text=text):
            return f"### {inline(text)}"
        case Pairs(rows=rows):
            return table(("", ""), ((name, str(value)) for name, value in rows), words=2)
        case Lines(lines=lines):
            return bullets(escape(_labelled(line.label, line.text)) for line in lines)
        case Table(columns=columns):
            cells = zip(*(column.cells for column in columns), strict=True)
            head = [column.title.replace("\n", " ") for column in columns]
            return table(head, cells, left=[column.words for column in columns])
        case Image(name=name, caption=caption):
            return image(images[name], caption=caption) if name in images else ""
        case Code(text=text):
            return code(text)


def _labelled(label: str, text: object) -> str:
    return f"{label}: {text}" if label else str(text)


def escape(text: str) -> str:
    """Text from outside as a line of Markdown that shows it as it is: nothing in it can start HTML, a link, an image,
    code, emphasis, a formula, a heading, a list or a table cell."""
    line = inline(text)
    line = re.sub(r"^(?=[-+=#])", r"\\", line)
    return re.sub(r"^(\d+)(?=[.)](\s|$))", r"\1\\", line)


def inline(text: str) -> str:
    """As `escape`, for text that doesn't begin a line."""
    flat = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    flat = flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    flat = re.sub(r"([\\`*\[\]|~$])", r"\\\1", flat)
    # An underscore inside a word is no emphasis, and names are full of them: those stay readable.
    return re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", flat)


def image(path: str, *, caption: str) -> str:
    """An image by its path relative to the page."""
    return f"![{inline(caption)}]({quote(path)})"


def bullets(lines: Iterable[str]) -> str:
    """A list of lines that are escaped already."""
    return "\n".join(f"- {line}" for line in lines)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 0, left: Sequence[bool] = ()) -> str:
    """A table whose first `words` columns are text, or those that are so in `left`; the rest are numbers."""
    rule = (":--" if is_text else "--:" for is_text in left or [place < words for place in range(len(head))])
    lines = [_row(map(inline, head)), _row(rule), *(_row(map(inline, row)) for row in rows)]
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def code(text: str) -> str:
    """A block of code that `text` can't end: its fence is longer than any run of backticks in it."""
    text = tame(text)
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}sh\n{text}\n{fence}" if text else ""
