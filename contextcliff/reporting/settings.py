"""The `reporting` section: what is shown while and after a run."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from contextcliff.settings import settings


@settings
class ReportingSettings:
    """`progress` on stderr, the risk report (`console`) on stdout, `dpi` of the figures."""

    progress: bool = True
    console: bool = True
    dpi: Annotated[int, Field(ge=50, le=600)] = 150
