"""The blocks of a section as HTML. Every text is escaped; what is markup says so by its type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from contextcliff.findings.finding import Block, Code, Heading, Image, Lines, Pairs, Shown, Table, Text
from contextcliff.reporting.outside_text import tame
from contextcliff.reporting.words.language import Language, text_of

if TYPE_CHECKING:
    from markupsafe import Markup


def html_of(block: Block, *, language: Language, figures: Mapping[str, Markup]) -> Markup:
    """A block; `figures` are those of the section by name. Empty: an image that was not drawn."""
    from markupsafe import Markup

    match block:
        case Text(text=text, label=label, strong=strong, mood=mood):
            kind = " ".join(part for part in ("strong" if strong else "", mood) if part)
            return Markup('<p class="{}">{}{}</p>').format(kind, _label(label, language), _say(text, language))
        case Heading(text=text):
            return Markup("<h3>{}</h3>").format(language.label(text))
        case Pairs(rows=rows):
            pair = Markup("<dt>{}</dt><dd>{}</dd>")
            inside = Markup("").join(pair.format(language.label(name), _say(value, language)) for name, value in rows)
            return Markup("<dl>{}</dl>").format(inside)
        case Lines(lines=lines, bullets=bullets):
            item = Markup('<li class="{}">{}{}</li>')
            items = (item.format(line.mood, _label(line.label, language), _say(line.text, language)) for line in lines)
            return Markup('<ul class="{}">{}</ul>').format("" if bullets else "plain", Markup("").join(items))
        case Table(columns=columns):
            return _table(columns_of(block, language), [column.words for column in columns])
        case Image(figure=name):
            return figures.get(name, Markup(""))
        case Code(text=text):
            return Markup("<pre><code>{}</code></pre>").format(tame(text))


def columns_of(table: Table, language: Language) -> list[tuple[str, tuple[str, ...]]]:
    """The titles of a table in the reader's language, and the cells under each."""
    titles = (language.label(column.title).replace("-\n", "").replace("\n", " ") for column in table.columns)
    return [(title, column.cells) for title, column in zip(titles, table.columns, strict=True)]


def _table(columns: list[tuple[str, tuple[str, ...]]], words: list[bool]) -> Markup:
    from markupsafe import Markup

    kinds = ["" if is_text else "n" for is_text in words]
    title, cell = Markup('<th class="{}">{}</th>'), Markup('<td class="{}">{}</td>')
    head = Markup("").join(title.format(kind, text) for kind, (text, _) in zip(kinds, columns, strict=True))
    rows = Markup("").join(
        Markup("<tr>{}</tr>").format(
            Markup("").join(cell.format(kind, _flat(text)) for kind, text in zip(kinds, row, strict=True))
        )
        for row in zip(*(cells for _, cells in columns), strict=True)
    )
    return Markup('<div class="wide"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>').format(
        head, rows
    )


def _label(label: str, language: Language) -> Markup:
    from markupsafe import Markup

    return Markup("<b>{}:</b> ").format(language.label(label)) if label else Markup("")


def _say(value: Shown, language: Language) -> str:
    return _flat(text_of(value, language))


def _flat(text: str) -> str:
    return " ".join(tame(text).split())
