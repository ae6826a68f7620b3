"""What the pages share: their templates, the drawing library, and data that the browser unpacks."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from contextcliff.reporting.outside_text import tame
from contextcliff.reporting.page.chart import Chart

LIBRARY = files("contextcliff.reporting") / "pages" / "plotly-cartesian.min.js.gz"
"""Plotly's bundle of charts with two axes, from npm's `plotly.js-cartesian-dist-min`: a third of the one in the Python
package, which is in every page."""

_PACKAGE = "contextcliff.reporting"

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


@dataclass(frozen=True, kw_only=True, slots=True)
class PageSection:
    """A section with its figures in it. `folded` ones are opened by a click."""

    key: str
    title: str
    body: Markup
    folded: bool = False


def chart_place(name: str, chart: Chart) -> Markup:
    """Where the browser draws a chart."""
    from markupsafe import Markup

    return Markup('<figure class="chart" data-chart="{}" style="height:{}px"></figure>').format(name, chart.height)


def embedded(image: bytes, *, caption: str) -> Markup:
    """A PNG in the page itself."""
    from markupsafe import Markup

    source = base64.b64encode(image).decode("ascii")
    return Markup(
        '<figure><img alt="{0}" src="data:image/png;base64,{1}"><figcaption>{0}</figcaption></figure>'
    ).format(caption, source)


def rendered(
    template: str, charts: Mapping[str, Chart], data: Mapping[str, object], *, package: str = _PACKAGE, **values: object
) -> str:
    """A page from a template of a `package`, with the charts and further `data` packed.

    Raises `ValueError` for NaN in them.
    """
    drawn = {name: {"traces": chart.traces, "layout": chart.layout} for name, chart in charts.items()}
    text = json.dumps({"charts": drawn, **data}, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return _templates(package).get_template(template).render(data=_packed(text.encode()), plotly=_plotly, **values)


def _packed(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, compresslevel=6, mtime=0)).decode("ascii")


@cache
def _plotly() -> str:
    return base64.b64encode(LIBRARY.read_bytes()).decode("ascii")


@cache
def _templates(package: str) -> Environment:
    """Those of a package and those of all pages. Every text that is put in is escaped."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loader = ChoiceLoader([PackageLoader(each, "pages") for each in dict.fromkeys((package, _PACKAGE))])
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    environment.filters["tame"] = tame
    return environment
