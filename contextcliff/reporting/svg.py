"""A drawn figure as SVG inside a page: it follows the page's light or dark, and loads and runs nothing."""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from contextcliff.findings.drawing import ON_DARK, ON_LIGHT, PAD_INCHES, TOLD
from contextcliff.reporting.outside_text import tame

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from markupsafe import Markup
    from matplotlib.figure import Figure

_HREF = "{http://www.w3.org/1999/xlink}href"
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_COLOUR = re.compile(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})\b")
_FONTS = re.compile(r"'DejaVu Sans', [^;\"]*")
_TAG = re.compile(r"\{[^}]*\}")


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
