"""Pages of simulated reports, and what is packed in them."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from contextcliff.records.generation import ScoredSample
from contextcliff.records.report import Report
from contextcliff.reporting.page.excerpts import Excerpt
from contextcliff.reporting.page.report_page import report_page

HOSTILE = (
    "<script>document.title='owned'</script>\x1b[31mred\u202egnp\u2069 <img src=x onerror=\"document.title='owned'\">"
    " </script><b>%{x} &lt; @ink"
)


def page_of(
    report: Report,
    scored: Sequence[ScoredSample] = (),
    *,
    excerpts: Mapping[str, Sequence[Excerpt]] | None = None,
    prompts: Mapping[str, str] | None = None,
    images: Mapping[str, bytes] | None = None,
) -> str:
    return report_page(report, scored=scored, excerpts=excerpts or {}, prompts=prompts or {}, images=images or {})


def packed_in(page: str) -> dict[str, Any]:
    """Charts and samples as the browser unpacks them."""
    found = re.search(r'id="data">([^<]*)</script>', page)
    assert found is not None
    unpacked: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(found.group(1))))
    return unpacked


def rows_of(page: str) -> list[dict[str, Any]]:
    samples = packed_in(page)["samples"]
    return [dict(zip(samples["columns"], row, strict=True)) for row in samples["rows"]]


def answered(scored: ScoredSample, text: str) -> ScoredSample:
    """The same sample with another answer of the model."""
    assert scored.generation is not None
    return replace(scored, prediction=text, generation=replace(scored.generation, text=text))
