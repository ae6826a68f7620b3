"""The report as a Markdown page: every section in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from contextcliff.records.report import Report
from contextcliff.reporting.blocks import Block, Code, Heading, Image, Lines, Pairs, Shown, Table, Text
from contextcliff.reporting.markup import aligned_table, bullets, code, escape, image, inline, pairs
from contextcliff.reporting.section_list import sections_of
from contextcliff.reporting.words import english
from contextcliff.reporting.words.language import text_of


def render_markdown(report: Report, *, figures: Sequence[str]) -> str:
    """The whole page. `figures` are paths of images relative to it, as in `figures/heatmap.png`."""
    paths = {PurePosixPath(path).stem: path for path in figures}
    blocks = [f"# Failure risk report: {inline(report.run.model)}"]
    for section in sections_of(report):
        images = {
            figure.name: image(paths[figure.name], caption=figure.caption)
            for figure in section.figures
            if figure.name in paths
        }
        content = [text for block in section.full(report) for text in [markdown_of(block, images)] if text]
        if content:
            blocks += [f"## {inline(section.title)}"] if section.title else []
            blocks += content
    return "\n\n".join(blocks) + "\n"


def markdown_of(block: Block, images: Mapping[str, str]) -> str:
    """A block; `images` are the drawn figures by name, as Markdown. Empty: an image that was not drawn."""
    match block:
        case Text(text=text, label=label, strong=True):
            return f"**{inline(_labelled(label, text))}**"
        case Text(text=text, label=label):
            return escape(_labelled(label, text))
        case Heading(text=text):
            return f"### {inline(text)}"
        case Pairs(rows=rows):
            return pairs((name, text_of(value, english)) for name, value in rows)
        case Lines(lines=lines):
            return bullets(escape(_labelled(line.label, line.text)) for line in lines)
        case Table(columns=columns):
            cells = zip(*(column.cells for column in columns), strict=True)
            head = [column.title.replace("\n", " ") for column in columns]
            return aligned_table(head, cells, left=[column.words for column in columns])
        case Image(figure=name):
            return images.get(name, "")
        case Code(text=text):
            return code(text)


def _labelled(label: str, text: Shown) -> str:
    sentence = text_of(text, english)
    return f"{label}: {sentence}" if label else sentence
