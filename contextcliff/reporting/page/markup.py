"""Pages for a browser: one file that loads nothing; no HTML, no address and no image of a text from outside gets in."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from contextcliff.findings.drawing import ON_DARK, ON_LIGHT, PAD_INCHES, TOLD
from contextcliff.records.report import SCHEMA_VERSION
from contextcliff.reporting.markdown import Chapter
from contextcliff.reporting.text import tame

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from jinja2 import Environment
    from markupsafe import Markup
    from matplotlib.figure import Figure

_PACKAGE = "contextcliff.reporting"
_HREF = "{http://www.w3.org/1999/xlink}href"
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_COLOUR = re.compile(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})\b")
_FONTS = re.compile(r"'DejaVu Sans', [^;\"]*")
_TAG = re.compile(r"\{[^}]*\}")


def page_of(
    chapters: Sequence[Chapter],
    *,
    title: str,
    subtitle: str,
    figures: Mapping[str, Figure],
    run_id: str = "",
    samples: object = None,
) -> str:
    """A page of chapters. `figures` are by name; `samples` can be filtered in it (None: it has no list of them)."""
    return rendered(
        "page.html", chapters=chapters, title=title, subtitle=subtitle, run_id=run_id, samples=samples,
        schema_version=SCHEMA_VERSION, html=partial(markup_of, figures=figures),
    )  # fmt: skip


def rendered(template: str, *, package: str = _PACKAGE, **values: object) -> str:
    """A page from a template in the folder `pages` of a package. Raises `ValueError` for NaN in its data."""
    return _templates(package).get_template(template).render(**values)


def markup_of(markdown: str, *, figures: Mapping[str, Figure] | None = None) -> Markup:
    """Markdown as HTML, with each image that is one of the figures in its place, and of any other its caption alone."""
    from markupsafe import Markup

    return Markup(_parser().render(markdown, {"figures": figures or {}}))  # noqa: S704 - it escapes every text


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable(["link", "autolink"])
    tables = {"table_open": lambda *_: '<div class="wide"><table>', "table_close": lambda *_: "</table></div>"}
    rules = {"image": _image, "paragraph_open": _paragraph, "paragraph_close": _paragraph, **tables}
    for name, rule in rules.items():
        parser.add_render_rule(name, rule)
    return parser


def _image(renderer: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    from markupsafe import escape

    caption, name = renderer.renderInlineAsText(tokens[place].children, options, env), _name(tokens[place])
    figure = env["figures"].get(name)
    return str(escape(caption)) if figure is None else svg_of(figure, name=name, caption=caption)


def _paragraph(renderer: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any) -> str:
    """Its tags; none around a figure, which can't stand in a paragraph."""
    inside = tokens[place + tokens[place].nesting].children or []
    is_figure = [each.type for each in inside] == ["image"] and _name(inside[0]) in env["figures"]
    return "" if is_figure else renderer.renderToken(tokens, place, options, env)


def _name(image: Token) -> str:
    return PurePosixPath(str(image.attrs["src"])).stem


@cache
def _templates(package: str) -> Environment:
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loader = ChoiceLoader([PackageLoader(each, "pages") for each in dict.fromkeys((package, _PACKAGE))])
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    environment.filters["tame"] = tame
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "allow_nan": False, "separators": (",", ":")}
    return environment


def svg_of(figure: Figure, *, name: str, caption: str) -> Markup:
    """The figure, called by its caption. `name` is one of a kind on its page: ids are made from it."""
    import matplotlib as mpl
    from markupsafe import Markup

    file = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(
            file, format="svg", bbox_inches="tight", pad_inches=PAD_INCHES, facecolor="none", metadata=_NO_METADATA
        )
    svg = ElementTree.fromstring(file.getvalue())  # noqa: S314 - matplotlib wrote it a moment ago
    _clean(svg)
    height, width = (svg.attrib.pop(side).removesuffix("pt") for side in ("height", "width"))
    # A phone shows it in part, rather than with letters that can't be read.
    size = f"width: {width}pt; min-width: min({width}pt, 40rem); aspect-ratio: {width} / {height}; fill: var(--ink)"
    svg.attrib |= {"role": "img", "aria-label": tame(caption), "style": size}
    return Markup('<figure class="wide">{}</figure>').format(Markup(ElementTree.tostring(svg, encoding="unicode")))  # noqa: S704


def _clean(svg: Element) -> None:
    """Make matplotlib's own file a part of a page: no name spaces, no rules for all of it, no id without a use."""
    used = {ref for each in svg.iter() for value in each.attrib.values() for ref in re.findall(r"#(\w+)", value)}
    for parent in svg.iter():
        for child in [each for each in parent if each.tag.endswith(("}style", "}metadata"))]:
            parent.remove(child)
    for each in list(svg.iter()):
        each.tag, each.tail = _TAG.sub("", each.tag), None
        if each.tag not in ("text", "tspan"):
            each.text = None
        if href := each.attrib.pop(_HREF, ""):
            each.set("href", href)
        if style := each.get("style"):
            each.set("style", _COLOUR.sub(_in_the_page, _FONTS.sub("'DejaVu Sans', Verdana, sans-serif", style)))
        own = each.get("id", "")
        if own and own not in used:
            del each.attrib["id"]
        if own.startswith(TOLD):
            _tell(each, json.loads(own.removeprefix(TOLD)))


def _in_the_page(colour: re.Match[str]) -> str:
    """Greys lie between the page's ink and its paper; other colours are lighter where the paper is dark."""
    red, green, blue = (int(part, 16) for part in colour.groups())
    if not red == green == blue:
        return f"color-mix(in oklab, {colour[0]}, white var(--lift))"
    if colour[0] in (ON_DARK, ON_LIGHT):
        return colour[0]
    shades = {0: "var(--ink)", 255: "var(--paper)"}
    return shades.get(red, f"color-mix(in srgb, var(--paper) {100 * red / 255:.0f}%, var(--ink))")


def _tell(group: Element, texts: list[str]) -> None:
    """Put what `told` said where a reader points: one text on all of the artist, several on a mark each."""
    places = [group] if len(texts) == 1 else [each for each in group.iter() if each.tag.endswith("use")]
    if len(places) == len(texts):
        for place, text in zip(places, texts, strict=True):
            title = ElementTree.Element("title")
            title.text = tame(text)
            place.insert(0, title)
