"""Pages for a browser: templates in which every text is escaped, and Markdown as HTML.

A page is one file that loads nothing and stands alone. No HTML, no address and no image of a text from outside gets in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from contextcliff.records.report import SCHEMA_VERSION
from contextcliff.reporting.markdown import Chapter
from contextcliff.reporting.outside_text import tame
from contextcliff.reporting.svg import svg_of

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup
    from matplotlib.figure import Figure

_PACKAGE = "contextcliff.reporting"


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
        "page.html",
        chapters=chapters,
        title=title,
        subtitle=subtitle,
        run_id=run_id,
        samples=samples,
        schema_version=SCHEMA_VERSION,
        html=partial(markup_of, figures=figures),
    )


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
    for name, rule in {
        "image": _image,
        "paragraph_open": _paragraph,
        "paragraph_close": _paragraph,
        "table_open": lambda *_: '<div class="wide"><table>',
        "table_close": lambda *_: "</table></div>",
    }.items():
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
    """Those of a package and those of all pages."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loader = ChoiceLoader([PackageLoader(each, "pages") for each in dict.fromkeys((package, _PACKAGE))])
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    environment.filters["tame"] = tame
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "allow_nan": False, "separators": (",", ":")}
    return environment
