"""Pages of simulated reports, and what stands in them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from matplotlib.figure import Figure

from contextcliff.findings.finding import FinishedRun
from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import Report
from contextcliff.reporting.page.report_page import Excerpt, write_pages
from tests.make import known

HOSTILE = (
    "<script>document.title='owned'</script>\x1b[31mred\u202egnp\u2069\0 <img src=x onerror=\"document.title='owned'\">"
    " </script><b>%{x} &lt; ![i](http://e) [a](javascript:alert(1)) <http://e> | `c` </svg></title>"
)


def page_of(
    report: Report,
    scored: Sequence[ScoredSample] = (),
    *,
    excerpts: Mapping[str, Sequence[Excerpt]] | None = None,
    prompts: Mapping[str, str] | None = None,
    figures: Mapping[str, Figure] | None = None,
) -> str:
    run = FinishedRun(report=report, scored=scored, parameters={})
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_pages(run, excerpts=excerpts or {}, prompts=prompts or {}, figures=figures or {}, folder=folder)
        return (folder / "report.html").read_text("utf-8")


def rows_of(page: str) -> list[dict[str, Any]]:
    found = known(re.search(r'id="data">([^<]*)</script>', page))
    samples = json.loads(found.group(1))
    return [dict(zip(samples["columns"], row, strict=True)) for row in samples["rows"]]


class Tags(HTMLParser):
    """The elements of a page, each with its attributes, and all of its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def assert_tame(page: str, *, scripts: int) -> None:
    """Nothing in the page is run, is fetched, leads away, or has no shape."""
    elements = Tags(page).elements
    tags = Counter(tag for tag, _ in elements)
    assert tags["script"] == scripts
    assert tags["style"] == 1
    assert not {"img", "iframe", "object", "base", "form", "foreignobject"} & set(tags)
    for tag, attributes in elements:
        assert not [name for name in attributes if name.startswith("on") or name == "src"]
        link = attributes.get("href") or "#"
        assert link.startswith(("#", "data:image/png")) or (tag == "a" and re.fullmatch(r"[\w.-]+", link))
    ids = [attributes["id"] for _, attributes in elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {char for char in page if not char.isprintable()} <= {"\n", "\t"}


def answered(scored: ScoredSample, text: str) -> ScoredSample:
    """The same sample with another answer of the model."""
    return replace(scored, prediction=text, generation=replace(known(scored.generation), text=text))


def thinking(scored: ScoredSample, text: str) -> ScoredSample:
    """The same sample with six tokens of reasoning before its answer of two."""
    said = known(scored.generation)
    return replace(scored, generation=replace(said, reasoning=text, reasoning_tokens=6, completion_tokens=8))
